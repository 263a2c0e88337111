"""Similarity checks and writes without redacted content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from kbx_tui.api import KnowledgeBase
from kbx_tui.drafting.plans import Written
from kbx_tui.knowledge.parsing.inline import strip_markup
from kbx_tui.knowledge.records import Document
from kbx_tui.similarity.matches import FieldSimilarity, Nearest, SimilarityCheck, SimilarityMatch
from kbx_tui.similarity.scoring.compared_words import normal_form
from kbx_tui.tools.redaction.redacted_text import redacted_lines

Match = TypeVar("Match", SimilarityMatch, Nearest)


def public_check(kb: KnowledgeBase, check: SimilarityCheck) -> SimilarityCheck:
    """Return a similarity check without redacted matches and nearest texts.

    If there were any, `has_similar` and `best_score` are those of the rest.
    """
    matches, nearest = _public_matches(kb, check.matches), _public_matches(kb, check.nearest)
    if (len(matches), len(nearest)) == (len(check.matches), len(check.nearest)):
        return check
    scores = [match.score for match in matches] + [text.score for text in nearest]
    return replace(
        check,
        nearest=nearest,
        matches=matches,
        has_similar=any(match.is_similar for match in matches),
        best_score=max(scores, default=0.0),
    )


def public_field(kb: KnowledgeBase, check: FieldSimilarity, entity: str) -> FieldSimilarity:
    """Return a field check; a redacted current value is treated as an empty field."""
    path = kb.named_entity(entity).path
    document = kb.stored_documents([path]).get(path) if path else None
    if document is None or check.current_value is None:
        return check
    if _overlaps(check.current_value, _redacted_texts(document)):
        return replace(check, current_value=None, similarity=0.0, is_similar=False, pair=None)
    return check


def public_written(kb: KnowledgeBase, written: Written) -> Written:
    """Return the result of a write without redacted matches and context lines of the diff."""
    written = replace(written, matches=_public_matches(kb, written.matches))
    if not documents_with_redactions(kb, [written.path]):
        return written
    changes = [line for line in written.diff.splitlines() if not line.startswith(" ")]
    return replace(written, diff="\n".join(changes))


def documents_with_redactions(kb: KnowledgeBase, paths: Sequence[str]) -> Mapping[str, Document]:
    """Return those of the documents that contain something redacted, by path."""
    documents = kb.stored_documents(list(dict.fromkeys(paths)))
    return {path: document for path, document in documents.items() if redacted_lines(document)}


def _public_matches(kb: KnowledgeBase, matches: Sequence[Match]) -> tuple[Match, ...]:
    """Return the matches on visible lines, without passages that contain a redacted one.

    Facts are never redacted themselves, but an item they are nested in may be.
    """
    marked = documents_with_redactions(kb, [match.source_path for match in matches])
    redacted = {path: _redacted_texts(document) for path, document in marked.items()}
    return tuple(
        match
        for match in matches
        if not (
            (page := marked.get(match.source_path))
            and match.line - page.body_line in redacted_lines(page)
        )
        and not (
            match.match_type == "chunk"
            and _overlaps(match.text, redacted.get(match.source_path, ()))
        )
    )


def _redacted_texts(document: Document) -> tuple[str, ...]:
    """Return the text of the redacted lines without markup."""
    lines, redacted = document.body.split("\n"), redacted_lines(document)
    texts = (normal_form(strip_markup(lines[at]).strip("#>*+-| \t")) for at in sorted(redacted))
    return tuple(text for text in texts if text)


def _overlaps(text: str, redacted: Sequence[str]) -> bool:
    text = normal_form(strip_markup(text))
    return bool(text) and any(line in text or text in line for line in redacted)
