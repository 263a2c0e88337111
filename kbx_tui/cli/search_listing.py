"""The results of a search for people: a bar per result, and why in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from kbx_tui.cli import output
from kbx_tui.cli.running import say
from kbx_tui.formatting import FLAT_REASONS, join_words, mode_name, score_text, stacked_bar
from kbx_tui.safe_text import visible
from kbx_tui.search.ranking.explain import rounded_parts

if TYPE_CHECKING:
    from kbx_tui.search.results.response import SearchMeta, SearchResponse, SearchResult

MOST_WIDTH = 120
ENTITIES_SHOWN = 5
DATE_WIDTH = len("2026-03-17")
DRAWN_WIDTH = 60
"""Of the title of a document that drew the meaning of a query."""
_OPTION = {"types": "type", "from": "from", "to": "to", "tags": "tag", "entities": "entity"}
"""Filter as an explanation names it -> option of the command line."""
DOCUMENT, ENTITY, DIM = "cyan", "magenta", "dim"


def print_listing(response: SearchResponse, kinds: Collection[str], *, explain: bool) -> None:
    """Print the results; what to try instead goes to stderr when there are none.

    `kinds` are those the base holds.
    """
    for note in response.meta.notes:
        say(note)
    if not response.results:
        for hint in nothing_found(response, kinds):
            say(hint)
        return
    console = output.console()
    width = min(console.width, MOST_WIDTH)
    rank_width = len(str(len(response.results)))
    console.print(heading(response))
    if response.meta.pass1_entities:
        console.print(entity_line(response.meta, width))
    if explain and (drawn := drawn_line(response.meta)):
        console.print(*_wrapped(Text(drawn, DIM), width), sep="\n")
    for rank, result in enumerate(response.results, 1):
        console.print()
        lines = result_lines(rank, result, width, rank_width)
        for reason in explain_lines(result.explain or {}) if explain else []:
            lines += _indented(Text(reason, DIM), width, rank_width)
        for line in lines:
            console.print(line)


def heading(response: SearchResponse) -> Text:
    """Return mode, reason, and how many results of how many.

    No time: a single search is nearly all loading, and `--json` has the timings.
    """
    meta = response.meta
    name = mode_name(meta.search_mode, meta.search_mode_reason)
    count = f"{len(response.results)} of {meta.total_matched:,}"
    words = [word for word in (_reason(meta), count) if word]
    return Text.assemble((name, "bold"), (f" · {' · '.join(words)}", DIM))


def entity_line(meta: SearchMeta, width: int) -> Text:
    """Return the entities of pass 1 with their scores, ● for those that were kept."""
    kept = _kept(meta)
    line = Text()
    for entity in meta.pass1_entities[:ENTITIES_SHOWN]:
        is_kept = entity.id in kept
        words = f"{'●' if is_kept else '○'} {visible(entity.name)} {score_text(entity.score)}"
        if line and cell_len(line.plain) + 3 + cell_len(words) > width:
            break
        line.append("   " if line else "").append(words, ENTITY if is_kept else DIM)
    return line


def drawn_line(meta: SearchMeta) -> str:
    """Return which documents drew the meaning of the query; empty when none did."""
    found = (meta.explain or {}).get("drawn_to", ())
    titles = [shortened(visible(one["title"]), DRAWN_WIDTH) for one in found]
    return f"meaning drawn to {join_words(titles)}" if titles else ""


def result_lines(rank: int, result: SearchResult, width: int, rank_width: int) -> list[Text]:
    """Return score and title, then where it is, then the snippet with the words found in bold."""
    why = result.explain or {}
    bar_width = 20 if width >= 100 else 10 if width >= 60 else 0
    first = Text(f"{rank:>{rank_width}} ")
    first.append(f"{score_text(result.score):>4} ", "bold")
    if bar_width:
        exact = bool(why.get("exact"))
        document, entity = stacked_bar(
            1.0 if exact else why.get("document_part", 0.0),
            0.0 if exact else why.get("entity_part", 0.0),
            bar_width,
        )
        first.append(document, DOCUMENT).append(entity, ENTITY)
        first.append(" " * (bar_width - len(document) - len(entity) + 1))
    date = visible(result.date)
    title_width = max(width - cell_len(first.plain) - (DATE_WIDTH + 1 if date else 0), 10)
    title = shortened(visible(result.title), title_width)
    first.append(title, "bold")
    if date:
        first.append(" " * (title_width - cell_len(title) + 1)).append(date, DIM)
    where = Text(f"{_indent(rank_width)}{visible(result.path)}:{result.line}", style=DIM)
    snippet = highlighted(result.snippet, result.matches)
    return [first, where, *_indented(snippet, width, rank_width)]


def explain_lines(why: Mapping[str, Any]) -> list[str]:
    """Return the arithmetic of one score; the parts add up to the sums as they are printed."""
    parts = {
        "document": why["document_part"],
        "entity": why["entity_part"],
        "hotness": why["hotness_part"],
    }
    words, meaning = (
        why["lexical_score"] * why["lexical_weight"],
        why["vector_score"] * why["vector_weight"],
    )
    found = [f"{visible(term['term'])} ×{term['body_count']}" for term in why["matched_terms"]]
    if words and not found:
        found = ["in its title or frontmatter"]
    cosine = "no vector" if why["cosine"] is None else f"cosine {score_text(why['cosine'])}"
    document = [
        (words, _with("words", join_words(found, most=5))),
        (meaning, _with("meaning", cosine)),
    ]
    if why["lent_by"]:
        document.append((why["lent"], f"lent by the {why['lent_by']}"))
    told = [(value, name) for name, value in parts.items() if value]
    lines = [
        _sum(sum(parts.values()), "else" if why["exact"] else "score", told),
        _sum(why["doc_relevance"], "document", document),
    ]
    shares = [
        (entity["share"], _with(visible(entity["name"]), visible(entity["reason"])))
        for entity in why["entities"]
        if entity["share"]
    ]
    if shares:
        lines.append(_sum(why["parent_entity_score"], "entity", shares))
    if why["exact"]:
        return [f"exact {why['exact']}: shown first, with score 1.00", *lines]
    return lines


def nothing_found(response: SearchResponse, kinds: Collection[str]) -> list[str]:
    """Return what to try when there are no results in a base that holds documents of `kinds`."""
    meta = response.meta
    if not meta.in_scope:
        return [_nothing_in_scope(meta, kinds)]
    name = mode_name(meta.search_mode, meta.search_mode_reason)
    mode = join_words([word for word in (name, _reason(meta)) if word], ": ")
    lines = [f"nothing found in {meta.in_scope:,} documents ({mode})"]
    if meta.search_mode_reason == "fast":
        lines.append("without --fast, documents of similar meaning are found too")
    if meta.path_filter:
        lines.append("without --path, all folders are searched")
    return [*lines, "try fewer words, or the name of a person, project or team"]


def _nothing_in_scope(meta: SearchMeta, kinds: Collection[str]) -> str:
    filters = (meta.explain or {}).get("filters", {})
    given = [f"--{_OPTION[name]} {_listed(value)}" for name, value in filters.items() if value]
    path = visible(meta.path_filter or "")
    if not kinds:
        return "there is no document to search; `kbx status` says what is indexed"
    if strange := [one for one in filters.get("types", ()) if one not in kinds]:
        return f"no document is of type {_listed(strange)}; there are {', '.join(kinds)}"
    if not given:
        return f"no document lies in {path}; paths start at the root: memory/meetings"
    passed = " and ".join([f"--path {path}", *given] if path else given)
    return f"no document passes {passed}; leave one out or change it"


def _listed(value: str | Sequence[str]) -> str:
    return visible(value if isinstance(value, str) else ",".join(value))


def highlighted(text: str, matches: Iterable[Sequence[int]]) -> Text:
    """Return `text` with the words found in bold; cleaned piece by piece, as spans count raw."""
    line, at = Text(), 0
    for start, end in matches:
        line.append(visible(text[at:start])).append(visible(text[start:end]), "bold yellow")
        at = end
    return line.append(visible(text[at:]))


def shortened(text: str, width: int) -> str:
    """Return `text`, cut with an ellipsis when it takes more than `width` cells."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…"


