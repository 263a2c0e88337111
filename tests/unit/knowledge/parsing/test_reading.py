import json
import time
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kbx_tui.knowledge.decoding import BINARY
from kbx_tui.knowledge.markdown import headings, outline
from kbx_tui.knowledge.reading import MAX_PARSED, parse_document
from kbx_tui.knowledge.records import Attendee, Problem
from tests.unit.knowledge.building import MEETING, PERSON, markdown_bodies, page


def test_meeting_has_all_fields_of_its_file() -> None:
    text = (
        "---\ntitle: Helix sync\ndate: '2026-03-17'\ntype: notes\ntags: [infra]\n"
        "attendees:\n- {name: Maria Novak, email: maria@example.com}\nproject: '[[Helix]]'\n---\n"
        "# Helix\n\nSee [[Kickoff#agenda|that]] and [[Kickoff]].\n"
    )
    document = page(text, MEETING)
    assert (document.id, document.title, document.date) == (
        "meeting:meetings/2026/03/17/sync",
        "Helix sync",
        "2026-03-17",
    )
    assert (document.kind, document.subtype, document.tags) == ("meeting", "notes", ("infra",))
    assert document.attendees == (Attendee("Maria Novak", "maria@example.com"),)
    assert document.references == ("Helix",)
    assert document.links == ("Kickoff#agenda", "Kickoff")
    assert document.body_line == 10
    assert text.split("\n")[document.body_line - 1] == document.body.split("\n")[0] == "# Helix"
    assert document.size == len(text.encode())
    assert document.problems == ()


@pytest.mark.parametrize(
    ("text", "path", "title"),
    [
        ("---\ntitle: T\n---\n# H\n", "memory/notes/a.md", "T"),
        ("---\ntitle: 2026\n---\n", "memory/notes/a.md", "2026"),
        ("---\ntitle: [a]\n---\n## Sub\n\n# Head *one* #\n", "memory/notes/a.md", "Head one"),
        ("## Only sub\n", "memory/notes/a.md", "Only sub"),
        ("Text.\n\n## See also\n", "memory/notes/Index cards.md", "Index cards"),
        ("Up: [[Home]]\n## Why\n", "memory/notes/2026-03-17-index-cards.md", "index cards"),
        ("<img src='a.png'>\n\n[![b](b.svg)]\n\n## Ferry\n", "memory/README.md", "Ferry"),
        ("```\n# code\n```\ntext\n", "memory/notes/2026-03-17-use-it.md", "use it"),
        ("#\n", "memory/notes/My Notes.md", "My Notes"),
        ("# ![](logo.png)\n## Sub\n", "memory/notes/a.md", "Sub"),
        ("---\ntitle: T\nname: N\n---\n# Maria **Novak**\n", PERSON, "Maria Novak"),
        ("---\ntitle: T\nname: N\n---\n## Recent Facts\n", PERSON, "N"),
        ("---\ntitle: T\n---\n", PERSON, "T"),
        ("", PERSON, "Maria Novak"),
    ],
    ids=[
        "frontmatter", "number", "first-top-heading", "any-heading", "text-above", "link-above",
        "logo-above", "heading-in-code", "stem",
        "heading-without-text",
        "entity-heading", "entity-name", "entity-title", "entity-stem",
    ],
)  # fmt: skip
def test_title_comes_from_frontmatter_heading_or_file_name(
    text: str, path: str, title: str
) -> None:
    assert page(text, path).title == title


def test_invalid_yaml_keeps_the_body_and_reports_the_line() -> None:
    document = page("---\ntags: [a\n---\n# Heading\n\nText\n")
    assert document.title == "Heading"
    assert document.body == "# Heading\n\nText\n"
    (problem,) = document.problems
    assert problem.path == "memory/notes/page.md"
    assert problem.line in (2, 3) and not problem.skipped
    assert "YAML" in problem.reason


def test_binary_file_has_an_empty_body_and_a_skipped_problem() -> None:
    document = parse_document("memory/a.md", b"\x00\x01\x02\x03" * 100)
    assert document.body == ""
    assert document.problems == (Problem("memory/a.md", BINARY, skipped=True),)


def test_crlf_line_ends_do_not_shift_lines() -> None:
    document = parse_document("a.md", b"---\r\ntitle: T\r\n---\r\n# H\r\n\r\nText\r\n")
    assert (document.title, document.body, document.body_line) == ("T", "# H\n\nText\n", 4)


def test_frontmatter_is_read_after_a_byte_order_mark() -> None:
    assert parse_document("a.md", b"\xef\xbb\xbf---\ntitle: T\n---\n").title == "T"


def test_utf16_file_is_read() -> None:
    assert parse_document("a.md", "---\ntitle: Ü\n---\nText".encode("utf-16")).title == "Ü"


def test_empty_file_is_a_document() -> None:
    document = parse_document("memory/notes/2026-03-17-empty.md", b"")
    assert (document.title, document.date, document.body) == ("empty", "2026-03-17", "")


