"""Two pages of a base, and the edits that append a fact to both."""

from collections.abc import Callable
from pathlib import Path

from kbx_tui.editing.file_edits import FileEdit

PAGE, OTHER = "memory/people/ada.md", "memory/people/bo.md"
BEFORE = b"# Ada\r\n\r\n## Recent Facts\r\n- one  \r\n"
AFTER = BEFORE + b"- two\r\n"


def edits_of_both(rebase: Callable[[bytes], bytes] | None = None) -> list[FileEdit]:
    return [FileEdit(path, BEFORE, AFTER, rebase) for path in (PAGE, OTHER)]


def contents(root: Path) -> list[bytes]:
    return [(root / path).read_bytes() for path in (PAGE, OTHER)]


def temporary_files(root: Path) -> list[str]:
    return [file.name for file in (root / "memory").rglob(".*")]
