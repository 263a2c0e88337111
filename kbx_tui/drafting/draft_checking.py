"""Checks of drafts: the likely entity, and what is similar in the base and in the batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache

from kbx_tui.config import DedupSettings
from kbx_tui.drafting.batch_duplicates import find_batch_duplicates
from kbx_tui.drafting.checks import DraftCheck, DraftMatch, EntityGuess
from kbx_tui.drafting.guessing import (
    confident_guess,
    entity_guess,
    guess_by_fact,
    guess_by_name,
)
from kbx_tui.drafting.other_subjects import said_of_another
from kbx_tui.editing.pages.fact_splices import verbatim_fact_texts
from kbx_tui.editing.state.drafts import Draft
from kbx_tui.errors import NotFound, WriteFault
from kbx_tui.knowledge.facts.fact_line import read_fact_line
from kbx_tui.knowledge.facts.strip_subject import strip_subject
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.similarity.nearby import NearFact
from kbx_tui.similarity.scoring.pair_score import MAX_TEXT, cut_notes
from kbx_tui.similarity.scoring.thresholds import FLOOR, Thresholds
from kbx_tui.similarity.similarity_engine import SimilarityEngine
from kbx_tui.similarity.subject_index import SubjectIndex

MATCHES = 8
"""Maximum number of matches kept from all entities, plus as many of the draft's own entity."""


def check_drafts(
    drafts: Sequence[Draft], engine: SimilarityEngine, index: OpenIndex, settings: DedupSettings
) -> list[DraftCheck]:
    """Return a check per draft, in order. Raises EmbeddingError and IndexForeign."""
    snapshot, entity_pass = index.generation().snapshot, index.generation().entity_pass
    entities = {entity.id: entity for entity in snapshot.entities}
    subjects = SubjectIndex(snapshot.entities)
    full_texts = [_compared_text(draft) for draft in drafts]
    guesses = [guess_by_name(text, entity_pass, snapshot.entities, subjects) for text in full_texts]
    chosen, notes = [], []
    for draft, candidates in zip(drafts, guesses, strict=True):
        guess, messages = _choose_entity(draft, candidates, entities, engine)
        chosen.append(guess)
        notes.append(messages)
    owners = [guess.id if guess else "" for guess in chosen]
    texts = [
        strip_subject(text, entities.get(owner))
        for text, owner in zip(full_texts, owners, strict=True)
    ]
    near = engine.near(full_texts, owners, FLOOR, MATCHES)
    for row, draft in enumerate(drafts):
        is_open = chosen[row] is None and draft.is_guessed and not draft.entity_name
        if is_open and not any(guess.is_named for guess in guesses[row]):
            by_fact = guess_by_fact(near[row], entities)
            guesses[row] = by_fact + guesses[row]
            chosen[row] = by_fact[0] if len(by_fact) == 1 else None
    resolved = [
        replace(draft, entity_id=guess.id if guess else "") if draft.is_guessed else draft
        for draft, guess in zip(drafts, chosen, strict=True)
    ]
    repeats = find_batch_duplicates(
        resolved, texts, engine.vectors(texts), engine.calibration, Thresholds(settings)
    )
    hints = _of_others(resolved, texts, engine, entities, subjects)
    return [
        DraftCheck(
            draft=resolved[row],
            text=texts[row],
            entity=chosen[row],
            candidates=_candidates(chosen[row], guesses[row]),
            matches=_with_hint(_matches(near[row], resolved[row]), hints[row]),
            repeats=repeats[row],
            model=engine.calibration.model,
            is_calibrated=engine.calibration.is_known,
            notes=(*notes[row], *cut_notes(draft.text)),
            written=strip_subject(draft.text, entities.get(owners[row])),
        )
        for row, draft in enumerate(drafts)
    ]


