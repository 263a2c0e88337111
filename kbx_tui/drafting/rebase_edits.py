"""Edits of a page made once more, on what it holds by now. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.editing.fact_edits import AddFact
from kbx_tui.editing.page_edits import PageEdit, edited
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.facts.fact_line import read_fact_line
from kbx_tui.knowledge.facts.fact_sections import read_facts
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.knowledge.records import Fact, FactKind
from kbx_tui.similarity.scoring.compared_words import normal_form


def remade(path: str, edits: Sequence[PageEdit], before: bytes | None, now: bytes) -> bytes:
    """Return a page that changed since it was read, `before`, with its edits.

    Raises WriteFault when they do not fit any more, or when somebody else added meanwhile what one
    of them adds. Without `before` that does not matter.
    """
    for edit in edits:
        if isinstance(edit, AddFact) and before is not None:
            written = standing(path, now, edit.entity_id, edit.kind, [edit.text])
            known = standing(path, before, edit.entity_id, edit.kind, [edit.text])
            if written and not known:
                raise WriteFault(f"{written.text!r} stands in {path}:{written.line} by now")
    return edited(path, now, edits)


def standing(
    path: str, data: bytes, entity_id: str, kind: FactKind, texts: Sequence[str]
) -> Fact | None:
    """Return the fact, or open item, of a page that says one of these texts and still holds.

    Case, accents, spacing and end punctuation aside; notes of a text are no part of it.
    """
    wanted = {normal_form(read_fact_line(text).text or text) for text in texts}
    for fact in read_facts(parse_document(path, data), entity_id):
        holds = (fact.kind, fact.status, fact.done) == (kind, "active", False)
        if holds and normal_form(fact.text) in wanted:
            return fact
    return None
