"""What the dedup mode says in the help, on the threshold, after a scan and after undoing. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_count, format_score, join_limited
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.dedup.rows import KnownRow, ScanEnded
from kbx_tui.tui.drawing.cell_text import shorten

if TYPE_CHECKING:
    from kbx_tui.config import DedupSettings
    from kbx_tui.drafting.decided_pairs import LabelledScore, ThresholdMetrics
    from kbx_tui.drafting.drafts import Draft
    from kbx_tui.tui.dedup.draft_store import ReviewStep
    from kbx_tui.tui.dedup.rows import DraftRow


Meanings = tuple[tuple[str, str], ...]

STATES: Mapping[str, str] = {
    "new": "Nothing that is known about its entity is similar enough. It would be written.",
    "exact": "Its entity has this very text already, apart from case, accents and spacing.",
    "near": "A fact of its entity says almost the same: compare them word by word on the right.",
    "conflict": "A similar fact differs in a number, date, name, negation or opposite.",
    "repeated": "An earlier draft of this list says the same.",
    "checking": "It is being compared with what is known.",
}
ACTIONS: Mapping[str, str] = {
    "create": "A new line on the page of its entity.",
    "merge": "One line in place of the known one, which you edit first.",
    "supersede": "The known line is struck out, and the draft written above it.",
    "skip": "Nothing is written, and the draft leaves the list.",
    "keep both": "Both lines stay as they are on their pages, and are not found again.",
}
RELATIONS: Mapping[str, str] = {
    "exact": "the same text",
    "duplicate": "the same in other words",
    "conflict": "similar, but they contradict each other",
    "related": "about the same thing",
    "different": "something else",
}


def draft_words(draft: DraftRow) -> Meanings:
    words = [(f"{draft.sign} {draft.state}", STATES[draft.state])]
    if draft.hint:
        about = "The base says this of exactly one other. Perhaps only one of them can be right."
        words.append((draft.hint, f"{about} It decides nothing."))
    if draft.action:
        mark = "✓" if draft.is_decided else "" if draft.is_sure else "?"
        by = "You have decided that." if draft.is_decided else "It is proposed."
        review = "" if draft.is_decided or draft.is_sure else " The ? asks you to look at it first."
        text = f"{ACTIONS[draft.action_words]} {by}{review}"
        words.append((f"→ {draft.action_words} {mark}".rstrip(), text))
    return tuple(words)


def known_words(known: KnownRow) -> Meanings:
    score = "How likely both say the same, 0 to 1, calibrated on pairs of facts."
    decides = "" if known.decides else " It belongs to another entity, so it does not decide."
    words = [(f"{format_score(known.score)} {known.relation}", f"{score}{decides}")]
    if known.relation in RELATIONS:
        words[0] = (words[0][0], f"{score} Here: {RELATIONS[known.relation]}.{decides}")
    details = "raw is the similarity of their vectors, words the share of content words in common."
    words.append((known.details, details[0].upper() + details[1:]))
    if known.conflicts:
        words.append(
            (known.conflicts, "What the known fact says, and what the draft says instead.")
        )
    words.append(("[words]", "In brackets is what only one of the two texts has."))
    return tuple(words)


def threshold_words(threshold: float, note: str) -> Meanings:
    text = (
        "From this score on, a known fact keeps a draft from being new. Moving it searches nothing."
    )
    return ((f"threshold {format_score(threshold)}", text), *((("now", note),) if note else ()))


DIFF_WORDS: Meanings = (
    (
        "+ │ −",
        "The very lines of the file that would be added and removed, as decided or proposed.",
    ),
)


LABELS_NEEDED = 20
"""Labelled pairs from which precision and recall are shown."""
START = 0.9


def describe_saved(count: int) -> str:
    left = LABELS_NEEDED - count
    more = f"; {left} more to measure the threshold" if left > 0 else ""
    return f"{format_count(count, 'label')} saved{more}"


def describe_threshold(
    settings: DedupSettings | None, labels: Sequence[LabelledScore], threshold: float | None
) -> tuple[float, str]:
    """Return the position of the slider, and a note on it; `settings` are None before opening."""
    if settings is None:
        return START, ""
    if threshold is None:
        kinds = f"fact {format_score(settings.fact_threshold)}"
        kinds += f", open item {format_score(settings.open_item_threshold)}"
        return settings.fact_threshold, f"by kind: {kinds}"
    from kbx_tui.drafting.decided_pairs import measure_threshold  # loaded with the drafts

    metrics = measure_threshold(labels, threshold)
    if metrics is None:
        left = LABELS_NEEDED - len(labels)
        return threshold, f"{left} pairs with y or n show how good it is"
    return threshold, metrics_note(metrics)


def metrics_note(metrics: ThresholdMetrics) -> str:
    """Return precision and recall first, since a narrow slider cuts the end of its note."""
    precision, recall = format_score(metrics.precision), format_score(metrics.recall)
    return f"precision {precision} recall {recall} on {metrics.labels} labels"


def describe_scan(scan: ScanEnded, key_of: Callable[[str], str]) -> str:
    """Return the notice after a scan; `key_of` returns the key of a command."""
    if scan.kept:
        return _describe_kept(scan, key_of("draft.skip"))
    kept = f"{key_of('drafts.kept')} lists what you keep" if scan.has_kept else ""
    if scan.added:
        found = f"{format_count(len(scan.added), 'fact')} stated more than once"
    elif scan.found:
        found = "all facts stated more than once are in the list"
    else:
        found = f"the base states nothing {'else ' if kept else ''}more than once"
    return f"{found}; {kept}" if kept else found


def _describe_kept(scan: ScanEnded, key: str) -> str:
    if scan.added:
        count = format_count(len(scan.added), "fact")
        return f"you keep {count} stated more than once; {key} on one takes that back"
    return (
        "all duplicates that you keep are in the list" if scan.found else "you keep no duplicates"
    )


NAMED = 40
"""Cells of a draft's text in a notice."""


