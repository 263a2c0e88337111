import json
import time
import unicodedata
from typing import Any
from unittest import mock

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from kbx_tui.knowledge.decoding import BINARY
from kbx_tui.knowledge.entities import read_facts
from kbx_tui.knowledge.markdown import headings, outline
from kbx_tui.knowledge.reading import (
    MAX_PARSED,
    Frontmatter,
    UnreadableYaml,
    load_yaml,
    parse_document,
    read_frontmatter,
)
from kbx_tui.knowledge.records import Attendee, Problem
from kbx_tui.knowledge.redaction import PublicPage
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


def test_line_ends_marks_and_encodings_do_not_shift_or_hide_anything() -> None:
    document = parse_document("a.md", b"---\r\ntitle: T\r\n---\r\n# H\r\n\r\nText\r\n")
    assert (document.title, document.body, document.body_line) == ("T", "# H\n\nText\n", 4)

    assert parse_document("a.md", b"\xef\xbb\xbf---\ntitle: T\n---\n").title == "T"
    assert parse_document("a.md", "---\ntitle: Ü\n---\nText".encode("utf-16")).title == "Ü"

    document = parse_document("memory/notes/2026-03-17-empty.md", b"")
    assert (document.title, document.date, document.body) == ("empty", "2026-03-17", "")

    path = unicodedata.normalize("NFD", "memory/notes/café.md")
    assert parse_document(path, b"").path == "memory/notes/café.md"


def test_wikilinks_in_code_are_ignored() -> None:
    body = (
        "[[A]] `[[B]]` ``x ` [[C]]`` [[D\\|d]]\n\n```\n[[E]]\n```\n\n    [[F]]\n\n"
        "![[G.png]] [[#h]]\n"
    )
    assert page(body).links == ("A", "D", "G.png", "#h")


def test_entity_types_are_configurable() -> None:
    data = b"---\ntype: device\n---\n# Scope\n"
    assert parse_document("memory/x.md", data).id == "device:x"
    listed = parse_document("memory/x.md", data, entity_types=frozenset({"device"}))
    assert listed.id == "device:scope"


@pytest.mark.parametrize(
    "body",
    [
        "x" * 1_000_000, "word " * 200_000, "x" * 100_000 + "\n", "[[" * 50_000, "`" * 50_001,
        "` " * 50_000, ">" * 100_000, "> " * 50_000 + "x", "- " * 20_000 + "x", "\n" * 200_000,
        "".join(" " * n + "- x\n" for n in range(1_000)), "# x\n" * 20_000, "*" * 100_000,
        "[a](" * 30_000, "a\n---\n" * 20_000, "<div>\n" * 20_000, "~~" * 50_000, "[[a|" * 30_000,
        "| a " * 30_000, "\t" * 100_000 + "x", "# " + "#" * 100_000 + "x", "![" * 50_000,
    ],
    ids=lambda body: repr(body[:8]),
)  # fmt: skip
@pytest.mark.parametrize("path", ["memory/notes/a.md", PERSON], ids=["note", "entity"])
def test_extreme_bodies_are_parsed_within_seconds(path: str, body: str) -> None:
    started = time.process_time()
    assert page(body + " [[Link]]", path).body == body + " [[Link]]"
    assert time.process_time() - started < 5


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


def test_values_and_body_are_separated() -> None:
    front = read_frontmatter("---\ntitle: A\ntags: [x, y]\n---\nBody\n")
    assert front == Frontmatter({"title": "A", "tags": ["x", "y"]}, "Body\n", 5)


@pytest.mark.parametrize(
    "text",
    ["", "Body", "\n---\na: 1\n---\n", "--- \n", "----\na: 1\n---\n"],
    ids=["empty", "none", "not-on-top", "alone", "four-dashes"],
)
def test_without_frontmatter_the_whole_text_is_the_body(text: str) -> None:
    assert read_frontmatter(text) == Frontmatter({}, text, 1)


