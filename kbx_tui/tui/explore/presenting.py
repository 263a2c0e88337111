"""Turns engine results into the plain values the explore screen shows.

Pure. Imports numpy, so modules needed for the first paint import it late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor
from typing import Any, TypeVar

import numpy as np

from kbx_tui.formatting import (
    format_count,
    format_percent,
    format_score,
    join_limited,
    kept_words,
    mode_name,
    rounded_parts,
    share_words,
)
from kbx_tui.knowledge.folding import tokens
from kbx_tui.knowledge.records import Fact
from kbx_tui.safe_text import safe_line
from kbx_tui.search.browse import EntityCard, EntityDocument
from kbx_tui.search.evidence.evidence import Evidence, Signal
from kbx_tui.search.evidence.reranking import RERANK_MS
from kbx_tui.search.evidence.scores import RERANKER_WEIGHT
from kbx_tui.search.ranking.explain import Explanation
from kbx_tui.search.ranking.rank import Ranked, Ranking
from kbx_tui.search.request import MAX_QUERY
from kbx_tui.search.results import answer
from kbx_tui.search.results.response import GIVEN, Snippet, as_read
from kbx_tui.tui.explore import view
from kbx_tui.tui.explore.search_state import SearchState

MAX_RESULTS = 200
"""Maximum number of results shown: nobody scrolls further, and each slider move presents all."""
TOP_RESULTS = 10
EXPERTS_NOTE = (
    f"these are documents; {view.EXPERTS_KEY} ranks people by what they know about a topic"
)


LEFT_OUT: Mapping[str, str] = {
    "disabled": "unused when flat",
    "too_broad": "many fit as well",
    "nothing_linked": "nothing links to it",
}

SIGNAL_WORDS: Mapping[str, str] = {"first_name": "first name", "fuzzy": "like"}
"""Words for kinds of signals that are not shown under their own names."""


def present(ranking: Ranking, state: SearchState, alpha_note: str = "") -> view.ExploreView:
    evidence, order = ranking.evidence, state.request().order
    kept = set(ranking.counted)
    no_vector = np.isnan(ranking.components.cosine)
    if no_vector.all():  # the query or the whole index has no vectors to compare
        no_vector[:] = False
    results = tuple(
        result_row(evidence, ranked, has_vector=not no_vector[ranked.row])
        for ranked in answer.in_order(ranking, order, MAX_RESULTS)
    )
    is_outnamed = bool(kept) and ranking.is_coverage
    left_out = (ranking.blended > 0.0) & ~ranking.included
    is_gated = ranking.kept and ranking.tuning.gate == "hard"
    return view.ExploreView(
        query=evidence.query,
        mode=mode_words(ranking),
        threshold=state.threshold,
        entities=tuple(
            view.EntityRow(
                id=entity.id,
                name=safe_line(entity.name),
                type=safe_line(entity.type),
                path=entity.path,
                score=entity.score,
                kept=index in kept,
                signals=signal_words(entity.signals),
                muted=entity.id in state.muted,
                pinned=entity.id in state.pinned,
                left_out="" if index in kept else left_out_words(ranking, index),
                is_outnamed=is_outnamed and not entity.named,
            )
            for index, entity in enumerate(evidence.entities)
            if entity.found or entity.id in state.pinned | state.muted
        ),
        results=results,
        matched=int(np.count_nonzero(ranking.included)),
        scope=evidence.scope,
        order=f"the best {len(results)}, newest first" if order == "date" else "",
        alpha_note=alpha_note,
        note=_note(ranking),
        filters=tuple(safe_line(str(typed)) for typed in evidence.scope.filters.typed),
        dates=_dates(evidence, state),
        gated=int(np.count_nonzero(left_out)) if is_gated else 0,
    )


def mode_words(ranking: Ranking) -> view.Mode:
    evidence = ranking.evidence
    names = [safe_line(evidence.entities[index].name) for index in ranking.counted]
    timings = {name: took for name, took in evidence.timings.items() if name != RERANK_MS}
    return view.Mode(
        name=mode_name(ranking.search_mode, ranking.search_mode_reason),
        reason=kept_words(ranking.search_mode, ranking.search_mode_reason, names),
        preset=ranking.tuning.preset,
        milliseconds=timings.get("total", sum(timings.values())),
        vector_share=evidence.vector_share,
        is_cut=len(evidence.query) > MAX_QUERY,
        reranker_ms=evidence.timings.get(RERANK_MS) if ranking.is_reranked else None,
        candidates=evidence.scope.candidates,
    )


def left_out_words(ranking: Ranking, index: int) -> str:
    entity, tuning = ranking.evidence.entities[index], ranking.tuning
    if entity.score < tuning.entity_threshold or not entity.found or entity.id in tuning.muted:
        return ""
    if index in ranking.kept:
        return "only named ones count"
    if ranking.search_mode == "two_pass":
        return f"only the best {tuning.max_entities} count"
    return LEFT_OUT.get(ranking.search_mode_reason, "")


def signal_words(signals: Sequence[Signal], most: int = 3) -> str:
    """Return why an entity matched, such as `name “alice”, 2 facts`; empty if only by meaning."""
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


def _note(ranking: Ranking) -> str:
    evidence = ranking.evidence
    about_query = (
        *_correction_notes(evidence),
        *answer.unknown_names_notes(evidence.scope),
        *answer.misspelt_notes(evidence),
    )
    return (
        "; ".join(about_query)
        or answer.few_answers_note(ranking)
        or answer.reranker_failure(ranking)
        or (EXPERTS_NOTE if answer.asks_for_experts(evidence.query) else "")
    )


def _correction_notes(evidence: Evidence) -> Iterator[str]:
    if evidence.corrections:
        typed, meant = map(join_limited, zip(*evidence.corrections, strict=True))
        yield safe_line(f"searched for {meant} instead of {typed}; {view.SPELLING_KEY} keeps yours")


def _dates(evidence: Evidence, state: SearchState) -> view.DatesView | None:
    preference = evidence.date_preference
    if preference is None and not evidence.undated and state.dates != "off":
        return None
    words = "" if preference is None else preference.words
    return view.DatesView(state.dates, words, join_limited(evidence.undated, " or "))


def next_change_note(below: float | None, above: float | None, value: float) -> str:
    """Return a note on the nearest values of a slider from 0 to 1 at which the results change.

    `value` is its current one. `below` and `above` are where the change happens, such as the alphas
    at which scores are equal; the note names the slider's first values beyond them.
    """
    changes = []
    if below is not None:
        changes.append(min(floor(below * 100 + 1e-9), ceil(value * 100 - 1e-9) - 1))
    if above is not None:
        changes.append(max(ceil(above * 100 - 1e-9), floor(value * 100 + 1e-9) + 1))
    if not changes:
        return ""
    named = " and ".join(format_score(max(min(each, 100), 0) / 100) for each in changes)
    return f"next {'changes' if len(changes) > 1 else 'change'} at {named}"


def present_snippet(snippet: Snippet, redacted_lines: frozenset[int] = frozenset()) -> Snippet:
    """Return a snippet as it reads, without control characters; `redacted_lines` are lines of its
    file.
    """
    read = as_read(snippet.text, snippet.line_breaks)
    matches = read.ranges(snippet.matches)
    spans = read.ranges(_redacted_spans(snippet, redacted_lines) if redacted_lines else ())
    breaks = [read.places[at] for at in snippet.line_breaks]
    edges = {edge for span in (*matches, *spans) for edge in span}
    text, place, position = "", {}, 0
    for edge in sorted({*edges, *breaks, len(read.text)}):  # cleaning shifts the spans
        text += safe_line(read.text[position:edge])
        place[edge] = len(text)
        position = edge
    return replace(
        snippet,
        text=text,
        matches=tuple((place[start], place[end]) for start, end in matches),
        line_breaks=tuple(place[at] for at in breaks),
        heading=safe_line(snippet.heading),
        terms=tuple((safe_line(term), count) for term, count in snippet.terms),
        redacted=tuple((place[start], place[end]) for start, end in spans),
        forms=tuple(map(safe_line, snippet.forms)),
    )


def _redacted_spans(snippet: Snippet, lines: frozenset[int]) -> list[tuple[int, int]]:
    end = len(snippet.text)
    if not (
        snippet.line_breaks or lines.isdisjoint(range(snippet.line_start, snippet.line_end + 1))
    ):
        return [(0, end)]  # a property is one of these lines
    edges = [0, *(min(place, end) for place in snippet.line_breaks), end]
    shown = enumerate(pairwise(edges), snippet.line_start)
    return [span for line, span in shown if line in lines]


RecordT = TypeVar("RecordT", EntityCard, EntityDocument, Fact)


def present_card(card: EntityCard) -> EntityCard:
    """Return a card without control characters, except in paths, and without its page as source."""

    def shown(fact: Fact) -> Fact:
        sources = tuple(safe_line(source) for source in fact.sources if source != card.path)
        return replace(_safe(fact, "text", "date"), sources=sources)

    return replace(
        _safe(card, "name", "type", "role", "team"),
        aliases=tuple(map(safe_line, card.aliases)),
        facts=tuple(map(shown, card.facts)),
        open_items=tuple(map(shown, card.open_items)),
        documents=tuple(
            replace(each, title=each.title or safe_line(each.path))
            for each in (_safe(one, "title", "date", "kind", "reason") for one in card.documents)
        ),
    )


def _safe(record: RecordT, *names: str) -> RecordT:
    """Return a dataclass without control characters in the named fields."""
    texts: dict[str, Any] = {name: safe_line(getattr(record, name)) for name in names}
    return replace(record, **texts)


def result_row(evidence: Evidence, ranked: Ranked, *, has_vector: bool = True) -> view.ResultRow:
    row = ranked.row
    return view.ResultRow(
        row=row,
        path=evidence.paths[row],
        title=safe_line(evidence.titles[row]) or safe_line(evidence.paths[row]),
        date=safe_line(evidence.dates[row]),
        rank=ranked.rank,
        score=ranked.score,
        document_part=ranked.document_part,
        entity_part=ranked.entity_part,
        reranker_part=ranked.reranker_part,
        known_item=safe_line(ranked.known_item),
        has_vector=has_vector,
    )


OFTEN, SOME = 0.5, 0.25
"""Normalized BM25 scores from which question words occur often, and several of them occur."""
NEAR, RELATED = 0.5, 0.3
"""Cosines from which a passage says nearly what was asked, and something related."""

_LISTED = ("filter", "date", "newest")
"""What a query may ask for that lists documents without a search."""


def present_why(ranking: Ranking, explanation: Explanation) -> view.Why:
    ranked, evidence = explanation.ranked, ranking.evidence
    row, alpha = ranked.row, explanation.alpha
    hot_weight = ranking.frecency_weight
    blended = ranked.document_part + ranked.entity_part + ranked.frecency_part  # without reranker
    names, weights, values = ["document"], [1.0], [ranked.answered]
    if explanation.two_pass:
        names, weights = ["document", "entity"], [alpha, 1.0 - alpha]
        values.append(ranked.parent_entity_score)
    all_weights = weights
    if hot_weight:
        all_weights = [*((1.0 - hot_weight) * weight for weight in weights), hot_weight]
        values.append(float(evidence.frecency[row]) if ranked.frecency_part else 0.0)
    # Weights are rounded to remove float noise: 1 - .7 must be .3.
    rounded = formula_values(blended, [round(weight, 6) for weight in all_weights], values)
    terms = tuple(
        view.Term(round(weight, 6), value, name)
        for weight, value, name in zip(weights, rounded, names, strict=False)
    )
    sections = [_document_section(explanation, rounded[0], ranking)]
    if explanation.two_pass:
        sections.append(_entity_section(explanation, rounded[1], ranking))
    reranking = _reranking(ranked, blended)
    is_listed = ranked.known_item in _LISTED  # for what it is: its score says nothing
    return view.Why(
        row=row,
        title=safe_line(evidence.titles[row]),
        path=safe_line(evidence.paths[row]),
        kind=safe_line(evidence.kinds[row]),
        date=safe_line(evidence.dates[row]),
        score=_shown(blended if reranking is None else max(ranked.score, blended)),
        terms=terms,
        frecency=view.Term(hot_weight, rounded[-1], "hotness") if hot_weight else None,
        known_item=safe_line(ranked.known_item),
        known_as=_known_as(ranked.known_item, evidence, evidence.titles[row]),
        is_weak=not ranked.known_item and blended < view.WEAK * float(ranking.final.max()),
        sections=() if is_listed and not _shown(blended) else tuple(sections),
        reranking=reranking,
        likeness=_likeness(explanation.cosine),
        links=tuple(
            link_phrase(safe_line(share.name), safe_line(share.reason))
            for share in explanation.entities
            if share.link_strength > 0.0
            and not (ranked.known_item and share.reason.startswith("own page"))
        ),
    )


def _known_as(known_item: str, evidence: Evidence, title: str) -> str:
    match known_item:
        case "" | "filter":
            typed = " ".join(map(str, evidence.scope.filters.typed))
            return safe_line(f"matches {typed}") if known_item else ""
        case "newest":
            return "the newest first, as you asked"
        case "date" if evidence.date_preference is not None:
            return f"dated {evidence.date_preference.words}"
        case "own page":
            return "the page you asked about"
        case "similar name" | "role":
            return f"you asked for {'a name like its own' if known_item != 'role' else 'its role'}"
        case "title" if not {*tokens(title)} <= {*tokens(evidence.query)}:
            return "you gave another name of it"
        case _:
            if known_item in GIVEN:
                return f"you gave its {known_item} in full"
            return safe_line(f"you asked for {known_item}")


def _likeness(cosine: float | None) -> str:
    if cosine is None or cosine < RELATED:
        return ""
    return f"{'close' if cosine >= NEAR else 'related'} to what you ask"


LINK_PHRASES: Mapping[str, str] = {
    "own page": "is the page of {}",
    "attendee": "{} attended{}",
    "frontmatter": "{} in its properties",
    "title": "{} in the title",
    "wikilink": "links to {}{}",
    "mention": "mentions {}{}",
    "member": "with members of {}",
}
"""What a link of each kind means, for the strongest one, which is the first of a reason."""


def link_phrase(name: str, reason: str) -> str:
    """Return what links a document to an entity, with the numbers that tell it from others."""
    strongest = reason.partition(",")[0]
    kind = strongest.lstrip("0123456789 ")
    found = (text for word, text in LINK_PHRASES.items() if kind.startswith(word))
    number = int("".join(filter(str.isdigit, strongest.rpartition("of ")[2])) or 1)
    more = f" {number} times" if number > 1 else ""
    if kind.startswith("attendee"):
        more = f" with {format_count(number - 1, 'other')}" if number > 1 else ""
    return next(found, "linked to {}").format(name, more)


def _reranking(ranked: Ranked, plain: float) -> view.Reranking | None:
    if ranked.reranker_score is None:
        return None
    return view.Reranking(
        score=ranked.reranker_score,
        plain=_shown(plain),
        added=round(_shown(max(ranked.score, plain)) - _shown(plain), 2),
        maximum=RERANKER_WEIGHT * (1.0 - plain),
    )


def _shown(score: float) -> float:
    """Return a score rounded to the digits shown; halves round to even."""
    return float(f"{score:.2f}")


def _document_section(explanation: Explanation, total: float, ranking: Ranking) -> view.Section:
    parts = (explanation.lexical_part, explanation.vector_part, explanation.date_part)
    lexical, vector, dated, propagated = rounded_parts(total, [*parts, explanation.propagated])
    maxima: list[float | None] = [None, None]
    if explanation.full_relevance is None and not (
        explanation.date_reason or explanation.lowered_reason
    ):
        maxima[:] = rounded_parts(1.0, [explanation.lexical_weight, explanation.vector_weight])
    bm25, cosine = explanation.raw_lexical, explanation.cosine
    of_words = words_sentence(bm25, explanation.lexical)
    often = f"{how_often(explanation.lexical)} (bm25 {bm25:.1f})"
    similarity = _similarity(cosine, ranking.evidence, counts=explanation.vector > 0.0)
    none = NO_WORD if explanation.full_relevance is None else NO_TOPIC_WORD
    addends = [
        view.Addend(lexical, maxima[0], "words", often if bm25 else none, of_words),
        view.Addend(vector, maxima[1], "meaning", similarity, meaning_sentence(cosine)),
    ]
    if explanation.date_reason:
        addends.append(view.Addend(dated, None, "date", explanation.date_reason))
    if side := explanation.propagated_from:
        addends.append(view.Addend(propagated, None, "propagated", f"from the {side}"))
    notes = []
    if explanation.full_relevance is not None:
        relevance = explanation.ranked.doc_relevance
        share = min(relevance / explanation.full_relevance, 1.0)
        answer = "a full answer" if share == 1.0 else f"{format_percent(share)} of a full answer"
        notes.append(f"{answer} (relevance {format_score(relevance)})")
    if explanation.lowered_reason:
        notes.append(explanation.lowered_reason)
    feedback = [safe_line(document.title) for document in ranking.feedback_documents]
    if feedback and cosine is not None:
        notes.append(f"compared with {join_limited(feedback)} too, the best by text alone")
    return view.Section("document", total, tuple(addends), tuple(notes))


def _similarity(cosine: float | None, evidence: Evidence, *, counts: bool) -> str:
    if cosine is not None:
        return f"{how_near(cosine) if counts else 'too far to count'} (cosine {cosine:.2f})"
    if evidence.fast:
        return "not used by a fast search"
    return "no vector yet" if evidence.document_query else "nothing to compare"


def _entity_section(explanation: Explanation, total: float, ranking: Ranking) -> view.Section:
    shares = explanation.entities
    values = rounded_parts(total, [share.share for share in shares])
    weights = [share.weight for share in shares]
    has_weights = len(set(weights)) > 1
    maxima = rounded_parts(1.0, weights) if has_weights else [None] * len(shares)
    addends = []
    for value, maximum, share in zip(values, maxima, shares, strict=True):
        name, answered = safe_line(share.name), share.answered
        reason = share_words(
            safe_line(share.reason),
            answered if explanation.full_relevance is not None else None,
            linked=share.link_strength > 0.0,
        )
        if share.link_strength and reason.endswith(f"{format_score(0.0)} answered"):
            reason = safe_line(f"{share.reason}, but it says nothing of what is asked")
        elif share.link_strength and not share.share and not ranking.is_coverage:
            reason += ": another counts more"
        if share.id in ranking.tuning.pinned:
            reason += " · pinned by you"
        sentence = link_sentence(name, value, reason)
        addends.append(view.Addend(value, maximum, name, reason, sentence))
    note = f"mean of the {len(shares)} named" if ranking.is_coverage else "the best of them counts"
    return view.Section("entity", total, tuple(addends), (note,) if len(shares) > 1 else ())


def how_often(normalized: float) -> str:
    return "rare ones, often" if normalized >= OFTEN else "several" if normalized >= SOME else "few"


def how_near(cosine: float) -> str:
    return "nearly that" if cosine >= NEAR else "related" if cosine >= RELATED else "little alike"


def words_sentence(raw: float, normalized: float) -> str:
    """Return what a BM25 score means; `normalized` is the same score in 0..1."""
    label = f"bm25 {raw:.1f}"
    if raw <= 0.0:
        return f"{label}: no word of your question occurs here"
    if normalized >= OFTEN:
        return f"{label}: rare words of your question occur often here"
    if normalized >= SOME:
        return f"{label}: several words of your question occur here"
    return f"{label}: few words of your question occur here, or only frequent ones"


def meaning_sentence(cosine: float | None) -> str:
    """Return what a cosine means; None stands for a document without a vector."""
    if cosine is None:
        return "no number: meaning was not compared for this document"
    label = f"cosine {format_score(cosine)}"
    if cosine >= NEAR:
        return f"{label}: its best passage says nearly what you ask"
    if cosine >= RELATED:
        return f"{label}: its best passage is about something related"
    return f"{label}: its meaning has little to do with your question"


def link_sentence(name: str, share: float, reason: str) -> str:
    if not share:
        return f"{name} adds nothing: {reason}"
    link, *factors = reason.split(" × ")
    answer = ", as far as it answers the topic" if factors else ""
    return f"{name} adds {format_score(share)}: the document is linked to it by {link}{answer}"


NO_WORD = "no word of yours occurs here"
NO_TOPIC_WORD = "no word besides the names occurs here"
UNIT = Fraction(1, 100)


def formula_values(total: float, weights: Sequence[float], values: Sequence[float]) -> list[float]:
    """Return `values` rounded so that the sum of weight times value rounds to `total` rounded.

    The weights sum to 1 and are shown in full; `total` is the exact sum. Each value is rounded down
    or up, and the combination nearest to the exact values is chosen. One exists: with all values
    rounded down the sum is at most exact; with all rounded up it is at least a last digit more.
    """
    target = Fraction(f"{total:.2f}")
    factors = [Fraction(str(weight)) for weight in weights]
    exact = [Fraction(value) / UNIT for value in values]

    def cost(candidate: tuple[int, ...]) -> tuple[bool, Fraction]:
        result = sum((w * n for w, n in zip(factors, candidate, strict=True)), Fraction(0)) * UNIT
        error = sum((abs(n - e) for n, e in zip(candidate, exact, strict=True)), Fraction(0))
        return abs(result - target) > UNIT / 2, error

    candidates = product(*(_nearest_integers(value) for value in exact))
    return [float(units * UNIT) for units in min(candidates, key=cost)]


def _nearest_integers(value: Fraction) -> tuple[int, ...]:
    """Return the integers around `value`, or only one if it is an integer up to float error."""
    nearest = round(value)
    if abs(value - nearest) < Fraction(1, 10**7):
        return (nearest,)
    return (floor(value), floor(value) + 1)
