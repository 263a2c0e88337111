"""The results of a search and the entities that it found, as sections of its page. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kbx_tui.api.several_bases import OwnedResult
from kbx_tui.formatting import FLAT_REASONS, format_count, format_score
from kbx_tui.search.results.response import (
    PassOneEntity,
    ScoreReasons,
    ScoreSum,
    SearchMeta,
    SearchResponse,
    SearchResult,
    kept_entities,
    score_reasons,
)
from kbx_tui.sharing.html_elements import NARROW, Markup, element, joined, score_bar

LOOKS = {
    "document": ("plain", " for what the document says"),
    "entity": ("hatched", " for what it is linked to"),
    "reranker": ("dotted", " for what the reranker adds"),
}
"""Part of a score -> how its bar looks, and what it means."""
OPEN = 3
"""Results whose explanation is unfolded."""


def result_section(results: Sequence[OwnedResult], *, names_base: bool, is_fast: bool) -> Markup:
    """Return the results as a list, or a sentence if there are none.

    With `names_base`, each names the base that it is of.
    """
    heading = element("h2", "Results", id="results")
    if not results:
        nothing = element("p", "No document was found.", class_="nothing")
        return element("section", heading, nothing, class_="results", aria_labelledby="results")
    rows = [
        element("li", _article(rank, own, names_base=names_base, is_fast=is_fast))
        for rank, own in enumerate(results, 1)
    ]
    return element(
        "section",
        heading,
        _legend(results),
        element("ol", *rows),
        class_="results",
        aria_labelledby="results",
    )


def _legend(results: Sequence[OwnedResult]) -> Markup:
    """Return what the looks of a bar mean, those that occur; empty where no document is linked."""
    used = {
        kind for own in results for kind in LOOKS if (own.result.explain or {}).get(f"{kind}_part")
    }
    if used <= {"document"}:
        return Markup()
    words = [
        joined((element("span", look, class_=f"{kind}-word"), meaning))
        for kind, (look, meaning) in LOOKS.items()
        if kind in used
    ]
    return element("p", "The bar of a score: ", joined(words, ", "), ".", class_="dim legend")


def _article(rank: int, own: OwnedResult, *, names_base: bool, is_fast: bool) -> Markup:
    result = own.result
    title = result.title or result.path
    explanation = result.explain
    reasons = None if explanation is None else score_reasons(explanation, fast=is_fast)
    return element(
        "article",
        element(
            "h3",
            element("span", f"{rank} ", class_="rank"),
            element("bdi", title),
        ),
        _place(own, names_base=names_base),
        element("p", _bar(result), " ", _parts(reasons), class_="sum-line"),
        _passage(result) if result.snippet else Markup(),
        _why(result, reasons, is_open=rank <= OPEN),
    )


def _place(own: OwnedResult, *, names_base: bool) -> Markup:
    result = own.result
    parts = [
        *([element("bdi", own.base)] if names_base else []),
        *(element("span", text) for text in (result.date, result.doc_type) if text),
        element("bdi", f"{result.path}:{result.line}", class_="path"),
    ]
    return element("p", joined(parts, " · "), class_="place dim")


def _bar(result: SearchResult) -> Markup:
    explanation = result.explain or {}
    if explanation.get("exact"):
        return score_bar(result.score, document=1.0)
    return score_bar(
        result.score,
        document=explanation.get("document_part", 0.0),
        entity=explanation.get("entity_part", 0.0),
        reranker=explanation.get("reranker_part", 0.0),
    )


def _parts(reasons: ScoreReasons | None) -> Markup:
    """Return `.43 document + .43 entity`; nothing where that is not how the score is made."""
    if reasons is None or reasons.first:
        return Markup()
    words = " + ".join(f"{format_score(value)} {name}" for value, name in reasons.sums[0].addends)
    return element("span", words, class_="dim")


def _passage(result: SearchResult) -> Markup:
    """Return the passage with the words of the query marked.

    Text is made safe piece by piece, because the spans refer to the original.
    """
    text, pieces, position = result.snippet, list[str](), 0
    for start, end in result.matches:
        pieces += [text[position:start], element("mark", text[start:end])]
        position = end
    pieces.append(text[position:])
    if result.is_cut:
        pieces.append(" …")
    return element("p", *pieces, class_="passage", dir="auto")


def _why(result: SearchResult, reasons: ScoreReasons | None, *, is_open: bool) -> Markup:
    if reasons is None:
        return element("p", "It is linked to an entity, and no more of it is shown.", class_="dim")
    return element(
        "details",
        element("summary", f"Why {format_score(result.score)}"),
        element("p", reasons.first) if reasons.first else Markup(),
        element("div", *map(_sum, reasons.sums), class_="sums"),
        element("p", reasons.last) if reasons.last else Markup(),
        open="" if is_open else None,
    )


def _sum(total: ScoreSum) -> Markup:
    addends = [
        element("li", element("b", format_score(value), class_="score"), " ", element("bdi", words))
        for value, words in total.addends
    ]
    return element(
        "div",
        element("h4", f"{total.name} ", element("b", format_score(total.total), class_="score")),
        element("ul", *addends) if addends else element("p", "0"),
        element("p", total.note, class_="dim") if total.note else Markup(),
    )


MOST_ROWS = 10
"""Further entities are counted: those below the threshold are often many."""


def entity_section(responses: Mapping[str, SearchResponse]) -> Markup:
    found = {name: each for name, each in responses.items() if each.meta.pass1_entities}
    if not found:
        return Markup()
    parts = []
    for name, response in found.items():
        if len(responses) > 1:
            parts.append(element("h3", element("bdi", name)))
        parts += _entity_tables(response)
    return element(
        "section",
        element("h2", "Entities", id="entities"),
        *parts,
        class_="entities",
        aria_labelledby="entities",
    )


def _entity_tables(response: SearchResponse) -> list[Markup]:
    meta = response.meta
    kept = [entity for entity in meta.pass1_entities if entity.id in kept_entities(meta)]
    others = [entity for entity in meta.pass1_entities if entity not in kept]
    tables = [_entity_table(kept, response)] if kept else []
    if others:
        found = format_count(len(others), "entity")
        summary = f"{found} found that {'does' if len(others) == 1 else 'do'} not count"
        folded = element("details", element("summary", summary), _entity_table(others, response))
        tables.append(folded)
    return tables


def _entity_table(entities: Sequence[PassOneEntity], response: SearchResponse) -> Markup:
    """Return a table with a group of rows for each reason why entities count or do not."""
    counts = _results_by_entity(response)
    groups: dict[str, list[Markup]] = {}
    for entity in entities[:MOST_ROWS]:
        group = groups.setdefault(entity_words(entity, response.meta), [])
        group.append(_entity_row(entity, response.meta, counts[entity.id]))
    bodies = [
        element("tbody", element("tr", element("th", words, colspan="2", scope="rowgroup")), *rows)
        for words, rows in groups.items()
    ]
    if len(entities) > MOST_ROWS:
        more = f"and {format_count(len(entities) - MOST_ROWS, 'entity')} more"
        bodies.append(element("tbody", element("tr", element("td", more, colspan="2"))))
    columns = (element("th", column, scope="col") for column in ("Entity", "Score"))
    return element("table", element("thead", element("tr", *columns)), *bodies)


def _entity_row(entity: PassOneEntity, meta: SearchMeta, results: int) -> Markup:
    is_kept = entity.id in kept_entities(meta)
    adds = f"adds to {format_count(results, 'result')}" if is_kept else ""
    details = " · ".join(filter(None, (entity.type, adds)))
    return element(
        "tr",
        element(
            "th",
            "● " if is_kept else "○ ",
            element("bdi", entity.name),
            " ",
            element("span", details, class_="dim"),
            scope="row",
        ),
        element("td", score_bar(entity.score, entity=entity.score, full=NARROW)),
    )


def entity_words(entity: PassOneEntity, meta: SearchMeta) -> str:
    explain = meta.explain or {}
    threshold = format_score(explain["hierarchy_threshold"])
    if entity.id in explain["muted"]:
        return "Muted: ignored"
    if entity.id in kept_entities(meta):
        is_pinned = entity.id in explain["pinned"]
        return (
            "Counts: pinned" if is_pinned else f"Counts: at or above the threshold of {threshold}"
        )
    if entity.score < explain["hierarchy_threshold"]:
        return f"Below the threshold of {threshold}"
    if meta.search_mode == "two_pass":
        return f"Only the best {explain['max_entities']} count"
    return f"The search is flat: {FLAT_REASONS.get(meta.search_mode_reason, '')}"


def _results_by_entity(response: SearchResponse) -> Counter[str]:
    return Counter(
        entity["id"]
        for result in response.results
        for entity in (result.explain or {}).get("entities", ())
        if entity["share"]
    )
