"""How names of things are written by people who do not copy them: English, and pure.

"Observables" are the project Observable, "Records and Tuples" are Record & Tuple. Names of people
are written as they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from kbx_tui.knowledge.names import name_key, tokens
from kbx_tui.knowledge.stemming import plural, singular

_JOINING = ("&", "and")


def ways_to_write(names: Iterable[str]) -> list[str]:
    """Return names each in singular and plural, with `and` and with `&`; as they are come first.

    A name of one word is not cut: Windows is no window.
    """
    found = []
    for name in names:
        for written in (name, name.replace(" & ", " and "), name.replace(" and ", " & ")):
            *before, last = written.split(" ")
            found += [written, " ".join((*before, plural(last)))]
            if before:
                found.append(" ".join((*before, singular(last))))
            if len(before) > 1 and before[-1] in _JOINING:
                *before, first, joining = before
                found.append(" ".join((*before, plural(first), joining, plural(last))))
    return list(dict.fromkeys(found))


def title_keys(text: str) -> tuple[str, ...]:
    """Return the forms in which a title and a name are found in each other.

    Punctuation does not count ("For-in order", "Function.pipe & flow"); or `&` does, as the word,
    and not whether a word means one or several.
    """
    key = name_key(text)
    loose = " ".join(singular(word) for word in tokens(text.replace("&", " and ")))
    return (key,) if loose == key else (key, loose)
