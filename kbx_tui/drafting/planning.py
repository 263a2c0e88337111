"""Plans: the exact new content of each file, made from drafts with a choice.

A plan is applied as one journal entry and rebased onto pages that changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from functools import lru_cache, partial
from io import StringIO
from pathlib import Path

from kbx_tui.drafting.drafts import Applied, Draft, DraftProblem, Plan, PlannedFile
from kbx_tui.editing.fact_edits import (
    AddFact,
    ChangeFact,
    DeleteFact,
    FactEdit,
    StrikeFact,
    TickFact,
    add_facts,
    fact_line,
    parse_fact_page,
    source_note,
)
from kbx_tui.editing.file_edits import FileEdit, ProgressCallback, write_files
from kbx_tui.editing.page_edits import PageEdit, apply_edits
from kbx_tui.errors import WriteFault
from kbx_tui.formatting import format_count
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.entity_names import strip_subject
from kbx_tui.knowledge.facts import read_fact_line
from kbx_tui.knowledge.records import Entity, Fact, FactKind
from kbx_tui.similarity.compared_words import normal_form
from kbx_tui.similarity.pair_score import MAX_TEXT, too_long_for_a_fact

CONTEXT = 3

_PathEdit = tuple[str, FactEdit]


def make_plan(
    drafts: Iterable[Draft],
    *,
    entities: Mapping[str, Entity],
    facts: Mapping[int, Fact],
    read: Callable[[str], bytes | None],
    today: str,
) -> Plan:
    """Return what applying the drafts that have a choice would write.

    `facts` maps ids to the facts that the choices refer to, `read` returns the content of a path or
    raises WriteFault, and `today` is the date of facts without one. A draft becomes a problem if it
    decides about the same fact as an earlier draft, or adds a fact that the page already has.
    """
    planner = _Planner(entities, facts, read, today)
    for draft in drafts:
        if draft.choice is not None:
            planner.add(draft)
    return planner.plan()


def file_diff(path: str, before: bytes | None, after: bytes | None) -> str:
    """Return a unified diff of a file, empty when it does not change."""
    old, new = (StringIO(decode(data or b"")[0]).readlines() for data in (before, after))
    old_name, new_name = (path if data is not None else "/dev/null" for data in (before, after))
    lines = unified_diff(old, new, old_name, new_name, n=CONTEXT)
    return "".join(map(_shown_line, lines))


def _shown_line(line: str) -> str:
    text, end = line.removesuffix("\n"), "\n" if line.endswith("\n") else "\n\\ No newline\n"
    if (rest := len(text) - MAX_TEXT) > 0:
        text = f"{text[:MAX_TEXT]} … ({rest:,} more characters)"
    return text + end


def find_active_fact(
    path: str, data: bytes, entity_id: str, kind: FactKind, texts: Sequence[str]
) -> Fact | None:
    """Return the active fact or unfinished open item of a page that has one of these texts.

    Case, accents, spacing, end punctuation and notes are ignored.
    """
    active = _active_facts(path, data, entity_id, kind)
    found = (active[form] for form in _normal_forms(texts) & active.keys())
    return min(found, key=lambda fact: fact.line, default=None)


def _normal_forms(texts: Sequence[str]) -> set[str]:
    return {normal_form(read_fact_line(text).text or text) for text in texts}


@lru_cache(maxsize=2)  # each of many drafts for one page is looked for
def _active_facts(path: str, data: bytes, entity_id: str, kind: FactKind) -> Mapping[str, Fact]:
    facts, state = parse_fact_page(path, data, entity_id).facts, (kind, "active", False)
    active = [fact for fact, _ in facts if (fact.kind, fact.status, fact.done) == state]
    return {normal_form(fact.text): fact for fact in reversed(active)}


@dataclass(slots=True)
class _Planner:
    entities: Mapping[str, Entity]
    facts: Mapping[int, Fact]
    read: Callable[[str], bytes | None]
    today: str
    files: dict[str, PlannedFile] = field(default_factory=dict)
    waiting: dict[str, list[tuple[Draft, AddFact]]] = field(default_factory=dict)
    """Lines to be added to each page, as reading a page takes long."""
    known: dict[str, dict[FactKind, dict[str, Fact | None]]] = field(default_factory=dict)
    """The normal forms that each page has, with the fact, or will have with the waiting lines."""
    targets: dict[int, str] = field(default_factory=dict)
    drafts: list[Draft] = field(default_factory=list)
    problems: list[DraftProblem] = field(default_factory=list)

    def add(self, draft: Draft) -> None:
        try:
            edits = self._edits_for(draft)
            targets = {edit.fact.fact_id for _, edit in edits if not isinstance(edit, AddFact)}
            if edits and draft.stands_for is not None:  # an existing fact, to be kept
                targets.add(draft.stands_for)
            for fact_id in targets & self.targets.keys():
                raise WriteFault(
                    f"the draft {self.targets[fact_id]!r} decides about the same fact; apply first"
                )
            if len(edits) == 1 and isinstance(edits[0][1], AddFact):
                self._let_wait(draft, edits[0][0], edits[0][1])
            else:
                for path, _ in edits:
                    self._add_waiting(path)
                self.files |= self._edited(draft.id, edits)
        except WriteFault as error:
            self.problems.append(DraftProblem(draft.id, str(error)))
            return
        self.targets |= dict.fromkeys(targets, draft.text)
        self.drafts.append(draft)

    def _let_wait(self, draft: Draft, path: str, edit: AddFact) -> None:
        """Keep a line that is to be added with others. Raises WriteFault."""
        of_page = self.known.setdefault(path, {})
        if edit.kind not in of_page:
            file = self.files.get(path) or self._unchanged(path)
            active = _active_facts(path, file.after, edit.entity_id, edit.kind)
            of_page[edit.kind] = dict(active)
        fact_line(edit)
        texts, known = self._texts(edit), of_page[edit.kind]
        same = [known[form] for form in _normal_forms(texts) & known.keys()]
        if facts := [fact for fact in same if fact is not None]:
            raise _already_there(path, min(facts, key=lambda fact: fact.line))
        if same:
            raise WriteFault(f"an earlier draft adds {texts[0]!r} to {path}")
        known[normal_form(texts[0])] = None
        self.waiting.setdefault(path, []).append((draft, edit))

    def _add_waiting(self, path: str) -> None:
        self.known.pop(path, None)
        waiting = self.waiting.pop(path, ())
        if not waiting:
            return
        file, edits = self.files.get(path) or self._unchanged(path), [edit for _, edit in waiting]
        after = file.after
        try:
            for kind in dict.fromkeys(edit.kind for edit in edits):
                after = add_facts(path, after, [edit for edit in edits if edit.kind == kind])
        except WriteFault:  # find out which
            for draft, edit in waiting:
                try:
                    self.files |= self._edited(draft.id, [(path, edit)])
                except WriteFault as error:
                    self.problems.append(DraftProblem(draft.id, str(error)))
                    self.drafts.remove(draft)
            return
        ids = (*file.draft_ids, *(draft.id for draft, _ in waiting))
        self.files[path] = replace(
            file, after=after, edits=(*file.edits, *edits), draft_ids=tuple(dict.fromkeys(ids))
        )

    def plan(self) -> Plan:
        for path in tuple(self.waiting):
            self._add_waiting(path)
        files = tuple(
            replace(file, diff=file_diff(path, file.before, file.after))
            for path, file in sorted(self.files.items())
        )
        return Plan(files, tuple(self.drafts), tuple(self.problems))

    def _edits_for(self, draft: Draft) -> list[_PathEdit]:
        choice = draft.choice
        if choice is None or choice.action == "skip":
            return []
        targets = [self._fact(fact_id) for fact_id in dict.fromkeys(choice.fact_ids)]
        if choice.action != "create" and not targets:
            raise WriteFault(f"say which fact to {choice.action}")
        if choice.action == "delete":
            return [(fact.path, DeleteFact(fact)) for fact in targets]
        text = choice.text or draft.text
        if problem := too_long_for_a_fact(text):
            raise WriteFault(problem)
        day = draft.date or self.today
        strikes: list[_PathEdit] = [(fact.path, StrikeFact(fact, day)) for fact in targets]
        if choice.action == "strike":
            return strikes
        if draft.stands_for is not None:
            own = self._fact(draft.stands_for)
            if choice.action == "create":
                return []
            if choice.action == "supersede" or text == draft.text:
                return strikes
            # strike first: ids of equal texts would shift if the change came first
            return [*strikes, (own.path, ChangeFact(own, text))]
        if choice.action == "merge":
            return [(targets[0].path, _merge(draft, text, targets[0]))]
        addition = self._addition(draft)
        if choice.action == "tick":
            return [*((fact.path, TickFact(fact)) for fact in targets), addition]
        return [*strikes, addition] if choice.action == "supersede" else [addition]

    def _addition(self, draft: Draft) -> _PathEdit:
        entity = self.entities.get(draft.entity_id)
        if entity is None:
            raise WriteFault("its entity is unknown; choose one")
        if not entity.path:
            raise WriteFault(f"{entity.name} has no page yet; create one first")
        date = draft.date or (self.today if draft.kind == "fact" else "")
        return entity.path, AddFact(entity.id, draft.kind, draft.text, date, draft.source)

    def _fact(self, fact_id: int) -> Fact:
        if fact_id not in self.facts:
            raise WriteFault(f"fact {fact_id} no longer exists; check again")
        return self.facts[fact_id]

    def _edited(self, draft_id: str, edits: Sequence[_PathEdit]) -> dict[str, PlannedFile]:
        """Return the files as the edits of a draft would leave them. Raises WriteFault."""
        edited: dict[str, PlannedFile] = {}
        for path, edit in edits:
            file = edited.get(path) or self.files.get(path) or self._unchanged(path)
            if isinstance(edit, AddFact):
                self._require_new(path, file.after, edit)
            edited[path] = replace(
                file,
                after=apply_edits(path, file.after, [edit]),
                edits=(*file.edits, edit),
                draft_ids=tuple(dict.fromkeys((*file.draft_ids, draft_id))),
            )
        return edited

    def _unchanged(self, path: str) -> PlannedFile:
        content = self.read(path)
        if content is None:
            raise WriteFault(f"{path} is gone; check again")
        return PlannedFile(path, content, content)

    def _require_new(self, path: str, data: bytes, edit: AddFact) -> None:
        if fact := find_active_fact(path, data, edit.entity_id, edit.kind, self._texts(edit)):
            raise _already_there(path, fact)

    def _texts(self, edit: AddFact) -> tuple[str, str]:
        text = read_fact_line(edit.text).text or edit.text
        return text, strip_subject(text, self.entities.get(edit.entity_id))


def _already_there(path: str, fact: Fact) -> WriteFault:
    return WriteFault(f"{fact.text!r} is already in {path}:{fact.line}")


def _merge(draft: Draft, text: str, fact: Fact) -> ChangeFact:
    source = source_note(draft.kind, draft.source)
    if source and draft.source not in read_fact_line(text).sources:
        text = f"{text} {source}"
    later = draft.date if draft.date > fact.date else ""
    return ChangeFact(fact, text, later)


def apply_plan(root: Path, plan: Plan, progress: ProgressCallback | None = None) -> Applied:
    """Write the files of a plan, rebasing edits onto files that changed since it was made.

    Of files that share a draft, all are written or none. Drafts whose file cannot be written are in
    `failed`; all others are written. Raises WriteFault if nothing can be written.
    """
    count = sum(action != "skip" for _, action in plan.actions)
    groups = _groups(plan.files)
    edits = [
        FileEdit(
            file.path,
            file.before,
            file.after,
            partial(rebase_edits, file.path, file.edits, file.before),
            groups[file.path],
        )
        for file in plan.files
    ]
    outcome = write_files(root, edits, f"dedup: {format_count(count, 'draft')}", progress=progress)
    failed = {
        draft_id: DraftProblem(draft_id, str(outcome.failed[file.path]))
        for file in plan.files
        if file.path in outcome.failed
        for draft_id in file.draft_ids
    }
    done = [(draft_id, action) for draft_id, action in plan.actions if draft_id not in failed]
    counts = Counter(action for _, action in done)
    return Applied(
        created=counts["create"],
        merged=counts["merge"],
        superseded=counts["supersede"],
        ticked=counts["tick"],
        removed=counts["strike"] + counts["delete"],
        skipped=counts["skip"],
        failed=(*plan.problems, *failed.values()),
        done=tuple(draft_id for draft_id, _ in done),
        paths=outcome.paths,
        entry=outcome.entry.number if outcome.entry else None,
    )


def rebase_edits(
    path: str, edits: Sequence[PageEdit], before: bytes | None, current: bytes
) -> bytes:
    """Return the current page with the edits applied; `before` is the page they were made for.

    Raises WriteFault if they no longer fit, or if another program has meanwhile added a fact that
    they add. Without `before`, such a fact is added again.
    """
    for edit in edits:
        if isinstance(edit, AddFact) and before is not None:
            added = find_active_fact(path, current, edit.entity_id, edit.kind, [edit.text])
            old = find_active_fact(path, before, edit.entity_id, edit.kind, [edit.text])
            if added and not old:
                raise WriteFault(f"{added.text!r} is now in {path}:{added.line}")
    return apply_edits(path, current, edits)


def _groups(files: Sequence[PlannedFile]) -> dict[str, str]:
    """Return the group of each path: files that share a draft, directly or through others."""
    groups: list[tuple[set[str], set[str]]] = []
    for file in files:
        draft_ids, paths = set(file.draft_ids), {file.path}
        for group in [group for group in groups if group[0] & draft_ids]:
            groups.remove(group)
            draft_ids |= group[0]
            paths |= group[1]
        groups.append((draft_ids, paths))
    return {path: min(paths) for _, paths in groups for path in paths}
