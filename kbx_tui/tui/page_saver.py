"""Saves a page of results in the folder that the app was started in."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.errors import WriteFault


def save_page(query: str, page: str, root: Path | None) -> str:
    """Write a page to a new file named after the query; return file and folder in words.

    `root` is that of the open base. Raises WriteFault.
    """
    from kbx_tui.sharing.page_file import write_named_page  # seldom needed

    try:
        folder = Path.cwd()
    except OSError as error:
        raise WriteFault("the folder that the app was started in is gone") from error
    file = write_named_page(folder, query, page)
    inside = " of the knowledge base" if root is not None and folder.is_relative_to(root) else ""
    return f"{file.name}, in the folder {folder}{inside}"
