"""Imports into a real base: new pages only, once, undone as a whole; and the export."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kbx_tui import KnowledgeBase
from kbx_tui.importing.okf import OkfExport
from tests.command_line import CommandLine
from tests.unit.importing.samples import WRITERS, ics, vtt

pytestmark = pytest.mark.usefixtures("isolated_environment")


def tree_hash(root: Path) -> str:
    """Return a hash of all pages of a base and their paths."""
    digest = hashlib.sha256()
    for file in sorted((root / "memory").rglob("*.md")):
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    """A folder with one file of each format that lists people."""
    folder = tmp_path / "exports"
    for name, write, _ in WRITERS.values():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(write(["Alice Chen", "Bob Okafor"]), encoding="utf-8")
    return folder


def test_a_second_import_changes_nothing_and_undo_restores_the_tree(
    demo_copy: Path, exports: Path
) -> None:
    before = tree_hash(demo_copy)
    files = [file for file in exports.rglob("*") if file.is_file()]
    with KnowledgeBase(demo_copy) as kb:
        plan = kb.imports.plan(files)
        assert len(plan.edits) >= len(files) - 2  # notion and logseq need their folder
        assert tree_hash(demo_copy) == before  # planning writes nothing
        entry = kb.imports.apply(plan)
        after = tree_hash(demo_copy)
        again = kb.imports.plan(files)
        assert (again.edits, again.present) == ((), len(plan.edits))
        assert kb.imports.apply(again) is None
        found = kb.search("we agree fare review", limit=20).results
        assert {edit.path for edit in plan.edits} & {result.path for result in found}
        kb.undo(entry)
    assert after != before
    assert tree_hash(demo_copy) == before


def test_attendees_get_the_names_and_addresses_of_their_pages(
    demo_copy: Path, tmp_path: Path, kbx: CommandLine
) -> None:
    file = tmp_path / "2026-03-18 fares.vtt"
    file.write_text(vtt(["Chen, Alice", "Sam", "Zoltán Kodály"]), encoding="utf-8")
    ran = kbx("--kb", demo_copy, "import", file, "--create-people", "--json")
    assert ran.code == 0
    (uncertain,) = ran.json["uncertain"]
    assert uncertain["candidates"] == ["person:sam-adeyemi", "person:sam-whitlock"]
    assert ran.json["paths"] == [
        "memory/meetings/2026/03/18/fares.transcript.md",
        "memory/people/zoltan-kodaly.md",
    ]
    page = (demo_copy / ran.json["paths"][0]).read_text(encoding="utf-8")
    frontmatter = yaml.safe_load(page.split("---\n")[1])
    assert frontmatter["attendees"] == [
        {"name": "Alice Chen", "email": "alice.chen@larkwater.example"},
        "Sam",
        "Zoltán Kodály",
    ]
    undone = kbx("--kb", demo_copy, "undo")
    assert undone.code == 0
    assert not (demo_copy / ran.json["paths"][1]).exists()


def test_who_has_a_page_is_not_imported_again_and_no_page_is_overwritten(
    demo_copy: Path, tmp_path: Path, kbx: CommandLine
) -> None:
    contacts = tmp_path / "all.vcf"
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:{}\nEMAIL:{}\nEND:VCARD\n"
    contacts.write_text(
        card.format("A. Chen", "alice.chen@larkwater.example")
        + card.format("New One", "n@x.example")
    )
    ran = kbx("--kb", demo_copy, "import", contacts, "--json")
    assert (ran.json["present"], ran.json["paths"]) == (1, ["memory/people/new-one.md"])
    calendar = tmp_path / "c.ics"
    calendar.write_text(ics(["Bob Okafor"]))
    first = kbx("--kb", demo_copy, "import", calendar, "--json").json["paths"]
    calendar.write_text(ics(["Bob Okafor"]).replace("UID:17@x", "UID:18@x"))
    second = kbx("--kb", demo_copy, "import", calendar, "--json").json["paths"]
    assert (first, second) == (
        ["memory/meetings/2026/03/17/fare-review.md"],
        ["memory/meetings/2026/03/17/fare-review-2.md"],
    )


def test_attendees_that_are_not_asked_about_are_named(
    demo_copy: Path, tmp_path: Path, kbx: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbx_tui.cli.commands.start.may_ask", lambda: True)
    (tmp_path / "2026-03-18 fares.vtt").write_text(vtt(["Sam"]), encoding="utf-8")
    ran = kbx("--kb", demo_copy, "import", tmp_path, "--yes")
    assert ran.code == 0
    assert "kept as written, they may be several people: Sam" in ran.err


def test_a_dry_run_shows_the_diff_and_a_broken_file_leaves_the_others(
    demo_copy: Path, tmp_path: Path, kbx: CommandLine
) -> None:
    before = tree_hash(demo_copy)
    good, bad = tmp_path / "good.vtt", tmp_path / "bad.vtt"
    good.write_text(vtt(["Alice Chen"]))
    bad.write_text("nothing")
    ran = kbx("--kb", demo_copy, "import", good, bad, "--dry-run")
    assert ran.code == 0
    assert "+**Alice Chen:** We agree." in ran.out
    assert "bad.vtt: it does not begin with WEBVTT" in ran.err
    assert "would write 1 page" in ran.err
    assert tree_hash(demo_copy) == before
    missing = kbx("--kb", demo_copy, "import", tmp_path / "no.vtt")
    assert missing.code == 4
    assert missing.err.count("\n") == 1


def test_a_dry_run_in_a_base_without_an_index_writes_nothing(
    tmp_path: Path, kbx: CommandLine
) -> None:
    base, file = tmp_path / "base", tmp_path / "talk.vtt"
    (base / "people").mkdir(parents=True)
    (base / "people" / "ida.md").write_text("# Ida Holm\n\naliases: Idah\n", encoding="utf-8")
    file.write_text(vtt(["Ida Holm"]), encoding="utf-8")
    before = tree_hash(base)
    ran = kbx("--kb", base, "import", file, "--dry-run")
    assert ran.code == 0
    assert "without a page" not in ran.err
    assert tree_hash(base) == before
    assert not (base / ".kbx").exists()


def test_pages_without_properties_and_with_many_attendees_are_imported_once(tmp_path: Path) -> None:
    exports, root = tmp_path / "exports", tmp_path / "base"
    exports.mkdir()
    (exports / f"Plan {'a' * 32}.md").write_text("# Plan\n\nText\n")
    (tmp_path / "all.ics").write_text(ics([f"Attendee Number{number}" for number in range(1_500)]))
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "home.md").write_text("# Home\n")
    with KnowledgeBase(root) as kb:
        for expected in (2, 0):
            plan = kb.imports.plan([exports, tmp_path / "all.ics"])
            assert len(plan.edits) == expected
            kb.imports.apply(plan)


def okf_faults(folder: Path) -> Iterator[str]:
    """Yield what breaks the rules of the format: each page states a type, links lead somewhere."""
    for file in folder.rglob("*.md"):
        if file.name in ("index.md", "log.md"):
            continue
        head, _, _ = file.read_text(encoding="utf-8").removeprefix("---\n").partition("\n---\n")
        fields = yaml.safe_load(head)
        if not (
            isinstance(fields, dict) and isinstance(fields.get("type"), str) and fields["type"]
        ):
            yield f"{file.name} states no type"
        if not isinstance(fields.get("tags", []), list):
            yield f"{file.name}: tags are no list"
    if not (folder / "index.md").is_file():
        yield "there is no index"


def test_the_demo_goes_out_and_comes_back_equal(
    demo_copy: Path, tmp_path: Path, kbx: CommandLine
) -> None:
    with KnowledgeBase(demo_copy) as kb:
        export = kb.imports.export_okf(tmp_path / "okf")
    assert isinstance(export, OkfExport)
    assert list(okf_faults(tmp_path / "okf")) == []
    back = tmp_path / "back"
    (back / "memory").mkdir(parents=True)
    (back / "kbx.toml").write_bytes((demo_copy / "kbx.toml").read_bytes())
    (back / "memory" / "x.md").write_text("# x\n")
    ran = kbx("--kb", back, "import", tmp_path / "okf", "--json")
    assert len(ran.json["paths"]) == export.pages
    (back / "memory" / "x.md").unlink()
    assert tree_hash(back) == tree_hash(demo_copy)


def test_redacted_pages_and_lines_are_not_exported(
    demo_copy: Path, tmp_path: Path, kbx: CommandLine
) -> None:
    notes = demo_copy / "memory" / "notes"
    (notes / "hidden.md").write_text("---\nstatus: redacted\n---\n# Hidden\n\nsecret one\n")
    (notes / "part.md").write_text("# Part\n\n- said openly\n- secret two (redacted)\n")
    ran = kbx("--kb", demo_copy, "export", tmp_path / "okf", "--json")
    assert sorted(ran.json["withheld"]) == ["memory/notes/hidden.md", "memory/notes/part.md"]
    text = "".join(file.read_text(encoding="utf-8") for file in (tmp_path / "okf").rglob("*.md"))
    assert "secret" not in text
    assert "said openly" in text
    refused = kbx("--kb", demo_copy, "export", "--okf", tmp_path / "okf")
    assert refused.code == 2
    assert "is not empty" in refused.err
    refused = kbx("--kb", demo_copy, "export", "--okf", demo_copy / "memory" / "okf")
    assert (refused.code, (demo_copy / "memory" / "okf").exists()) == (2, False)
    assert "would hold its pages twice" in refused.err
    whole = kbx("--kb", demo_copy, "export", "--okf", tmp_path / "all", "--include-redacted")
    assert whole.code == 0
    assert "secret two" in (tmp_path / "all" / "notes" / "part.md").read_text(encoding="utf-8")


def test_conversations_become_notes(demo_copy: Path, tmp_path: Path, kbx: CommandLine) -> None:
    message = {"sender": "human", "text": "Where is the plan?", "attachments": []}
    chat = {"uuid": "u", "name": "Plan", "created_at": "2026-03-17", "chat_messages": [message]}
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([chat]))
    ran = kbx("--kb", demo_copy, "import", file, "--json")
    assert ran.json["paths"] == ["memory/notes/chats/2026-03-17-plan.md"]


def test_an_export_holds_the_pages_that_agents_know(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    pages = {
        ".obsidian/app.json": "{}",
        "a.md": "Text.\n",
        "b.md": "# B (redacted)\n\nHidden.\n\n# C\n\nOpen.\n",
    }
    for path, text in pages.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    with KnowledgeBase(root) as kb:
        kb.index(fast=True)
        export = kb.imports.export_okf(tmp_path / "okf")
        assert export.pages == len(kb.public.documents.paths()) == 2
    assert "Hidden" not in (tmp_path / "okf" / "b.md").read_text("utf-8")
