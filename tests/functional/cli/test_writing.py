"""Commands that write: what they write, what they ask, and their exit codes."""

from pathlib import Path
from typing import Any

import pytest

from kbx_tui.cli import write_output
from kbx_tui.cli.commands import memory
from kbx_tui.editing.file_edits import WriteOutcome, write_files
from tests.command_line import CommandLine

ALICE = "memory/people/alice-chen.md"


def test_fact_is_added_found_edited_deleted_and_all_of_it_undone(
    kbx: CommandLine, demo_copy: Path
) -> None:
    before = (demo_copy / ALICE).read_bytes()
    base = ("--kb", demo_copy)
    added = kbx("memory", "add", "Speaks Catalan", "--entity", "Alice Chen", "--json", *base)
    assert (added.code, added.json["written"], added.json["path"]) == (0, True, ALICE)
    found = kbx("memory", "similar", "speaks catalan", "--entity", "Alice Chen", "--json", *base)
    fact_id = found.json["matches"][0]["fact_id"]
    edited = kbx("memory", "edit-fact", str(fact_id), "--text", "Speaks Catalan well", *base)
    assert edited.out.startswith(f"written · {ALICE}:")
    listed = kbx("memory", "list", "--entity", "Alice Chen", "--json", *base).json
    assert listed[0]["text"] == "Speaks Catalan well"
    assert kbx("memory", "delete-fact", str(listed[0]["fact_id"]), *base).code == 0
    assert "memory delete-fact" in kbx("undo", "--list", *base).out.splitlines()[0]
    for _ in range(3):
        assert kbx("undo", *base).code == 0
    assert (demo_copy / ALICE).read_bytes() == before
    assert kbx("undo", *base).code == 7


def test_known_fact_is_not_written_and_exits_with_3(kbx: CommandLine, demo_copy: Path) -> None:
    before = (demo_copy / ALICE).read_bytes()
    line = ("memory", "add", "Prefers async Slack over email", "--entity", "Alice Chen")
    ran = kbx(*line, "--json", "--kb", demo_copy)
    assert (ran.code, ran.json["written"]) == (3, False)
    assert ran.json["matches"][0]["relation"] == "exact"
    listed = kbx(*line, "--kb", demo_copy)
    says = "nothing was written: a known fact says the same; --force writes it anyway"
    assert (listed.code, listed.err) == (3, f"kbx: {says}\n")
    assert (demo_copy / ALICE).read_bytes() == before
    assert kbx(*line, "--force", "--kb", demo_copy).code == 0


def test_dry_run_prints_a_unified_diff(kbx: CommandLine, demo_copy: Path) -> None:
    before = (demo_copy / ALICE).read_bytes()
    line = ("memory", "add", "Speaks Catalan", "--entity", "Alice Chen", "--date", "2026-04-20")
    ran = kbx(*line, "--dry-run", "--kb", demo_copy)
    assert ran.code == 0
    assert "+- [2026-04-20] Speaks Catalan\n" in ran.out
    assert ran.out.startswith(f"--- {ALICE}\n+++ {ALICE}\n@@ ")
    assert (demo_copy / ALICE).read_bytes() == before
    assert kbx("undo", "--list", "--kb", demo_copy).out == ""


