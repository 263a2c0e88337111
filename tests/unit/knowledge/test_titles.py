"""Titles by the conventions of a base, and what the conventions of a base are."""

from pathlib import Path

import pytest

from kbx_tui.knowledge.conventions import read_conventions
from kbx_tui.knowledge.fields import CORE_ENTITY_TYPES
from kbx_tui.knowledge.reading import Conventions, parse_document
from kbx_tui.knowledge.titles import Titles
from kbx_tui.knowledge.vault import list_files
from tests.unit.knowledge.building import write

DRAWING = "---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n"
BOARD = "---\nkanban-plugin: board\n---\n## Doing\n"


def title(text: str, path: str, titles: Titles = "heading") -> str:
    return parse_document(path, text.encode(), conventions=Conventions(titles)).title


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("Garden/Compost.md", "It rots.\n\n# See also\n", "Compost"),
        ("Garden/Compost.md", "# Why it rots\n", "Compost"),
        ("Log/2025-05-06.md", "# Weather\n", "2025-05-06"),
        ("Log/2025-05-06 frost.md", "", "2025-05-06 frost"),
        ("a_b-c.md", "", "a_b-c"),
        ("Compost.md", "---\ntitle: Rotting\n---\n# See also\n", "Rotting"),
        ("Beds.excalidraw.md", DRAWING, "Beds"),
        ("Jobs.md", BOARD, "Jobs"),
        ("people/Ida Moss.md", "# Contact\n", "Ida Moss"),
        ("people/Ida McMoss.md", "", "Ida McMoss"),
        ("people/ida-moss.md", "# Ida Moss\n", "Ida Moss"),
        ("people/ida-moss.md", "Met in May.\n# Contact\n", "Ida Moss"),
    ],
)
def test_a_note_of_a_vault_is_called_as_its_file(path: str, text: str, expected: str) -> None:
    assert title(text, path, "file_name") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Why it rots\n", "Why it rots"),
        ("%% from a template %%\n# Why it rots\n", "Why it rots"),
        ("It rots.\n\n# See also\n", "compost"),
        ("## Why it rots\n", "compost"),
        (DRAWING, "compost"),
    ],
)
def test_a_heading_is_the_title_only_where_it_opens_a_note(text: str, expected: str) -> None:
    assert title(text, "compost.md", "opening_heading") == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.md", '<h1 align="center">Bees &amp; <b>wasps</b></h1>\n\n## Use\n', "Bees & wasps"),
        ("a.md", "---\nTitle: Wasps\n---\n# Bees\n", "Wasps"),
        ("a.md", "title:: Wasps\n\n- # Bees\n", "Wasps"),
        ("a.md", "- [title:: Wasps]\n", "a"),
        ("a.md", "# Bees<br/>and wasps\n", "Bees and wasps"),
        ("a.md", "<div align=center>\n  <h1>\nBees\n</h1></div>\n# Later\n", "Bees"),
        ("a.md", "# First\n<h1>Second</h1>\n", "First"),
        ("a.md", "<h1><img src='bee.png'></h1>\n\n# Bees\n", "Bees"),
        ("Beds.excalidraw.md", DRAWING, "Beds"),
        ("Jobs.md", BOARD, "Jobs"),
        ("2025-06-hives.md", "## 2025-06-04\n\nTwo.\n\n## 2025-06-11\n", "2025 06 hives"),
        ("hives.md", "## Two hives\n\n### 2025-06-04\n", "Two hives"),
        ("hives/index.md", "", "hives"),
        ("2025_06_04.md", "- Two hives\n", "2025_06_04"),
        ("hives/README.md", "Text.\n", "hives"),
        ("README.md", "Text.\n", "README"),
        ("Hives 0123456789abcdef0123456789abcdef.md", "Two.\n", "Hives"),
        ("a.md", "# Hives {#hives .wide}\n", "Hives"),
        ("a.md", "Hives {: #hives }\n=====\n", "Hives"),
        ("a.md", "# <center>Two <b>hives</b></center>\n", "Two hives"),
        ("a.md", "# The `<b>` tag and List<int>\n", "The <b> tag and List<int>"),
    ],
)
def test_titles_outside_vaults(path: str, text: str, expected: str) -> None:
    assert title(text, path) == expected


