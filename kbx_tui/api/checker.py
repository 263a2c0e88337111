"""The check of index and state files of one base."""

from __future__ import annotations

import time
from dataclasses import dataclass

from kbx_tui.api.session import Session
from kbx_tui.editing.state_files import unreadable_state_files
from kbx_tui.errors import NotFound
from kbx_tui.index.check_index import Fault, check_index

KEEP = "move it away; what it holds is skipped until then"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What `KnowledgeBase.check` found."""

    sound: bool
    faults: tuple[Fault, ...]
    read_data: bool
    files: int
    """Files of the index with a digest."""
    rows: int
    seconds: float


def check_base(session: Session, *, read_data: bool) -> CheckReport:
    store, began = session.store(), time.monotonic()
    if not store.exists():
        raise NotFound(f"no index at {store.uri}: run `kbx index` first")
    check = check_index(store, read_data=read_data)
    for path, reason in unreadable_state_files(session.root):
        check.add(path, reason, KEEP)
    seconds = round(time.monotonic() - began, 3)
    faults = tuple(dict.fromkeys(check.faults))
    return CheckReport(not faults, faults, read_data, check.files, check.rows, seconds)
