"""Checks of drafts and of duplicates in the base: the likely entity and similar texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from heapq import nlargest
from operator import itemgetter

from kbx_tui.drafting.deciding import decide
from kbx_tui.drafting.drafts import BatchMatch, Draft, DraftCheck, DraftMatch, EntityGuess
from kbx_tui.editing.fact_edits import verbatim_fact_texts
from kbx_tui.embedding.embedder import Vectors
from kbx_tui.errors import NotFound, WriteFault
from kbx_tui.knowledge.entity_names import strip_subject
from kbx_tui.knowledge.facts import read_fact_line
from kbx_tui.knowledge.records import Entity, Fact
from kbx_tui.search.evidence.evidence import EntityCandidate
from kbx_tui.search.name_lookup import SubjectIndex
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.search.retrieval.entity_pass import EntityPass
from kbx_tui.similarity.compared_words import analyse_words, normal_form
from kbx_tui.similarity.conflict_guard import find_conflicts
from kbx_tui.similarity.duplicate_scan import DuplicateScan
from kbx_tui.similarity.judging import CERTAIN, DUPLICATE, Judgement
from kbx_tui.similarity.pair_score import (
    FLOOR,
    MAX_TEXT,
    DuplicateFact,
    MatchType,
    PairSimilarity,
    Scale,
    SimilarityMatch,
    cut_notes,
    is_near,
    with_subject,
)
from kbx_tui.similarity.similarity_engine import SimilarityEngine

MATCHES = 8
NEAREST = 6
"""Known texts of a draft that the pair model is asked about, those with the highest scores."""
OTHERS = 2
"""Most facts of other entities that the pair model is asked about: those that look the same."""
SHOWN_BELOW = 0.9
"""Certainty below which a text is shown that is judged to say something else, and shares words."""
UNRELATED = 2
"""The most of the nearest that share no word with the draft and are not near it by vector: an
update in other words (`Has moved to Lund`) is among the first, and each costs time."""


def check_drafts(
    drafts: Sequence[Draft], engine: SimilarityEngine, index: OpenIndex
) -> list[DraftCheck]:
    """Return a check per draft, in order. Raises EmbeddingError and IndexForeign."""
    generation = index.generation()
    snapshot, entities = generation.snapshot, generation.entities
    entity_pass = generation.entity_pass
    subjects = engine.subjects
    full_texts = [_compared_text(draft) for draft in drafts]
    guesses = [guess_by_name(text, entity_pass, snapshot.entities, subjects) for text in full_texts]
    choices = [
        _choose_entity(draft, candidates, entities, engine)
        for draft, candidates in zip(drafts, guesses, strict=True)
    ]
    chosen = [guess for guess, _ in choices]
    owners = [guess.id if guess else "" for guess in chosen]
    texts = [
        strip_subject(text, entities.get(owner))
        for text, owner in zip(full_texts, owners, strict=True)
    ]
    near = engine.near(full_texts, owners, FLOOR, MATCHES, all_own=True)
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
    first = {owner: row for row, owner in reversed(tuple(enumerate(owners)))}
    repeats = find_batch_duplicates(resolved, texts, engine.vectors.of(texts), engine.scale())
    hints = _said_of_others(resolved, texts, engine, entities, subjects)
    checks = [
        DraftCheck(
            draft=resolved[row],
            text=texts[row],
            entity=chosen[row],
            candidates=_candidates(chosen[row], guesses[row]),
            matches=_with_hint(_matches(near[row], resolved[row]), hints[row]),
            repeats=repeats[row],
            model=engine.calibration.model,
            is_calibrated=engine.calibration.is_known,
            notes=(*choices[row][1], *cut_notes(draft.text)),
            written=strip_subject(draft.text, entities.get(owners[row])),
            closest=_closest(near[row], owners[row], is_first=first[owners[row]] == row),
        )
        for row, draft in enumerate(drafts)
    ]
    return [_with_owner(check, entities) for check in _judged(checks, engine)]


def _with_owner(check: DraftCheck, entities: Mapping[str, Entity]) -> DraftCheck:
    """Return the check of a draft of no entity with the owner of the fact that decides its state.

    That fact may contradict the draft, or say the same in other words, and score below its
    threshold. A draft that names someone, whoever that is, is left.
    """
    draft, match = check.draft, decide(check).match
    is_open = check.entity is None and draft.is_guessed and not draft.entity_name
    owner = entities.get(match.known.entity_id) if match is not None and is_open else None
    if match is None or owner is None or any(guess.is_named for guess in check.candidates):
        return check
    reason = f"its fact {match.known.text!r} decides"
    guess = entity_guess(owner, reason, match.known.score, is_named=False)
    return replace(
        check,
        draft=replace(draft, entity_id=owner.id),
        entity=guess,
        candidates=_candidates(guess, check.candidates),
        matches=tuple(
            replace(each, is_own=each.known.entity_id == owner.id) for each in check.matches
        ),
    )


def check_with_entity(draft: Draft, entity: Entity, engine: SimilarityEngine) -> DraftCheck:
    """Return the check of a draft against the known texts of its entity.

    Faster than `check_drafts`; `decide` gives the same verdict. Raises EmbeddingError and
    IndexForeign.
    """
    text = _compared_text(draft)
    (near,) = engine.near([text], [entity.id], FLOOR, MATCHES, only_own=True, all_own=True)
    guess = entity_guess(entity, "chosen")
    check = DraftCheck(
        draft=draft,
        text=strip_subject(text, entity),
        entity=guess,
        candidates=(guess,),
        matches=_matches(near, draft),
        repeats=(),
        model=engine.calibration.model,
        is_calibrated=engine.calibration.is_known,
        written=strip_subject(draft.text, entity),
        closest=_closest(near, entity.id, is_first=True),
    )
    return _judged([check], engine)[0]


def _judged(checks: Sequence[DraftCheck], engine: SimilarityEngine) -> list[DraftCheck]:
    """Return the checks with what the pair model says of their nearest texts, in one batch."""
    asked = {
        id(known.pair): (known, check.entity)
        for check in checks
        for known in (*_deciding(check), *_alike_of_others(check))
    }
    judged = engine.judge(
        [
            known.judged_pair
            if isinstance(known, SimilarityMatch)
            else (with_subject(known.pair, owner.name, owner.id) if owner else known.pair)
            for known, owner in asked.values()
        ]
    )
    pairs = dict(zip(asked, judged, strict=True))
    notes = (engine.judging_note,) if engine.judging_note else ()
    told = (_with_judgements(check, pairs) for check in checks)
    return [replace(check, notes=(*check.notes, *notes)) for check in told]


def _deciding(check: DraftCheck) -> list[SimilarityMatch | BatchMatch]:
    """Return the nearest known texts, fields that the draft names first.

    The last of them may be facts that have nothing in common with the draft but the entity.
    """
    own = [match.known for match in check.matches if match.is_own]
    related, others = list[SimilarityMatch | BatchMatch](check.repeats), list[SimilarityMatch]()
    for known in own:
        if is_near(known.pair) or _is_named_field(check.text, known):
            related.append(known)
        elif not known.field:
            others.append(known)

    def rank(known: SimilarityMatch | BatchMatch) -> tuple[bool, float]:
        return _is_named_field(check.text, known), known.pair.score

    nearest = nlargest(NEAREST, related, key=rank)
    return [*nearest, *nlargest(min(UNRELATED, NEAREST - len(nearest)), others, key=rank)]


def _alike_of_others(check: DraftCheck) -> list[SimilarityMatch]:
    """Return the nearest facts of other entities that score as duplicates.

    They decide nothing, but are not to be called the same where the model sees a contradiction.
    """
    alike = [
        match.known
        for match in check.matches
        if not (match.is_own or match.is_of_another) and match.known.score >= DUPLICATE
    ]
    return nlargest(OTHERS, alike, key=lambda known: known.score)


def _is_named_field(text: str, known: SimilarityMatch | BatchMatch) -> bool:
    if isinstance(known, BatchMatch) or not known.field:
        return False
    key = analyse_words(known.field.replace("_", " ")).content
    return not key.isdisjoint(analyse_words(text).content)


def _with_judgements(check: DraftCheck, pairs: Mapping[int, PairSimilarity]) -> DraftCheck:
    matches = [
        replace(match, known=replace(match.known, pair=_told(pairs.get(id(pair), pair), kinds)))
        for match in check.matches
        for pair in [match.known.pair]
        for kinds in [{match.known.match_type, check.draft.kind}]
    ]
    near = [
        match
        for match in matches
        if (match.known.score >= FLOOR and is_near(match.known.pair)) or _says_something(match)
    ]
    repeats = [replace(each, pair=pairs.get(id(each.pair), each.pair)) for each in check.repeats]
    return replace(check, matches=tuple(near), repeats=tuple(repeats))


def _told(pair: PairSimilarity, kinds: set[MatchType]) -> PairSimilarity:
    """Return a pair without a contradiction that only the model sees in what is to do and is done.

    `write the plan`, `The plan was written by Bob`: what is to do and what was done agree.
    """
    judged = pair.judged
    if judged is None or judged.relation != "conflict" or kinds != {"fact", "open_item"}:
        return pair
    if find_conflicts(pair.left, pair.right):
        return pair
    doubtful = min(judged.certainty, 1 - CERTAIN)
    return replace(pair, judged=Judgement("different", doubtful, "one is to be done"))


def _says_something(match: DraftMatch) -> bool:
    """Return whether the model relates it to the draft, or is in doubt where words are shared."""
    pair = match.known.pair
    if (judged := pair.judged) is None:
        return False
    is_doubtful = judged.certainty < SHOWN_BELOW and is_near(pair)
    return judged.relation != "different" or is_doubtful


def with_written_texts(
    checks: Sequence[DraftCheck], read: Callable[[str], bytes | None]
) -> list[DraftCheck]:
    """Return the checks with `written` set, for merges, in the matches of the draft's own entity.

    It stays empty if the page is gone or unreadable.
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


