"""`kbx config set` and `unset` change one setting of kbx.toml, and `kbx undo` takes it back."""

from __future__ import annotations

from pathlib import Path

import pytest

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
        ("search.hierarchy_max_entities", "2.5", "must be a whole number within 1..20"),
        ("app.watch", "maybe", "must be true or false"),
        ("keys.no_such_command", "x", "there is no command 'no_such_command'"),
    ],
)
def test_what_is_not_valid_is_refused(
    kbx: CommandLine, base: Path, key: str, value: str, message: str
) -> None:
    ran = kbx("config", "set", key, value, "--kb", base)
    assert (ran.code, message in ran.err) == (2, True), ran.err
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