def check_with_entity(draft: Draft, entity: Entity, engine: SimilarityEngine) -> DraftCheck:
    """Return the check of one draft whose entity is known, against what is known about that entity.

    Faster than `check_drafts`, and the same for `decide`, since only such matches decide. Raises
    EmbeddingError and IndexForeign.
    """
    text = _compared_text(draft)
    (near,) = engine.near([text], [entity.id], FLOOR, MATCHES, only_own=True)
    guess = entity_guess(entity, "chosen")
    return DraftCheck(
        draft=draft,
        text=strip_subject(text, entity),
        entity=guess,
        candidates=(guess,),
        matches=_matches(near, draft),
        repeats=(),
        model=engine.calibration.model,
        is_calibrated=engine.calibration.is_known,
        written=strip_subject(draft.text, entity),
    )


def with_written_texts(
    checks: Sequence[DraftCheck], read: Callable[[str], bytes | None]
) -> list[DraftCheck]:
    """Return the checks with `written` set for matches of their own entity, as a merge needs it.

    `read` returns the content of a path. A page that is gone or unreadable leaves `written` empty.
    """

    @cache
    def written_texts(path: str) -> Mapping[tuple[int, str], str]:
        with suppress(WriteFault):
            if (data := read(path)) is not None:
                return verbatim_fact_texts(path, data)
        return {}

    def look_up(match: DraftMatch) -> DraftMatch:
        known = match.known
        if not match.is_own or known.fact_id is None:
            return match
        text = written_texts(known.source_path).get((known.line, known.text), "")
        return replace(match, written=text if read_fact_line(text).text == known.text else "")

    return [replace(check, matches=tuple(map(look_up, check.matches))) for check in checks]


def _of_others(
    drafts: Sequence[Draft],
    statements: Sequence[str],
    engine: SimilarityEngine,
    entities: Mapping[str, Entity],
    subjects: SubjectIndex,
) -> list[DraftMatch | None]:
    """Return, per draft, the fact that says the same of another entity."""
    hints: list[DraftMatch | None] = [None] * len(drafts)
    rows = [
        row
        for row, draft in enumerate(drafts)
        if draft.kind == "fact" and draft.entity_id in entities
    ]
    near = engine.near([statements[row] for row in rows], [""] * len(rows), FLOOR, MATCHES)
    for row, facts in zip(rows, near, strict=True):
        owner = entities[drafts[row].entity_id]
        hints[row] = said_of_another(statements[row], owner, facts, entities, subjects)
    return hints


def _with_hint(matches: tuple[DraftMatch, ...], hint: DraftMatch | None) -> tuple[DraftMatch, ...]:
    """Return matches with a hint in its place by score, once."""
    if hint is None:
        return matches
    others = (match for match in matches if match.known.fact_id != hint.known.fact_id)
    return tuple(sorted((*others, hint), key=lambda match: -match.known.score))


def _compared_text(draft: Draft) -> str:
    text = draft.text[:MAX_TEXT]
    return read_fact_line(text).text or text


def _choose_entity(
    draft: Draft,
    guesses: Sequence[EntityGuess],
    entities: Mapping[str, Entity],
    engine: SimilarityEngine,
) -> tuple[EntityGuess | None, tuple[str, ...]]:
    """Return the entity that was chosen, given with the draft or named in its text, and notes."""
    if not draft.is_guessed:
        entity = entities.get(draft.entity_id)
        return (entity_guess(entity, "chosen") if entity else None), ()
    if draft.entity_name:
        try:
            return entity_guess(engine.entity(draft.entity_name), "named above"), ()
        except NotFound as error:
            return None, (str(error),)
    return confident_guess(guesses), ()


def _candidates(
    chosen: EntityGuess | None, guesses: Sequence[EntityGuess]
) -> tuple[EntityGuess, ...]:
    others = tuple(guess for guess in guesses if chosen is None or guess.id != chosen.id)
    return (chosen, *others) if chosen else others


def _matches(near: Sequence[NearFact], draft: Draft) -> tuple[DraftMatch, ...]:
    """Return the facts near a draft as matches, except the fact that it represents."""
    return tuple(
        DraftMatch(
            fact.match,
            is_own=draft.entity_id in ("", fact.entity_id),
        )
        for fact in near
        if draft.stands_for is None or fact.match.fact_id != draft.stands_for
    )
