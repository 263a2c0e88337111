"""What a page of results is made of: answers of one base or several, and how they were asked; and
the new file, named after its query, that the page is written to."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from kbx_tui.api import KnowledgeBase
from kbx_tui.api.several_bases import OwnedResult, SeveralBases, SeveralResponse
from kbx_tui.editing.file_edits import not_written
from kbx_tui.editing.state_files import write_new
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.request import SearchRequest, command_line
from kbx_tui.search.results.response import SearchResponse
from kbx_tui.tools.json_output import search_json
from kbx_tui.tools.public_answers import answer_publicly


@dataclass(frozen=True, slots=True)
class SharedSearch:
    """A search as it is shown to other people: without any text that its owner redacted."""

    answer: SeveralResponse
    """The results, each with its base, and the answer of each base, with `explain`."""
    command: str
    when: datetime
    """With its time zone."""
    hotness: float = 0.0

    @property
    def bases(self) -> tuple[str, ...]:
        return tuple(self.answer.responses)


def share_search(kb: KnowledgeBase, request: SearchRequest) -> SharedSearch:
    """Search one base for others to see. Raises as `KnowledgeBase.search`."""
    response = public_response(kb, request)
    name = kb.root.name
    answer = SeveralResponse(
        response.query,
        tuple(OwnedResult(name, result) for result in response.results),
        {name: response},
        response.meta.notes,
    )
    usual = kb.tuning()
    usual_request = SearchRequest(
        "",
        dates=kb.settings.search.dates,
        preset=usual.preset,
        alpha=usual.alpha,
        threshold=usual.entity_threshold,
        max_entities=usual.max_entities,
        gate=usual.gate,
        parent=usual.parent,
        hotness=usual.hotness_weight,
    )
    tuning = kb.tuning(request.preset, hotness_weight=request.hotness)
    command, now = command_line(request, usual_request), datetime.now().astimezone()
    return SharedSearch(answer, command, now, tuning.hotness_weight)


def share_several(bases: SeveralBases, request: SearchRequest) -> SharedSearch:
    """Search several bases together for others to see. Raises as `SeveralBases.search`."""
    answer = bases.search(replace(request, explain=True), search=public_response)
    command = command_line(request, SearchRequest(""), tuple(answer.responses))
    return SharedSearch(answer, command, datetime.now().astimezone(), request.hotness or 0.0)


def public_response(kb: KnowledgeBase, request: SearchRequest) -> SearchResponse:
    """Return the response to `request`, explained, as `kbx_search` would pass it on.

    Raises as `KnowledgeBase.search`; a hidden entity is not found.
    """
    request = replace(request, explain=True)
    response: SearchResponse

    def answer(public: KnowledgeBase) -> dict[str, Any]:
        nonlocal response
        response = public.search(request)
        return search_json(response)

    sent = {name: value for name, value in asdict(request).items() if value}
    answer_publicly(kb, answer, sent)
    return response


SLUG_LENGTH = 40
_NO_LETTERS = re.compile(r"[^a-z0-9]+")


def write_named_page(folder: Path, query: str, page: str) -> Path:
    """Write a page to a new file in `folder`, and return its path. Raises WriteFault.

    The file is named after the query: `kbx-results-rollback-plan.html`, or if that exists
    `kbx-results-rollback-plan-2.html`.
    """
    name = f"kbx-results-{words_for_name(query)}"
    for number in count(1):
        target = folder / f"{name}{'' if number == 1 else f'-{number}'}.html"
        try:
            write_new(target, page.encode())
        except FileExistsError:
            continue
        except OSError as error:
            raise not_written(target, error) from error
        break
    return target


def words_for_name(query: str) -> str:
    """Return the words of a query for a file name: `rollback-plan`."""
    words = _NO_LETTERS.sub("-", fold(query)).strip("-")
    if len(words) > SLUG_LENGTH:
        words = words[: SLUG_LENGTH + 1].rpartition("-")[0] or words[:SLUG_LENGTH]
    return words or "search"
