from kbx_tui.knowledge.fields import unique_ids
from tests.unit.knowledge.building import page


def test_path_ids_avoid_ids_from_frontmatter() -> None:
    documents = [
        page("# Alex Kim\n", "memory/people/x.md"),
        page("---\ntype: person\n---\n# Alex Kim\n", "memory/old/x.md"),
        page("---\nid: person:people/x\n---\n# Other\n", "memory/people/y.md"),
        page("---\nid: person:memory/people/x.md\n---\n", "memory/notes/z.md"),
    ]
    ids = unique_ids(documents)
    assert len(set(ids.values())) == 4
    assert ids["memory/people/y.md"] == "person:people/x"
