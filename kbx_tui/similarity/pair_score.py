"""The similarity score of two texts, used everywhere in the program.

Its calibration maps signals to a score that means the same for every embedding model. Per model and
form of text, a table holds the weights of the signals and four knots. The weighted sum is a
logistic regression on labelled pairs; the knots tie it to the thresholds:

    .85  best F1 on those pairs
    .80  more recall, with F1 within 4 % of its best
    .90  more precision, with F1 within 4 % of its best

Between knots the score is linear in the sum, so it is monotone in every signal with a positive
weight. `scripts/calibrate_similarity.py` makes the tables.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kbx_tui.config import DedupSettings
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.errors import ConfigError, OutOfRange
from kbx_tui.knowledge.records import Fact, FactKind
from kbx_tui.similarity.compared_words import PLACES, Form, Signals, analyse_words, compare, form_of
from kbx_tui.similarity.conflict_guard import KEY, Conflict, claims_of, contradict
from kbx_tui.similarity.judging import CERTAIN, EQUAL, SAME_TOPIC, Judgement, judge_by_rules

Relation = Literal["exact", "duplicate", "refines", "conflict", "related", "different"]
MAX_TEXT = 10_000
"""Characters of the longest text that is written as a fact; of a longer one these are compared."""


@dataclass(frozen=True)
class PairSimilarity:
    """Two texts, their score, and the judgement on what they say of each other.

    Rules judge when they are asked: that takes most of the time.
    """

    left: str
    right: str
    is_same: bool
    score: float
    """Calibrated, 0..1; exactly 1 only for identical text."""
    signals: Signals
    form: Form
    is_calibrated: bool
    judged: Judgement | None = None
    """The judgement of the pair model, where it was asked."""

    @property
    def cosine(self) -> float:
        return self.signals.cosine

    @cached_property
    def judgement(self) -> Judgement:
        if self.is_same:
            return EQUAL
        return self.judged or judge_by_rules(self.left, self.right, self.score)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        return self.judgement.conflicts

    @property
    def relation(self) -> Relation:
        """The judgement as the app, the commands and the tools name it.

        `related` and `different` go by the score.
        """
        if self.is_same:
            return "exact"
        judged = self.judgement.relation
        if judged == "different":
            return "related" if self.score >= SAME_TOPIC else "different"
        return "duplicate" if judged == "same" else judged

    def covers(self, threshold: float) -> bool:
        """Return whether one text says what the other does: it is the same or refines it.

        That is by the judgement of the model, else from a score on.
        """
        if self.judged is None:
            return self.score >= threshold and (self.is_same or not self._is_contradicted)
        if self.judged.relation == "different":
            return self.score >= threshold and self.judged.certainty < CERTAIN
        return self.judged.relation != "conflict"

    @cached_property
    def _is_contradicted(self) -> bool:
        """Whether rules find that two texts about one thing contradict, which takes no reason."""
        return self.score >= SAME_TOPIC and contradict(self.left, self.right)

    def is_known(self, threshold: float) -> bool:
        """Return whether it keeps a text from being new: it covers or contradicts it.

        A contradiction counts whatever the threshold of duplicates is.
        """
        return self.relation == "conflict" or self.covers(threshold)


def pair_similarity(pairs: Sequence[tuple[str, str]], embedder: Embedder) -> list[PairSimilarity]:
    """Return the similarity of each pair, in order. Raises ConfigError for an empty text.

    Symmetric: swapping the texts of a pair only swaps `left` and `right` of its conflicts.
    """
    for pair in pairs:
        for text in pair:
            require_text(text)
    pairs = [(left[:MAX_TEXT], right[:MAX_TEXT]) for left, right in pairs]
    # Sorted: batches, and so rounding, must not depend on the caller.
    texts = sorted({text for pair in pairs for text in pair})
    vectors = embedder.embed(texts).astype(np.float64)
    row_of = {text: row for row, text in enumerate(texts)}
    calibration = calibration_of(embedder.model)
    return [
        similarity(left, right, float(vectors[row_of[left]] @ vectors[row_of[right]]), calibration)
        for left, right in pairs
    ]


def similarity(left: str, right: str, cosine: float, calibration: Calibration) -> PairSimilarity:
    """Return the similarity of two texts whose vectors have this cosine. Pure."""
    one, other = analyse_words(left[:MAX_TEXT]), analyse_words(right[:MAX_TEXT])
    cosine = round(min(max(cosine, -1.0), 1.0), 6)  # batches of different sizes differ by 1e-7
    signals, form = compare(one, other, cosine), form_of(one, other)
    is_same = one.normal == other.normal
    score = 1.0 if is_same else round(calibration.score(signals, form), 6)
    return PairSimilarity(one.text, other.text, is_same, score, signals, form, calibration.is_known)


_SUBJECT = re.compile(
    r"(?i)(?:he|she|it|they|the|an?|this|these|its|his|her|their|our)\b"
    r"|\w[^.;:]*? (?:is|are|was|were|been)\b"
)
"""Begins a text that has a subject."""
_GOES_ON = "|".join(sorted(PLACES))


def with_subject(pair: PairSimilarity, name: str, entity_id: str) -> PairSimilarity:
    """Return a pair with `name`, its subject, on both sides if one text says something of it.

    `The rota is owned by Alice` repeats `Owns the rota`, of her, and `Bo reports to Alice`
    contradicts `Reports to Bo`. A text without a subject of its own only has words of the name:
    `Owns the Search index`.
    """
    search = _mention(name, entity_id.startswith("person:")).search
    ours, theirs = search(pair.left), search(pair.right)
    found = ours or theirs
    if not name or found is None or (ours and theirs):
        return pair
    said, text = (pair.left, pair.right) if ours else (pair.right, pair.left)
    if not _has_subject(said) or _has_subject(text):
        return pair
    named = f"{found[1]} {text[0].lower()}{text[1:]}"
    return replace(pair, right=named) if ours else replace(pair, left=named)


def _has_subject(text: str) -> bool:
    others = tuple(other.written for other in claims_of(text).names)
    return bool(_SUBJECT.match(text) or KEY.match(text)) or text.startswith(others)


@lru_cache(maxsize=4096)
def _mention(name: str, is_person: bool) -> re.Pattern[str]:
    """Match the name, or the first one of a person, as agent or object, not before a noun."""
    full, first = re.escape(name), re.escape(name.partition(" ")[0])
    names = f"{full}|{first}" if is_person else full
    return re.compile(rf"(?<=\w )({names})(?=\W*\Z|[.,;:)]| (?:{_GOES_ON}|and|or)\b)")


def require_text(text: str) -> str:
    if not text.strip():
        raise ConfigError("the text is empty; give a text to compare")
    return text


def cut_notes(text: str) -> tuple[str, ...]:
    if len(text) <= MAX_TEXT:
        return ()
    return (f"the text has {len(text):,} characters; only the first {MAX_TEXT:,} are compared",)


def too_long_for_a_fact(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return ""
    return (
        f"the fact has {len(text):,} characters; a fact has at most {MAX_TEXT:,}: "
        "write the text to a page of its own"
    )


TABLES = Path(__file__).parent / "calibration.json"

DISTINCT, BELOW = 0.84, 0.009
"""Scores above the first number, of labels that are `distinct`, are compressed to a range of the
second, which keeps their order: `Platform & Infrastructure` is near `Platform`, no duplicate."""

NEARLY_ONE = 0.999


@dataclass(frozen=True, slots=True)
class Curve:
    cosine: float
    tokens: float
    shares_word: float
    spelling: float
    bias: float
    """Weights of the signals, and the bias of the sum."""
    knots: tuple[tuple[float, float], ...]
    """(sum, score) pairs, ascending; the first score is 0, the last 1."""

    def sum(self, signals: Signals) -> float:
        return (
            self.cosine * signals.cosine
            + self.tokens * signals.tokens
            + self.shares_word * signals.shares_word
            + self.spelling * signals.spelling
            + self.bias
        )

    def score(self, signals: Signals) -> float:
        total = self.sum(signals)
        position = bisect_right(self.knots, (total, float("inf")))
        if position == 0:
            return self.knots[0][1]
        if position == len(self.knots):
            return self.knots[-1][1]
        (low, below), (high, above) = self.knots[position - 1], self.knots[position]
        return below + (above - below) * (total - low) / (high - low)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The curves of one embedding model; without any, the score is the raw cosine."""

    model: str
    curves: Mapping[Form, Curve]

    @property
    def is_known(self) -> bool:
        return bool(self.curves)

    def score(self, signals: Signals, form: Form) -> float:
        curve = self.curves.get(form)
        score = curve.score(signals) if curve else signals.cosine
        if form == "label" and signals.distinct and score > DISTINCT:
            score = DISTINCT + BELOW * (score - DISTINCT) / (1.0 - DISTINCT)
        return min(max(score, 0.0), NEARLY_ONE)


