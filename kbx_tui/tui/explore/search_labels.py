"""Words for search modes and entity signals. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kbx_tui.formatting import FLAT_REASONS, format_percent, join_limited, mode_name
from kbx_tui.safe_text import safe_line
from kbx_tui.search.request import MAX_QUERY
from kbx_tui.tui.explore.view import Mode

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import EntityCandidate, Signal
    from kbx_tui.search.ranking.rank import Ranking


SHORT_REASONS: Mapping[str, str] = {
    FLAT_REASONS["below_threshold"]: "below threshold",
    FLAT_REASONS["too_broad"]: "too many similar",
    FLAT_REASONS["nothing_linked"]: "nothing linked",
}
"""Where there is little room."""

LEFT_OUT: Mapping[str, str] = {
    "disabled": "not used by a flat search",
    "too_broad": "as similar as many others",
    "nothing_linked": "no document is linked to it",
}
"""Why entities above the threshold do not count in a flat search."""

SIGNAL_WORDS: Mapping[str, str] = {
    "name": "name",
    "alias": "alias",
    "first_name": "first name",
    "surname": "surname",
    "fuzzy": "like",
    "role": "role",
    "team": "team",
    "fact": "fact",
    "meaning": "meaning",
}


def mode_words(ranking: Ranking) -> Mode:
    """Return the search mode, its reason, and how long the search took."""
    from kbx_tui.search.evidence.reranking import RERANK_MS  # numpy: not for the first screen

    evidence = ranking.evidence
    timings = {name: took for name, took in evidence.timings.items() if name != RERANK_MS}
    return Mode(
        name=mode_name(ranking.search_mode, ranking.search_mode_reason),
        reason=mode_reason(ranking),
        preset=ranking.tuning.preset,
        milliseconds=timings.get("total", sum(timings.values())),
        vector_share=evidence.vector_share,
        is_cut=len(evidence.query) > MAX_QUERY,
        reranker_ms=evidence.timings.get(RERANK_MS) if ranking.is_reranked else None,
        candidates=evidence.scope.candidates,
    )


def mode_reason(ranking: Ranking) -> str:
    """Return the entities for which the second pass ran, or why it did not."""
    if ranking.search_mode == "two_pass":
        names = [safe_line(entity.name) for entity in ranking.kept_entities]
        return join_limited(names, " + ", limit=2)
    return FLAT_REASONS.get(ranking.search_mode_reason, ranking.search_mode_reason)


def left_out_words(ranking: Ranking, entity: EntityCandidate) -> str:
    """Return why an entity that reaches the threshold does not count; empty if it does not."""
    tuning = ranking.tuning
    if entity.score < tuning.entity_threshold or not entity.found or entity.id in tuning.muted:
        return ""
    if ranking.search_mode == "two_pass":
        return f"only the best {tuning.max_entities} count"
    return LEFT_OUT.get(ranking.search_mode_reason, "")


def mode_candidates(mode: Mode) -> tuple[str, ...]:
    """Return texts for the badge, the longest first; it shows the first that fits."""
    time = f"{mode.milliseconds:.0f} ms"
    if mode.reranker_ms is not None:
        time += f" + reranker {mode.reranker_ms:.0f} ms"
    complete = mode.vector_share >= 1.0 or mode.name == "fast"
    meaning = "" if complete else f"meaning {format_percent(mode.vector_share)}"
    if mode.candidates is not None:
        scored = f"{mode.candidates:,} candidates"
        meaning = f"{scored} · {meaning}" if meaning else scored
    short = "" if mode.name == "two-pass" else SHORT_REASONS.get(mode.reason, mode.reason)
    name = f"{mode.name}, seed" if mode.preset == "seed" else mode.name
    cut = f"first {MAX_QUERY:,} characters" if mode.is_cut else ""
    wordings = (
        (name, cut, mode.reason, meaning, time),
        (name, cut, mode.reason, meaning),
        (name, cut, mode.reason),
        (name, cut, short, meaning, time),
        (name, cut, short, meaning),
        (name, cut, short),
        (name, cut),
        (name,),
        (mode.name,),
    )
    return tuple(" · ".join(word for word in words if word) for words in wordings)


def signal_words(signals: Sequence[Signal], most: int = 3) -> str:
    """Return why an entity matched: `name “alice”, 2 facts`; empty when only its meaning did."""
    if all(signal.kind == "meaning" for signal in signals):
        return ""
    words: list[str] = []
    facts = [signal for signal in signals if signal.kind == "fact"]
    for signal in signals:
        if signal.kind == "fact" and len(facts) > 1:
            if signal is facts[0]:
                words.append(f"{len(facts)} facts")
            continue
        word = SIGNAL_WORDS.get(signal.kind, signal.kind)
        detail = safe_line(signal.detail)
        word = f"{word} “{detail}”" if detail and signal.kind != "meaning" else word
        words.append(f"{word} ({signal.taught})" if signal.taught else word)
    return join_limited(words, ", ", limit=most)
