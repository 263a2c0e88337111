"""Settings of a vault, and dates in the names of daily notes."""

import json
from functools import cache
from pathlib import Path

import pytest

from kbx_tui.config import IndexSettings
from kbx_tui.index.excluded_files import excluded_files, template_problems
from kbx_tui.knowledge.dates import DailyNotes, date_in_format
from kbx_tui.knowledge.obsidian_vault import (
    FileLookup,
    VaultSettings,
    file_name_of,
    obsidian_address,
    read_vault_settings,
)
from kbx_tui.knowledge.written_links import links_of


def write(root: Path, files: dict[str, object]) -> None:
    for name, content in files.items():
        file = root / ".obsidian" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))


def test_the_settings_of_a_vault_are_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "app.json": {"attachmentFolderPath": "./Files/"},
            "templates.json": {"folder": "Templates"},
            "plugins/templater-obsidian/data.json": {"templates_folder": "Meta/[x] templates"},
            "daily-notes.json": {
                "format": "DD.MM.YYYY",
                "folder": "/Daily/",
                "template": "Meta/Day",
            },
        },
    )
    assert read_vault_settings(tmp_path) == VaultSettings(
        folder="",
        template_folders=("Templates", "Meta/[x] templates"),
        template_notes=("Meta/Day.md",),
        attachment_folder="Files",
        daily_notes=DailyNotes("DD.MM.YYYY", "Daily"),
    )
    (tmp_path / "Templates").mkdir()
    excluded = excluded_files(tmp_path, IndexSettings(exclude=("*.tmp.md",)))
    assert excluded == ("*.tmp.md", "/Templates", "/Meta/\\[x\\]\\ templates", "/Meta/Day.md")
    assert [problem.path for problem in template_problems(tmp_path, IndexSettings())] == [
        "Templates"
    ]
    kept = IndexSettings(templates=True)
    assert (excluded_files(tmp_path, kept), template_problems(tmp_path, kept)) == ((), [])


@pytest.mark.parametrize(
    "settings",
    ["", "[]", "{", {"folder": "../elsewhere"}, {"folder": 7}, {"folder": "/"}, {"folder": "."}],
)
def test_settings_that_mean_nothing_are_left_out(tmp_path: Path, settings: object) -> None:
    write(tmp_path, {"templates.json": settings, "daily-notes.json": settings})
    found = read_vault_settings(tmp_path)
    assert found is not None
    assert found.template_folders == ()


def test_a_vault_is_a_folder_with_settings(tmp_path: Path) -> None:
    assert read_vault_settings(tmp_path) is None
    (tmp_path / "memory" / ".obsidian").mkdir(parents=True)
    assert read_vault_settings(tmp_path) == VaultSettings(
        "memory", daily_notes=DailyNotes(folder="memory")
    )


@pytest.mark.parametrize(
    ("moment_format", "name", "date"),
    [
        ("YYYY-MM-DD", "2026-03-17", "2026-03-17"),
        ("YYYY-MM-DD", "2026-03-17 plan", ""),
        ("YYYY-MM-DD", "2026-13-17", ""),
        ("DD.MM.YYYY", "17.03.2026", "2026-03-17"),
        ("D-M-YY", "7-3-26", "2026-03-07"),
        ("YYYYMMDD", "20260317", "2026-03-17"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2026/03-March/2026-03-17-Tuesday", "2026-03-17"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2025/03-March/2026-03-17-Tuesday", ""),
        ("dddd, MMMM Do YYYY", "Tuesday, March 17th 2026", "2026-03-17"),
        ("MMM D, YYYY", "Mar 17, 2026", "2026-03-17"),
        ("[Day] YYYY-MM-DD", "Day 2026-03-17", "2026-03-17"),
        ("gggg-[W]ww", "2026-W12", ""),
        ("YYYY", "2026", ""),
        ("(", "(", ""),
        ("w" * 60 + "YYYY", "1" * 200 + "x", ""),  # no format makes a match slow
        ("dddd" * 20 + "YYYY", "a" * 200 + "1", ""),
    ],
)
def test_a_name_is_a_date_in_the_format_of_the_vault(
    moment_format: str, name: str, date: str
) -> None:
    assert date_in_format(name, moment_format) == date


def test_address_of_a_note_needs_no_settings_and_changed_ones_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"app.json": {"attachmentFolderPath": "Files"}})
    assert read_vault_settings(tmp_path) is not None
    with monkeypatch.context() as patch:
        patch.setattr("os.open", None)
        assert obsidian_address(tmp_path, "a.md").endswith("&file=a.md")
    write(tmp_path, {"app.json": {"attachmentFolderPath": "Other files"}})
    changed = read_vault_settings(tmp_path)
    assert changed is not None
    assert changed.attachment_folder == "Other files"


