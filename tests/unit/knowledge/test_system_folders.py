"""Which folders hardly hold notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.knowledge.vault import describe_system_folder


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("/", "a whole disk"),
        ("/tmp", "a folder of temporary files"),
        ("/etc/ssl", "a folder of the system"),
        ("/usr", "a folder of the system"),
        ("/usr/share/doc", "a folder of the system"),
        ("/home/ida/web/node_modules", "a folder of a package manager or a cache"),
        ("/home/ida/.cargo/registry", "a folder of a package manager or a cache"),
        ("/tmp/notes", ""),
        ("/srv/notes", ""),
        ("/usr/src/app", ""),
        ("/var/lib/builds/notes", ""),
        ("/home/ida/notes", ""),
    ],
)
def test_folders_of_the_system_are_recognised_but_not_those_of_users(
    folder: str, words: str
) -> None:
    assert describe_system_folder(Path(folder)) == words


def test_home_folder_is_one_but_not_the_folders_in_it() -> None:
    assert describe_system_folder(Path.home()) == "your home folder"
    assert describe_system_folder(Path.home() / "notes") == ""