def test_frontmatter_without_an_end_is_a_fault_but_not_a_rule_or_an_empty_block() -> None:
    front = read_frontmatter("---\ntitle: A\n\nText\n")
    assert front.body == "---\ntitle: A\n\nText\n"
    assert (front.fault, front.fault_line) == ("frontmatter has no closing ---", 1)

    assert read_frontmatter("---\n\nText\n").fault == ""
    assert read_frontmatter("---\n\nText\n\n---\nMore\n").fault == ""

    assert read_frontmatter("---\n# nothing\n---\nText") == Frontmatter({}, "Text", 4)


@pytest.mark.parametrize("block", ["- a\n- b\n", "just words\n", "42\n"])
def test_block_that_is_not_a_mapping_stays_in_the_body(block: str) -> None:
    text = f"---\n{block}---\nText"
    front = read_frontmatter(text)
    assert (front.values, front.body, front.body_line) == ({}, text, 1)
    assert front.fault == "frontmatter is not a mapping of keys to values"


def test_dates_and_versions_are_text_and_numbers_booleans_and_null_keep_their_type() -> None:
    front = read_frontmatter(
        "---\nd: 2026-03-17\nbad: 2026-13-45\nt: 12:30\nv: 1.10\nn: no\nz: 007\ni: .inf\n---\n"
    )
    assert front.values == {
        "d": "2026-03-17", "bad": "2026-13-45", "t": "12:30", "v": "1.10", "n": "no",
        "z": "007", "i": ".inf",
    }  # fmt: skip

    front = read_frontmatter("---\na: 5\nb: 0.5\nc: true\nd:\ne: -3\nf: ~\n---\n")
    assert front.values == {"a": 5, "b": 0.5, "c": True, "d": None, "e": -3, "f": None}


def test_invalid_yaml_reports_its_line_and_keeps_valid_entries() -> None:
    front = read_frontmatter(
        "---\ntitle: Decision: use LanceDB\ndate: 2026-03-17\ntags: [a, b]\nbad: [x\n---\nBody"
    )
    assert front.fault.startswith("frontmatter is not valid YAML")
    assert front.fault_line == 2
    assert front.values == {
        "title": "Decision: use LanceDB", "date": "2026-03-17", "tags": ["a", "b"],
    }  # fmt: skip
    assert (front.body, front.body_line) == ("Body", 7)


@pytest.mark.parametrize(
    "block",
    ["a: &x [*x]\n", "? [1, 2]\n: v\n", "a: !!python/object:os.system x\n", "a: !thing {b: 1}\n",
     "a: !!binary zz==\n", "a: !!set {x, y}\n", "a: !!timestamp 2026-03-17\n", "a: !!int x\n",
     "a: !!float nan\n", "a: \"\\ud800\"\n", "a: b\x07\n", "\ta: b\n", "a: *nowhere\n", "<<: [1]\n",
     "a: !!int " + "9" * 5000 + "\n", "1: 2\nnull: 3\n[4]: 5\n", "a: !!null x\n", "a: !!bool x\n"],
)  # fmt: skip
def test_odd_yaml_is_read_as_json_values(block: str) -> None:
    front = read_frontmatter(f"---\n{block}---\nBody")
    json.dumps(front.values, allow_nan=False).encode()
    assert front.body == "Body"


def test_yaml_that_grows_is_bounded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    front = read_frontmatter("---\n" + "\n".join(lines) + "\n---\nBody")
    assert len(json.dumps(front.values)) < 1_000_000
    assert "repeats itself" in front.fault
    assert front.body == "Body"

    entries = "".join(f"k{n}: &a [*a, *a]\n" for n in range(100))
    front = read_frontmatter(f"---\ntitle: One\n{entries}bad: [\n---\nBody")
    assert front.values["title"] == "One"
    assert len(front.values) < 5  # the first that contains itself takes the number allowed

    with pytest.raises(UnreadableYaml, match=r"^frontmatter is nested too deep$"):
        load_yaml("a: " + "[" * 60 + "]" * 60)


@pytest.mark.parametrize("mark", ["[", "{a: ", "- ", "? "])
def test_extreme_nesting_does_not_crash_the_process(mark: str) -> None:
    front = read_frontmatter("---\n" + mark * 200_000 + "\n---\nBody")
    assert (front.values, front.body) == ({}, "Body")
    assert front.fault