HOME = "Home.md"
WORK = "Work/Projects/Helix/Log.md"
DEEP = "Work/Projects/Helix/Notes/Deep/Draft.md"
DAILY = "Daily/2026/2026-03-17.md"

NAMED = """
Home.md
Index.md
Plan.md
Work/Plan.md
Work/Projects/Helix/Log.md
Work/Projects/Helix/Plan.md
Work/Projects/Helix/Notes/Deep/Draft.md
Work/Projects/Helix/Notes/Deep/Sketch.md
Work/Projects/Helix/Notes/Costs.md
Work/Projects/Orion/Log.md
Work/Projects/Orion/Costs.md
Work/Projects/Orion/Notes/Budget 2026.md
Work/Index.md
Archive/Old/Very/Long/Costs.md
Archive/Old/Budget 2026.md
Archive/Index.md
People/Ann Lee.md
People/ann lee (old).md
People/Zoë Ångström.md
People/O'Brien.md
Areas/Area 51/Notes.md
Areas/Area 52/Notes.md
Areas/Notes.md
Reading/Dr. Strange.md
Reading/v1.2 notes.md
Reading/C# in depth.markdown.md
Reading/100% true.md
Reading/Über.md
Reading/日本語 ノート.md
Daily/2026/2026-03-17.md
Daily/2026/2026-03-18.md
a/b/c/Leaf.md
b/c/Leaf.md
xb/c/Twig.md
b/d/Twig.md
Files/diagram.png
Files/report.pdf
Work/Projects/Helix/diagram.png
Work/Projects/Helix/Notes/voice memo.m4a
Boards/Roadmap.canvas
""".strip().split("\n")

