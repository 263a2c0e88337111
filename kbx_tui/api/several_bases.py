"""Several knowledge bases searched together. Each keeps its own index; only answers are merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from kbx_tui.api.session import Notice
from kbx_tui.errors import NotFound

if TYPE_CHECKING:
    from kbx_tui.api.knowledge_base import KnowledgeBase
    from kbx_tui.search.request import SearchRequest
    from kbx_tui.search.results.response import SearchResponse, SearchResult

    Answer = SearchResponse | NotFound


@dataclass(frozen=True, slots=True)
class OwnedResult:
    base: str
    result: SearchResult

    @property
    def is_known_item(self) -> bool:
        """Whether the query is just the title, path or name of it; needs an explained result."""
        return bool((self.result.explain or {}).get("exact"))


@dataclass(frozen=True, slots=True)
class SeveralResponse:
    query: str
    results: tuple[OwnedResult, ...]
    """Those of all bases, best first."""
    responses: Mapping[str, SearchResponse]
    notes: tuple[str, ...]
    """Sentences for the user, each with the name of its base."""


Search = Callable[["KnowledgeBase", "SearchRequest"], "SearchResponse"]


class SeveralBases:
    """Some knowledge bases, opened together. Close it, or use it in a `with` statement."""

    def __init__(
        self, roots: Sequence[Path], *, notice: Notice = lambda text: None, trust: bool = False
    ) -> None:
        """Open the bases at `roots`; one given twice counts once. Raises as `KnowledgeBase`."""
        from kbx_tui.api.knowledge_base import KnowledgeBase

        self._bases: dict[str, KnowledgeBase] = {}
        try:
            for name, root in base_names(roots).items():
                self._bases[name] = KnowledgeBase(root, notice=notice, trust=trust)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def roots(self) -> Mapping[str, Path]:
        return {name: base.root for name, base in self._bases.items()}

    def search(
        self, query: str | SearchRequest, *, search: Search | None = None, **options: Any
    ) -> SeveralResponse:
        """Return the results of all bases together; options and errors as `KnowledgeBase.search`.

        Known items come first, then the highest scores: these are absolute, so that those of
        different bases can be compared. With `sort="date"` the newest come first. A base that does
        not have an entity of the request is left out with a note; where none has it, NotFound is
        raised. `search` is called for each base, in place of `KnowledgeBase.search`.
        """
        from kbx_tui.search.request import SearchRequest

        request = query if isinstance(query, SearchRequest) else SearchRequest(query, **options)
        answers = {name: ask(base, request, search) for name, base in self._bases.items()}
        return merge(request, answers)

    def close(self) -> None:
        for base in self._bases.values():
            base.close()


def ask(base: KnowledgeBase, request: SearchRequest, search: Search | None = None) -> Answer:
    """Return what one of several bases answers; NotFound where it lacks an entity."""
    explained = replace(request, explain=True)  # known items are recognised by it
    try:
        return base.search(explained) if search is None else search(base, explained)
    except NotFound as error:
        return error


def merge(request: SearchRequest, answers: Mapping[str, Answer]) -> SeveralResponse:
    """Return the answers of `ask`, by base, as one. Raises NotFound where all lack an entity."""
    missing = [answer for answer in answers.values() if isinstance(answer, NotFound)]
    if missing and len(missing) == len(answers):
        raise missing[0]
    notes: list[str] = []
    responses: dict[str, SearchResponse] = {}
    for name, answer in answers.items():
        if isinstance(answer, NotFound):
            notes.append(f"{name}: {answer}")
        else:
            notes += [f"{name}: {note}" for note in answer.meta.notes]
            responses[name] = answer
    owned = [
        OwnedResult(name, result)
        for name, response in responses.items()
        for result in response.results
    ]
    if request.sort == "date":
        owned.sort(key=lambda each: each.result.date, reverse=True)
    else:
        owned.sort(key=lambda each: (not each.is_known_item, -each.result.score))
    kept = owned[: request.limit]
    if not request.explain:
        kept = [OwnedResult(own.base, replace(own.result, explain=None)) for own in kept]
    return SeveralResponse(request.query, tuple(kept), responses, tuple(notes))


def base_names(roots: Sequence[Path]) -> dict[str, Path]:
    """Return different names for bases: their folders, where several are alike their paths."""
    resolved = list(dict.fromkeys(root.resolve() for root in roots))
    alike = Counter(root.name for root in resolved)
    return {
        root.name if root.name and alike[root.name] == 1 else str(root): root for root in resolved
    }