def test_huge_frontmatter_is_skipped_or_read_from_its_first_lines() -> None:
    block = "".join(f"key{n}: value {n}\n" for n in range(200_000))
    started = time.process_time()
    front = read_frontmatter(f"---\n{block}---\nBody")
    assert time.process_time() - started < 5
    assert front.body == "Body"
    assert front.fault == "frontmatter is larger than 1 MiB"

    items = "".join(f"- é{n}\n" for n in range(60_000))
    front = read_frontmatter(f"---\ntitle: A page\ndate: 2025-06-04\ntags:\n{items}---\nBody")
    assert front.fault == "frontmatter has more than 50,000 values"
    assert (front.values["title"], front.values["date"]) == ("A page", "2025-06-04")
    assert front.values["tags"] == [f"é{n}" for n in range(len(front.values["tags"]))] != []
    assert front.body == "Body"


_YAML = st.text(
    st.sampled_from("ab1 \n\t-:[]{}#&*!|>'\"%@`,?~<.é\x00") | st.characters(), max_size=80
)


@given(_YAML)
def test_any_frontmatter_is_read_without_raising(block: str) -> None:
    front = read_frontmatter(f"---\n{block}\n---\nBody")
    json.dumps(front.values, allow_nan=False).encode()


def test_placeholder_of_a_template_is_text_beside_other_faults() -> None:
    front = read_frontmatter(
        "---\ntitle: {{title}}\ndate: {{date:YYYY}} at\ntags: [a]\n---\nText\n"
    )
    assert front.values == {"title": "{{title}}", "date": "{{date:YYYY}} at", "tags": ["a"]}
    assert (front.fault, front.body) == ("", "Text\n")

    front = read_frontmatter("---\ndate: {{date}}\ntags: [a\n---\nText\n")
    assert front.fault.startswith("frontmatter is not valid YAML")


@pytest.mark.parametrize("tags", ["[redacted, {0}]", "{0}, redacted", "\n- redacted\n- {0}"])
def test_a_tag_hides_a_page_whose_tags_cannot_be_read(tags: str) -> None:
    many = tags.format(", ".join(f"t{n}" for n in range(60_000)))
    for written in (many, tags.format("[a: {")):
        page = f"---\ntitle: A\ntags: {written}\n---\n# A\n"
        assert PublicPage("a.md", page.encode(), frozenset()).is_hidden
    kept = "---\ntags: [un-redacted, {\n---\n# A\n"
    assert not PublicPage("a.md", kept.encode(), frozenset()).is_hidden


def test_frontmatter_is_loaded_once_for_a_file_and_what_is_public_of_it() -> None:
    tags = "".join(f"- [[t{n}]]\n" for n in range(40))
    page = f"---\ntags:\n{tags}---\n# A\n\n## Recent Facts\n- Public\n- Secret [redacted]\n"
    loads: list[str] = []

    def counted(source: str, Loader: Any) -> Any:  # noqa: N803  # the name of PyYAML
        loads.append(source)
        return load(source, Loader)

    load = yaml.load
    with mock.patch("yaml.load", counted):
        public = PublicPage("memory/people/a.md", page.encode(), frozenset())
        assert public.is_marked
        assert not public.is_hidden
        assert [fact.text for fact in read_facts(public.document, "")] == ["Public"]
        assert public.redacted_lines
        assert len(public.document.tags) == 40
    assert len(loads) == 1