def calibration_of(model: str) -> Calibration:
    return Calibration(model, _tables().get(model, {}))


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[Form, Curve]]:
    raw = json.loads(TABLES.read_text(encoding="utf-8"))
    return {
        model: {
            form: Curve(**table["weights"], knots=tuple(map(tuple, table["knots"])))
            for form, table in forms.items()
        }
        for model, forms in raw["models"].items()
    }


MatchType = Literal["fact", "open_item", "chunk", "field"]


@dataclass(frozen=True, slots=True)
class DuplicateFact:
    text: str
    fact_id: int
    source_path: str
    line: int
    date: str
    entity_name: str
    match_type: FactKind


@dataclass(frozen=True, slots=True)
class SimilarityMatch:
    text: str
    pair: PairSimilarity
    """The text checked on the left, the stored one on the right."""
    threshold: float
    """The score that such a text needs; it may be listed below that, see `is_similar`."""
    match_type: MatchType
    source_path: str
    line: int
    entity_id: str = ""
    """The entity of a fact or field; empty for a passage."""
    entity_name: str = ""
    fact_id: int | None = None
    date: str = ""
    done: bool = False
    field: str = ""

    @classmethod
    def of_fact(
        cls, fact: Fact, pair: PairSimilarity, threshold: float, name: str, *, done: bool = False
    ) -> SimilarityMatch:
        return cls(
            text=fact.text,
            pair=pair,
            threshold=threshold,
            match_type=fact.kind,
            source_path=fact.path,
            line=fact.line,
            entity_id=fact.entity_id,
            entity_name=name,
            fact_id=fact.fact_id,
            date=fact.date,
            done=done,
        )

    @property
    def score(self) -> float:
        return self.pair.score

    @property
    def cosine(self) -> float:
        return self.pair.cosine

    @property
    def signals(self) -> Signals:
        return self.pair.signals

    @property
    def judgement(self) -> Judgement:
        return self.pair.judgement

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        return self.pair.conflicts

    @property
    def relation(self) -> Relation:
        return self.pair.relation

    @property
    def judged_pair(self) -> PairSimilarity:
        """The pair to judge: the value of a field says something only after its key."""
        if not self.field:
            return with_subject(self.pair, self.entity_name, self.entity_id)
        return replace(self.pair, right=f"{self.field.replace('_', ' ')}: {self.text}")

    @property
    def is_similar(self) -> bool:
        """Whether the two texts say the same: the threshold is reached, and nothing against it."""
        return self.score >= self.threshold and self.pair.covers(self.threshold)


