"""What the dedup mode shows and says of drafts, known facts, the threshold and steps undone. Pure.

Text from files and drafts is made safe for the terminal here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.formatting import STATE_SIGNS, format_count, format_score, join_limited
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.lines import format_place, shorten

if TYPE_CHECKING:
    from kbx_tui.config import DedupSettings
    from kbx_tui.drafting.decided_pairs import LabelledScore, ThresholdMetrics
    from kbx_tui.drafting.drafts import (
        Action,
        Applied,
        Draft,
        DraftCheck,
        DraftProblem,
        Plan,
        Verdict,
    )
    from kbx_tui.drafting.texts import Difference
    from kbx_tui.similarity.pair_score import PairSimilarity


CHECKING = ("·", "checking")
KINDS = {"fact": "fact", "open_item": "open item"}


@dataclass(frozen=True, slots=True)
class DraftRow:
    id: str
    sign: str
    state: str
    text: str
    about: str
    """Owner and kind: `Alice Chen (guessed) · fact`."""
    action: str
    action_words: str
    is_decided: bool
    is_sure: bool
    has_page: bool
    reason: str
    is_fact: bool = True
    is_open: bool = False
    """Whether nobody says whose it is: it then belongs to the owner of the fact it is to change."""
    is_found: bool = False
    """Whether a scan found it: it is on its page already, and neither changed nor written."""
    hint: str = ""
    by: str = ""
    """Which agent proposes it, and since when: `claude-code, 2 min ago`."""
    removes: bool = False
    """Whether an agent asks to remove the fact, rather than to write one."""

    @property
    def is_checked(self) -> bool:
        return self.state != CHECKING[1]

    @property
    def is_settled(self) -> bool:
        return self.action == "skip" or self.has_page if self.is_decided else self.is_sure


DECIDING: Mapping[str, tuple[str, ...]] = {
    "new": ("draft.create",),
    "near": ("draft.merge", "draft.supersede"),
    "conflict": ("draft.supersede", "draft.merge"),
}
"""The commands that decide about a draft, by its state, beside that which skips it."""


def deciding(draft: DraftRow) -> list[str]:
    """Return the two commands most likely to decide about a draft, that of its proposal first."""
    changes = draft.action in ("tick", "strike", "delete")
    proposed = f"draft.{'supersede' if changes else draft.action}"
    likely = dict.fromkeys((proposed, *DECIDING.get(draft.state, ())))
    return [command for command in likely if command not in ("draft.", "draft.skip")][:2]


def describe_drafts(rows: Sequence[DraftRow], *, checking: bool) -> str:
    """Return `2 writes · 1 to decide, marked ?`."""
    if not rows:
        return ""
    if checking:
        return "checking …"
    writes = sum(row.is_settled and row.action != "skip" for row in rows)
    undecided = sum(not row.is_settled for row in rows)
    to_decide = f" · {undecided} to decide, marked ?" if undecided else ""
    return format_count(writes, "write") + to_decide


def draft_row(draft: Draft, check: DraftCheck | None, verdict: Verdict | None) -> DraftRow:
    entity = check.entity if check is not None else None
    owner = safe_line(draft.entity_name)
    if check is None:
        owner = owner or "…"  # not its id, which is for files
    elif owner := owner or safe_line(draft.entity_id):
        owner += " (unknown)"
    if check is not None and entity is not None:
        owner = safe_line(entity.name)
        is_given = draft.entity_name or entity.name.casefold() in draft.text.casefold()
        owner += " (guessed)" if check.draft.is_guessed and not is_given else ""
        owner += "" if entity.path else ", no page yet"
    is_named = bool(draft.entity_name) or (entity is not None and entity.is_named)
    sign, state = CHECKING if verdict is None else (STATE_SIGNS[verdict.state], verdict.state)
    choice = draft.choice or (verdict.proposal if verdict is not None else None)
    action = choice.action if choice is not None else ""
    other = check.of_another if check is not None and sign == STATE_SIGNS["new"] else None
    return DraftRow(
        id=draft.id,
        sign=sign,
        state=state,
        text=safe_line(draft.text),
        about=f"{owner or 'unassigned'} · {KINDS[draft.kind]}",
        action=action,
        action_words="keep both" if action == "skip" and draft.stands_for is not None else action,
        is_decided=draft.choice is not None,
        is_sure=verdict is not None and verdict.is_sure,
        has_page=entity is not None and bool(entity.path),
        reason=verdict_reason(verdict) if verdict is not None else "",
        is_fact=draft.kind == "fact",
        is_open=check is not None and draft.is_guessed and not is_named,
        is_found=draft.stands_for is not None,
        hint=f"said of {safe_line(other.known.entity_name)} too" if other is not None else "",
        by=safe_line(draft.asked.words) if draft.asked is not None else "",
        removes=draft.asked is not None and draft.asked.choice.action in ("strike", "delete"),
    )


def verdict_reason(verdict: Verdict) -> str:
    """Return the reason, which names a place as the known fact does beside it."""
    reason = safe_line(verdict.reason)
    if verdict.match is None:
        return reason
    path, line = verdict.match.known.source_path, verdict.match.known.line
    return reason.replace(safe_line(f"{path}:{line}"), format_place(path, line))


def describe_proposed(drafts: Sequence[Draft], key: str) -> str:
    """Return who proposes how much: `claude-code proposes 2 changes: f2 shows them`."""
    names = list(dict.fromkeys(safe_line(draft.asked.by) for draft in drafts if draft.asked))
    verb = "proposes" if len(names) == 1 else "propose"
    what = (
        f"{format_count(len(drafts), 'change')}: {key} shows {'it' if len(drafts) == 1 else 'them'}"
    )
    return f"{join_limited(names, ' and ', limit=2)} {verb} {what}"


def describe_applied(applied: Applied, problems: Sequence[DraftProblem]) -> str:
    verbs = ("created", "merged", "superseded", "ticked", "removed", "skipped")
    counts = [getattr(applied, verb) for verb in verbs]
    parts = [f"{count} {verb}" for count, verb in zip(counts, verbs, strict=True) if count]
    text = ", ".join(parts) or "nothing written"
    if problems:
        first = safe_line(problems[0].reason)
        text += f"; {format_count(len(problems), 'draft')} could not be written: {first}"
    return text


def plan_sentences(plan: Plan, left: int) -> tuple[str, ...]:
    """Return what a plan does to which pages, and how many drafts it leaves in the list."""
    writes = _writes(plan)
    counts = Counter(writes).items()
    does = ", ".join(f"{verb} {count}" for verb, count in counts)
    pages = [safe_line(file.path) for file in plan.files]
    where = f"in {format_count(len(pages), 'page')}: {', '.join(pages)}" if pages else ""
    sentences = [f"{does} {where}".strip()] if does else []
    if skips := len(plan.actions) - len(writes):
        sentences.append(f"{format_count(skips, 'draft')} skipped, not written")
    if left:
        sentences.append(f"{format_count(left, 'draft')} left in the list, without a decision")
    return tuple(sentences)


def _writes(plan: Plan) -> list[Action]:
    return [action for _, action in plan.actions if action != "skip"]


def write_question(plan: Plan) -> tuple[str, str]:
    """Return the question before a write, and what a yes does; only what is written counts."""
    if writes := len(_writes(plan)):
        return f"Write {format_count(writes, 'draft')}?", "writes"
    count = len(plan.actions)
    return f"Skip {format_count(count, 'draft')}?", f"skips {'it' if count == 1 else 'them'}"


def plan_lines(plan: Plan) -> tuple[str, ...]:
    problems = [f"✗ {safe_line(problem.reason)}" for problem in plan.problems]
    diff = plan.diff.splitlines()
    return (*problems, *map(safe_line, diff)) or ("nothing would be written",)


@dataclass(frozen=True, slots=True)
class KnownRow:
    text: str
    score: float
    relation: str
    decides: bool
    place: str
    """`people/alice-chen.md:14`, or `draft 3 of this batch`."""
    why: str
    """What decides: `same “reports to”, other name: Dana → Daniel`; empty for equal texts."""
    difference: Difference | None
    """None where both say something else, or the same: a comparison would tell nothing."""
    is_first: bool = False
    """Whether it gives the draft its state."""
    date: str = ""
    owner: str = ""
    owner_id: str = ""
    path: str = ""
    line: int = 0
    fact_id: int | None = None
    is_open_item: bool = False
    written: str = ""
    """The fact as its line has it; empty for a draft."""
    is_redacted: bool = False
    is_of_another: bool = False

    @property
    def score_text(self) -> str:
        """The score, 1.00 only for equal texts; empty for a conflict, which goes by no score."""
        if self.relation == "conflict":
            return ""
        return format_score(self.score if self.relation == "exact" else min(self.score, 0.99))

    @property
    def word(self) -> str:
        """The relation in the words of the states of drafts, as far as it decides about one."""
        is_near = self.decides and self.relation in ("duplicate", "refines", "similar")
        return "near" if is_near else self.relation


def known_rows(
    check: DraftCheck, batch: Sequence[str], threshold: float | None
) -> tuple[KnownRow, ...]:
    """Return the row that decides, then those that might, then others, each by score.

    `batch` are the ids of all drafts. What a row says of a relation is what the verdict at
    `threshold` makes of it: `similar` counts as known, `related` does not.
    """
    from kbx_tui.drafting.deciding import decide  # loaded by the check
    from kbx_tui.drafting.texts import difference

    verdict = decide(check, threshold)

    def row(
        text: str,
        pair: PairSimilarity,
        place: str,
        *,
        is_known: bool,
        is_first: bool,
        decides: bool = True,
    ) -> KnownRow:
        relation: str = pair.relation
        why = "" if relation == "exact" else safe_line(pair.judgement.reason)
        if decides:
            relation = relation_words(relation, is_known=is_known)
        elif relation == "duplicate" and pair.judged is None:
            relation, why = "similar", ""  # by its score alone
        is_unlike = relation in ("related", "different") and pair.judgement.relation == "different"
        why = why if decides or not is_unlike else ""
        compared = difference(safe_line(check.text), safe_line(text), pair.conflicts)
        return KnownRow(
            text=safe_line(text),
            score=pair.score,
            relation=relation,
            decides=decides,
            is_first=is_first,
            place=place,
            why=why,
            difference=None if pair.is_same or is_unlike else compared,
        )

    rows = []
    for repeat in check.repeats:
        is_there = repeat.draft_id in batch
        number = batch.index(repeat.draft_id) + 1 if is_there else 0
        place = f"draft {number} of this batch" if is_there else "an earlier draft"
        is_known = repeat.pair.is_known(repeat.threshold if threshold is None else threshold)
        is_first = repeat is verdict.repeat
        rows.append(row(repeat.text, repeat.pair, place, is_known=is_known, is_first=is_first))
    for match in check.matches:
        known = match.known
        place = format_place(known.source_path, known.line)
        is_found = check.draft.stands_for is not None  # a scan compares with all entities
        fact = row(
            known.text,
            known.pair,
            place,
            is_known=known.pair.is_known(known.threshold if threshold is None else threshold),
            is_first=match is verdict.match,
            decides=match.is_own or is_found,
        )
        rows.append(
            replace(
                fact,
                date=safe_line(known.date),
                owner=safe_line(known.entity_name),
                owner_id=known.entity_id,
                path=known.source_path,
                line=known.line,
                fact_id=known.fact_id,
                is_open_item=known.match_type == "open_item" and not known.done,
                written=match.written or known.text,
                is_redacted=match.is_redacted,
                is_of_another=match.is_of_another,
            )
        )
    if verdict.state == "near" and verdict.proposal.action == "create":
        both = "each says something that the other does not"
        rows = [replace(r, relation="similar", why=both) if r.is_first else r for r in rows]
    order = attrgetter("is_first", "decides", "score")
    return tuple(sorted(rows, key=order, reverse=True))


def relation_words(relation: str, *, is_known: bool) -> str:
    """Return the relation as the verdict takes it: one that counts is never called different."""
    if is_known:
        return "similar" if relation in ("related", "different") else relation
    return "related" if relation in ("duplicate", "refines") else relation


@dataclass
class TypedTextChecked(Message):
    known: tuple[KnownRow, ...] = ()
    lines: tuple[str, ...] = ()
    """What would be written if it were accepted as proposed."""
    reason: str = ""


@dataclass
class ScanEnded(Message):
    found: int
    added: tuple[str, ...]
    kept: bool
    has_kept: bool


class DraftsLoaded(Message):
    """The drafts of a file have been added."""


@dataclass
class WriteProposed(Message):
    title: str
    lines: Sequence[str]
    """The diff."""
    sentences: Sequence[str]
    write: Callable[[], object]
    does: str = "writes"
    """What the key that confirms it does."""


@dataclass(frozen=True)
class NameChange:
    """A misheard name corrected on all pages, or the page of a person merged into another."""

    wrong: str
    """The misheard name, or the person whose page is merged, by name or id."""
    right: str
    diff: str
    hints: Sequence[str]
    names: str
    """`Karen Veal to Karin Wiel`."""
    is_merge: bool = False

    @property
    def question(self) -> str:
        return safe_line(f"{'Merge' if self.is_merge else 'Correct'} {self.names}?")

    @property
    def done(self) -> str:
        return safe_line(f"{'merged' if self.is_merge else 'corrected'} {self.names}")


@dataclass
class DraftPlanned(Message):
    lines: tuple[str, ...]


Meanings = tuple[tuple[str, str], ...]

STATES: Mapping[str, str] = {
    "new": "Nothing that is known about its entity is similar enough. It would be written.",
    "exact": "Its entity has this very text already, apart from case, accents and spacing.",
    "near": "A fact of its entity says the same, more or less: compare the two.",
    "conflict": "A fact of its entity cannot be true beside it.",
    "repeated": "An earlier draft of this list says the same.",
    "checking": "It is being compared with what is known.",
}
ACTIONS: Mapping[str, str] = {
    "create": "A new line on the page of its entity.",
    "merge": "One line in place of the known one, which you edit first.",
    "supersede": "The known line is struck out, and the draft written as a line of its own.",
    "strike": "The line is struck out.",
    "delete": "The line is deleted.",
    "tick": "The known open item is ticked as done, and the draft written as a fact.",
    "skip": "Nothing is written, and the draft leaves the list.",
    "keep both": "Both lines stay as they are on their pages, and are not found again.",
}
RELATIONS: Mapping[str, str] = {
    "exact": "the same text",
    "duplicate": "the same in other words",
    "refines": "one says all that the other does, and more",
    "similar": "as similar as texts that say the same",
    "conflict": "they contradict each other",
    "related": "about the same thing",
    "different": "something else",
}


def draft_words(draft: DraftRow) -> Meanings:
    words = [(f"{draft.sign} {draft.state}", STATES[draft.state])]
    if draft.hint:
        about = "The base says this of exactly one other. Perhaps only one of them can be right."
        words.append((draft.hint, f"{about} It decides nothing."))
    if draft.by:
        agent = "An agent proposes it. Nothing is written before you decide."
        words.append((f"from {draft.by}", agent))
    if draft.action:
        mark = "✓" if draft.is_decided else "" if draft.is_sure else "?"
        by = "You have decided that." if draft.is_decided else "It is proposed."
        review = "" if draft.is_decided or draft.is_sure else " The ? asks you to look at it first."
        text = f"{ACTIONS[draft.action_words]} {by}{review}"
        words.append((f"→ {draft.action_words} {mark}".rstrip(), text))
    return tuple(words)


BRACKETS = "In brackets is what only one of the two texts has."


def known_words(known: KnownRow) -> Meanings:
    score = "How likely both say the same, 0 to 1, calibrated on pairs of facts."
    decides = "" if known.decides else " It belongs to another entity, so it does not decide."
    here = f"{RELATIONS[known.relation]}." if known.relation in RELATIONS else ""
    alone = f"{here[:1].upper()}{here[1:]}" or score
    meaning = f"{score} Here: {here}" if known.score_text and here else alone
    why = "What decided: of a contradiction, what the known fact says → what the draft says."
    return (
        (f"{known.score_text} {known.word}".strip(), f"{meaning}{decides}"),
        *(((known.why, why),) if known.why else ()),
        *((("[words]", BRACKETS),) if known.difference else ()),
    )


def threshold_words(threshold: float, note: str) -> Meanings:
    text = "From this score on, a known fact keeps a draft from being new."
    meaning = (f"threshold {format_score(threshold)}", f"{text} Moving it searches nothing.")
    return (meaning, ("now", note)) if note else (meaning,)


LINES = "The very lines of the file that would be added and removed, as decided or proposed."
DIFF_WORDS: Meanings = (("+ │ −", LINES),)


LABELS_NEEDED = 20


def describe_saved(count: int) -> str:
    left = LABELS_NEEDED - count
    more = f"; {left} more to measure the threshold" if left > 0 else ""
    return f"{format_count(count, 'label')} saved{more}"


def describe_threshold(
    settings: DedupSettings | None, labels: Sequence[LabelledScore], threshold: float | None
) -> tuple[float, str]:
    """Return the position of the slider, and a note on a threshold that the user has set.

    `settings` are None before opening.
    """
    if threshold is None:
        return 0.9 if settings is None else settings.fact_threshold, ""
    from kbx_tui.drafting.decided_pairs import measure_threshold  # loaded with the drafts

    metrics = measure_threshold(labels, threshold)
    return threshold, metrics_note(metrics) if metrics else "facts this alike count as known"


def metrics_note(metrics: ThresholdMetrics) -> str:
    """Return the note on a threshold: a narrow slider cuts off its end."""
    precision, recall = format_score(metrics.precision), format_score(metrics.recall)
    return f"precision {precision} recall {recall} on {metrics.labels} labels"


def describe_scan(scan: ScanEnded, key_of: Callable[[str], str]) -> str:
    count = format_count(len(scan.added), "fact")
    if scan.kept:
        if scan.added:
            takes_back = f"{key_of('draft.skip')} on one takes that back"
            return f"you keep {count} stated more than once; {takes_back}"
        all_listed = "all duplicates that you keep are in the list"
        return all_listed if scan.found else "you keep no duplicates"
    kept = f"{key_of('drafts.kept')} lists what you keep" if scan.has_kept else ""
    if scan.added:
        found = f"{count} stated more than once"
    elif scan.found:
        found = "all facts stated more than once are in the list"
    else:
        found = f"the base states nothing {'else ' if kept else ''}more than once"
    return f"{found}; {kept}" if kept else found


@dataclass(frozen=True, slots=True)
class ReviewStep:
    drafts: tuple[Draft, ...]
    threshold: float | None
    entry: int | None = None
    """Number of the journal entry that was written, if any."""
    is_threshold: bool = False
    """Whether the threshold was moved. Successive moves are one step."""


def describe_undone_write(paths: Sequence[str], settled: int) -> str:
    """Return what a write changed that is undone: `undid the write to people/alice-chen.md`."""
    names = [safe_line(path).removeprefix("memory/") for path in paths]
    files = join_limited(names) if names else "no file"
    again = f"; {format_count(settled, 'draft')} here again" if settled else ""
    return f"undid the write to {files}{again}"


def describe_undone(drafts: Sequence[Draft], threshold: float | None, step: ReviewStep) -> str:
    if step.is_threshold or (step.drafts == tuple(drafts) and step.threshold != threshold):
        value = "that of each kind" if step.threshold is None else format_score(step.threshold)
        return f"threshold is {value} again"
    now, then = ({draft.id: draft for draft in each} for each in (drafts, step.drafts))
    gone = [draft for draft in drafts if draft.id not in then]
    back = [draft for draft in step.drafts if draft.id not in now]
    changed = [draft for draft in step.drafts if draft.id in now and draft != now[draft.id]]
    parts = [
        f"{named(drafts_)} {what}"
        for drafts_, what in ((gone, "removed again"), (back, "here again"))
        if drafts_
    ]
    parts += [_change(now[draft.id], draft) for draft in changed[:1]]
    return "undone: " + (", ".join(parts) or "the last change")


def _change(now: Draft, then: Draft) -> str:
    name = named([then])
    if now.text != then.text:
        return f"{name} has its former text"
    if now.kind != then.kind:
        return f"{name} is {'a fact' if then.kind == 'fact' else 'an open item'} again"
    if now.choice == then.choice:
        return f"{name} has its former entity"
    if then.choice is None:
        return f"your decision on {name} is taken back"
    return f"{name} is to {then.choice.action} again"


def named(drafts: Sequence[Draft]) -> str:
    """Return the text of a draft in quotes, or the number of several."""
    if len(drafts) > 1:
        return format_count(len(drafts), "draft")
    return f"“{shorten(safe_line(drafts[0].text), 40)}”"
