"""Every command has help with examples, and docs/cli.md documents all of them."""

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import click
import pytest

from kbx_tui.cli import commands
from kbx_tui.cli.main import kbx as program
from kbx_tui.errors import KbxError
from tests.command_line import CHECKOUT, CommandLine


def commands_by_name(group: click.Group, prefix: str = "") -> dict[str, click.Command]:
    """Return all commands by full name: `search`, `entity`, `entity show`."""
    commands = {}
    for name, command in sorted(group.commands.items()):
        commands[f"{prefix}{name}"] = command
        if isinstance(command, click.Group):
            commands |= commands_by_name(command, f"{prefix}{name} ")
    return commands


ALL = commands_by_name(program)
PAGE = (CHECKOUT / "docs" / "cli.md").read_text(encoding="utf-8")


def examples(help_text: str) -> list[str]:
    """Return the command lines of the section `Examples:`."""
    _, _, below = help_text.partition("Examples:\n")
    lines = below.partition("\n\n")[0].splitlines()
    return [line.strip().partition("   ")[0] for line in lines]


def options(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield from (name for name in parameter.opts if name.startswith("--"))


@pytest.mark.parametrize("name", ["", *ALL])
def test_help_shows_examples(kbx: CommandLine, name: str) -> None:
    shown = kbx(*name.split(), "--help")
    assert shown.code == 0
    assert shown.err == ""
    assert examples(shown.out)


def test_help_lists_every_command_once_in_five_sections(kbx: CommandLine) -> None:
    shown = kbx("--help").out.partition("Options:")[2]
    _, *sections = re.split(r"^(?=[A-Z][a-z ]+:$)", shown, flags=re.MULTILINE)
    names = re.findall(r"^  ([a-z-]+) ", "".join(sections), flags=re.MULTILINE)
    assert len(sections) == 5
    assert sorted(names) == sorted(program.commands)


def test_every_command_that_is_written_is_in_the_program() -> None:
    written = [
        command
        for module in iter_modules(commands.__path__)
        for command in vars(import_module(f"{commands.__name__}.{module.name}")).values()
        if isinstance(command, click.Command)
    ]
    assert [each.name for each in written if each not in ALL.values()] == []


def test_version_names_model_and_build(kbx: CommandLine) -> None:
    shown = kbx("--version").out
    assert re.fullmatch(r"kbx-tui [\d.]+ · model bundled/\S+ · build [0-9a-f]{12}\n", shown)


@pytest.mark.parametrize("name", ["", *ALL])
def test_examples_use_existing_options(kbx: CommandLine, name: str) -> None:
    for line in examples(kbx(*name.split(), "--help").out):
        words = shlex.split(re.split(r" [|>]", line)[0])
        assert words[0] == "kbx"
        phrases = [
            " ".join(words[start : start + size]) for size in (2, 1) for start in range(len(words))
        ]
        named = next((phrase for phrase in phrases if phrase in ALL), None)
        known = {*options(program), *options(ALL[named] if named else program)}
        before_dashes = words[: words.index("--")] if "--" in words else words
        given = {word.partition("=")[0] for word in before_dashes if word.startswith("--")}
        assert given <= known


@pytest.mark.parametrize("name", ALL)
def test_every_option_has_a_help_text(name: str) -> None:
    for parameter in ALL[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts}"


@pytest.mark.parametrize("name", ALL)
def test_every_command_and_option_is_documented(name: str) -> None:
    assert f"## kbx {name}" in PAGE
    section = PAGE.partition(f"## kbx {name}")[2].partition("\n## ")[0]
    for option in options(ALL[name]):
        assert option in section or option in ("--kb", "--trust", "--debug"), option


def test_every_exit_code_is_documented() -> None:
    def kinds(base: type[KbxError]) -> set[type[KbxError]]:
        return {base}.union(*(kinds(kind) for kind in base.__subclasses__()))

    table = dict(re.findall(r"^\| (\d+) \| ([^|]+) \|", PAGE, flags=re.MULTILINE))
    for kind in kinds(KbxError):
        assert str(kind.exit_code) in table, kind
    assert {"0", "1", "2", "130"} <= table.keys()


def test_every_setting_is_documented(tmp_path: Path) -> None:
    from kbx_tui.settings_file import describe_settings

    page = (CHECKOUT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for setting in describe_settings(tmp_path):
        section, _, key = setting.key.partition(".")
        assert f"[{section}]" in page
        assert f"`{key}`" in page, setting.key
        assert setting.help in page, setting.key
