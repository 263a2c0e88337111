"""Whether to ask the user before a run: it would index very many files, or a folder of the system.

The one place that decides it, for the app, the command line and searches that index a base first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kbx_tui.config import Settings
from kbx_tui.errors import IndexFault, NotConfirmed
from kbx_tui.formatting import format_count
from kbx_tui.index.files.excluded_files import excluded_files
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.store import Store
from kbx_tui.knowledge.system_folders import describe_system_folder
from kbx_tui.knowledge.vault import CONFIG_NAME, list_files, walked_folder

ASK_ABOVE = 2_000
"""New files above which a run is to be confirmed."""
COUNTED_AT_MOST = 100_000
"""Files after which counting ends: a whole disk may hold millions."""


@dataclass(frozen=True, slots=True)
class IndexQuestion:
    """What the user should know before a run."""

    root: Path
    new_files: int
    """Markdown files that the index lacks; `COUNTED_AT_MOST` stands for that many or more."""
    folder: str
    """What kind of folder of the system the root is, in words; else empty."""
    is_first: bool
    """Whether nothing of the base has been indexed yet."""

    @property
    def count(self) -> str:
        """The number of new files in words: `34,057 markdown files`."""
        more = "more than " * (self.new_files >= COUNTED_AT_MOST)
        return f"{more}{format_count(self.new_files, 'markdown file')}"

    @property
    def sentence(self) -> str:
        """What would be indexed, without a full stop."""
        if self.folder:
            return f"{self.root} is {self.folder} and holds {self.count}"
        return f"{self.root} holds {self.count} that are not indexed yet"


def index_question(root: Path, settings: Settings) -> IndexQuestion | None:
    """Return what to ask before a run that compares all files; None if it may just begin.

    That is so for up to `ASK_ABOVE` new files, and for a folder of the system only once it has been
    indexed, or marked as a base by a kbx.toml or a folder memory/. Files that moved are not new.
    Raises NotFound and ConfigError.
    """
    store = Store(index_uri(root, settings))
    try:
        indexed = set(store.column("documents", "path")) if store.exists() else set()
    except IndexFault:
        return None  # the run itself mends it, or says why it cannot
    found = list_files(root, excluded_files(root, settings.index), limit=COUNTED_AT_MOST)
    gone = 0 if len(found) >= COUNTED_AT_MOST else len(indexed - found.keys())
    new_files = max(len(found.keys() - indexed) - gone, 0)
    is_marked = (root / CONFIG_NAME).is_file() or walked_folder(root) != root
    folder = "" if indexed or is_marked else describe_system_folder(root)
    if not new_files or not (folder or new_files > ASK_ABOVE):
        return None
    return IndexQuestion(root, new_files, folder, is_first=not indexed)


def refusal_to_index(question: IndexQuestion) -> NotConfirmed:
    """Return the error for a caller that cannot ask."""
    return NotConfirmed(
        f"{question.sentence}; `kbx index --yes` indexes them, --kb names another folder"
    )
