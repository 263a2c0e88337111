"""`kbx keys` and `docs/keys.md` agree with the command registry."""

import json
import re
from pathlib import Path

from kbx_tui.tui.commands.command_table import COMMANDS
from kbx_tui.tui.commands.keymap import BROWSER_KEYS, Keymap, Offer, command_by_id
from tests.command_line import CHECKOUT, CommandLine, run_program


def test_keys_page_is_the_output_of_the_command(kbx: CommandLine, tmp_path: Path) -> None:
    page = (CHECKOUT / "docs" / "keys.md").read_text(encoding="utf-8")
    (tmp_path / "a.md").write_text("# A\n")
    result = kbx("keys", "--markdown", "--kb", str(tmp_path))
    assert page.endswith(result.out)


def test_keys_page_lists_those_of_a_browser() -> None:
    page = (CHECKOUT / "docs" / "keys.md").read_text(encoding="utf-8")
    keymap = Keymap(offer=Offer(keys=BROWSER_KEYS))
    section = page.partition("\n## In a browser\n")[2].partition("\n## ")[0]
    for command in map(command_by_id, BROWSER_KEYS):
        keys = keymap.display_keys(command).replace(" ", "` `")
        assert f"| `{keys}` | {command.help} | `{command.id}` |" in section
    assert section.count(" | `") == len(BROWSER_KEYS)


def test_help_and_messages_name_keys_that_do_what_they_say_without_having_moved() -> None:
    named = re.compile(r"`([^`\n]{1,7})` in the app|in the app, `([^`\n]{1,7})`")
    sources = [*CHECKOUT.glob("kbx_tui/**/*.py"), *CHECKOUT.glob("docs/*.md")]
    found = {
        match[1] or match[2]
        for source in sources
        for match in named.finditer(source.read_text(encoding="utf-8"))
    }
    assert found >= {"y s", "g b", "v l"}
    assert found - set(map(Keymap().display_keys, COMMANDS)) == set()


def test_keys_changed_in_kbx_toml_are_listed(kbx: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    (tmp_path / "kbx.toml").write_text('[keys]\nedit = "ctrl+e"\nalpha.less = "ctrl+left"\n')
    result = kbx("keys", "--json", "--kb", str(tmp_path))
    keys = {row["id"]: row["keys"] for row in json.loads(result.out)}
    assert keys["edit"] == "ctrl+e"
    assert keys["alpha.less"] == "ctrl+←"
    assert keys["undo"] == "z"


def test_a_key_clash_gives_one_line_that_names_both_commands(
    kbx: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    (tmp_path / "kbx.toml").write_text('[keys]\nedit = "z"\n')
    result = kbx("keys", "--kb", str(tmp_path))
    assert result.code != 0
    assert "edit" in result.err
    assert "undo" in result.err
    assert result.err.count("\n") == 1


def test_keys_are_listed_without_a_knowledge_base(tmp_path: Path) -> None:
    result = run_program("keys", cwd=tmp_path)
    assert result.code == 0
    assert "type a query" in result.out
