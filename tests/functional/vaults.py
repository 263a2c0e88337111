"""Small knowledge bases for tests, written file by file, and the content of their index."""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.store import Store
from kbx_tui.index.versions import TABLES_ID
from tests.trusting import copy_base

ALICE = """---
role: Director of Engineering
team: '[[Platform]]'
aliases: [Ace]
---
# Alice Chen

## Recent Facts

- [2026-02-15] Prefers async Slack over email
- [2026-03-01] Leads the migration project

## Open Items

- [ ] follow up on migration timeline
"""

BOB = """---
role: SRE
team: '[[Platform]]'
---
# Bob Okafor

## Recent Facts

- [2026-01-10] Runs the on-call rota
"""

GO_NO_GO = """---
title: Migration go/no-go
date: '2026-03-17'
type: notes
attendees:
- {name: Alice Chen, email: alice@example.com}
---
# Migration go/no-go

We cut over on Thursday after the rehearsal. The rollback plan is ready.

## Decisions

The database moves in one night. Nobody deploys before Friday.
"""

ROLLBACKS = """---
title: How deployment rollbacks work
---
# How deployment rollbacks work

A rollback puts the former release back. Error code 5032 means that it failed.
"""

LUNCH = """# Lunch menu

Soup on Monday, bread on Tuesday.
"""

FILES = {
    "memory/people/alice-chen.md": ALICE,
    "memory/people/bob-okafor.md": BOB,
    "memory/meetings/2026/03/17/go-no-go.md": GO_NO_GO,
    "memory/notes/rollbacks.md": ROLLBACKS,
    "memory/notes/lunch.md": LUNCH,
}


def write_vault(root: Path, files: Mapping[str, str] | None = None) -> Path:
    """Write files, by default FILES, below `root` and return it."""
    for path, text in (FILES if files is None else files).items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return root


def index_vault(root: Path, files: Mapping[str, str] | None = None, *, fast: bool = False) -> Path:
    """Write files as `write_vault` does, and index them; `root` is copied if these were before."""
    if not root.exists() or not any(root.iterdir()):
        known = _indexed(tuple((FILES if files is None else files).items()), fast)
        return copy_base(known, root, dirs_exist_ok=True)
    return _index(write_vault(root, files), fast)


def _index(root: Path, fast: bool) -> Path:
    with KnowledgeBase(root) as kb:
        kb.index(fast=fast)
    return root


@cache
def _indexed(files: tuple[tuple[str, str], ...], fast: bool) -> Path:
    """Return an indexed base of these files, which the process keeps for copies."""
    folder = Path(tempfile.mkdtemp(dir=os.environ["KBX_TESTS_STATE"]))
    return _index(write_vault(folder, dict(files)), fast)


def tree_digest(root: Path) -> str:
    """Return a digest of all contents, names and modification times outside `.kbx`."""
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*")):
        if ".kbx" not in file.relative_to(root).parts and file.is_file():
            digest.update(f"{file.relative_to(root)}\0{file.stat().st_mtime_ns}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def store_of(base: Path) -> Store:
    """Return the store of the index of a knowledge base."""
    return Store(index_uri(base, KnowledgeBase(base).settings))


def stored_rows(base: Path, name: str) -> list[str]:
    """Return the rows of a table as sorted text, without vectors and the time of indexing."""
    store = store_of(base)
    columns = [column for column in store.table(name).schema.names if column != "vector"]
    rows = store.rows(name, columns).to_pylist()
    return sorted(str(row) for row in rows if row.get("key") not in {"indexed_at", TABLES_ID})


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    """Return bytes and modification time of each file, and the time of each folder."""
    return {
        path.relative_to(root).as_posix(): (
            path.read_bytes() if path.is_file() else b"",
            path.stat().st_mtime_ns,
        )
        for path in root.rglob("*")
    }