def _closest(near: Sequence[SimilarityMatch], owner: str, *, is_first: bool) -> float | None:
    cosines = [
        1.0 if known.signals.shares_word else known.cosine
        for known in near
        if known.entity_id == owner
    ]
    return max(cosines, default=None if is_first else -1.0)


def _said_of_others(
    drafts: Sequence[Draft],
    statements: Sequence[str],
    engine: SimilarityEngine,
    entities: Mapping[str, Entity],
    subjects: SubjectIndex,
) -> list[DraftMatch | None]:
    hints: list[DraftMatch | None] = [None] * len(drafts)
    owned = [
        (row, entities[draft.entity_id])
        for row, draft in enumerate(drafts)
        if draft.kind == "fact" and draft.entity_id in entities
    ]
    near = engine.near([statements[row] for row, _ in owned], [""] * len(owned), FLOOR, MATCHES)
    for (row, owner), facts in zip(owned, near, strict=True):
        hints[row] = said_of_another(statements[row], owner, facts, entities, subjects)
    return hints


def _with_hint(matches: tuple[DraftMatch, ...], hint: DraftMatch | None) -> tuple[DraftMatch, ...]:
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
    if not draft.is_guessed:
        entity = entities.get(draft.entity_id)
        return (entity_guess(entity, "chosen") if entity else None), ()
    if draft.entity_name:
        try:
            return entity_guess(engine.entity(draft.entity_name), "named above"), ()
        except NotFound as error:
            return None, (str(error),)
    best = guesses[0] if guesses else None
    return best if best and best.is_named and not best.is_ambiguous else None, ()