def test_answer_on_a_terminal_decides_whether_to_write(
    kbx: CommandLine, demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[str] = []
    for module in (memory, write_output):
        monkeypatch.setattr(module, "may_ask", lambda: True)
    for answer, code in ((False, 3), (True, 0)):

        def confirmed(question: str, answer: bool = answer) -> bool:
            questions.append(question)
            return answer

        for module in (memory, write_output):
            monkeypatch.setattr(module, "confirmed", confirmed)
        line = ("memory", "add", "Prefers async Slack over email", "--entity", "Alice Chen")
        assert kbx(*line, "--kb", demo_copy).code == code
    new = kbx("memory", "add", "Knows the harbour", "--entity", "Zoe Marsh", "--kb", demo_copy)
    assert (new.code, questions[-1]) == (0, "create a page?")
    assert (demo_copy / "memory/people/zoe-marsh.md").exists()


def test_concurrently_changed_file_is_reported_with_a_diff(
    kbx: CommandLine, demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = ("--kb", demo_copy)
    (fact,) = kbx(
        "memory", "similar", "Prefers async Slack over email", "--entity", "Alice Chen",
        "--json", *base,
    ).json["matches"]  # fmt: skip
    page = demo_copy / ALICE

    def write_after_another_edit(*arguments: Any, **options: Any) -> WriteOutcome:
        page.write_text(page.read_text().replace("async Slack over email", "phone calls"))
        return write_files(*arguments, **options)

    monkeypatch.setattr("kbx_tui.api.file_writer.write_files", write_after_another_edit)
    ran = kbx("memory", "edit-fact", str(fact["fact_id"]), "Prefers letters", *base)
    assert (ran.code, ran.out) == (7, "")
    assert "-- [2026-02-15] Prefers async Slack over email\n" in ran.err
    assert "+- [2026-02-15] Prefers phone calls\n" in ran.err
    assert "was changed by another program since it was read" in ran.err.splitlines()[-1]
    assert "letters" not in page.read_text()


def test_pages_are_created_and_edited(kbx: CommandLine, demo_copy: Path) -> None:
    base = ("--kb", demo_copy)
    created = kbx("person", "create", "Ann Lee", "--role", "SRE", "--team", "Platform", *base)
    assert created.out == "written · memory/people/ann-lee.md\n"
    edited = kbx("person", "edit", "Ann Lee", "--role", "Lead", "--meta", "hobby=chess", *base)
    assert edited.code == 0
    assert (demo_copy / "memory/people/ann-lee.md").read_text() == (
        "---\nrole: Lead\nteam: '[[Platform]]'\nhobby: chess\n---\n# Ann Lee\n"
    )
    assert kbx("project", "create", "Blue Lagoon", "--status", "Active", *base).code == 0
    assert kbx("team", "edit", "Platform", "--lead", "Ann Lee", *base).code == 0
    assert kbx("team", "edit", "Ann Lee", "--lead", "x", *base).code == 4
    again = kbx("person", "create", "Ann Lee", *base)
    assert (again.code, "a page already: memory/people/ann-lee.md" in again.err) == (7, True)


def test_drafts_in_a_file_are_checked_and_sure_ones_written(
    kbx: CommandLine, demo_copy: Path, tmp_path: Path
) -> None:
    file = tmp_path / "drafts.txt"
    file.write_text(
        "# Alice Chen\nLeads the platform team\nSpeaks Catalan\nPlays the cello\n"
        "# Platform\nSix people share the on-call rota\n",
        encoding="utf-8",
    )
    base = ("--kb", demo_copy)
    shown = kbx("dedup", file, "--json", *base)
    assert [draft["state"] for draft in shown.json["drafts"]] == [
        "exact", "new", "new", "conflict",
    ]  # fmt: skip
    assert (shown.json["applied"], "Speaks Catalan" in shown.json["diff"]) == (None, True)
    listing = kbx("dedup", file, *base)
    assert listing.out.startswith("4 drafts: 2 new, 1 exact, 1 conflict\n")
    applied = kbx("dedup", file, "--apply", *base)
    assert (applied.code, "2 written, 1 skipped, 1 left to decide" in applied.out) == (0, True)
    again = kbx("dedup", file, "--apply", "--json", *base).json["applied"]
    assert (again["created"], again["skipped"], again["entry"]) == (0, 3, None)
    kbx("undo", *base)
    assert "Catalan" not in (demo_copy / ALICE).read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Prefers async Slack over email", "a known fact says the same; --force writes it anyway"),
        ("Prefers email over async Slack", "contradicts it; kbx memory supersede {} TEXT replaces"),
        (
            "Prefers async Slack over email, and threads over channels",
            "says it in other detail; kbx memory edit-fact {} TEXT rewords that fact, --force",
        ),
    ],
)
def test_a_write_that_known_facts_prevent_says_which_command_resolves_it(
    kbx: CommandLine, demo_copy: Path, text: str, words: str
) -> None:
    line = ("memory", "add", text, "--entity", "Alice Chen", "--kb", demo_copy)
    facts = kbx("memory", "list", "--entity", "Alice Chen", "--json", "--kb", demo_copy).json
    (known,) = (fact["fact_id"] for fact in facts if "Slack over email" in fact["text"])
    before = (demo_copy / ALICE).read_bytes()
    for ran in (kbx(*line, "--dry-run"), kbx(*line)):
        assert (ran.code, words.format(known) in ran.err) == (3, True), ran.err
    assert (demo_copy / ALICE).read_bytes() == before
    forced = kbx(*line, "--dry-run", "--force")
    assert (forced.code, "--force" in forced.err) == (0, False)


def test_meta_accepts_any_field(kbx: CommandLine, demo_copy: Path) -> None:
    line = ("person", "create", "Ann Lee", "--alias", "A", "--kb", demo_copy)
    fields = ("name=foo", "kind=bar", "dry_run=baz", "aliases=B")
    ran = kbx(*line, *(part for field in fields for part in ("--meta", field)))
    assert ran.code == 0
    page = (demo_copy / "memory/people/ann-lee.md").read_text()
    for line_of_page in ("name: foo", "kind: bar", "dry_run: baz", "aliases:\n- A\n- B"):
        assert f"{line_of_page}\n" in page


def test_newer_files_are_named_once(kbx: CommandLine, demo_copy: Path) -> None:
    drafts = demo_copy / "drafts.txt"
    drafts.write_text("Alice Chen rows\n")
    kbx("index", "--kb", demo_copy)
    page = demo_copy / "memory/people/marek-dvorak.md"
    page.write_text(page.read_text() + "\nedited\n")
    for command in (["dedup", drafts], ["dedup", "--scan"], ["memory", "similar", "rows"]):
        assert kbx(*command, "--kb", demo_copy).err.count("changed since the last run") == 1
