"""How names of things are written by people who do not copy them: English, and pure.

"Observables" are the project Observable, "Records and Tuples" are Record & Tuple. Names of people
are written as they are.
"""

from __future__ import annotations

from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.stemming import plural, singular

_JOINING = ("&", "and")


def other_spellings(name: str) -> list[str]:
    """Return the other ways to write a name: in singular and plural, with `and` for `&`.

    Its last word changes, and what is joined to it: Canvas Design is no Canva Design. A name of one
    word is not cut: Windows is no window.
    """
    found: list[str] = []
    for written in (name, name.replace(" & ", " and "), name.replace(" and ", " & ")):
        *before, last = written.split(" ")
        found += [written, " ".join((*before, plural(last)))]
        if before:
            found.append(" ".join((*before, singular(last))))
        if len(before) > 1 and before[-1] in _JOINING:
            *before, first, joining = before
            for form in (plural, singular):
                found.append(" ".join((*before, form(first), joining, form(last))))
    return [one for one in dict.fromkeys(found) if one != name]


def title_keys(title: str) -> tuple[str, ...]:
    """Return the forms of a title in which names are looked for.

    Punctuation does not count ("For-in order", "Function.pipe & flow"), or `&` does, as the word.
    """
    key, spoken = name_key(title), name_key(title.replace("&", " and "))
    return (key,) if spoken == key else (key, spoken)
