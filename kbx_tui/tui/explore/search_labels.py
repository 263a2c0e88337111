"""The words for what the engine did: modes, signals, progress. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kbx_tui.formatting import FLAT_REASONS, duration_words, join_words, mode_name
from kbx_tui.safe_text import visible
from kbx_tui.tui.explore.view import Mode

if TYPE_CHECKING:
    from kbx_tui.index.build.progress import Progress
    from kbx_tui.search.evidence.evidence import Signal
    from kbx_tui.search.ranking.rank import Ranking


SHORT_REASONS: Mapping[str, str] = {
    FLAT_REASONS["below_threshold"]: "below threshold",
    FLAT_REASONS["too_broad"]: "too many similar",
    FLAT_REASONS["nothing_linked"]: "nothing linked",
}
"""For small places."""

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
    """Return what kind of search this was, in words."""
    evidence = ranking.evidence
    timings = evidence.timings
    return Mode(
        name=mode_name(ranking.search_mode, ranking.search_mode_reason),
        reason=mode_reason(ranking),
        milliseconds=timings.get("total", sum(timings.values())),
        vector_share=evidence.vector_share,
    )


def mode_reason(ranking: Ranking) -> str:
    """Return the entities that opened the second pass, or why there was none."""
    if ranking.search_mode == "two_pass":
        names = [visible(entity.name) for entity in ranking.kept_entities]
        return join_words(names, " + ", most=2)
    return FLAT_REASONS.get(ranking.search_mode_reason, ranking.search_mode_reason)


def mode_candidates(mode: Mode) -> tuple[str, ...]:
    """Return what the badge may say, longest first; the place it has decides."""
    time = f"{mode.milliseconds:.0f} ms"
    complete = mode.vector_share >= 1.0 or mode.name == "fast"
    meaning = "" if complete else f"meaning {mode.vector_share * 100:.0f} %"
    short = "" if mode.name == "two-pass" else SHORT_REASONS.get(mode.reason, mode.reason)
    wordings = (
        (mode.name, mode.reason, meaning, time),
        (mode.name, mode.reason, meaning),
        (mode.name, mode.reason),
        (mode.name, short, meaning, time),
        (mode.name, short, meaning),
        (mode.name, short),
        (mode.name,),
    )
    return tuple(" · ".join(word for word in words if word) for words in wordings)


def signal_words(signals: Sequence[Signal], most: int = 3) -> str:
    """Return why an entity fits: `name “alice”, 2 facts`; nothing when only its meaning does."""
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
        detail = visible(signal.detail)
        words.append(f"{word} “{detail}”" if detail and signal.kind != "meaning" else word)
    return join_words(words, ", ", most=most)


def progress_words(progress: Progress) -> str:
    """Return how far indexing is: `indexing: vectors 312 of 1,204, 26 s left`."""
    words = f"indexing: {progress.stage} {progress.done:,} of {progress.total:,}"
    if progress.seconds_left is not None and progress.seconds_left >= 1.0:
        words += f", {duration_words(progress.seconds_left)} left"
    return words