def _candidates(
    chosen: EntityGuess | None, guesses: Sequence[EntityGuess]
) -> tuple[EntityGuess, ...]:
    others = tuple(guess for guess in guesses if chosen is None or guess.id != chosen.id)
    return (chosen, *others) if chosen else others


def _matches(near: Sequence[SimilarityMatch], draft: Draft) -> tuple[DraftMatch, ...]:
    return tuple(
        DraftMatch(known, is_own=draft.entity_id in ("", known.entity_id))
        for known in near
        if draft.stands_for is None or known.fact_id != draft.stands_for
    )


MAX_GUESSES = 5


def guess_by_name(
    text: str, entity_pass: EntityPass, entities: Sequence[Entity], subjects: SubjectIndex
) -> tuple[EntityGuess, ...]:
    """Return the entities whose names or roles the text mentions, best first.

    If the text begins with an entity's whole name, that entity comes first, even if the name is
    also an ordinary word (`Platform owns deploys`). Other named entities follow in the order of
    their mentions: `Alice leads the migration` is about Alice.
    """
    matches = entity_pass.names.find(text)
    first_mention: dict[str, int] = {}
    for match in matches:
        entity_id = entities[match.entity].id
        first_mention[entity_id] = min(match.start, first_mention.get(entity_id, match.start))
    candidates = sorted(
        entity_pass.find(text, matches, [], None),
        key=lambda candidate: (
            not candidate.named,
            first_mention[candidate.id] if candidate.named else 0,
            -candidate.score,
        ),
    )
    guesses = []
    for candidate in candidates[:MAX_GUESSES]:
        signal = candidate.signals[0]  # the strongest
        reason = f"{signal.kind.replace('_', ' ')} {signal.detail!r}"
        flags = {"is_named": candidate.named, "is_ambiguous": signal.ambiguous}
        guesses.append(entity_guess(candidate, reason, candidate.score, **flags))
    subject = subjects.subject_of(text)
    if subject is None:
        return tuple(guesses)
    first = entity_guess(subject, f"begins with {subject.name!r}")
    return (first, *(guess for guess in guesses if guess.id != subject.id))


