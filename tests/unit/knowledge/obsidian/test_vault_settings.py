"""Settings of a vault, and dates in the names of daily notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbx_tui.config import IndexSettings
from kbx_tui.index.excluded_files import excluded_files, template_problems
from kbx_tui.knowledge.dates import DailyNotes, date_in_format
from kbx_tui.knowledge.obsidian_vault import (
    VaultSettings,
    read_vault_settings,
)


def write(root: Path, files: dict[str, object]) -> None:
    for name, content in files.items():
        file = root / ".obsidian" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))


def test_the_settings_of_a_vault_are_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "app.json": {"attachmentFolderPath": "./Files/"},
            "templates.json": {"folder": "Templates"},
            "plugins/templater-obsidian/data.json": {"templates_folder": "Meta/[x] templates"},
            "daily-notes.json": {
                "format": "DD.MM.YYYY",
                "folder": "/Daily/",
                "template": "Meta/Day",
            },
        },
    )
    assert read_vault_settings(tmp_path) == VaultSettings(
        folder="",
        template_folders=("Templates", "Meta/[x] templates"),
        template_notes=("Meta/Day.md",),
        attachment_folder="Files",
        daily_notes=DailyNotes("DD.MM.YYYY", "Daily"),
    )
    (tmp_path / "Templates").mkdir()
    excluded = excluded_files(tmp_path, IndexSettings(exclude=("*.tmp.md",)))
    assert excluded == ("*.tmp.md", "/Templates", "/Meta/\\[x\\]\\ templates", "/Meta/Day.md")
    assert [problem.path for problem in template_problems(tmp_path, IndexSettings())] == [
        "Templates"
    ]
    kept = IndexSettings(templates=True)
    assert (excluded_files(tmp_path, kept), template_problems(tmp_path, kept)) == ((), [])


@pytest.mark.parametrize(
    "settings",
    ["", "[]", "{", {"folder": "../elsewhere"}, {"folder": 7}, {"folder": "/"}, {"folder": "."}],
)
def test_settings_that_mean_nothing_are_left_out(tmp_path: Path, settings: object) -> None:
    write(tmp_path, {"templates.json": settings, "daily-notes.json": settings})
    found = read_vault_settings(tmp_path)
    assert found is not None
    assert found.template_folders == ()


def test_a_vault_is_a_folder_with_settings(tmp_path: Path) -> None:
    assert read_vault_settings(tmp_path) is None
    (tmp_path / "memory" / ".obsidian").mkdir(parents=True)
    assert read_vault_settings(tmp_path) == VaultSettings(
        "memory", daily_notes=DailyNotes(folder="memory")
    )


@pytest.mark.parametrize(
    ("moment_format", "name", "date"),
    [
        ("YYYY-MM-DD", "2026-03-17", "2026-03-17"),
        ("YYYY-MM-DD", "2026-03-17 plan", ""),
        ("YYYY-MM-DD", "2026-13-17", ""),
        ("DD.MM.YYYY", "17.03.2026", "2026-03-17"),
        ("D-M-YY", "7-3-26", "2026-03-07"),
        ("YYYYMMDD", "20260317", "2026-03-17"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2026/03-March/2026-03-17-Tuesday", "2026-03-17"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2025/03-March/2026-03-17-Tuesday", ""),
        ("dddd, MMMM Do YYYY", "Tuesday, March 17th 2026", "2026-03-17"),
        ("MMM D, YYYY", "Mar 17, 2026", "2026-03-17"),
        ("[Day] YYYY-MM-DD", "Day 2026-03-17", "2026-03-17"),
        ("gggg-[W]ww", "2026-W12", ""),
        ("YYYY", "2026", ""),
        ("(", "(", ""),
        ("w" * 60 + "YYYY", "1" * 200 + "x", ""),  # no format makes a match slow
        ("dddd" * 20 + "YYYY", "a" * 200 + "1", ""),
    ],
)
def test_a_name_is_a_date_in_the_format_of_the_vault(
    moment_format: str, name: str, date: str
) -> None:
    assert date_in_format(name, moment_format) == date


def test_settings_are_read_again_only_when_they_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"app.json": {"attachmentFolderPath": "Files"}})
    first = read_vault_settings(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("os.open", None)
        assert read_vault_settings(tmp_path) == first
    write(tmp_path, {"app.json": {"attachmentFolderPath": "Other files"}})
    changed = read_vault_settings(tmp_path)
    assert changed is not None
    assert changed.attachment_folder == "Other files"
