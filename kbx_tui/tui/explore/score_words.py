"""What the numbers and signs of explore mean, in sentences. Pure.

`?` shows those of the focused pane; `docs/scores.md` lists the ones that need no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kbx_tui.formatting import FLAT_REASONS, format_score, rounded_parts
from kbx_tui.tui.explore.view import EntityRow, ExploreView, ResultRow, Why

QUOTED = re.compile("“[^”]*”")
"""What an entity matched with, which may hold any words."""

Words = tuple[str, str]

MEANINGS: Mapping[str, str] = {
    "score": "how well the result answers, 0 to 1; results are in this order.",
    "document": "how fully the document itself answers what you ask besides names of people: 1 is"
    " a full answer, and less counts for ever less.",
    "entity": "how strongly the document is linked to what you named, such as people and projects.",
    "words": "words of your question that occur here; rare ones count more than frequent ones.",
    "meaning": "how near the meaning of its best passage is to that of your question.",
    "date": "whether the document is of the time you asked for.",
    "propagated": "what the part before or after it adds, since they are parts of one document.",
    "relevance": "words and meaning together; from the relevance of a full answer on, more adds"
    " nothing.",
    "feedback": "the search moved a little towards these documents, which answer it best.",
    "hotness": "how often and how recently you opened the document.",
    "reranker": "how well the reranking model finds that the passage answers.",
    "exact": "you gave its title, path, id, date or name in full, so it comes first.",
    "alpha": "how much the document's own text counts against its entities: 1 ranks by the text"
    " alone, 0 by the entities alone.",
    "threshold": "the score from which an entity counts; below it, its documents get nothing.",
    "two-pass": "the entities you named were found first, then documents, those linked to them"
    " ahead.",
    "flat": "documents are ranked by their own text; no entity counts.",
    "fast": "documents are ranked by their words alone, without meaning and entities.",
    "seed": "the formula of the first proposal ranks, for comparison.",
    "●": "this entity counts: it reaches the threshold.",
    "○": "this entity does not count.",
    "✕": "you muted this entity: it is ignored in this query.",
    "pinned": "you said that the query is about it, so it counts with score 1.",
    "█": "the document's part of the score.",
    "▒": "the entities' part of the score.",
    "░": "the reranker's part of the score.",
    "! changed": "its file has changed since it was indexed; it ranks by its text of then.",
    "! gone": "its file is no longer there; the next index run drops it.",
    "! no vector": "it is found by its words only: its meaning has not been embedded yet.",
    "gate": "documents that match, but are linked to none of the entities that count.",
    "▲": "the result rose since the list last settled, by so many ranks; ▼: it fell.",
}

CANDIDATES = (
    "so many documents were scored: those that words, links or the index of vectors find. In a"
    " folder of fewer than a million chunks all are; = compares all here."
)

REASONS: Mapping[str, str] = {
    "disabled": "you switched entities off.",
    "fast": "a fast search looks for no entities.",
    "no_entities": "the question names nobody and nothing that the base knows.",
    "below_threshold": "entities were found, but none reaches the threshold; a lower one keeps"
    " some.",
    "too_broad": "many entities fit equally well, so none can lead.",
    "nothing_linked": "no document in scope is linked to the entities that were found.",
}

SIGNALS: Mapping[str, str] = {
    "name": "its full name is in the question",
    "alias": "another of its names is in the question",
    "first name": "its first name is in the question",
    "surname": "its surname is in the question",
    "like": "a word of the question is spelt much like its name",
    "role": "the question names its role",
    "team": "it belongs to a team in the question",
    "fact": "a fact about it has words of the question",
    "meaning": "its page is about something similar",
}
"""Why an entity was found, by the word that the list shows."""


def why_words(why: Why, alpha: float) -> Iterator[Words]:
    if why.known_item:
        yield f"exact {why.known_item}", MEANINGS["exact"]
    yield f"score {format_score(why.score)}", MEANINGS["score"]
    if len(why.terms) > 1:
        yield f"alpha {format_score(alpha)}", alpha_sentence(alpha)
    for section in why.sections:
        yield f"{section.name} {format_score(section.total)}", MEANINGS[section.name]
        for addend in section.addends:
            meaning = addend.sentence or MEANINGS.get(addend.name, "")
            yield f"{addend.name} {format_score(addend.value)}", meaning
        for note in section.notes:
            if (first := note.partition(" ")[0]) in MEANINGS:
                yield note, MEANINGS[first]
    if why.frecency is not None:
        yield f"hotness {format_score(why.frecency.value)}", MEANINGS["hotness"]
    if why.reranking is not None:
        yield f"reranker {format_score(why.reranking.score)}", MEANINGS["reranker"]


def alpha_sentence(alpha: float) -> str:
    if alpha in (0.0, 1.0):
        return f"only the {'document' if alpha else 'entity'} part counts"
    document, entity = round(alpha * 100), round((1.0 - alpha) * 100)
    return f"the document part weighs {document} %, the entity part {entity} %"


def alpha_words(alpha: float, note: str) -> Iterator[Words]:
    yield f"alpha {format_score(alpha)}", MEANINGS["alpha"]
    yield "now", f"{alpha_sentence(alpha)}{f'; {note}' if note else ''}"


def threshold_words(threshold: float, note: str) -> Iterator[Words]:
    yield f"threshold {format_score(threshold)}", MEANINGS["threshold"]
    if note:
        yield "now", note


def mode_words(view: ExploreView) -> Iterator[Words]:
    mode = view.mode
    yield mode.name, MEANINGS[mode.name]
    key = next((key for key, text in FLAT_REASONS.items() if text and text == mode.reason), "")
    if key:
        yield mode.reason, REASONS[key]
    elif mode.name == "two-pass":
        yield mode.reason, "the entities that count."
    if view.gated:
        yield f"{view.gated:,} left out by the gate", MEANINGS["gate"]
    if mode.preset == "seed":
        yield "seed", MEANINGS["seed"]
    if mode.vector_share < 1.0 and mode.name != "fast":
        yield "meaning …", "so many texts can be found by meaning; the rest have no vector yet."
    if mode.candidates is not None:
        yield "… candidates", CANDIDATES


def entity_words(entity: EntityRow, threshold: float) -> Iterator[Words]:
    yield entity.sign, MEANINGS[entity.sign]
    if entity.pinned and not entity.muted:
        yield "pinned", MEANINGS["pinned"]
    elif not entity.kept and not entity.muted:
        below = f"its score is below the threshold of {format_score(threshold)}"
        above = f"it reaches the threshold, but {entity.left_out or 'the search is flat'}"
        yield "why ○", below if entity.score < threshold else above
    yield format_score(entity.score), "how sure it is that the question means it, 0 to 1."
    shown = [part.strip() for part in QUOTED.sub("", entity.signals).split(",")]
    found = [
        meaning
        for word, meaning in SIGNALS.items()
        if any(part.lstrip("0123456789 ").startswith(word) for part in shown)
    ]
    yield entity.signals or "meaning", "; ".join(found or [SIGNALS["meaning"]]) + "."


def result_words(result: ResultRow, badge: str = "") -> Iterator[Words]:
    """Yield the parts of a row, rounded so that they add up; `badge` says what is off with it."""
    parts = (result.document_part, result.entity_part, result.reranker_part)
    document, entity, reranker = rounded_parts(sum(parts), parts)
    yield format_score(result.score), MEANINGS["score"]
    if result.known_item:
        yield f"exact {result.known_item}", MEANINGS["exact"]
    yield f"█ {format_score(document)}", MEANINGS["█"]
    yield f"▒ {format_score(entity)}", MEANINGS["▒"]
    if result.reranker_part:
        yield f"░ {format_score(reranker)}", MEANINGS["░"]
    if badge:
        yield f"! {badge}", MEANINGS[f"! {badge}"]
    yield "▲2 ▼1", MEANINGS["▲"]