PAGES = [  # source, page as written, the file it means
    # a unique name, from anywhere, in any letter case, with and without .md
    (HOME, "Ann Lee", "People/Ann Lee.md"),
    (DEEP, "Ann Lee", "People/Ann Lee.md"),
    (DEEP, "ann lee", "People/Ann Lee.md"),
    (DEEP, "Ann Lee.md", "People/Ann Lee.md"),
    (HOME, "ann lee (old)", "People/ann lee (old).md"),
    (HOME, "O'Brien", "People/O'Brien.md"),
    (HOME, "Zoë Ångström", "People/Zoë Ångström.md"),
    (HOME, "Zoe\u0308 A\u030angstro\u0308m", "People/Zoë Ångström.md"),
    (HOME, "Über", "Reading/Über.md"),
    (HOME, "日本語 ノート", "Reading/日本語 ノート.md"),
    (DAILY, "2026-03-18", "Daily/2026/2026-03-18.md"),
    (HOME, "Home", HOME),
    # a dot in a name begins no extension
    (HOME, "Dr. Strange", "Reading/Dr. Strange.md"),
    (HOME, "v1.2 notes", "Reading/v1.2 notes.md"),
    (HOME, "v1.2 notes.md", "Reading/v1.2 notes.md"),
    (HOME, "100% true", "Reading/100% true.md"),
    # several files with the name: at the top, then below the folder of the note, then shortest
    (HOME, "Plan", "Plan.md"),
    (WORK, "Plan", "Plan.md"),
    (DEEP, "Plan", "Plan.md"),
    (HOME, "Log", "Work/Projects/Helix/Log.md"),
    (WORK, "Log", WORK),
    ("Work/Projects/Orion/Costs.md", "Log", "Work/Projects/Orion/Log.md"),
    (HOME, "Costs", "Work/Projects/Orion/Costs.md"),
    (WORK, "Costs", "Work/Projects/Helix/Notes/Costs.md"),
    ("Archive/Index.md", "Costs", "Archive/Old/Very/Long/Costs.md"),
    (HOME, "Budget 2026", "Archive/Old/Budget 2026.md"),
    ("Work/Index.md", "Budget 2026", "Work/Projects/Orion/Notes/Budget 2026.md"),
    (HOME, "Notes", "Areas/Notes.md"),
    ("Areas/Area 52/Notes.md", "Notes", "Areas/Area 52/Notes.md"),
    ("Areas/Notes.md", "Notes", "Areas/Notes.md"),
    (HOME, "Index", "Index.md"),
    (HOME, "Leaf", "b/c/Leaf.md"),
    ("a/x.md", "Leaf", "a/b/c/Leaf.md"),
    # a path from the top, and the end of a path
    (HOME, "Work/Plan", "Work/Plan.md"),
    (DEEP, "work/plan", "Work/Plan.md"),
    (DEEP, "Work/Plan.md", "Work/Plan.md"),
    (HOME, "Helix/Plan", "Work/Projects/Helix/Plan.md"),
    (HOME, "Projects/Orion/Log", "Work/Projects/Orion/Log.md"),
    (HOME, "Area 51/Notes", "Areas/Area 51/Notes.md"),
    (HOME, "b/c/Leaf", "b/c/Leaf.md"),
    ("a/x.md", "b/c/Leaf", "b/c/Leaf.md"),
    (HOME, "c/Leaf", "b/c/Leaf.md"),
    (HOME, "c/Twig", "xb/c/Twig.md"),
    (HOME, "b/c/Twig", None),
    (HOME, "Deep/Draft", DEEP),
    (HOME, "Archive/Plan", None),
    (HOME, "Wrong/Ann Lee", None),
    # from the top only
    (DEEP, "/Plan", "Plan.md"),
    (DEEP, "/Work/Index", "Work/Index.md"),
    (DEEP, "/Helix/Plan", None),
    (DEEP, "/Costs", None),
    # from the folder of the note
    (DEEP, "./Sketch", "Work/Projects/Helix/Notes/Deep/Sketch.md"),
    (DEEP, "../Costs", "Work/Projects/Helix/Notes/Costs.md"),
    (DEEP, "../../Plan", "Work/Projects/Helix/Plan.md"),
    (DEEP, "../../../Orion/Log", "Work/Projects/Orion/Log.md"),
    (DEEP, "../../../../Plan.md", "Work/Plan.md"),
    (WORK, "./Plan", "Work/Projects/Helix/Plan.md"),
    (WORK, "./notes/costs", "Work/Projects/Helix/Notes/Costs.md"),
    (HOME, "./Plan", "Plan.md"),
    (HOME, "./Work/Plan", "Work/Plan.md"),
    (WORK, "./Ann Lee", "People/Ann Lee.md"),
    # attachments keep their extension
    (HOME, "report.pdf", "Files/report.pdf"),
    (HOME, "diagram.png", "Files/diagram.png"),
    (WORK, "diagram.png", "Work/Projects/Helix/diagram.png"),
    (DEEP, "../../diagram.png", "Work/Projects/Helix/diagram.png"),
    (HOME, "Files/diagram.png", "Files/diagram.png"),
    (HOME, "voice memo.m4a", "Work/Projects/Helix/Notes/voice memo.m4a"),
    (HOME, "Roadmap.canvas", "Boards/Roadmap.canvas"),
    (HOME, "Roadmap", None),
    (HOME, "report", None),
    # nothing
    (HOME, "Nobody", None),
    (HOME, "Ann", None),
    (HOME, "Zoe Angstrom", None),
    (HOME, "Ann Lee.txt", None),
    (HOME, "People", None),
    (HOME, "../Nowhere", None),
    (HOME, "../../../../etc/passwd", None),
]
FORMS = {
    "plain": "[[{}]]",
    "label": "[[{}|shown]]",
    "heading": "[[{}#A heading]]",
    "block": "[[{}#^a1b2]]",
    "embed": "![[{}]]",
    "table": "| x | [[{}\\|shown]] |",
    "blanks": "[[ {} ]]",
}
MARKDOWN = [  # relative to the note; blanks as %20 or in angle brackets; else as a name
    (HOME, "[a](People/Ann%20Lee.md)", "People/Ann Lee.md"),
    (HOME, "[a](<People/Ann Lee.md>)", "People/Ann Lee.md"),
    (HOME, "[a](People/Ann%20Lee)", "People/Ann Lee.md"),
    (DEEP, "[a](Sketch.md)", "Work/Projects/Helix/Notes/Deep/Sketch.md"),
    (DEEP, "[a](../Costs.md#Q1)", "Work/Projects/Helix/Notes/Costs.md"),
    (WORK, "[a](Plan.md)", "Work/Projects/Helix/Plan.md"),
    (WORK, "[a](/Plan.md)", "Plan.md"),
    (WORK, "[a](Work/Plan.md)", "Work/Plan.md"),
    (WORK, "[a](Ann%20Lee.md)", "People/Ann Lee.md"),
    (WORK, "![a](diagram.png)", "Work/Projects/Helix/diagram.png"),
    (HOME, "[a](Reading/C%23%20in%20depth.markdown.md)", "Reading/C# in depth.markdown.md"),
    (HOME, "[a](Reading/%C3%9Cber.md)", "Reading/Über.md"),
    (HOME, '[a](Plan.md "title")', "Plan.md"),
    (HOME, "[a](Areas/Area%2051/Notes.md)", "Areas/Area 51/Notes.md"),
    (HOME, "[](Plan.md)", "Plan.md"),
    (DEEP, "[a](#Here)", DEEP),
    (DEEP, "[[#Here]]", DEEP),
    (DEEP, "[[#^a1]]", DEEP),
    (HOME, "[a](Gone.md)", None),
]
NO_LINKS = (
    "[a](https://example.com/Plan.md)", "[a](mailto:ann@example.com)", "`[[Plan]]`", "\\[[Plan]]",
    "```\n[[Plan]]\n```", "[[]]", "[[|x]]", "[a]()", "[a](obsidian://open?vault=x&file=Plan)",
    "[ [Plan] ]", "[[Pl\nan]]", "[a](//example.com/Plan.md)", "    [[Plan]]\n",
    "# A\n    [[Plan]]", "- a\n\n      [[Plan]]", "a\n-     [[Plan]]", "a\n>     [[Plan]]",
    "***\n\t[[Plan]]", "[a]: https://b.example\n    [[Plan]]", "<b>\n    [[Plan]]",
)  # fmt: skip