def guess_by_fact(
    near: Sequence[SimilarityMatch], entities: Mapping[str, Entity]
) -> tuple[EntityGuess, ...]:
    guesses: dict[str, EntityGuess] = {}
    for known in near:
        entity = entities.get(known.entity_id)
        if entity and known.score >= known.threshold:
            reason = f"its fact {known.text!r} is the nearest"
            guess = entity_guess(entity, reason, known.score, is_named=False)
            guesses.setdefault(entity.id, guess)
    return tuple(guesses.values())[:MAX_GUESSES]


def entity_guess(
    entity: Entity | EntityCandidate, reason: str, score: float = 1.0, **flags: bool
) -> EntityGuess:
    return EntityGuess(entity.id, entity.name, entity.type, entity.path, score, reason, **flags)


LEAST_WORDS = 2


def said_of_another(
    statement: str,
    owner: Entity,
    near: Sequence[SimilarityMatch],
    entities: Mapping[str, Entity],
    subjects: SubjectIndex,
) -> DraftMatch | None:
    """Return the best fact in `near` that makes the statement about exactly one other entity.

    `statement` is the draft without its owner's name; `near` is best first. None if `near` makes it
    about the owner or several entities: such a statement (`works remotely`) can be true of many,
    and no rule can decide that from the words alone.
    """
    words = analyse_words(statement).content
    if len(words) < LEAST_WORDS:
        return None
    found: dict[str, DraftMatch] = {}
    for known in near:
        subject = subjects.subject_of(known.text) or entities.get(known.entity_id)
        if subject is None or subject.type != owner.type or known.match_type != "fact":
            continue
        said = strip_subject(known.text, subject)
        if words <= analyse_words(said).content and not find_conflicts(statement, said):
            named = replace(known, entity_name=subject.name)
            found.setdefault(subject.id, DraftMatch(named, is_own=False, is_of_another=True))
    if owner.id in found or len(found) != 1:
        return None
    return next(iter(found.values()))


MIN_COSINE = 0.35
"""Below it, pairs are compared only if their texts are equal: no other pair reaches FLOOR."""
MAX_COMPARED = 50


