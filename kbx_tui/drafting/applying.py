"""Writing a plan, as one entry of the journal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from kbx_tui.drafting.plans import Applied, DraftProblem, Plan, PlannedFile
from kbx_tui.drafting.rebase_edits import remade
from kbx_tui.editing.file_edits import FileEdit, Listener, write_files
from kbx_tui.editing.state.drafts import Action
from kbx_tui.formatting import count_words


def apply_plan(root: Path, plan: Plan, listener: Listener | None = None) -> Applied:
    """Write the files of a plan; a file that changed meanwhile gets its edits where they fit still.

    Files that share a draft are written all or none. Drafts whose file cannot be written are told
    in `failed`; all others are written. Raises WriteFault when nothing at all can be.
    """
    told = f"dedup: {count_words(len(plan.actions) - plan.count('skip'), 'draft')}"
    groups = _groups(plan.files)
    edits = [_edit(file, groups[file.path]) for file in plan.files]
    outcome = write_files(root, edits, told, listener=listener)
    failed = {
        draft_id: DraftProblem(draft_id, str(outcome.failed[file.path]))
        for file in plan.files
        if file.path in outcome.failed
        for draft_id in file.draft_ids
    }
    done = [(draft_id, action) for draft_id, action in plan.actions if draft_id not in failed]

    def count(action: Action) -> int:
        return sum(one == action for _, one in done)

    return Applied(
        created=count("create"),
        merged=count("merge"),
        superseded=count("supersede"),
        skipped=count("skip"),
        failed=(*plan.problems, *failed.values()),
        done=tuple(draft_id for draft_id, _ in done),
        paths=outcome.paths,
        entry=outcome.entry.number if outcome.entry else None,
        fact_ids=tuple(pair for pair in plan.fact_ids if pair[0] not in failed),
    )


def _edit(file: PlannedFile, group: str) -> FileEdit:
    again = partial(remade, file.path, file.edits, file.before)
    return FileEdit(file.path, file.before, file.after, again, group)


def _groups(files: Sequence[PlannedFile]) -> dict[str, str]:
    """Return for each file the name of its group: files that share a draft, however indirectly."""
    groups: list[tuple[set[str], set[str]]] = []
    for file in files:
        drafts, paths = set(file.draft_ids), {file.path}
        for group in [one for one in groups if one[0] & drafts]:
            groups.remove(group)
            drafts |= group[0]
            paths |= group[1]
        groups.append((drafts, paths))
    return {path: min(paths) for _, paths in groups for path in paths}