@cache
def vault() -> FileLookup:
    topics = ("Meeting", "Idea", "Review", "Book", "Recipe", "Trip", "Talk", "Paper")
    others = [
        f"Archive/{2000 + number % 25}/{topics[number % 8]} {number:05}.md"
        for number in range(10_000 - len(NAMED))
    ]
    return FileLookup([*NAMED, *others])


def destination(source: str, text: str) -> str | None:
    (link,) = links_of(text)
    return vault().find(link.page, source)


@pytest.mark.parametrize("form", FORMS)
def test_a_wikilink_leads_to_the_file_that_obsidian_opens(form: str) -> None:
    wrong = [
        (source, page, found)
        for source, page, path in PAGES
        if (found := destination(source, FORMS[form].format(page))) != path
    ]
    assert wrong == []


SLIPS = (
    *(
        "1a Frames.md",
        "1a2 Cold frames.md",
        "1b_Greenhouses.md",
        "1a2b10c Glass.md",
        "2.1a Soil.md",
    ),
    *("2.1a1 Loam.md", "202603171015 Pumps.md", "3d Printing.md", "2fa.x Codes.md", "2fa Setup.md"),
    *(
        "1on1 with Bob.md",
        "1st draft.md",
        "4x4 cars.md",
        "5g Networks.md",
        "5k run.md",
        "7a Alone.md",
    ),
)


@pytest.mark.parametrize(
    "page",
    ["1a", "1a2", "1B", "1a2b10c", "2.1a", "2.1a1", "202603171015"],
)
def test_a_number_leads_to_the_note_that_begins_with_it(page: str) -> None:
    found = FileLookup(SLIPS).find(page, "Home.md")
    assert found is not None
    assert found.lower().startswith((f"{page.lower()} ", f"{page.lower()}_"))


@pytest.mark.parametrize(
    "page", ["3d", "2fa", "1on1", "1st", "4x4", "5g", "5k", "7a", "1a1", "1", "2", "20260317"]
)
def test_a_word_that_begins_with_a_digit_leads_to_no_note(page: str) -> None:
    assert FileLookup(SLIPS).find(page, "Home.md") is None


def test_a_long_number_is_matched_in_time_that_grows_with_its_length() -> None:
    assert FileLookup([f"1a{'1a' * 100_000}.md"]).find("1a", "Home.md") is None


def test_markdown_links_are_relative_to_their_note_and_not_in_addresses_or_code() -> None:
    wrong = [case for case in MARKDOWN if destination(case[0], case[1]) != case[2]]
    assert wrong == []
    assert [text for text in NO_LINKS if list(links_of(text))] == []


@pytest.mark.parametrize(
    "text", ["- a\n    - [[Plan]]", "- a\n\t- b\n\t\t- [[Plan]]", "a\n      [[Plan]]"]
)
def test_a_link_in_a_nested_list_or_paragraph_is_not_in_code(text: str) -> None:
    assert len(list(links_of(text))) == 1


def test_a_link_shows_its_label_or_target_and_its_file_has_an_extension() -> None:
    text = "[[Plan]] [[Plan|the plan]] [[Plan#Costs]] [text](Plan.md) [[#Here]]"
    shown = [link.label for link in links_of(text)]
    assert shown == ["Plan", "the plan", "Plan > Costs", "text", "Here"]
    found = [text[link.start : link.end] for link in links_of(text)]
    assert " ".join(found) == text

    assert (file_name_of("Work/Plan"), file_name_of("PLAN.md")) == ("plan.md", "plan.md")
