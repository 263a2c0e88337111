"""`kbx person correct`: a misheard name written rightly on all pages."""

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.errors import WriteFault
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault

MEETING = """---
title: Crane review with {first} {last}
attendees:
- name: {first} {last}
  email: karen.veal@example.com
- '[[Karen Veal]]'
aliases: [Karen Veal call]
import_id: vtt:Karen Veal
---
# Crane review

**{first} {last}:** The crane is mine, see https://example.com/Karen Veal's.\r
Ask {first}
{last}'s deputy, not Karen Veal-Smith or karen veal. #Karen

## To do for {first} {last}

- [ ] write to [{first} {last}](people/karen-veal.md)
- [ ] and [[karin-wiel|{first} {last}]] %% Karen Veal %%
- [[Karen Veal]] `Karen Veal`

```
Karen Veal
```
"""
CORRECTED = MEETING.format(first="Karin", last="Wiel")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    pages = {
        "people/karin-wiel.md": "# Karin Wiel\n\n## Recent Facts\n\n- Met as Karen Veal\n",
        "notes/crane.md": "# Crane\n\nNobody else.\n",
        "notes/secret.md": "# Pay\n\n- Karen Veal earns 4,000 (redacted)\n",
    }
    index_vault(tmp_path, pages)
    (tmp_path / "meetings").mkdir()
    misheard = MEETING.format(first="Karen", last="Veal")
    (tmp_path / "meetings/crane-review.md").write_bytes(misheard.encode())
    return tmp_path


def contents(base: Path) -> dict[str, bytes]:
    files = (*base.glob("people/*"), *base.glob("notes/*"), *base.glob("meetings/*"))
    return {file.relative_to(base).as_posix(): file.read_bytes() for file in files}


def test_a_name_is_corrected_in_texts_and_undone_byte_by_byte(base: Path, kbx: CommandLine) -> None:
    before = contents(base)
    shown = kbx("--kb", base, "person", "correct", "Karen Veal", "Karin Wiel", "--dry-run")
    assert "+**Karin Wiel:** The crane is mine" in shown.out
    assert contents(base) == before
    ran = kbx("--kb", base, "person", "correct", "Karen  Veal", "Karin Wiel", "--yes", "--json")
    assert ran.json["written"]
    after = contents(base)
    assert after["meetings/crane-review.md"].decode() == CORRECTED
    assert b"- Met as Karin Wiel" in after["people/karin-wiel.md"]
    assert b"- Karin Wiel earns 4,000 (redacted)" in after["notes/secret.md"]
    assert after["notes/crane.md"] == before["notes/crane.md"]
    assert ran.json["hints"] == [
        "8 places in links, code, addresses or aliases kept",
        "9 places in 3 pages",
    ]
    assert kbx("--kb", base, "undo").code == 0
    assert contents(base) == before


