"""`kbx config set` and `unset` change one setting of kbx.toml, and `kbx undo` takes it back."""

import subprocess
from pathlib import Path

import pytest
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from kbx_tui import KnowledgeBase
from kbx_tui.cli.base_command import GlobalOptions
from kbx_tui.cli.main import kbx as program
from kbx_tui.cli.options import register
from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.settings_file import parse_setting, with_settings, without_setting
from tests.command_line import CommandLine, Ran

TOML = """\
# Ours.
[search]  # ranking
hierarchy_alpha = 0.4  # measured in May
# hotness_weight = 0.1

[keys]
"focus.query" = "ctrl+t"
alpha.less = "ctrl+g"
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "note.md").write_text("# A note\n", encoding="utf-8")
    return tmp_path


def test_undoing_what_made_kbx_toml_removes_it(kbx: CommandLine, base: Path) -> None:
    kbx("config", "set", "search.hierarchy_alpha", "0.6", "--kb", base)
    assert kbx("undo", "--kb", base).code == 0
    assert not (base / "kbx.toml").exists()
    kbx("config", "set", "search.hierarchy_alpha", "0.6", "--kb", base)
    with (base / "kbx.toml").open("a") as file:
        file.write("# mine\n")
    assert kbx("undo", "--kb", base).code == 7
    assert "# mine" in (base / "kbx.toml").read_text(encoding="utf-8")


def test_a_setting_is_written_removed_and_undone(kbx: CommandLine, base: Path) -> None:
    file = base / "kbx.toml"

    def run(*arguments: str) -> Ran:
        return kbx(*arguments, "--kb", base)

    assert run("config", "set", "search.hierarchy_alpha", "0.6").out == "written · kbx.toml\n"
    assert file.read_text(encoding="utf-8") == "[search]\nhierarchy_alpha = 0.6\n"
    file.write_text(TOML, encoding="utf-8")
    assert (
        "+hierarchy_alpha = 0.6  #"
        in run("config", "set", "search.hierarchy_alpha", "0.6", "--dry-run").out
    )
    assert file.read_text(encoding="utf-8") == TOML
    run("config", "set", "search.hierarchy_alpha", "0.6")
    assert file.read_text(encoding="utf-8") == TOML.replace("0.4  #", "0.6  #")
    again = run("config", "set", "search.hierarchy_alpha", "0.6")
    assert (again.code, again.err) == (0, "kbx: kbx.toml says this already\n")
    assert "set search.hierarchy_alpha in kbx.toml" in run("undo").out
    assert file.read_text(encoding="utf-8") == TOML
    run("config", "unset", "search.hierarchy_alpha")
    kept = file.read_text(encoding="utf-8")
    assert "hierarchy_alpha" not in kept
    assert "[search]  # ranking\n# hotness_weight = 0.1\n" in kept
    missing = run("config", "unset", "search.hierarchy_alpha")
    assert (missing.code, "does not set search.hierarchy_alpha" in missing.err) == (4, True)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("search.alpha", "0.5", "did you mean search.hierarchy_alpha?"),
        ("search", "1", "is not a setting"),
        ("search.hierarchy_alpha", "5", "must be a number within 0..1"),
        ("search.hierarchy_alpha", "nan", "must be a number within 0..1"),
        ("search.age_half_life", "2e9", "must be a number within 0..1,000,000"),
        ("search.hierarchy_max_entities", "2.5", "must be a whole number within 1..20"),
        ("app.watch", "maybe", "must be true or false"),
        ("embedding.address", "http://u:hush@h/v1", "address is not valid: must be text such as"),
        ("embedding.address", "http://h/v1?key=hush", "http://localhost:1234/v1, without a key"),
        ("embedding.address", "http://h\u0430/v1", "is not valid"),
        ("embedding.address", "file:///etc/passwd", "is not valid"),
        ("keys.no_such_command", "x", "there is no command 'no_such_command'"),
    ],
)
def test_what_is_not_valid_is_refused(
    kbx: CommandLine, base: Path, key: str, value: str, message: str
) -> None:
    ran = kbx("config", "set", key, value, "--kb", base)
    assert (ran.code, message in ran.err) == (2, True), ran.err
    assert "hush" not in ran.err
    assert not (base / "kbx.toml").exists()


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("search.hierarchy_alpha", "1", 1),
        ("app.watch", "false", False),
        ("embedding.model", "bundled", "bundled"),
        ("embedding.model", "2026", "2026"),
        ("embedding.model", '"gemini"', "gemini"),
        ("entities.types", "lab, ship", ["lab", "ship"]),
        ("entities.types", '["lab"]', ["lab"]),
        ("entities.types", "", []),
        ("entities.types", "a\ud800", ["a?"]),
    ],
)
def test_values_are_read_as_in_toml_or_as_text(key: str, text: str, value: object) -> None:
    assert parse_setting(key, text) == value


def test_keys_are_changed_where_the_file_sets_them() -> None:
    data = TOML.encode()
    changed = with_settings(data, "keys", {"alpha.less": "ctrl+l", "focus.query": "ctrl+y"})
    assert changed.decode() == TOML.replace("ctrl+g", "ctrl+l").replace("ctrl+t", "ctrl+y")
    assert without_setting(data, "keys.alpha.less").decode() == TOML.replace(
        'alpha.less = "ctrl+g"\n', ""
    )
    with pytest.raises(NotFound):
        without_setting(data, "keys.alpha.more")
    with pytest.raises(ConfigError):
        without_setting(data, "keys")


def test_control_characters_of_kbx_toml_do_not_reach_the_terminal(
    kbx: CommandLine, base: Path
) -> None:
    (base / "kbx.toml").write_text(
        '[index]\nexclude = ["\u009b31mred", "\u202eright"]\n', encoding="utf-8"
    )
    shown = kbx("config", "--kb", base).out
    assert 'exclude                    = ["red", "right"]' in shown
    assert not {"\u009b", "\u202e"} & set(shown)


def completions(root: Path, *arguments: str) -> list[str]:
    """Return what completes the last argument, on the base at `root`."""
    *given, text = arguments
    shell = ShellComplete(program, {"obj": GlobalOptions(kb=[root])}, "kbx", "_KBX_COMPLETE")
    return [str(item.value) for item in shell.get_completions(list(given), text)]


def test_values_of_the_base_are_completed(demo_kb_path: Path) -> None:
    root = demo_kb_path
    assert completions(root, "search", "--type", "mee") == ["meeting"]
    assert "meeting,note" in completions(root, "search", "--type", "meeting,")
    assert "meeting,meeting" not in completions(root, "search", "--type", "meeting,")
    assert "migration" in completions(root, "search", "--tag", "mig")
    assert completions(root, "search", "--pin", "alice ch") == ["Alice Chen"]
    assert completions(root, "search", "--mute", "Platform,gra") == ["Platform,Grace Tully"]
    assert completions(root, "search", "--entity", "person:ali") == ["person:alice-chen"]
    assert completions(root, "entity", "show", "Grace") == ["Grace Tully"]
    assert completions(root, "search", "--path", "memory/n") == ["memory/notes/"]
    assert completions(root, "related", "memory/n") == ["memory/notes/"]
    assert completions(root, "links", "show", "memory/n") == ["memory/notes/"]
    assert completions(root, "inbox", "a") == ["all"]
    assert completions(root, "entity", "list", "--type", "pr") == ["project"]
    assert completions(root, "memory", "similar", "x", "--path", "memory/people/ali") == [
        "memory/people/alice-chen.md"
    ]


def test_a_name_that_is_an_option_is_not_completed(tmp_path: Path) -> None:
    for number, name in enumerate(("--trust", "\u202e--debug", "Ann-Lee")):
        page = tmp_path / "memory" / "people" / f"{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"# {name}\n", encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
    assert completions(tmp_path, "entity", "show", "") == ["Ann-Lee"]


def test_settings_are_completed_with_their_values(demo_kb_path: Path) -> None:
    root = demo_kb_path
    assert "search.hierarchy_alpha" in completions(root, "config", "set", "search.hier")
    assert completions(root, "config", "set", "search.hierarchy_gate", "") == ["hard", "soft"]
    assert completions(root, "config", "set", "app.watch", "t") == ["true"]
    assert completions(root, "config", "unset", "zz") == []


@pytest.mark.parametrize("root", ["missing", "empty"])
def test_without_an_index_nothing_is_completed_and_nothing_fails(
    tmp_path: Path, root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    for option in ("--type", "--tag", "--pin", "--path"):
        assert completions(tmp_path / root, "search", option, "") == []
    assert completions(tmp_path / root, "config", "set", "search.hier") == []
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_serves_both_names(kbx: CommandLine, shell: str) -> None:
    script = kbx("completion", shell).out
    for variable in ("_KBX_COMPLETE", "_KBX_TUI_COMPLETE"):
        assert f"{variable}={shell}_complete" in script
    if shell != "fish":
        assert "*/" in script  # no space after a folder


def test_values_are_quoted_for_bash(kbx: CommandLine, tmp_path: Path) -> None:
    register()
    kind = get_completion_class("bash")
    assert kind is not None
    line = kind(program, {}, "kbx", "_KBX_COMPLETE").format_completion(
        CompletionItem("Alice O'Hara")
    )
    answers = tmp_path / "kbx"  # stands for the program, which the script asks
    answers.write_text(f"#!/bin/sh\ncat <<'END'\n{line}\nEND\n", encoding="utf-8")
    answers.chmod(0o755)
    script = f"""{kbx("completion", "bash").out}
COMP_WORDS=(kbx search --pin ali); COMP_CWORD=3
_kbx_completion {answers}; eval "printf '%s|' ${{COMPREPLY[0]}}"
"""
    shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout == "Alice O'Hara|"  # one word for the shell
