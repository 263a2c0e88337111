"""Every failure is one line on stderr with a documented exit code and no traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import CommandLine, program_environment


def test_folder_without_markdown_is_refused_with_advice(kbx: CommandLine, tmp_path: Path) -> None:
    for arguments in (["search", "x"], ["index"], ["status"], ["config"], []):
        ran = kbx(*arguments, "--kb", tmp_path)
        assert (ran.code, ran.out) == (4, "")
        assert ran.err == (
            f"kbx: no markdown in {tmp_path}: change to a folder of markdown, name one with --kb, "
            "or run `kbx demo` to explore a sample\n"
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("group", ["history", "judgments", "memory", "entity"])
def test_group_without_a_command_points_to_its_help(kbx: CommandLine, group: str) -> None:
    ran = kbx(group)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"kbx: Missing command; see `kbx {group} --help`\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("search x --type metting", "no document has type metting; did you mean meeting?"),
        ("search x --type note,metting", "no document has type metting; did you mean meeting?"),
        ("search x --path memory/meetngs", "no documents in memory/meetngs; did you mean memory/"),
        ("search x --path alice-chen.md", "did you mean memory/people/alice-chen.md?"),
        ("search x --path zzz/qqq", "paths start at the root of the base"),
        ("memory similar x --path memory/peple", "did you mean memory/people?"),
        ("dedup --scan --path memory/peple", "did you mean memory/people?"),
        ("eval --type metting", "no document has type metting; did you mean meeting?"),
        ("entity list --type persn", "no entity has type persn; did you mean person?"),
        ("links alice.md", "no document is called 'alice.md'; did you mean memory/people/alice"),
        ("links zzzz.md", "no document is called 'zzzz.md'"),
        ("related memory/people/", "memory/people is a folder; name a document in it"),
    ],
)
def test_a_type_or_path_that_does_not_exist_is_an_error_with_the_nearest(
    kbx: CommandLine, demo_kb_path: Path, words: str, message: str
) -> None:
    ran = kbx(*words.split(), "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (4, "")
    assert message in ran.err
    assert ran.err.count("\n") <= 2


def test_a_known_type_without_documents_finds_nothing(kbx: CommandLine, demo_kb_path: Path) -> None:
    ran = kbx("search", "x", "--type", "lab", "--kb", demo_kb_path)
    assert (ran.code, "no document has type lab" in ran.err) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["search"], 2, "the query is empty"),
        (["search", " \t"], 2, "the query is empty; say what to look for; see `kbx search --help`"),
        (["search", "x", "--hierarchy-alpha", "nan"], 2, "alpha must be within 0..1, got nan"),
        (["search", "x", "--hierarchy-threshold", "-0.1"], 2, "--hierarchy-threshold"),
        (["search", "x", "--max-entities", "0"], 2, "--max-entities"),
        (["search", "x", "--limit", "abc"], 2, "'abc' is not a whole number"),
        (["search", "x", "--limit", "0"], 2, "0 is less than 1"),
        (["search", "kiln", "-tag:ops"], 2, "write -- before text in which a word"),
        (
            ["entity", "list", "--stale"],
            2,
            "'--kb' is not a whole number; see `kbx entity list --help`",
        ),
        (["search", "x", "--hotness", "much"], 2, "'much' is not a number"),
        (["search", "x", "--gate", "wooden"], 2, "--gate"),
        (["search", "x", "--parent", "none"], 2, "--parent"),
        (["search", "x", "--path", "../.."], 2, "leads out of"),
        (["search", "x", "--html", "x", "--json"], 2, "--html and --json are two outputs"),
        (["search", "x", "--force"], 2, "--force lets --html FILE replace a file"),
        (["eval", "--force"], 2, "--force"),
        (["experts"], 2, "the topic is empty"),
        (["experts", "?!"], 2, "the topic is empty"),
        (["experts", "x", "--limit", "-1"], 2, "--limit"),
        (["experts", "x", "--min-claims", "0"], 2, "--min-claims"),
        (["tool", "kb_search", "[1]"], 2, ""),
        (["tool", "kb_search", "{"], 2, ""),
        (["tool", "kb_nothing", "--schema"], 2, "kb_nothing"),
        (["mcp", "--http", "--host", "0.0.0.0"], 2, "0.0.0.0"),
        (["mcp", "--port", "70000"], 2, "70000 is not between 0 and 65535"),
        (["memory", "edit-fact", "abc", "text"], 2, "'abc' is not a whole number"),
        (["memory", "add", " ", "--entity", "x"], 2, "the text is empty"),
        (["memory", "add", "x"], 2, "--entity"),
        (["memory", "add", "x", "--entity", "Zoe Marsh"], 4, "--create makes a page"),
        (["memory", "add", "x", "--entity", "Sam"], 4, "Sam Adeyemi"),
        (["memory", "add", "x y", "--entity", "Alice Chen", "--date", "soon"], 2, "not a date"),
        (["memory", "edit-fact", "5"], 2, "the text is empty"),
        (["memory", "edit-fact", "5", "x"], 4, "no fact has the id 5"),
        (["memory", "delete-fact", "five"], 2, "five"),
        (["memory", "list", "--since", "soon"], 2, "not a date"),
        (["person", "edit", "Alice Chen"], 2, "nothing to change"),
        (["person", "edit", "Alice Chen", "--meta", "x"], 2, "key=value"),
        (["person", "create", "…"], 7, "no letter"),
        (["undo", "99"], 7, "there is no write 99"),
        (["undo", "0"], 2, "0"),
        (["dedup", "no-such-file"], 4, "cannot be read"),
        (["dedup", "/dev/null"], 4, "/dev/null cannot be read"),
        (["dedup", "x", "--scan"], 2, "--scan"),
        (["dedup", "--scan", "--apply"], 2, "--scan only searches"),
        (["dedup", "kbx.toml", "--path", "memory"], 2, "--path requires --scan"),
        (["dedup"], 2, "--scan"),
        (["dedup", "--scan", "--entity", "Zoe"], 4, "Zoe"),
        (["memory", "similar", " "], 2, "the text is empty"),
        (["memory", "similar"], 2, "the text is empty"),
        (["memory", "similar", "x", "--threshold", "1.5"], 2, "--threshold"),
        (["memory", "similar", "x", "--threshold", "nan"], 2, "within 0..1"),
        (["memory", "similar", "x", "--limit", "0"], 2, "--limit"),
        (["memory", "similar", "x", "--entity", "Zoe"], 4, "no entity is called 'Zoe'"),
        (["memory", "similar", "x", "--entity", "Sam"], 4, "Sam Adeyemi (person:sam-adeyemi)"),
        (["memory", "similar", "x", "--entity", ""], 2, "name of the entity is empty"),
        (["memory", "similar", "x", "--path", "../.."], 2, "leads out of"),
        (["memory"], 2, "Missing command"),
        (["entity", "show", "Zoe"], 4, "no entity is called 'Zoe'"),
        (["entity", "similar-field", "Bob", "--field", "role"], 2, "--value"),
        (["entity", "similar-field", "Bob", "--field", "role", "--value", " "], 2, "empty"),
        (["entity", "similar-field", "Zoe", "--field", "role", "--value", "x"], 4, "Zoe"),
    ],
)
def test_bad_input_gives_one_sentence_and_a_documented_exit_code(
    kbx: CommandLine, demo_kb_path: Path, arguments: list[str], code: int, message: str
) -> None:
    ran = kbx(*arguments, "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (code, "")
    # Tests share this base: another may be indexing it, which a command waits for and says.
    (line,) = (line for line in ran.err.splitlines() if not line.endswith("; waiting"))
    assert line.startswith("kbx: ")
    assert message in line


def test_home_folder_is_indexed_only_when_named_and_confirmed(
    kbx: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "readme.md").write_text("# Read me\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    ran = kbx("search", "read")
    assert ran.code == 4
    assert "is not a knowledge base" in ran.err
    unconfirmed = kbx("search", "read", "--fast", "--kb", tmp_path)
    assert unconfirmed.code == 9
    assert "is your home folder" in unconfirmed.err
    assert not (tmp_path / ".kbx" / "index").exists()
    assert kbx("index", "--fast", "--yes", "--kb", tmp_path).code == 0
    assert kbx("search", "read", "--fast", "--kb", tmp_path).code == 0


def test_unknown_commands_and_options_suggest_the_nearest(kbx: CommandLine) -> None:
    ran = kbx("serach", "migration")
    assert ran.code == 2
    assert ran.err.startswith("kbx: No such command 'serach'")
    assert "search" in ran.err.removeprefix("kbx: No such command 'serach'")

    assert "--hierarchy-alpha" in kbx("search", "x", "--alpha", "1").err
    assert "--hierarchy-threshold" in kbx("search", "x", "--threshold", "1").err
    assert "--dry-run" in kbx("memory", "add", "x", "--run").err


@pytest.mark.parametrize("typo", ["--treshold", "--hierarchy"], ids=["one-guess", "several"])
def test_suggestion_for_a_mistyped_option_ends_with_one_question_mark(
    kbx: CommandLine, typo: str
) -> None:
    error = kbx("search", "x", typo, ".5").err
    assert error.endswith("see `kbx search --help`\n")
    assert "?;" not in error
    assert "?);" not in error


def test_internal_error_is_shown_in_one_line_and_debug_prints_the_traceback(
    kbx: CommandLine, demo_kb_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("kbx_tui.api.KnowledgeBase.status", fails)
    ran = kbx("status", "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        "kbx: internal error: ZeroDivisionError: of all things; --debug shows the traceback\n"
    )
    for arguments in (["--debug", "status"], ["status", "--debug"]):
        shown = kbx(*arguments, "--kb", demo_kb_path).err
        assert shown.startswith("Traceback")
        assert shown.splitlines()[-1].startswith("kbx: internal error")


@pytest.mark.parametrize("place", ["before", "after"])
def test_kb_option_works_before_and_after_the_command(
    kbx: CommandLine, demo_kb_path: Path, place: str
) -> None:
    named = ["--kb", str(demo_kb_path)]
    arguments = [*named, "status", "--json"] if place == "before" else ["status", "--json", *named]
    assert kbx(*arguments).json["root"] == str(demo_kb_path)


def test_kb_option_overrides_the_environment_variable(
    kbx: CommandLine, demo_kb_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KBX_ROOT", str(demo_kb_path))
    assert kbx("status", "--json").json["root"] == str(demo_kb_path)
    monkeypatch.setenv("KBX_ROOT", str(tmp_path / "nowhere"))
    ran = kbx("status")
    assert (ran.code, str(tmp_path / "nowhere") in ran.err) == (4, True)
    assert kbx("status", "--kb", demo_kb_path).code == 0


def test_nearest_base_in_a_parent_folder_is_used(
    kbx: CommandLine, demo_kb_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo_kb_path / "memory" / "people")
    assert kbx("status", "--json").json["root"] == str(demo_kb_path)


def test_app_needs_a_terminal(kbx: CommandLine, demo_kb_path: Path) -> None:
    ran = kbx("--kb", demo_kb_path)
    assert (ran.code, ran.out) == (1, "")
    assert "the app needs a terminal" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="pipes do not close like this")
@pytest.mark.parametrize("form", ["--json", ""])
def test_closed_pipe_is_not_an_error(demo_kb_path: Path, form: str) -> None:
    command = f"{sys.executable} -m kbx_tui search migration --limit 50 --explain --fast {form}"
    finished = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} --kb {demo_kb_path} | head -c 1"],
        capture_output=True,
        encoding="utf-8",
        env=program_environment({}),
        check=False,
    )
    assert finished.stderr == ""
    assert len(finished.stdout) == 1
    assert finished.returncode in (0, 141)  # 0 when all was written before the pipe closed


@pytest.mark.skipif(sys.platform == "win32", reason="needs bash")
def test_output_closed_before_the_start_is_not_an_error(demo_kb_path: Path) -> None:
    command = f"{sys.executable} -m kbx_tui search migration --fast --kb {demo_kb_path} >&- <&-"
    finished = subprocess.run(
        ["bash", "-c", command], capture_output=True, env=program_environment({}), check=False
    )
    assert (finished.returncode, finished.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_is_reported_in_one_line(demo_kb_path: Path) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123  # a device
        finished = subprocess.run(
            [sys.executable, "-m", "kbx_tui", "status", "--kb", demo_kb_path],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=program_environment({}),
            check=False,
        )
    assert finished.returncode == 1
    assert finished.stderr == "kbx: cannot write the output: no space left on device\n"
