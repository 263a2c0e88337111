"""The entities that a search found, with their scores, and what each of them did. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kbx_tui.formatting import FLAT_REASONS, format_count, format_score
from kbx_tui.search.results.meta_words import kept_entities
from kbx_tui.search.results.response import PassOneEntity, SearchMeta, SearchResponse
from kbx_tui.sharing.html_elements import Markup, element
from kbx_tui.sharing.score_bar import NARROW, score_bar

MOST_ROWS = 10
"""Further entities are counted: those below the threshold are often many."""


def entity_section(responses: Mapping[str, SearchResponse]) -> Markup:
    """Return a table of the entities of each base; empty where no base found any."""
    found = {name: each for name, each in responses.items() if each.meta.pass1_entities}
    if not found:
        return Markup()
    parts = []
    for name, response in found.items():
        if len(responses) > 1:
            parts.append(element("h3", element("bdi", name)))
        parts += _tables(response)
    return element(
        "section",
        element("h2", "Entities", id="entities"),
        *parts,
        class_="entities",
        aria_labelledby="entities",
    )


def _tables(response: SearchResponse) -> list[Markup]:
    """Return a table of the entities that count, and a folded one of the others."""
    meta = response.meta
    kept = [entity for entity in meta.pass1_entities if entity.id in kept_entities(meta)]
    others = [entity for entity in meta.pass1_entities if entity not in kept]
    tables = [_table(kept, response)] if kept else []
    if others:
        found = format_count(len(others), "entity")
        summary = f"{found} found that {'does' if len(others) == 1 else 'do'} not count"
        folded = element("details", element("summary", summary), _table(others, response))
        tables.append(folded)
    return tables


def _table(entities: Sequence[PassOneEntity], response: SearchResponse) -> Markup:
    """Return a table with a group of rows for each reason why entities count or do not."""
    counts = _results_by_entity(response)
    groups: dict[str, list[Markup]] = {}
    for entity in entities[:MOST_ROWS]:
        group = groups.setdefault(entity_words(entity, response.meta), [])
        group.append(_row(entity, response.meta, counts[entity.id]))
    bodies = [
        element("tbody", element("tr", element("th", words, colspan="2", scope="rowgroup")), *rows)
        for words, rows in groups.items()
    ]
    if len(entities) > MOST_ROWS:
        more = f"and {format_count(len(entities) - MOST_ROWS, 'entity')} more"
        bodies.append(element("tbody", element("tr", element("td", more, colspan="2"))))
    columns = (element("th", column, scope="col") for column in ("Entity", "Score"))
    return element("table", element("thead", element("tr", *columns)), *bodies)


def _row(entity: PassOneEntity, meta: SearchMeta, results: int) -> Markup:
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
    """Return whether an entity counts, and why."""
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
    """Return to how many results each entity added, by id."""
    return Counter(
        entity["id"]
        for result in response.results
        for entity in (result.explain or {}).get("entities", ())
        if entity["share"]
    )
