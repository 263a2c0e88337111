import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.facts.fact_line import FactLine, read_confidence, read_fact_line
from kbx_tui.knowledge.facts.fact_sections import fact_id, read_facts
from kbx_tui.knowledge.records import Fact
from tests.unit.knowledge.building import PERSON, markdown_bodies, page

WHO = "person:maria-novak"


def facts(body: str) -> tuple[Fact, ...]:
    return read_facts(page(body, PERSON), WHO)


def texts(body: str) -> list[str]:
    return [fact.text for fact in facts(body)]


def test_a_kbx_fact_is_read_whole() -> None:
    (fact,) = facts(
        "---\nrole: x\n---\n# Maria Novak\n\n## Recent Facts\n- [2026-11-20] Speaks Catalan\n"
    )
    assert fact == Fact(
        fact_id=fact_id(WHO, "Speaks Catalan"),
        entity_id=WHO,
        kind="fact",
        text="Speaks Catalan",
        date="2026-11-20",
        path=PERSON,
        line=7,
        status="active",
        done=False,
        sources=(PERSON,),
        confidence=0.7,
    )  # fmt: skip


def test_items_outside_the_sections_are_no_facts() -> None:
    body = (
        "# Facts about Maria\n- no\n\n## Recent Facts\n- one\n\n### Older\n* two\n"
        "\n## Notes\n- no\n\n## Facts:\n1. three\n\n# Else\n- no\n\n## OPEN ITEMS\n+ four\n"
        "\n## Facts and figures\n- no\n"
    )
    assert [(fact.kind, fact.text) for fact in facts(body)] == [
        ("fact", "one"),
        ("fact", "two"),
        ("fact", "three"),
        ("open_item", "four"),
    ]


def test_a_dated_open_item_is_no_fact() -> None:
    body = (
        "## Recent Facts\n- [2026-01-01] a\n\n## Open Items\n- [2026-05-25] send (from: Kickoff)\n"
    )
    (first, second) = facts(body)
    assert (first.kind, first.date) == ("fact", "2026-01-01")
    assert (second.kind, second.text, second.date) == ("open_item", "send", "2026-05-25")
    assert second.sources == ("Kickoff",)


def test_a_section_inside_a_fact_section_keeps_its_kind() -> None:
    assert [fact.kind for fact in facts("## Facts\n- a\n### Open Items\n- b\n")] == ["fact", "fact"]


@pytest.mark.parametrize("fence", ["```\n{}\n```\n", "<!--\n{}\n-->\n", "> {}\n"])
def test_sections_and_items_in_code_comments_and_quotes_are_none(fence: str) -> None:
    assert texts(fence.format("## Facts")) == []
    assert texts("## Facts\n\n" + fence.format("- a")) == []


@pytest.mark.parametrize(
    ("mark", "done"), [("[ ]", False), ("[x]", True), ("[X]", True), ("[2026-01-01]", False)]
)
def test_check_boxes_tell_what_is_done(mark: str, done: bool) -> None:
    (item,) = facts(f"## Open Items\n- {mark} call Ana\n")
    assert (item.text, item.done) == ("call Ana", done)


def test_nested_notes_belong_to_their_fact_and_nested_facts_do_not() -> None:
    body = (
        "## Facts\n- [2026-01-01] Moved to Ghent\n  - source: [[Kickoff]]; confidence: 90%\n"
        "  - [[Review]]\n  - with two cats\n- Left\n  Acme\n  in May\n\n  More words.\n"
    )
    moved, cats, left = facts(body)
    assert (moved.text, moved.sources, moved.confidence) == (
        "Moved to Ghent",
        ("Kickoff", "Review"),
        0.9,
    )
    assert (cats.text, cats.line) == ("with two cats", 5)
    assert left.text == "Left Acme in May"


def test_what_hangs_on_a_struck_fact_is_superseded_too() -> None:
    statuses = [fact.status for fact in facts("## Facts\n- ~~Old~~\n  - detail\n- New\n")]
    assert statuses == ["superseded", "superseded", "active"]


