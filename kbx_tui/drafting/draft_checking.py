"""Checking drafts: whose each may be, and what of the base and the batch is like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kbx_tui.config import DedupSettings
from kbx_tui.drafting.batch_duplicates import find_repeats
from kbx_tui.drafting.checks import FLOOR, DraftCheck, DraftMatch, EntityGuess
from kbx_tui.drafting.guessing import Subjects, guess_by_fact, guess_by_name, sure_guess
from kbx_tui.drafting.strip_subject import without_subject
from kbx_tui.editing.state.drafts import Draft
from kbx_tui.errors import NotFound
from kbx_tui.knowledge.facts.fact_line import read_fact_line
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.similarity.nearby import NearFact
from kbx_tui.similarity.scoring.thresholds import Thresholds
from kbx_tui.similarity.similarity_engine import SimilarityEngine

MATCHES = 8
"""Matches kept of the whole base, and as many of the draft's own entity."""


def check_drafts(
    drafts: Sequence[Draft], engine: SimilarityEngine, index: OpenIndex, settings: DedupSettings
) -> list[DraftCheck]:
    """Return a check per draft, in order. Raises EmbeddingError and IndexForeign."""
    whole = [compared_text(draft) for draft in drafts]
    snapshot = index.loaded().snapshot
    entities = {entity.id: entity for entity in snapshot.entities}
    entity_pass = index.loaded().entity_pass
    subjects = Subjects(snapshot.entities)
    named = [guess_by_name(text, entity_pass, snapshot.entities, subjects) for text in whole]
    known, notes = [], []
    for draft, guesses in zip(drafts, named, strict=True):
        entity, note = _known_entity(draft, guesses, entities, engine)
        known.append(entity)
        notes.append(note)
    owners = [entity.id if entity else "" for entity in known]
    texts = [
        without_subject(text, entities.get(owner))
        for text, owner in zip(whole, owners, strict=True)
    ]
    near = _near(texts, whole, owners, engine)
    for at, draft in enumerate(drafts):
        if known[at] is None and _is_open(draft) and not any(g.is_named for g in named[at]):
            by_fact = guess_by_fact(near[at], entities)
            named[at] = (*by_fact, *named[at])
            known[at] = by_fact[0] if len(by_fact) == 1 else None
    told = [_told(draft, entity) for draft, entity in zip(drafts, known, strict=True)]
    repeats = find_repeats(
        told, texts, engine.vectors(texts), engine.calibration, Thresholds(settings)
    )
    return [
        DraftCheck(
            draft=told[at],
            text=texts[at],
            entity=known[at],
            candidates=_with(known[at], named[at]),
            matches=_matches(near[at], told[at]),
            repeats=repeats[at],
            model=engine.calibration.model,
            is_calibrated=engine.calibration.is_known,
            notes=notes[at],
            written=without_subject(draft.text, entities.get(owners[at])),
        )
        for at, draft in enumerate(drafts)
    ]


def _near(
    texts: Sequence[str], whole: Sequence[str], owners: Sequence[str], engine: SimilarityEngine
) -> list[tuple[NearFact, ...]]:
    """Return the facts near each text without its subject, or with it, whichever is nearer."""
    found = engine.near(texts, owners, FLOOR, MATCHES)
    doubtful = [at for at, text in enumerate(texts) if text != whole[at]]
    again = engine.near(
        [whole[at] for at in doubtful], [owners[at] for at in doubtful], FLOOR, MATCHES
    )
    for at, with_subject in zip(doubtful, again, strict=True):
        best: dict[int | None, NearFact] = {}
        for one in (*found[at], *with_subject):
            known = best.get(one.match.fact_id)
            if known is None or one.match.score > known.match.score:
                best[one.match.fact_id] = one
        ordered = sorted(
            best.values(), key=lambda one: (-one.match.score, one.entity_id != owners[at])
        )
        found[at] = tuple(ordered)
    return found


def compared_text(draft: Draft) -> str:
    """Return what of a draft is compared: its text without notes and markup."""
    return read_fact_line(draft.text).text or draft.text


def guess_of(entity: Entity, reason: str) -> EntityGuess:
    """Return an entity that is known, as a guess."""
    return EntityGuess(entity.id, entity.name, entity.type, entity.path, 1.0, reason)


def _known_entity(
    draft: Draft,
    guesses: Sequence[EntityGuess],
    entities: dict[str, Entity],
    engine: SimilarityEngine,
) -> tuple[EntityGuess | None, tuple[str, ...]]:
    """Return the entity that is chosen, named in the file of drafts, or named in the text."""
    if not draft.is_guessed:
        entity = entities.get(draft.entity_id)
        return (guess_of(entity, "chosen") if entity else None), ()
    if draft.entity_name:
        try:
            return guess_of(engine.entity(draft.entity_name), "named above"), ()
        except NotFound as error:
            return None, (str(error),)
    return sure_guess(guesses), ()


def _is_open(draft: Draft) -> bool:
    """Tell whether nobody said whose a draft is."""
    return draft.is_guessed and not draft.entity_name


def _told(draft: Draft, entity: EntityGuess | None) -> Draft:
    if not draft.is_guessed:
        return draft
    return replace(draft, entity_id=entity.id if entity else "")


def _with(known: EntityGuess | None, guesses: Sequence[EntityGuess]) -> tuple[EntityGuess, ...]:
    others = tuple(one for one in guesses if known is None or one.id != known.id)
    return (known, *others) if known else others


def _matches(near: Sequence[NearFact], draft: Draft) -> tuple[DraftMatch, ...]:
    """Return the facts near a draft; one that it stands for is no match of itself."""
    return tuple(
        DraftMatch(
            one.match,
            is_own=draft.entity_id in ("", one.entity_id) and one.match.match_type == draft.kind,
        )
        for one in near
        if one.match.fact_id != draft.stands_for
    )
