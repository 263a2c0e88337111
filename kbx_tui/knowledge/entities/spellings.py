"""Alternative spellings of the names of things, in English.

"Observables" may mean the project Observable, and "Records and Tuples" Record & Tuple. Names of
people have no such spellings.
"""

from __future__ import annotations

from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.stemming import plural, singular

_CONJUNCTIONS = ("&", "and")


def other_spellings(name: str) -> list[str]:
    """Return other ways to write a name: in the singular or plural, with `and` for `&`.

    Only the last word changes, and a word joined to it by `and` or `&`. A name of a single word has
    no singular: Windows is not a window.
    """
    spellings: list[str] = []
    for written in (name, name.replace(" & ", " and "), name.replace(" and ", " & ")):
        *before, last = written.split(" ")
        spellings += [written, " ".join((*before, plural(last)))]
        if before:
            spellings.append(" ".join((*before, singular(last))))
        if len(before) > 1 and before[-1] in _CONJUNCTIONS:
            *before, first, conjunction = before
            for form in (plural, singular):
                spellings.append(" ".join((*before, form(first), conjunction, form(last))))
    return [spelling for spelling in dict.fromkeys(spellings) if spelling != name]


def title_keys(title: str) -> tuple[str, ...]:
    """Return the keys of a title that names are searched in: without `&`, and with it as `and`."""
    key, with_and = name_key(title), name_key(title.replace("&", " and "))
    return (key,) if with_and == key else (key, with_and)
