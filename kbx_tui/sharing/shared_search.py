"""What a page of results is made of: answers of one base or several, and how they were asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from kbx_tui.api.several_bases import OwnedResult, SeveralBases, SeveralResponse
from kbx_tui.search.command_line import command_line
from kbx_tui.search.request import SearchRequest
from kbx_tui.sharing.public_response import public_response

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase


@dataclass(frozen=True, slots=True)
class SharedSearch:
    """A search as it is shown to other people. Nothing in it is redacted."""

    answer: SeveralResponse
    """The results with the base that each is of, and what each base answered; explained."""
    command: str
    """The command line that gives these results."""
    when: datetime
    """With its time zone."""
    hotness: float = 0.0
    """The weight of how often and how recently documents were opened."""

    @property
    def bases(self) -> tuple[str, ...]:
        """The names of the bases that answered."""
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
    tuning = kb.tuning(request.preset, hotness_weight=request.hotness)
    return SharedSearch(
        answer,
        command_line(request, usual_request(kb)),
        datetime.now().astimezone(),
        tuning.hotness_weight,
    )


def share_several(bases: SeveralBases, request: SearchRequest) -> SharedSearch:
    """Search several bases together for others to see. Raises as `SeveralBases.search`."""
    answer = bases.search(replace(request, explain=True), search=public_response)
    command = command_line(request, SearchRequest(""), tuple(answer.responses))
    return SharedSearch(answer, command, datetime.now().astimezone(), request.hotness or 0.0)


def usual_request(kb: KnowledgeBase) -> SearchRequest:
    """Return a request with the settings of kbx.toml."""
    tuning = kb.tuning()
    return SearchRequest(
        "",
        dates=kb.settings.search.dates,
        preset=tuning.preset,
        alpha=tuning.alpha,
        threshold=tuning.entity_threshold,
        max_entities=tuning.max_entities,
        gate=tuning.gate,
        parent=tuning.parent,
        hotness=tuning.hotness_weight,
    )