@dataclass(frozen=True, slots=True)
class SimilarityCheck:
    query: str
    scope: Mapping[str, str]
    """`entity` (full name) and `path`, where given."""
    threshold: float
    matches: tuple[SimilarityMatch, ...]
    """Best first, at most the limit; includes conflicts and texts that are somewhat similar."""
    has_similar: bool
    best_score: float
    """Of all texts compared, even below the threshold; 0 when there were none."""
    nearest: tuple[SimilarityMatch, ...]
    model: str
    is_calibrated: bool
    """False when the model has no calibration, so that scores are raw cosines."""
    notes: tuple[str, ...]
    in_scope: int = 0


@dataclass(frozen=True, slots=True)
class FieldSimilarity:
    entity: str
    field: str
    current_value: str | None
    """The stored value; for a list, its most similar item; None when the field is absent."""
    proposed_value: str
    similarity: float
    is_similar: bool
    threshold: float
    match_type: MatchType
    pair: PairSimilarity | None
    model: str
    notes: tuple[str, ...] = ()


WITHOUT_COMMON_WORD = 0.6
"""Cosine that texts without a common word need, unless a threshold below `FLOOR` is given; by
the experiment "cosine of unrelated pairs" in docs/quality.md: a base holds mostly such pairs."""

FLOOR = 0.5
"""Score below which nothing is called similar: only a threshold below it lists such texts."""