def describe_undone_write(paths: Sequence[str], settled: int) -> str:
    """Return what a write changed that is undone: `undid the write to people/alice-chen.md`."""
    names = [safe_line(path).removeprefix("memory/") for path in paths]
    files = join_limited(names) if names else "no file"
    again = f"; {format_count(settled, 'draft')} here again" if settled else ""
    return f"undid the write to {files}{again}"


def describe_undone(drafts: Sequence[Draft], threshold: float | None, step: ReviewStep) -> str:
    if step.kind == "threshold" or (step.drafts == tuple(drafts) and step.threshold != threshold):
        value = "by kind" if step.threshold is None else format_score(step.threshold)
        return f"threshold is {value} again"
    now, then = ({draft.id: draft for draft in each} for each in (drafts, step.drafts))
    gone = [draft for draft in drafts if draft.id not in then]
    back = [draft for draft in step.drafts if draft.id not in now]
    changed = [draft for draft in step.drafts if draft.id in now and draft != now[draft.id]]
    parts = [
        f"{_named(drafts_)} {what}"
        for drafts_, what in ((gone, "removed again"), (back, "here again"))
        if drafts_
    ]
    parts += [_change(now[draft.id], draft) for draft in changed[:1]]
    return "undone: " + (", ".join(parts) or "the last change")


def _change(now: Draft, then: Draft) -> str:
    named = _named([then])
    if now.text != then.text:
        return f"{named} has its former text"
    if now.kind != then.kind:
        return f"{named} is {'a fact' if then.kind == 'fact' else 'an open item'} again"
    if now.choice == then.choice:
        return f"{named} has its former entity"
    return f"{named} is {f'to {then.choice.action}' if then.choice else 'undecided'} again"


def _named(drafts: Sequence[Draft]) -> str:
    if len(drafts) > 1:
        return format_count(len(drafts), "draft")
    return f"“{shorten(safe_line(drafts[0].text), NAMED)}”"
