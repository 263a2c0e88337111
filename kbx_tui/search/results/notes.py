"""Notes: sentences for whoever reads an answer, the same from every surface. Pure.

They say what could not be searched, what is out of date, and why nothing was found.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from kbx_tui.formatting import (
    FLAT_REASONS,
    format_count,
    format_percent,
    join_limited,
    mode_name,
)
from kbx_tui.safe_text import safe_line
from kbx_tui.search.evidence.evidence import Evidence, Scope
from kbx_tui.search.query.english_words import topic_words
from kbx_tui.search.query.filters import read_filters, type_names
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.request import MAX_QUERY
from kbx_tui.search.results.response import FewAnswers, candidates_words

MAX_TOPIC = 80
"""Characters of a topic that a note repeats."""
_ASKS_FOR_EXPERTS = re.compile(
    r"\s*(?:who\s+knows?|who\s+(?:has\s+)?worked|who\s+can\s+help|experts?|who(?:'s|\s+is|\s+are)"
    r"\s+(?:an?|the|our)\s+experts?)\s+(?:\w+\s+)?(?:about|on|with|for|in)\s+\w",
    re.IGNORECASE,
)
"""How queries begin that ask which people know a topic."""
LISTS_NAME = "vectors-ivf.bin"
NOT_INDEXED = "there is no index yet; `kbx index` builds it"


def search_notes(
    ranking: Ranking, few: FewAnswers | None, types: Collection[str], outdated: Sequence[str]
) -> Iterator[str]:
    """Yield the notes on a search.

    `few` is what `find_few_answers` returned, `types` are the document types that exist, and
    `outdated` are `outdated_notes`.
    """
    evidence = ranking.evidence
    yield from cut_query_notes(evidence.query)
    yield from not_dates_notes(evidence.query)
    if asks_for_experts(evidence.query):
        yield "these are documents; `kbx experts` ranks people by what they know about a topic"
    yield from _ambiguous_names(ranking)
    if not evidence.fast and evidence.scope.total:
        yield from vector_notes(evidence.vector_share, evidence.without_vector)
    yield from wide_scope_notes(evidence)
    if evidence.undated:
        yield f"no document is dated {join_limited(evidence.undated, ' or ')}"
    yield from outdated
    if failure := reranker_failure(ranking):
        yield failure
    if left_out := evidence.scope.left_out:
        documents = format_count(left_out, "muted document")
        yield f"{documents} left out: [search] muted_documents in kbx.toml"
    yield from scope_notes(evidence.scope, types)
    if note := few_answers_note(few):
        yield note
    if evidence.scope.in_scope and not ranking.total_matched:
        yield from nothing_found_notes(
            ranking.search_mode,
            ranking.search_mode_reason,
            in_scope=evidence.scope.in_scope,
            below_floor=ranking.total_below_floor,
            fast=evidence.fast,
            path=bool(evidence.scope.path),
        )


def find_few_answers(ranking: Ranking) -> FewAnswers | None:
    """Return the documents that answer the topic, if others follow that are linked to entities."""
    if not ranking.lists_linked:
        return None
    evidence, rows = ranking.evidence, np.flatnonzero(ranking.says_something).tolist()
    return FewAnswers(
        topic=topic_words(ranking.components.query),
        paths=tuple(evidence.paths[row] for row in rows),
        linked=frozenset(evidence.paths[row] for row in rows if ranking.is_linked[row]),
        others=ranking.total_matched - len(rows),
        linked_to=tuple(entity.name for entity in ranking.kept_entities),
        is_scoped=evidence.scope.in_scope < evidence.scope.total,
        is_linked=ranking.tuning.gate == "hard",
    )


def few_answers_note(few: FewAnswers | None) -> str:
    """Return that some results, or all, are linked to entities and nothing more; else empty."""
    if few is None or few.others <= 0:
        return ""
    names = join_limited([safe_line(name) for name in few.linked_to], " and ")
    topic = safe_line(few.topic)
    if len(topic) > MAX_TOPIC:
        topic = f"{topic[:MAX_TOPIC].rstrip()} …"
    here = " in scope" if few.is_scoped else ""
    linked = f" linked to {names}" if few.is_linked else ""
    if few.paths:
        count = f"only {format_count(len(few.paths), 'document')}{here}{linked}"
        verb = "says" if len(few.paths) == 1 else "say"
        return f"{count} {verb} something about “{topic}”; the others are linked to {names}"
    return f"no document{here}{linked} says anything about “{topic}”; these are linked to {names}"


def reranker_failure(ranking: Ranking) -> str:
    """Return why the results are not reranked although they should be; else empty."""
    reranker = ranking.evidence.reranker
    return reranker.failure if reranker is not None else ""


def cut_query_notes(query: str) -> Iterator[str]:
    """Yield a note if only a part of the query counts."""
    if len(query) > MAX_QUERY:
        yield f"the query has {len(query):,} characters; only the first {MAX_QUERY:,} count"


def not_dates_notes(query: str) -> Iterator[str]:
    """Yield what looks like a filter by date in a query but holds no date."""
    if not_dates := read_filters(query[:MAX_QUERY]).not_dates:
        named = safe_line(join_limited(not_dates, " and "))
        verb = "holds" if len(not_dates) == 1 else "hold"
        yield (
            f"{named} {verb} no date such as 2026-03-17, 2026-03 or 2026, so it was searched for "
            "as words"
        )


def unknown_names_notes(scope: Scope) -> Iterator[str]:
    """Yield which names in filters no entity has, with a similar one."""
    for unknown in scope.unknown_names:
        hint = f"; did you mean {unknown.similar}?" if unknown.similar else ""
        yield safe_line(f"no entity is called {unknown.name}{hint}")


def asks_for_experts(query: str) -> bool:
    """Return whether a query asks who knows a topic: `who knows about postgres`."""
    return _ASKS_FOR_EXPERTS.match(query[:MAX_QUERY]) is not None


def vector_notes(share: float, missing: int) -> Iterator[str]:
    """Yield a note if some texts have no vector."""
    if missing:
        texts = f"{format_count(missing, 'text')} {'has' if missing == 1 else 'have'}"
        verb = "adds it" if missing == 1 else "adds them"
        yield f"meaning {format_percent(share)}: {texts} no vector yet; `kbx index` {verb}"


def wide_scope_notes(evidence: Evidence, *, has_switch: bool = True) -> Iterator[str]:
    """Yield that only candidates were scored, or what is missing for that.

    `has_switch`: whether all are scored on request.
    """
    scope = evidence.scope
    if scope.candidates is not None:
        words = candidates_words(scope.candidates, scope.recall)
        switch = "; `kbx search --exact` scores all, which takes longer" if has_switch else ""
        yield f"scored {words}{switch}"
    elif evidence.lists_missing:
        yield (
            f"every chunk was compared: {LISTS_NAME}, which makes a search in so many faster, is "
            "missing, damaged or older than the vectors; `kbx index` writes it"
        )


def scope_notes(scope: Scope, types: Collection[str]) -> Iterator[str]:
    """Yield why no document is in scope, and types that do not exist."""
    if not scope.total:
        yield "there are no documents to search; `kbx status` shows what is indexed"
        return
    given, all_typed = scope.filters, scope.filters.typed
    kinds = [type_names(typed.values) for typed in all_typed if typed.key == "type"]
    kinds = [names for names in (given.doc_types, *kinds) if names]
    yield from unknown_types_note([name for names in kinds for name in names], types)
    yield from unknown_names_notes(scope)
    is_explained = scope.unknown_names or any(not set(names) & set(types) for names in kinds)
    if scope.in_scope or is_explained:
        return
    path = safe_line(scope.path)
    filters = {
        "path": [path],
        "type": given.doc_types,
        "from": [given.since],
        "to": [given.until],
        "tag": given.tags,
        "entity": given.entities,
    }
    named = [f"{name} {_listed(values)}" for name, values in filters.items() if any(values)]
    named += [safe_line(str(typed)) for typed in all_typed]
    if len(named) == 1 and (path or (all_typed and all_typed[0].key == "in")):
        path = path or safe_line(all_typed[0].values[0])
        yield f"there are no documents in {path}; paths start at the root: memory/meetings"
    elif named:
        yield f"no document matches {' and '.join(named)}; omit or change one of them"


def unknown_types_note(names: Collection[str], types: Collection[str]) -> Iterator[str]:
    """Yield a note if some of these types of documents do not exist."""
    if unknown := [name for name in dict.fromkeys(names) if name not in types]:
        yield f"no document has type {_listed(unknown)}; existing types: {', '.join(types)}"


def nothing_found_notes(
    search_mode: str, reason: str, *, in_scope: int, below_floor: int, fast: bool, path: bool
) -> Iterator[str]:
    """Yield how many documents were searched in vain, and what to try.

    `path` is whether the search was limited to one.
    """
    documents = format_count(in_scope, "document")
    words = (mode_name(search_mode, reason), FLAT_REASONS.get(reason, ""))
    yield f"nothing found in {documents} ({join_limited([word for word in words if word], ': ')})"
    if below_floor:
        are = "is" if below_floor == 1 else "are"
        below = format_count(below_floor, "document")
        yield f"{below} {are} too little similar to the query to be shown"
    if fast:
        yield "a search that is not fast finds documents with a similar meaning too"
    if path:
        yield "without the path, all folders are searched"
    yield "try fewer words, or the name of a person, project or team"


def _ambiguous_names(ranking: Ranking) -> Iterator[str]:
    names_of: dict[str, list[str]] = {}
    for entity in ranking.kept_entities:
        for signal in entity.signals:
            if signal.ambiguous and signal.score == entity.score:
                names_of.setdefault(signal.detail, []).append(entity.name)
    for text, names in names_of.items():
        if len(names) > 1:
            yield f"{text} may be {' or '.join(names)}; their documents count equally"


def _listed(values: Collection[str]) -> str:
    return safe_line(",".join(values))