@pytest.mark.parametrize(
    "text",
    [
        '+++\ntitle = "Tea"\ntags = ["green"]\ndate = 2025-06-04\n[extra]\nyear = 1\n+++\nText\n',
        '---toml\ntitle = "Tea"\ntags = ["green"]\ndate = 2025-06-04T10:00:00Z\n---\nText\n',
        "+++\n# A draft\n\n'title' = 'Tea'\ntags = ['green']\ndate = '2025-06-04'\n+++\nText\n",
        '{\n  "title": "Tea",\n  "tags": ["green"],\n  "date": "2025-06-04"\n}\nText\n',
        ';;;\n{"title": "Tea", "tags": ["green"], "date": "2025-06-04"}\n;;;\nText\n',
        ';;;\n"title": "Tea",\n"tags": ["green"],\n"date": "2025-06-04"\n;;;\nText\n',
        '---json\n{"title": "Tea", "tags": ["green"], "date": "2025-06-04"}\n---\nText\n',
        "---yaml\ntitle: Tea\ntags: [green]\ndate: 2025-06-04\n---\nText\n",
    ],
    ids=[
        "toml",
        "named-toml",
        "commented-toml",
        "json",
        "fenced-json",
        "bare-json",
        "named-json",
        "named-yaml",
    ],
)
def test_frontmatter_may_be_toml_or_json(text: str) -> None:
    document = page(text)
    assert (document.title, document.tags, document.date) == ("Tea", ("green",), "2025-06-04")
    assert (document.body, document.problems) == ("Text\n", ())
    assert text.split("\n")[document.body_line - 1] == "Text"


@pytest.mark.parametrize(
    ("text", "fault", "body"),
    [
        ("+++\ntitle = Tea\n+++\nText\n", "frontmatter is not valid TOML", "Text\n"),
        ("+++\ntitle = 'Tea'\nText\n", "frontmatter has no closing +++", None),
        (';;;\n{"title": }\n;;;\nText\n', "frontmatter is not valid JSON", "Text\n"),
        ('---json\n{"a": ' + "[" * 3000 + "\n---\nText\n", "frontmatter is not valid", "Text\n"),
        ('{"title": "Tea",,}\n\nText\n', "frontmatter is not valid JSON", None),
        ('{\n  "title": Tea\n}\n\nText\n', "frontmatter is not valid JSON", None),
        ("---lua\ntitle = 'Tea'\n---\nText\n", "frontmatter of the kind lua is not read", "Text\n"),
        ("---xml\n<title>Tea</title>\n---\n", "frontmatter of the kind xml is not read", None),
    ],
)
def test_frontmatter_that_is_not_read_is_a_problem(text: str, fault: str, body: str | None) -> None:
    document = page(text)
    (problem,) = document.problems
    assert problem.reason.startswith(fault)
    assert document.body == (text if body is None else body)


@pytest.mark.parametrize(
    "text",
    [
        "+++\nText\n+++\n",
        "{% include 'x' %}\n",
        '{"open": 1',
        '{"a": 1} text\n',
        "---word\n\n---\n",
    ],
)
def test_text_that_only_begins_like_frontmatter_is_text(text: str) -> None:
    document = page(text)
    assert (document.body, document.frontmatter, document.problems) == (text, {}, ())


@pytest.mark.parametrize("text", ["+++\n# x\nredacted = true\n+++\nx\n", '{"redacted": true}\nx\n'])
def test_other_frontmatter_redacts_a_page(text: str) -> None:
    assert PublicPage("memory/people/a.md", text.encode(), frozenset()).is_hidden


@pytest.mark.parametrize(
    ("body", "links"),
    [
        ("[tea][t] ![pot][] [Cup] [x]\n\n[T]: ./tea.md 'Tea'\n[pot]: <a pot.png>\n"
         "[cup]: cup.md#k\n",
         ("./tea.md", "./a pot.png", "./cup.md#k")),
        ("[tea][t] `[tea][t]` \\[tea][t]\n\n[t]: https://example.com\n", ()),
        ("[a]: ./a.md\n\n- [ ] [a](./b.md) [a]: [^a]\n\n[^a]: [[C]]\n", ("./b.md", "C")),
        ("[[A]] then [b], [[C]]\n\n[b]: B.md\n", ("A", "./B.md", "C")),
        ("[a](x.png?raw=true) [b](y%3F.md)\n", ("./x.png", "./y?.md")),
    ],
)  # fmt: skip
def test_reference_links_are_links(body: str, links: tuple[str, ...]) -> None:
    assert page(body).links == links


