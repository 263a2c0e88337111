"""`kbx doctor` says what a report of a bug needs, and nothing of what is in the notes."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, __version__
from kbx_tui.errors import NotFound
from kbx_tui.user_files import logger, open_log
from tests.command_line import CommandLine
from tests.functional.vaults import write_vault

PRIVATE = ("quandrix", "zelborn", "ostrava", "mirebeau", "tamblyn", "vickory", "brenloch", "ushant")
PAGES = {
    "memory/people/quandrix.md": "# Zelborn Quandrix\n\n## Recent Facts\n- Lives in Ostrava\n",
    "memory/meetings/mirebeau.md": "# Tamblyn\n\nAbout the vickory account.\n",
    "kbx.toml": """
[search]
hierarchy_alpha = 0.6
muted_documents = ["memory/meetings/mirebeau.md"]
[index]
exclude = ["brenloch/**"]
[links]
open = "obsidian"
[writes]
auto_commit_author = "Zelborn <zelborn@ushant.example>"
[keys]
"undo" = "ctrl+u"
""",
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_vault(tmp_path / "ushant" / "brenloch", PAGES)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[logging.Logger]:
    """The log, in a folder with a private name."""
    monkeypatch.setenv("KBX_LOG_DIR", str(tmp_path / "ushant" / "log"))
    open_log()
    handler = logger().handlers[-1]
    yield logger()
    logger().removeHandler(handler)
    handler.close()


FORGED = """
2026-01-01 00:00:00,000 ERROR quandrix:5 vickory
  File "/home/zelborn/kbx_tui/ostrava.py", line 3, in tamblyn
MirebeauError: of ushant"""


def note(log: logging.Logger, level: int, text: str, error: Exception | None = None) -> None:
    """Write a record as a module of the package would."""
    info = (type(error), error, error.__traceback__) if error else None
    log.handle(log.makeRecord(log.name, level, "kbx_tui/removal.py", 77, text, (), info))


def test_a_report_names_nothing_of_the_notes(
    kbx: CommandLine, base: Path, log: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("EDITOR", "TERM", "TERM_PROGRAM", "LANG", "KBX_ROOT"):
        monkeypatch.setenv(name, f"{base}/quandrix")
    with KnowledgeBase(base) as kb:
        kb.index(fast=True)
        kb.search("vickory of zelborn")
    (base / "memory" / "ostrava.md").write_text("# Ostrava\n")
    try:
        KnowledgeBase(base / "mirebeau")
    except NotFound as error:
        note(log, logging.ERROR, "no completions for 'vickory'", error)
    note(log, logging.WARNING, f"could not write {base}/tamblyn.md{FORGED}")
    note(log, logging.INFO, "loaded")

    ran = kbx("doctor", "--kb", base)
    assert (ran.code, ran.err) == (0, "")
    said = ran.out.lower()
    assert [word for word in PRIVATE if word in said] == []
    assert str(Path.home()) not in ran.out
    for fact in (
        f"kbx-tui {__version__}",
        "search.hierarchy_alpha = 0.6",
        "search.muted_documents = (1 value)",
        "links.open = obsidian",
        "writes.auto_commit_author = (set)",
        "1 key changed",
        "TERM=(set)",
        "set: EDITOR, KBX_ROOT",
        "base      2 documents",
        "1 changed file",
    ):
        assert fact in ran.out, fact
    errors = re.split(r"\n(?=errors)", ran.out)[1].split("\n")
    assert re.search(r" ERROR removal:77 NotFound at knowledge/vault.py:\d+ < ", errors[0])
    assert errors[1].endswith(" WARNING removal:77")
    assert errors[2:] == [""]


def test_a_report_is_made_whatever_is_wrong(kbx: CommandLine, base: Path, tmp_path: Path) -> None:
    (base / "kbx.toml").write_text('[search]\nhierarchy_alpha = "zelborn"\n')
    assert "base      cannot be read: ConfigError" in kbx("doctor", "--kb", base).out
    ran = kbx("doctor", "--kb", tmp_path / "ushant" / "log")
    assert "base      cannot be read: NotFound" in ran.out
    assert "errors    none noted: there is no log" in ran.out
    assert ran.code == 0