def test_wikilinks_in_code_are_ignored() -> None:
    body = (
        "[[A]] `[[B]]` ``x ` [[C]]`` [[D\\|d]]\n\n```\n[[E]]\n```\n\n    [[F]]\n\n"
        "![[G.png]] [[#h]]\n"
    )
    assert page(body).links == ("A", "D", "G.png", "#h")


def test_path_is_normalized_to_nfc() -> None:
    path = unicodedata.normalize("NFD", "memory/notes/café.md")
    assert parse_document(path, b"").path == "memory/notes/café.md"


def test_entity_types_are_configurable() -> None:
    data = b"---\ntype: device\n---\n# Scope\n"
    assert parse_document("memory/x.md", data).id == "device:x"
    listed = parse_document("memory/x.md", data, entity_types=frozenset({"device"}))
    assert listed.id == "device:scope"


@pytest.mark.parametrize(
    "body",
    [
        "x" * 5_000_000, "word " * 1_000_000, "x" * 100_000 + "\n", "[[" * 50_000, "`" * 50_001,
        "` " * 50_000, ">" * 100_000, "> " * 50_000 + "x", "- " * 20_000 + "x", "\n" * 1_000_000,
        "".join(" " * n + "- x\n" for n in range(1_000)), "# x\n" * 100_000, "*" * 100_000,
        "[a](" * 30_000, "a\n---\n" * 50_000, "<div>\n" * 100_000, "~~" * 50_000, "[[a|" * 30_000,
        "| a " * 30_000, "\t" * 100_000 + "x", "# " + "#" * 100_000 + "x", "![" * 50_000,
    ],
    ids=lambda body: repr(body[:8]),
)  # fmt: skip
@pytest.mark.parametrize("path", ["memory/notes/a.md", PERSON], ids=["note", "entity"])
def test_extreme_bodies_are_parsed_within_seconds(path: str, body: str) -> None:
    started = time.process_time()
    assert page(body + " [[Link]]", path).body == body + " [[Link]]"
    assert time.process_time() - started < 10


@given(st.binary(max_size=300))
def test_any_bytes_make_a_document(data: bytes) -> None:
    document = parse_document("memory/people/a.md", data)
    json.dumps(dict(document.frontmatter), allow_nan=False).encode()
    document.title.encode()
    document.body.encode()
    assert document.title and document.id


@given(st.text(max_size=60), markdown_bodies, st.sampled_from([PERSON, MEETING, "a.md"]))
def test_any_text_makes_a_document_with_a_title(front: str, body: str, path: str) -> None:
    document = parse_document(path, f"---\n{front}\n---\n{body}".encode(errors="replace"))
    json.dumps(dict(document.frontmatter), allow_nan=False).encode()
    assert document.title


@given(markdown_bodies)
def test_body_line_is_where_the_body_starts(body: str) -> None:
    text = f"---\ntitle: T\nlist:\n- a\n---\n{body}"
    document = page(text)
    assume(not any(problem.skipped for problem in document.problems))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd").split("\n")
    assert "\n".join(lines[document.body_line - 1 :]) == document.body


def test_long_file_is_cut_at_a_line_and_says_so() -> None:
    line = "a line of text " * 20 + "\n"  # fewer lines than are read as markdown
    text = line * (MAX_PARSED // len(line) + 2)
    document = parse_document("memory/notes/long.md", text.encode())
    assert MAX_PARSED - len(line) < len(document.body) <= MAX_PARSED
    assert document.body.endswith(line)
    assert [problem.reason for problem in document.problems] == [
        "is too long: only its first 25,000,000 characters count"
    ]
    one_line = parse_document("memory/notes/line.md", b"x" * (MAX_PARSED + 9))
    assert len(one_line.body) == MAX_PARSED
    assert one_line.problems


@pytest.fixture
def few_lines(monkeypatch: pytest.MonkeyPatch) -> int:
    """Lower the limit of lines and return it: reading as many as in earnest takes seconds."""
    limit = 1_000
    for module in ("reading", "markdown"):
        monkeypatch.setattr(f"kbx_tui.knowledge.{module}.MAX_LINES", limit)
    return limit


def test_lines_after_the_limit_are_text_without_structure(few_lines: int) -> None:
    text = "# Top\n" + "- a\n" * (few_lines + 5) + "# Below\n"
    document = parse_document("memory/notes/a.md", text.encode())
    assert document.body == text
    assert [heading.text for heading in headings(document.body)] == ["Top"]
    assert len(outline(document.body).items) == few_lines - 1
    assert [(problem.line, problem.skipped) for problem in document.problems] == [
        (few_lines + 1, False)
    ]
    assert document.problems[0].reason.startswith("has more than 1,000 lines")


def test_page_of_exactly_the_limit_is_read_whole(few_lines: int) -> None:
    document = parse_document("memory/notes/a.md", b"- a\n" * (few_lines - 1) + b"# Last")
    assert document.problems == ()
    assert outline(document.body).headings[-1].text == "Last"
