"""From drafts with a choice to the exact content of every file. Reads files, writes none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff

from kbx_tui.drafting.plans import DraftProblem, Plan, PlannedFile
from kbx_tui.drafting.rebase_edits import standing
from kbx_tui.drafting.strip_subject import without_subject
from kbx_tui.editing.fact_edits import AddFact, ChangeFact, Meant, StrikeFact, source_note
from kbx_tui.editing.page_edits import PageEdit, edited
from kbx_tui.editing.state.drafts import Draft
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.facts.fact_line import read_fact_line
from kbx_tui.knowledge.facts.fact_sections import new_fact, read_facts
from kbx_tui.knowledge.parsing.decoding import decode
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.knowledge.records import Entity

CONTEXT = 3
"""Lines around a change in a diff."""


@dataclass(frozen=True, slots=True)
class FactPlace:
    """Where a fact stands, and which one it is of several with its text."""

    entity_id: str
    path: str
    meant: Meant


@dataclass(slots=True)
class _File:
    before: bytes
    after: bytes
    edits: list[PageEdit] = field(default_factory=list)
    draft_ids: list[str] = field(default_factory=list)


def make_plan(
    drafts: Iterable[Draft],
    *,
    entities: Mapping[str, Entity],
    places: Mapping[int, FactPlace],
    read: Callable[[str], bytes | None],
    today: str,
) -> Plan:
    """Return what applying the drafts that have a choice would write.

    `places` tells where the facts stand that the choices name, `read` what a file holds (it raises
    WriteFault for one outside the base), `today` is the date of facts without one. A fact is the
    target of one decision only, and what stands on a page already is not added: such drafts are
    `problems`.
    """
    files: dict[str, _File] = {}
    actions, problems, fact_ids = [], [], []
    targets: dict[int, str] = {}
    for draft in drafts:
        if draft.choice is None:
            continue
        try:
            wanted = _edits(draft, entities, places, today)
            for fact_id in _targets(wanted, draft):
                if fact_id in targets:
                    told = (
                        f"the draft {targets[fact_id]!r} decides about the same fact; apply first"
                    )
                    raise WriteFault(told)
            trial = _tried(wanted, files, read, entities)
        except WriteFault as error:
            problems.append(DraftProblem(draft.id, str(error)))
            continue
        targets |= dict.fromkeys(_targets(wanted, draft), draft.text)
        for path, edit in wanted:
            known = files.setdefault(path, trial[path])
            fact_ids += _new_ids(draft, path, edit, known.after, trial[path].after)
            known.after = trial[path].after
            known.edits.append(edit)
            known.draft_ids.append(draft.id)
        actions.append((draft.id, draft.choice.action))
    planned = [
        PlannedFile(
            path=path,
            before=file.before,
            after=file.after,
            edits=tuple(file.edits),
            draft_ids=tuple(dict.fromkeys(file.draft_ids)),
            diff=file_diff(path, file.before, file.after),
        )
        for path, file in sorted(files.items())
    ]
    return Plan(tuple(planned), tuple(actions), tuple(problems), tuple(fact_ids))


def file_diff(path: str, before: bytes | None, after: bytes | None) -> str:
    """Return a unified diff of a file, empty when it does not change."""
    old, new = (decode(data or b"")[0].splitlines(keepends=True) for data in (before, after))
    was, now = (path if data is not None else "/dev/null" for data in (before, after))
    lines = unified_diff(old, new, was, now, n=CONTEXT)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline\n" for line in lines)


def _edits(
    draft: Draft,
    entities: Mapping[str, Entity],
    places: Mapping[int, FactPlace],
    today: str,
) -> list[tuple[str, PageEdit]]:
    """Return what a draft asks of which files."""
    choice = draft.choice
    if choice is None or choice.action == "skip":
        return []
    fact_ids = tuple(dict.fromkeys(choice.fact_ids))
    targets = [_place(one, places) for one in fact_ids]
    if choice.action != "create" and not targets:
        raise WriteFault(f"say which fact to {choice.action}")
    text = choice.text or draft.text
    strikes: list[tuple[str, PageEdit]] = [
        (place.path, StrikeFact(place.entity_id, fact_id, place.meant))
        for fact_id, place in zip(fact_ids, targets, strict=True)
    ]
    if draft.stands_for is not None:  # it is in the base already
        own = _place(draft.stands_for, places)
        if choice.action == "create":
            return []
        if choice.action == "supersede" or text == draft.text:
            return strikes
        change = ChangeFact(own.entity_id, draft.stands_for, text, meant=own.meant)
        return [*strikes, (own.path, change)]  # the other way round, equal texts get new ids
    if choice.action == "merge":
        return [(targets[0].path, _merge(draft, text, fact_ids[0], targets[0]))]
    entity = entities.get(draft.entity_id)
    if entity is None:
        raise WriteFault("nobody knows whose fact this is; choose an entity")
    if not entity.path:
        raise WriteFault(f"{entity.name} has no page yet; make one first")
    date = draft.date or (today if draft.kind == "fact" else "")
    added = AddFact(entity.id, draft.kind, draft.text, date, draft.source)
    return (
        [*strikes, (entity.path, added)] if choice.action == "supersede" else [(entity.path, added)]
    )


def _merge(draft: Draft, text: str, fact_id: int, place: FactPlace) -> ChangeFact:
    """Return what makes one fact of two: the later date, the draft's source as one more note."""
    source = source_note(draft.kind, draft.source)
    if source and draft.source not in read_fact_line(text).sources:
        text = f"{text} {source}"
    later = draft.date if draft.date > place.meant.date else ""
    return ChangeFact(place.entity_id, fact_id, text, later, place.meant)


def _targets(wanted: Sequence[tuple[str, PageEdit]], draft: Draft) -> set[int]:
    """Return the facts that edits change or strike, and the one they keep in their place."""
    found = {edit.fact_id for _, edit in wanted if isinstance(edit, ChangeFact | StrikeFact)}
    return found | ({draft.stands_for} if wanted and draft.stands_for is not None else set())


def _place(fact_id: int, places: Mapping[int, FactPlace]) -> FactPlace:
    if fact_id not in places:
        raise WriteFault(f"fact {fact_id} is no longer known; check again")
    return places[fact_id]


def _tried(
    wanted: Sequence[tuple[str, PageEdit]],
    files: Mapping[str, _File],
    read: Callable[[str], bytes | None],
    entities: Mapping[str, Entity],
) -> dict[str, _File]:
    """Return the files a draft touches as they would be; raises WriteFault when one cannot."""
    trial: dict[str, _File] = {}
    for path, edit in wanted:
        if path not in trial:
            before = files[path].before if path in files else read(path)
            if before is None:
                raise WriteFault(f"{path} is gone; check again")
            trial[path] = _File(before, files[path].after if path in files else before)
        if isinstance(edit, AddFact):
            told = read_fact_line(edit.text).text or edit.text
            texts = (told, without_subject(told, entities.get(edit.entity_id)))
            if found := standing(path, trial[path].after, edit.entity_id, edit.kind, texts):
                raise WriteFault(f"{found.text!r} stands in {path}:{found.line} already")
        trial[path].after = edited(path, trial[path].after, [edit])
    return trial


def _new_ids(
    draft: Draft, path: str, edit: PageEdit, before: bytes, after: bytes
) -> list[tuple[str, int]]:
    if not isinstance(edit, AddFact | ChangeFact):
        return []
    old, new = (read_facts(parse_document(path, data), edit.entity_id) for data in (before, after))
    fact = new_fact(old, new)
    return [(draft.id, fact.fact_id)] if fact else []