def find_batch_duplicates(
    drafts: Sequence[Draft],
    texts: Sequence[str],
    vectors: Vectors,
    scale: Scale,
) -> list[tuple[BatchMatch, ...]]:
    """Return for each draft the similar earlier drafts of its entity, best first.

    `texts` are the compared texts and `vectors` their unit vectors, shape (drafts, dimension).
    Drafts without an entity are compared with each other. Skipped drafts are not matched, since
    they are not written. In a long batch, a draft is compared only with its nearest earlier ones.
    """
    normal_forms = [normal_form(text) for text in texts]
    earlier_of = defaultdict[str, list[int]](list)
    duplicates = []
    for later, draft in enumerate(drafts):
        rows = earlier_of[draft.entity_id]
        cosines = (vectors[rows] @ vectors[later]).tolist()
        candidates = [
            (cosine, earlier)
            for cosine, earlier in zip(cosines, rows, strict=True)
            if cosine >= MIN_COSINE or normal_forms[later] == normal_forms[earlier]
        ]
        nearest = nlargest(MAX_COMPARED, candidates, key=itemgetter(0))
        matches = []
        for cosine, earlier in sorted(nearest, key=itemgetter(1)):
            other = drafts[earlier]
            pair = scale.pair(texts[later], texts[earlier], cosine)
            if pair.score >= FLOOR and is_near(pair):
                threshold = scale.of(other.kind, texts[earlier])
                matches.append(
                    BatchMatch(other.id, other.text, other.kind, pair, threshold, other.date)
                )
        if draft.choice is None or draft.choice.action != "skip":
            rows.append(later)
        duplicates.append(tuple(sorted(matches, key=lambda match: -match.pair.score)))
    return duplicates


def duplicate_groups(scan: DuplicateScan) -> list[tuple[DuplicateFact, ...]]:
    """Return clusters, then conflicting pairs, each newest first."""
    clusters = (cluster.facts for cluster in scan.clusters)
    return [*clusters, *(pair.facts for pair in scan.conflicting)]


def _without_names(text: str, group: Sequence[Fact], entities: Mapping[str, Entity]) -> str:
    """Return a text without the name at its beginning of an entity that the group is about."""
    for fact in group:
        text = strip_subject(text, entities.get(fact.entity_id))
    return text


def check_groups(
    scan: DuplicateScan,
    facts: Mapping[int, Fact],
    entities: Mapping[str, Entity],
    scale: Scale,
    compare: Callable[[Sequence[tuple[str, str]]], Sequence[PairSimilarity]],
) -> list[DraftCheck]:
    checks = []
    for group in duplicate_groups(scan):
        newest, *others = members = [facts[fact.fact_id] for fact in group]
        text, *texts = (_without_names(fact.text, members, entities) for fact in members)
        pairs = compare([(text, other) for other in texts])
        matches = []
        for duplicate, fact, pair in zip(group[1:], others, pairs, strict=True):
            # in a chain of duplicates, its score with the newest fact may be below the threshold
            threshold = min(scale.of(fact.kind, fact.text), pair.score)
            known = SimilarityMatch.of_fact(fact, pair, threshold, duplicate.entity_name)
            matches.append(DraftMatch(known, is_own=fact.entity_id == newest.entity_id))
        entity = entities.get(newest.entity_id)
        guess = entity_guess(entity, "its fact") if entity else None
        ids = ",".join(str(fact.fact_id) for fact in members)
        draft = Draft(
            id=blake2b(ids.encode(), digest_size=6).hexdigest(),  # a fact may be in many groups
            text=newest.text,
            kind=newest.kind,
            entity_id=entity.id if entity else "",
            is_guessed=False,
            date=newest.date,
            stands_for=newest.fact_id,
        )
        check = DraftCheck(
            draft=draft,
            text=newest.text,
            entity=guess,
            candidates=(guess,) if guess else (),
            matches=tuple(sorted(matches, key=lambda match: -match.known.score)),
            repeats=(),
            model=scan.model,
            is_calibrated=scan.is_calibrated,
        )
        checks.append(check)
    return checks