LISTED = 0.8
"""Score from which a text is listed when no threshold is given, even if its type needs more to be
similar: a caller decides between writing and merging with what is somewhat similar in view."""

LONG_FACT = 20


def require_threshold(threshold: float) -> None:
    if not 0.0 <= threshold <= 1.0:
        raise OutOfRange(f"the threshold must be within 0..1, got {threshold}")


@dataclass(frozen=True, slots=True)
class Scale:
    """The scores of a model, and those from which a text matches.

    That is one given threshold for everything, or those of `[dedup]` by type and length:
    `load_settings` fills in the type's own key in kbx.toml, else `default_threshold` in kbx.toml,
    else the built-in one.
    """

    calibration: Calibration
    settings: DedupSettings
    given: float | None = None

    def __post_init__(self) -> None:
        if self.given is not None:
            require_threshold(self.given)

    def pair(self, left: str, right: str, cosine: float) -> PairSimilarity:
        return similarity(left, right, cosine, self.calibration)

    @property
    def default(self) -> float:
        return self.settings.default_threshold if self.given is None else self.given

    def of(self, match_type: MatchType, text: str) -> float:
        if self.given is not None:
            return self.given
        settings = self.settings
        if match_type == "open_item":
            return settings.open_item_threshold
        if match_type == "chunk":
            return settings.chunk_threshold
        if match_type == "field":
            return settings.field_threshold
        is_long = len(text.split()) >= LONG_FACT
        return settings.long_fact_threshold if is_long else settings.fact_threshold

    def reached(self, pair: PairSimilarity, threshold: float) -> bool:
        return pair.score >= threshold and (is_near(pair) or threshold < FLOOR)

    def listed(self, pair: PairSimilarity, threshold: float) -> bool:
        return self.reached(pair, threshold if self.given is not None else min(threshold, LISTED))

    def is_misleading(self, pair: PairSimilarity, threshold: float) -> bool:
        return pair.score >= threshold and not self.reached(pair, threshold)


def is_near(pair: PairSimilarity) -> bool:
    """Return whether a score is meaningful in a base where most texts are unrelated."""
    signals = pair.signals
    return pair.score == 1.0 or signals.shares_word or signals.cosine >= WITHOUT_COMMON_WORD


def precision_recall_f1(
    labels: NDArray[np.bool_], accepted: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the accepted pairs; 0 where nothing is accepted.

    Both arguments have shape (pairs,); `labels` is True for a duplicate.
    """
    hits = int((labels & accepted).sum())
    precision = hits / max(int(accepted.sum()), 1)
    recall = hits / max(int(labels.sum()), 1)
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0
