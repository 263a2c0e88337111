"""Runs what makes an answer, and passes the answer through the redaction filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kbx_tui.api import KnowledgeBase
from kbx_tui.errors import KbxError, WriteFault
from kbx_tui.tools.contracts import answers
from kbx_tui.tools.redaction.redaction_filter import RedactionFilter
from kbx_tui.tools.redaction.visible_pages import visible_pages

ATTEMPTS = 3
"""Times that a call is answered again, without pages just found to be redacted or gone."""

Json = dict[str, Any]


def pass_on(
    kb: KnowledgeBase,
    model: type[answers.Answer],
    answer: Callable[[], Mapping[str, Any]],
    arguments: Any,
    *,
    writes: bool = False,
) -> Json:
    """Return what `answer` returns without what is redacted, as `model` declares it.

    An answer that met a page which was marked since it was indexed is made again, unless it
    `writes`, so that other results take its place. Raises as `answer`, and NotFound if nothing may
    be passed on.
    """
    pages = visible_pages(kb)
    for left in reversed(range(1 if writes else ATTEMPTS)):
        pages.look_again()
        answer_filter, known = RedactionFilter(pages, arguments), pages.learned
        raw = answer()
        if writes:
            answer_filter.remember_pages()
            pages.look_again()
        passed = answer_filter.pass_on(model, raw)
        if pages.learned <= known or not left:
            break
    return _settled(model, raw, passed)


def public_message(kb: KnowledgeBase, error: KbxError, arguments: Any) -> str:
    """Return the message of an error without what is redacted."""
    pages = visible_pages(kb)
    answer_filter = RedactionFilter(pages, arguments)
    answer_filter.remember_pages()
    pages.look_again()
    return answer_filter.message(str(error), quotes_pages=isinstance(error, WriteFault))


def _settled(model: type[answers.Answer], raw: Mapping[str, Any], passed: Json) -> Json:
    """Return an answer whose conclusions follow from what is left of it."""
    if model is answers.KbxMemorySimilarAnswer and _lost(raw, passed, "matches", "nearest"):
        scores = [text["score"] for text in (*passed["matches"], *passed["nearest"])]
        similar = [match for match in passed["matches"] if match["relation"] != "conflict"]
        passed |= {"has_similar": bool(similar), "best_score": max(scores, default=0.0)}
    elif model is answers.KbxEntitySimilarFieldAnswer and _lost(raw, passed, "current_value"):
        nothing = dict.fromkeys(("relation", "cosine", "signals"))
        passed |= {"similarity": 0.0, "is_similar": False, "conflicts": [], **nothing}
    elif model is answers.KbSearchAnswer:
        data = passed["data"]
        data["total_found"] = len(data["results"])
    return passed


def _lost(raw: Mapping[str, Any], passed: Json, *keys: str) -> bool:
    """Return whether the redaction filter took anything out of these fields."""
    return any(_size(raw[key]) != _size(passed[key]) for key in keys)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, list) else int(value is not None)
