"""One module per system, with one function.

    answer(folder, queries, mode) -> iterator

It yields an empty list once the index is made, then one list of paths per query, best first,
relative to the folder, pages of entities included (the runner drops them for everybody). `folder`
is a copy that may be written to. A query has `text`, and `people`: the names that its label means,
for oracles alone. `mode` is what follows the colon in the system's name. The modules run in
environments of their own and import nothing of the project unless their system is the project's.
"""
