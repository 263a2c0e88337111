"""Where each text of an answer comes from, which decides how it is checked before it is passed on.

Every text field of an answer has one of these types. The redaction filter
(`redaction/redaction_filter.py`) withholds what it cannot verify; a field
of plain `str` does not pass a test, and is withheld.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Annotated


class Provenance(Enum):
    """The source of a text, and so the check that it needs."""

    PROGRAM = auto()
    CALL = auto()
    SENTENCE = auto()
    PATH = auto()
    ID = auto()
    TITLE = auto()
    KIND = auto()
    DATE = auto()
    PASSAGE = auto()
    CONTENT = auto()
    FIELD = auto()
    DIFF = auto()
    DERIVED = auto()


UNCHECKED = frozenset({Provenance.PROGRAM, Provenance.DERIVED})
"""Texts that come from no page, or are withheld with those that they are made from."""
OF_THE_PAGE = frozenset(
    {Provenance.TITLE, Provenance.KIND, Provenance.DATE, Provenance.PASSAGE, Provenance.FIELD}
)
"""Texts that the index has from the page, public where all that it knows of the page is."""

Ours = Annotated[str, Provenance.PROGRAM]
"""A word of this program: a mode, a version, the name of a model."""
Sent = Annotated[str, Provenance.CALL]
"""Repeated from the arguments of the call."""
Sentence = Annotated[str, Provenance.SENTENCE]
"""A sentence of this program that may name pages: withheld if one of them is redacted."""
PagePath = Annotated[str, Provenance.PATH]
"""The path of a document, or empty."""
PageId = Annotated[str, Provenance.ID]
"""The id of a document or entity."""
Title = Annotated[str, Provenance.TITLE]
"""The title of the page that the object is about, or the name of its entity."""
PageKind = Annotated[str, Provenance.KIND]
"""The type of the page that the object is about; of any page, if it is about none."""
PageDate = Annotated[str, Provenance.DATE]
"""A date from the page."""
Passage = Annotated[str, Provenance.PASSAGE]
"""Words from the page, or the whole text of a fact on it."""
Content = Annotated[str, Provenance.CONTENT]
"""A verbatim part of the public text of the page."""
FieldValue = Annotated[str, Provenance.FIELD]
"""The value of a field of the page: role, team, an alias, an item of a list."""
PageDiff = Annotated[str, Provenance.DIFF]
"""A unified diff of the page."""
Derived = Annotated[str, Provenance.DERIVED]
"""Made from other texts of the same object, and withheld with it."""