def test_the_page_may_give_status_and_confidence_to_all() -> None:
    body = (
        "---\nstatus: Archived\nconfidence: 0.4\n---\n"
        "## Facts\n- a\n- b (status: active; confidence: 1)\n"
    )
    assert [(fact.status, fact.confidence) for fact in facts(body)] == [
        ("archived", 0.4),
        ("active", 1.0),
    ]
    assert facts("---\nstatus: On hold\n---\n## Facts\n- a\n")[0].status == "active"


@pytest.mark.parametrize(
    "body",
    [
        "---\nstatus: redacted\n---\n# Maria\n\n## Facts\n{}",
        "# Maria #redacted\n\n## Facts\n{}",
        "# Maria\n\n## Past #redacted\n\n### Facts\n{}",
    ],
    ids=["page", "title", "section"],
)
@pytest.mark.parametrize(
    ("line", "status"),
    [("x", "redacted"), ("x (status: active)", "redacted"), ("~~x~~", "superseded")],
    ids=["plain", "said to be active", "struck"],
)
def test_what_stands_below_a_mark_is_redacted(body: str, line: str, status: str) -> None:
    """A line does not lift the mark above it; what holds no more is told as such."""
    (fact,) = facts(body.format(f"- {line}\n"))
    assert fact.status == status


def test_a_section_beside_a_marked_one_is_open() -> None:
    body = "# Maria\n\n## Past (redacted)\n\n### Facts\n- x\n\n## Recent Facts\n- y\n"
    assert [one.status for one in facts(body)] == ["redacted", "active"]


def test_empty_items_are_no_facts() -> None:
    assert texts("## Facts\n- \n- [ ]\n- —\n-\n- ok\n") == ["ok"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Speaks Catalan", FactLine("Speaks Catalan")),
        ("**Owner:** Bob", FactLine("Owner: Bob")),
        ("2026-01-02: did it", FactLine("did it", "2026-01-02")),
        ("(2026-01-02) did it", FactLine("did it", "2026-01-02")),
        ("[2026-02-30] no day", FactLine("[2026-02-30] no day")),
        ("2026-01-02 is a date", FactLine("2026-01-02 is a date")),
        ("[x] [2026-01-02] done", FactLine("done", "2026-01-02", done=True)),
        ("~~[2026-01-02] gone~~", FactLine("gone", "2026-01-02", "superseded")),
        ("[2026-01-02] ~~gone~~", FactLine("gone", "2026-01-02", "superseded")),
        ("in ~~Paris~~ Rome", FactLine("in Rome")),
        ("old #archived", FactLine("old", status="archived")),
        ("[redacted] x", FactLine("x", status="redacted")),
        ("pay is [redacted]", FactLine("pay is [redacted]")),
        ("x (superseded)", FactLine("x", status="superseded")),
        ("x status: redacted", FactLine("x", status="redacted")),
        ("status: green", FactLine("status: green")),
        ("x (status: green)", FactLine("x (status: green)")),
        ("uses [[Helix|it]]", FactLine("uses it", sources=("Helix",))),
        ("see [lab](../x.md)", FactLine("see lab", sources=("../x.md",))),
        ("see https://a.b/c.", FactLine("see https://a.b/c.", sources=("https://a.b/c",))),
        ("x (from: Kickoff, the first)", FactLine("x", sources=("Kickoff, the first",))),
        ("x (source: a.md, b.md)", FactLine("x", sources=("a.md", "b.md"))),
        ("x (sources: One; Two)", FactLine("x", sources=("One", "Two"))),
        ("x [source: [[A]] and [[B]]]", FactLine("x", sources=("A", "B"))),
        ("x. Source: [[A]]", FactLine("x.", sources=("A",))),
        ("x — from: A", FactLine("x", sources=("A",))),
        ("data source: Postgres", FactLine("data source: Postgres")),
        ("x (confidence: high)", FactLine("x", confidence=0.9)),
        ("x confidence: 0.45.", FactLine("x", confidence=0.45)),
        ("[[A]]", FactLine("A", sources=("A",), is_note=True)),
        ("from: A", FactLine("", sources=("A",), is_note=True)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_line_is_taken_apart(line: str, expected: FactLine) -> None:
    assert read_fact_line(line) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.9", 0.9), ("90%", 0.9), ("90", 0.9), ("1", 1.0), ("0", 0.0), ("nan", None), ("-1", None),
     ("500", None), ("inf", None), ("Low", 0.4), ("", None)],
)  # fmt: skip
def test_confidences_stay_within_zero_and_one(text: str, expected: float | None) -> None:
    assert read_confidence(text) == expected


