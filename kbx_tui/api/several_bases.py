"""Search of several knowledge bases together: each has its own index; only answers are merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
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
        """Whether the query is exactly its title, path or name; needs an explained result."""
        return bool((self.result.explain or {}).get("exact"))


@dataclass(frozen=True, slots=True)
class SeveralResponse:
    query: str
    results: tuple[OwnedResult, ...]
    """Results of all bases, best first, or newest first for `sort="date"`."""
    responses: Mapping[str, SearchResponse]
    notes: tuple[str, ...]
    """Sentences for the user, each with the name of its base."""


Search = Callable[["KnowledgeBase", "SearchRequest"], "SearchResponse"]


class SeveralBases:
    """Several knowledge bases, opened together. Close it, or use it in a `with` statement."""

    def __init__(
        self, roots: Sequence[Path], *, notice: Notice = lambda text: None, trust: bool = False
    ) -> None:
        """Open the bases at `roots`; duplicates count once. Raises as `KnowledgeBase` does."""
        from kbx_tui.api.knowledge_base import KnowledgeBase

        self.bases: dict[str, KnowledgeBase] = {}
        try:
            for name, root in base_names(roots).items():
                self.bases[name] = KnowledgeBase(root, notice=notice, trust=trust)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def roots(self) -> Mapping[str, Path]:
        return {name: base.root for name, base in self.bases.items()}

    def search(
        self, query: str | SearchRequest, *, search: Search | None = None, **options: Any
    ) -> SeveralResponse:
        """Return the merged results; options and errors are those of `KnowledgeBase.search`.

        Known items (the query is exactly their title, path or name) come first, then the highest
        scores: they are absolute, so they are comparable across bases. With `sort="date"`, the
        newest come first. A base that lacks an entity of the request is left out with a note; if
        all lack it, NotFound is raised. `search` is called instead of `KnowledgeBase.search`.
        """
        from kbx_tui.search.request import SearchRequest

        request = query if isinstance(query, SearchRequest) else SearchRequest(query, **options)
        answers = {name: ask(base, request, search) for name, base in self.bases.items()}
        return merge(request, answers)

    def close(self) -> None:
        for base in self.bases.values():
            base.close()


def ask(base: KnowledgeBase, request: SearchRequest, search: Search | None = None) -> Answer:
    """Return the answer of one base, or the NotFound error if it lacks an entity."""
    explained = replace(request, explain=True)  # `merge` needs it to recognise known items
    try:
        return base.search(explained) if search is None else search(base, explained)
    except NotFound as error:
        return error


def merge(request: SearchRequest, answers: Mapping[str, Answer]) -> SeveralResponse:
    """Merge the answers of `ask`, given by base. Raises NotFound if every base lacks an entity."""
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
    owned = [OwnedResult(base, each) for base, found in responses.items() for each in found.results]
    if request.order == "date":
        owned.sort(key=lambda each: each.result.date, reverse=True)
    else:
        owned.sort(key=lambda each: (not each.is_known_item, -each.result.score))
    kept = owned[: request.limit]
    if not request.explain:
        kept = [OwnedResult(own.base, replace(own.result, explain=None)) for own in kept]
    return SeveralResponse(request.query, tuple(kept), responses, tuple(notes))


def base_names(roots: Sequence[Path]) -> dict[str, Path]:
    """Return the root by unique name: the folder's name, or the full path if several share it."""
    resolved = list(dict.fromkeys(root.resolve() for root in roots))
    alike = Counter(root.name for root in resolved)
    return {
        root.name if root.name and alike[root.name] == 1 else str(root): root for root in resolved
    }