@pytest.mark.parametrize(
    ("body", "links"),
    [
        ("[[{{title}}]] {{ [[A]] }} [[B]]\n", ("B",)),
        ("[a]({{ url }}/x) [b]({% post_url y %}) [[B]]\n", ("B",)),
        ("<% [[A]] %> <%* [[<% x %>]] %> [[B]]\n", ("B",)),
        ("%% [[A]]\n\n[[A]] %% [[B]] 5 %% [[C]]\n", ("B", "C")),
        ("<!-- [[A]] --> [[B]]\n", ("B",)),
        ("$$\n[[1, 2], [[3]]]\n$$\n[[B]] $a[[1]](c)$\n", ("B",)),
        ("costs $5 and [[A]] costs $6, US$ [[B]] $\n", ("A", "B")),
        ("`%%` [[A]] `%%` `<!--` [[B]] `$$` [[C]] `$$`\n", ("A", "B", "C")),
        ("{{ open [[A]] <% [[B]]\n", ("A", "B")),
    ],
)
def test_comments_templates_and_mathematics_hold_no_links(
    body: str, links: tuple[str, ...]
) -> None:
    assert page(body).links == links


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Tea &amp; cake\n", "Tea & cake"),
        ("Caf&eacute; &#8211; tea\n===\n", "Café – tea"),
        ("# The [law][1] of tea\n", "The law of tea"),
        ("# R&D; a &nothing; more\n", "R&D; a &nothing; more"),
    ],
)
def test_entities_and_reference_links_in_headings_are_read(text: str, title: str) -> None:
    assert page(text).title == title


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Attendees: Ines Roth, Bo Chan", ["Ines Roth", "Bo Chan"]),
        ("- **Participants:** Ines Roth and Bo", ["Ines Roth", "Bo"]),
        ("Teilnehmer: Jürg Steiner; Ines Roth", ["Jürg Steiner", "Ines Roth"]),
        ("出席者：田中 洋子", ["田中 洋子"]),
        ("Present: Ines, Bo", ["Ines", "Bo"]),
        ("Present: Vase", []),
        ("Participants: none so far, but we hope", []),
        ("Attendees: [[Ines Roth]]", []),
        (
            "Invited [Ines Roth](mailto:i@a.example) [Bo Chan](mailto:b@a.example)",
            ["Ines Roth", "Bo Chan"],
        ),
        ("**Attendees:** [Ines Roth](mailto:i@a.example), Bo Chan", ["Ines Roth", "Bo Chan"]),
        ("참석자: Ines Roth, Bo Chan", ["Ines Roth", "Bo Chan"]),
        ("Invited [Ines Roth](ines.md) to speak", []),
        ("Invited: Ines Roth, Ann Ek\nPresent: Ines Roth, Bo Chan", ["Ines Roth", "Bo Chan"]),
        ("Invited: Ines Roth, Ann Ek\nCalled: Bo Chan", ["Ines Roth", "Ann Ek"]),
        ("Present: Ines Roth, Bo Chan. Apologies: Carl Ek", ["Ines Roth", "Bo Chan"]),
        ("Present: Ines Roth, Bo; Apologies: Carl Ek", ["Ines Roth", "Bo"]),
        (
            "Attendees: Prof. Ines Roth, J. R. Chan Jr. and Bo. We met late, Carl.",
            ["Prof. Ines Roth", "J. R. Chan Jr.", "Bo"],
        ),
        (
            "Attendees: Ines Roth, me, Ann van Dyk, van Dyk, Bo and others",
            ["Ines Roth", "Ann van Dyk", "Bo"],
        ),
        ("```\nAttendees: Ines Roth, Bo Chan\n```", []),
        ("<!--\nAttendees: Ines Roth, Bo Chan\n-->", []),
        (12 * "\n" + "Attendees: Ines Roth", []),
    ],
)
def test_line_at_the_top_names_attendees(line: str, names: list[str]) -> None:
    document = parse_document("a.md", f"# Meeting\n\n{line}\n\nWe met.\n".encode())
    assert [attendee.name for attendee in document.attendees] == names