def _reason(meta: SearchMeta) -> str:
    if meta.search_mode == "two_pass":
        kept = _kept(meta)
        return join_words(
            [visible(entity.name) for entity in meta.pass1_entities if entity.id in kept],
            " + ",
            most=2,
        )
    return FLAT_REASONS.get(meta.search_mode_reason, meta.search_mode_reason)


def _kept(meta: SearchMeta) -> set[str]:
    return set((meta.explain or {}).get("kept_entities", ()))


def _indent(rank_width: int) -> str:
    """Return the space below rank and score."""
    return " " * (rank_width + 6)


def _indented(text: Text, width: int, rank_width: int) -> list[Text]:
    """Return `text` in lines of at most `width` cells, below the title of its result."""
    indent = _indent(rank_width)
    room = max(width - len(indent), 20)
    return [Text(indent).append_text(line) for line in _wrapped(text, room)]


def _wrapped(text: Text, width: int) -> list[Text]:
    lines = text.wrap(output.console(), width)
    for line in lines:
        line.rstrip()
    return list(lines)


def _sum(total: float, name: str, parts: Sequence[tuple[float, str]]) -> str:
    """Return `document .78 = .36 words + .42 meaning`; the parts printed add up to the total."""
    values = rounded_parts(total, [value for value, _ in parts])
    terms = [f"{score_text(value)} {what}" for value, (_, what) in zip(values, parts, strict=True)]
    return f"{name} {score_text(total)} = {' + '.join(terms) or '0'}"


def _with(name: str, detail: str) -> str:
    return f"{name} ({detail})" if detail else name
