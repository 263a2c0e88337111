"""Application of a plan as one journal entry, and rebasing of edits onto changed pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from kbx_tui.drafting.planning import find_active_fact
from kbx_tui.drafting.plans import Applied, DraftProblem, Plan, PlannedFile
from kbx_tui.editing.file_edits import FileEdit, ProgressCallback, write_files
from kbx_tui.editing.pages.fact_edits import AddFact
from kbx_tui.editing.pages.page_edits import PageEdit, apply_edits
from kbx_tui.errors import WriteFault
from kbx_tui.formatting import format_count


def apply_plan(root: Path, plan: Plan, progress: ProgressCallback | None = None) -> Applied:
    """Write the files of a plan, rebasing edits onto files that changed since it was made.

    Files that share a draft are written all or none. Drafts whose file cannot be written are in
    `failed`; all others are written. Raises WriteFault when nothing at all can be written.
    """
    count = sum(action != "skip" for _, action in plan.actions)
    groups = _groups(plan.files)
    edits = [_edit(file, groups[file.path]) for file in plan.files]
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

    Raises WriteFault when they no longer fit, or when another program has meanwhile added a fact
    that one of them adds. Without `before`, such a fact is added again.
    """
    for edit in edits:
        if isinstance(edit, AddFact) and before is not None:
            added = find_active_fact(path, current, edit.entity_id, edit.kind, [edit.text])
            old = find_active_fact(path, before, edit.entity_id, edit.kind, [edit.text])
            if added and not old:
                raise WriteFault(f"{added.text!r} is now in {path}:{added.line}")
    return apply_edits(path, current, edits)


def _edit(file: PlannedFile, group: str) -> FileEdit:
    rebase = partial(rebase_edits, file.path, file.edits, file.before)
    return FileEdit(file.path, file.before, file.after, rebase, group)


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