@pytest.mark.parametrize(
    ("path", "kind", "name"),
    [
        ("teams/harbour/index.md", "team", "Harbour"),
        ("docs/teams/harbour/README.md", "team", "Harbour"),
        ("projects/blue-lagoon/_index.md", "project", "Blue Lagoon"),
        ("teams/Night shift/Night Shift.md", "team", "Night Shift"),
        ("02 Teams/01 harbour/Harbour.md", "team", "Harbour"),
        ("teams/teams.md", "note", "teams"),
        ("teams/index.md", "note", "teams"),
        ("teams/README.md", "note", "teams"),
        ("teams/harbour/rota.md", "note", "rota"),
        ("teams/notes/index.md", "note", "notes"),
        ("teams/Übersicht.md", "note", "Übersicht"),
        ("projects/00 Table of Contents.md", "note", "00 Table of Contents"),
        ("people/一覧.md", "note", "一覧"),
        ("teams/overview/index.md", "team", "Overview"),
        ("teams/Overview crew.md", "team", "Overview crew"),
        ("teams/harbour.md", "team", "Harbour"),
        ("02 Teams/Harbour.md", "team", "Harbour"),
        ("🎯_Projects/Blue Lagoon.md", "project", "Blue Lagoon"),
        ("People 0123456789abcdef0123456789abcdef/Ada Ray.md", "person", "Ada Ray"),
        ("1. People/Ada Ray.md", "person", "Ada Ray"),
        ("01-people/Ada Ray.md", "person", "Ada Ray"),
        ("2x people/Ada Ray.md", "note", "Ada Ray"),
        ("3people/Ada Ray.md", "note", "Ada Ray"),
    ],
)
def test_the_page_of_a_folder_is_that_of_an_entity_and_an_overview_is_none(
    path: str, kind: str, name: str
) -> None:
    document = parse_document(path, b"Text.\n")
    assert (document.kind, document.title) == (kind, name)


def conventions(root: Path) -> Conventions:
    return read_conventions(root, list_files(root), CORE_ENTITY_TYPES)


def test_redacted_text_does_not_decide_what_the_titles_of_a_vault_are(tmp_path: Path) -> None:
    pages = {".obsidian/app.json": "{}", "a.md": "# Own\n", "b.md": "Text.\n"}
    for number, opening in enumerate(("# Hidden {}\n", "Text.\n")):
        root = tmp_path / f"{number}"
        hidden = "---\nredacted: true\n---\n" + opening
        write(root, {**pages, **{f"h{n}.md": hidden.format(n) for n in range(3)}})
        assert conventions(root).titles == "file_name"


def test_titles_of_a_vault_are_headings_only_if_most_pages_open_with_their_own(
    tmp_path: Path,
) -> None:
    own = {f"n/{number}.md": f"# About {number}\n" for number in range(6)}
    write(tmp_path, own)
    assert conventions(tmp_path).titles == "heading"
    write(tmp_path, {".obsidian/app.json": "{}"})
    assert conventions(tmp_path).titles == "opening_heading"
    write(tmp_path, {f"s/{number}.md": "# Sources\n" for number in range(5)})
    assert conventions(tmp_path).titles == "opening_heading"
    write(tmp_path, {"s/5.md": "Text.\n\n# Sources\n"})
    assert conventions(tmp_path).titles == "file_name"
    write(tmp_path, {f"s/{number}.md": "---\ntitle: T\n---\n" for number in range(6)})
    assert conventions(tmp_path).titles == "opening_heading"
