"""The JSON of imports and exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbx_tui.importing.import_planning import ImportPlan
    from kbx_tui.importing.okf_export import OkfExport


def import_json(plan: ImportPlan, entry: int | None) -> dict[str, Any]:
    """Return the output of `kbx import --json`; `entry` is None if nothing was written."""
    return {
        "written": entry is not None,
        "entry": entry,
        "paths": [edit.path for edit in plan.edits],
        "present": plan.present,
        "differing": list(plan.differing),
        "attendees": plan.attendees,
        "uncertain": [
            {
                "name": question.attendee.name,
                "email": question.attendee.email or None,
                "candidates": [person.id for person in question.candidates],
            }
            for question in plan.questions
        ],
        "unknown": [{"name": who.name, "email": who.email or None} for who in plan.unknown],
        "problems": [{"path": one.path, "reason": one.reason} for one in plan.problems],
        "diff": plan.diff,
    }


def export_json(export: OkfExport) -> dict[str, Any]:
    """Return the output of `kbx export --json`."""
    return {
        "folder": str(export.folder),
        "pages": export.pages,
        "withheld": list(export.withheld),
        "reserved": list(export.reserved),
    }