def test_on_a_terminal_the_lines_are_shown_first(
    base: Path, kbx: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = "kbx_tui.cli.commands.entities"
    monkeypatch.setattr(f"{commands}.may_ask", lambda: True)
    monkeypatch.setattr(f"{commands}.confirmed", lambda question: False)
    before = contents(base)
    ran = kbx("--kb", base, "person", "correct", "Karen Veal", "Karin Wiel")
    assert "-- Met as Karen Veal" in ran.out
    assert "nothing was written" in ran.err
    assert contents(base) == before


@pytest.mark.parametrize(
    ("wrong", "right", "code", "reason"),
    [
        ("Wiel", "Veal", 7, "is in the name of people/karin-wiel.md"),
        ("Nobody Here", "Karin Wiel", 4, "no page has 'Nobody Here'"),
        ("Karen Veal", "Karen Veal", 2, "both names are"),
        ("Karen Veal", "[[Karin]]", 2, "is not a name"),
        ("Karen Veal", "# Karin", 2, "is not a name"),
        ("Karen Veal", "redacted", 2, "is not a name"),
        ("Karen Veal", "Karin\x1b[31m", 2, "is not a name"),
        ("", "Karin", 2, "is not a name"),
    ],
)
def test_an_unclear_correction_is_refused_in_a_sentence(
    base: Path, kbx: CommandLine, wrong: str, right: str, code: int, reason: str
) -> None:
    before = contents(base)
    ran = kbx("--kb", base, "person", "correct", wrong, right, "--yes")
    assert (ran.code, reason in ran.err) == (code, True)
    assert contents(base) == before


def test_the_sentence_about_a_page_with_the_wrong_name_leads_to_the_end(
    base: Path, kbx: CommandLine
) -> None:
    correct = ("--kb", base, "person", "correct", "Karin Wiel", "Corinne Wiele", "--yes")
    refused = kbx(*correct)
    assert "`kbx person create`, then `kbx person merge`" in refused.err
    assert kbx("--kb", base, "person", "create", "Corinne Wiele").code == 0
    assert kbx("--kb", base, "person", "merge", "Corinne Wiele", "Karin Wiel", "--yes").code == 0
    (base / "notes/late.md").write_text("# Late\n\nKarin Wiel was late.\n")
    assert kbx(*correct).code == 0
    after = contents(base)
    assert b"Corinne Wiele was late" in after["notes/late.md"]
    assert "people/karin-wiel.md" not in after


def test_a_page_whose_links_need_the_wrong_name_stays(base: Path, kbx: CommandLine) -> None:
    (base / "notes/call.md").write_text("# Call with Karen Veal\n\n## About Karen Veal\n")
    (base / "notes/see.md").write_text("# See\n\n[[Call with Karen Veal]]\n")
    (base / "notes/part.md").write_text("# Part\n\n## By Karen Veal\n\n[[#By Karen Veal]]\n")
    ran = kbx("--kb", base, "person", "correct", "Karen Veal", "Karin Wiel", "--yes", "--json")
    after = contents(base)
    assert after["notes/call.md"].startswith(b"# Call with Karen Veal\n")
    assert b"## By Karen Veal" in after["notes/part.md"]
    assert sum("leads to" in hint for hint in ran.json["hints"]) == 2
    assert b"**Karin Wiel:**" in after["meetings/crane-review.md"]


def test_aliases_in_the_body_stay_so_that_links_by_them_still_lead(
    base: Path, kbx: CommandLine
) -> None:
    fields = "alias:: Karen Veal\n- **Also known as**:: Karen Veal\n[aliases:: Karen Veal]\n"
    (base / "notes/wiel.md").write_text(f"# Wiel\n\n{fields}owner:: Karen Veal\n")
    (base / "notes/see.md").write_text("# See\n\n[[Karen Veal]]\n")
    kbx("--kb", base, "person", "correct", "Karen Veal", "Karin Wiel", "--yes")
    assert contents(base)["notes/wiel.md"].decode() == f"# Wiel\n\n{fields}owner:: Karin Wiel\n"
    with KnowledgeBase(base) as kb:
        kb.index()
        found = kb.links.follow("Karen Veal", "notes/see.md")
    assert found is not None
    assert found.path == "notes/wiel.md"


def test_links_by_an_alias_that_a_page_would_lose_are_refused(base: Path) -> None:
    (base / "notes/wiel.md").write_text("# Wiel\n\nalias:: Karen Veal\n")
    (base / "notes/see.md").write_text("# See\n\n[[Karen Veal]]\n")
    with KnowledgeBase(base) as kb:
        kb.index()
        before = (base / "notes/wiel.md").read_bytes()
        with pytest.raises(WriteFault, match="by the wrong name"):
            kb.links.require_kept("notes/wiel.md", before, b"# Wiel\n")


@pytest.mark.parametrize(
    "text",
    [
        "# Karen\nVeal is here",
        "> ## Karen\nVeal is here",
        "- # Karen\n  Veal is here",
        "a | Karen\n--|--\nx | Karen\nVeal | y",
        "by:: Karen\nVeal is here",
        "I met Karen\nVeal: the crane is mine",
    ],
)
def test_a_name_is_not_corrected_across_two_blocks(base: Path, kbx: CommandLine, text: str) -> None:
    text += "\n\nBy Karen Veal, Karen\nVeal and\n- Karen\n  Veal.\n"
    (base / "notes/call.md").write_text(text)
    kbx("--kb", base, "person", "correct", "Karen Veal", "Wieler", "--yes")
    after = text.partition("By Karen Veal")[0] + "By Wieler, Wieler and\n- Wieler.\n"
    assert contents(base)["notes/call.md"].decode() == after


def test_other_encodings_and_unreadable_pages_keep_their_bytes(
    base: Path, kbx: CommandLine
) -> None:
    wide = "# Note\r\n\r\nby Karen Veal\r\n".encode("utf-16")
    (base / "notes/wide.md").write_bytes(wide)
    broken = b"# Note\n\nby Karen Veal \xff\xfe and more of it, all plain\n"
    (base / "notes/broken.md").write_bytes(broken)
    kbx("--kb", base, "person", "correct", "Karen Veal", "Karin Wiel", "--yes")
    after = contents(base)
    assert after["notes/wide.md"] == wide.replace(
        "Karen Veal".encode("utf-16-le"), "Karin Wiel".encode("utf-16-le")
    )
    assert after["notes/broken.md"] in (broken, broken.replace(b"Karen Veal", b"Karin Wiel"))


def test_what_is_right_already_is_not_written_twice(base: Path, kbx: CommandLine) -> None:
    (base / "notes/crane.md").write_text("# Crane\n\nJo Lund, and Jo Lund Berg.\n")
    kbx("--kb", base, "person", "correct", "Jo Lund", "Jo Lund Berg", "--yes")
    assert b"Jo Lund Berg, and Jo Lund Berg." in contents(base)["notes/crane.md"]


def test_nothing_is_written_without_a_terminal_or_consent(base: Path, kbx: CommandLine) -> None:
    before = contents(base)
    ran = kbx("--kb", base, "person", "correct", "Karen Veal", "Karin Wiel")
    assert (ran.code, contents(base)) == (9, before)
    assert "say --yes" in ran.err
