"""Answers with what is redacted taken out, made only where a document holds any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from kbx_tui.knowledge.parsing.inline import plain_text
from kbx_tui.similarity.matches import FieldSimilarity, Nearest, SimilarityCheck, SimilarityMatch
from kbx_tui.similarity.scoring.compared_words import normal_form
from kbx_tui.tools.redaction.redacted_text import redacted_lines

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.written import Written
    from kbx_tui.knowledge.records import Document

Told = TypeVar("Told", SimilarityMatch, Nearest)


def public_check(kb: KnowledgeBase, check: SimilarityCheck) -> SimilarityCheck:
    """Return a similarity check without matches that are redacted.

    Where there are such, it says `has_similar` and `best_score` of what is left: what was not told
    may be redacted too. So may be what is nearest without being a match.
    """
    kept, nearest = _public(kb, check.matches), _public(kb, check.nearest)
    if (len(kept), len(nearest)) == (len(check.matches), len(check.nearest)):
        return check
    return replace(
        check,
        nearest=nearest,
        matches=kept,
        has_similar=any(one.is_similar for one in kept),
        best_score=max([one.score for one in kept] + [one.score for one in nearest], default=0.0),
    )


def public_field(kb: KnowledgeBase, found: FieldSimilarity, entity: str) -> FieldSimilarity:
    """Return what a field says, as if there were nothing when that is redacted."""
    path = kb.named_entity(entity).path
    document = kb.stored_documents([path]).get(path) if path else None
    if document is None or found.current_value is None:
        return found
    if _holds(found.current_value, _hidden_texts(document)):
        return replace(found, current_value=None, similarity=0.0, is_similar=False, pair=None)
    return found


def public_written(kb: KnowledgeBase, written: Written) -> Written:
    """Return what was written with the lines around it left out of the diff."""
    written = replace(written, matches=_public(kb, written.matches))
    if not marked_documents(kb, [written.path]):
        return written
    changes = [line for line in written.diff.splitlines() if not line.startswith(" ")]
    return replace(written, diff="\n".join(changes))


def marked_documents(kb: KnowledgeBase, paths: Sequence[str]) -> Mapping[str, Document]:
    """Return the documents that hold something redacted, by path."""
    documents = kb.stored_documents(list(dict.fromkeys(paths)))
    return {path: document for path, document in documents.items() if redacted_lines(document)}


def _public(kb: KnowledgeBase, matches: Sequence[Told]) -> tuple[Told, ...]:
    """Return those of open lines; a passage that holds a redacted line is none.

    The engine compares no fact that it read as redacted. Its lines are looked at all the same: an
    item may be marked by what it is nested in.
    """
    marked = marked_documents(kb, [one.source_path for one in matches])
    hidden = {path: _hidden_texts(document) for path, document in marked.items()}
    return tuple(
        one
        for one in matches
        if not _stands_on(marked.get(one.source_path), one.line)
        and not (one.match_type == "chunk" and _holds(one.text, hidden.get(one.source_path, ())))
    )


def _hidden_texts(document: Document) -> tuple[str, ...]:
    """Return what the redacted lines say, without signs and markup."""
    lines, hidden = document.body.split("\n"), redacted_lines(document)
    texts = (normal_form(plain_text(lines[at]).strip("#>*+-| \t")) for at in sorted(hidden))
    return tuple(text for text in texts if text)


def _holds(text: str, hidden: Sequence[str]) -> bool:
    told = normal_form(plain_text(text))
    return bool(told) and any(one in told or told in one for one in hidden)


def _stands_on(document: Document | None, line: int) -> bool:
    return document is not None and line - document.body_line in redacted_lines(document)