def test_ids_survive_edits_of_other_lines_and_of_what_is_not_text() -> None:
    before = facts("## Facts\n- one\n- two\n- One\n")
    after = facts("# T\n\n## Facts\n- new\n- [2026-01-01] two (from: X)\n- One\n- one #archived\n")
    assert [fact.fact_id for fact in before] == [after[n].fact_id for n in (2, 1, 3)]
    assert len({fact.fact_id for fact in after}) == 4


@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_ids_have_53_bits(entity: str, text: str, apart: list[str]) -> None:
    assert 0 < fact_id(entity, text, *apart) < 2**53


LINES = st.sampled_from(
    ["x", "X", "x (source: a)", "[2026-01-01] x", "[2026-01-02] x", "~~x~~", "x #archived", "y"]
)


@given(st.lists(LINES, min_size=1, max_size=6), st.data())
def test_the_id_of_a_line_taken_out_is_that_of_no_other(
    lines: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(lines) - 1))
    before = facts("## Facts\n" + "".join(f"- {line}\n" for line in lines))
    left = facts("## Facts\n" + "".join(f"- {one}\n" for one in lines[:at] + lines[at + 1 :]))
    assert len({one.fact_id for one in before}) == len(lines)
    assert before[at].fact_id not in {one.fact_id for one in left}
    others = {one.fact_id: one for one in before}
    for one in left:  # an id that was there already is that of the same line
        was = others.get(one.fact_id, one)
        assert (was.text.lower(), was.date, was.sources) == (
            one.text.lower(), one.date, one.sources,
        )  # fmt: skip


def test_of_three_facts_with_one_text_the_others_keep_their_ids() -> None:
    lines = "- [2026-01-01] x\n", "- [2026-01-02] x\n", "- x (source: a)\n"
    before = facts("## Facts\n" + "".join(lines))
    after = facts("## Facts\n" + "".join(lines[1:]))
    assert [one.fact_id for one in before[1:]] == [one.fact_id for one in after]


def test_the_only_fact_with_a_text_is_known_by_it_alone() -> None:
    dated, plain = facts("## Facts\n- [2026-01-01] x (source: a)\n"), facts("## Facts\n- x\n")
    assert dated[0].fact_id == plain[0].fact_id == fact_id(WHO, "x")


@given(st.text())
def test_any_line_is_read(line: str) -> None:
    entry = read_fact_line(line)
    assert entry.confidence is None or 0 <= entry.confidence <= 1


@pytest.mark.parametrize(
    "line",
    ["(from: " * 20_000, "~~a " * 30_000, "[[" * 50_000, "x" * 100_000, "[a](" * 30_000,
     "source: " * 20_000, "`" * 99_999, " " * 99_999],
    ids=lambda line: repr(line[:6]),
)  # fmt: skip
def test_extreme_lines_are_read(line: str) -> None:
    read_fact_line("x" + line)


@given(markdown_bodies)
def test_facts_stand_in_list_items_below_a_heading_of_facts(body: str) -> None:
    document = page(body, PERSON)
    lines = document.body.split("\n")
    for fact in read_facts(document, WHO):
        at = fact.line - document.body_line
        assert lines[at].lstrip()[0] in "-*+0123456789"
        assert any("Recent Facts" in line or "Open Items" in line for line in lines[:at])
