import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.entities import read_facts
from kbx_tui.knowledge.facts import fact_id, facts_as_said
from kbx_tui.knowledge.markdown import _outline, headings
from kbx_tui.knowledge.records import Fact
from tests.unit.knowledge.building import PERSON, markdown_bodies, page

OWNER = "person:maria-novak"


def facts(body: str) -> tuple[Fact, ...]:
    return read_facts(page(body, PERSON), OWNER)


def texts(body: str) -> list[str]:
    return [fact.text for fact in facts(body)]


def test_fact_has_all_fields_of_its_line() -> None:
    (fact,) = facts(
        "---\nrole: x\n---\n# Maria Novak\n\n## Recent Facts\n- [2026-11-20] Speaks Catalan\n"
    )
    assert fact == Fact(
        fact_id=fact_id(OWNER, "Speaks Catalan"),
        entity_id=OWNER,
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


def test_only_list_items_at_the_top_and_in_fact_sections_are_facts() -> None:
    body = (
        "# Facts about Maria\n- top\n\n## Recent Facts\n- one\n\n### Older\n* two\n"
        "\n## Notes\n- no\n\n## Facts:\n1. three\n\n# Else\n- no\n\n## OPEN ITEMS\n+ four\n"
        "\n## Facts and figures\n- no\n"
    )
    assert [(fact.kind, fact.text) for fact in facts(body)] == [
        ("fact", "top"),
        ("fact", "one"),
        ("fact", "two"),
        ("fact", "three"),
        ("open_item", "four"),
    ]


def test_top_of_a_page_holds_facts_and_tasks_but_no_links_to_other_pages() -> None:
    body = (
        "Bakes at night.\n\n- Speaks Czech\n  - source: [[Kitchen]]\n- [[Mill]]\n- [ ] call Ines\n"
        "- [x] pay the mill\n\n## Talks\n- no\n"
    )
    assert [(fact.kind, fact.text, fact.done, fact.sources) for fact in facts(body)] == [
        ("fact", "Speaks Czech", False, ("Kitchen",)),
        ("open_item", "call Ines", False, (PERSON,)),
        ("open_item", "pay the mill", True, (PERSON,)),
    ]
    assert texts("## Talks\n- no\n") == texts("# Maria\n## Talks\n- no\n") == []
    assert texts("- yes\n\n# Talks\n- no\n") == ["yes"]
    assert texts("# Maria\n# Talks\n- no\n") == []
    assert texts("```\n- no\n```\n# Maria\n- yes\n## Talks\n") == ["yes"]
    assert texts("# Maria\n\n# Facts\n- once\n") == texts("# Facts\n- once\n") == ["once"]


def test_a_page_whose_items_are_all_in_other_sections_is_not_parsed() -> None:
    before = _outline.cache_info().misses
    assert texts("# Maria\n\nBakes.\n\n## Talks\n- no\n") == []
    assert _outline.cache_info().misses == before


def test_items_have_the_kind_of_their_outer_section_also_with_a_date() -> None:
    body = (
        "## Recent Facts\n- [2026-01-01] a\n\n## Open Items\n- [2026-05-25] send (from: Kickoff)\n"
    )
    (first, second) = facts(body)
    assert (first.kind, first.date) == ("fact", "2026-01-01")
    assert (second.kind, second.text, second.date) == ("open_item", "send", "2026-05-25")
    assert second.sources == ("Kickoff",)

    assert [fact.kind for fact in facts("## Facts\n- a\n### Open Items\n- b\n")] == ["fact", "fact"]


@pytest.mark.parametrize("fence", ["```\n{}\n```\n", "<!--\n{}\n-->\n", "> {}\n"])
def test_sections_and_items_in_code_comments_and_quotes_are_ignored(fence: str) -> None:
    assert texts(fence.format("## Facts")) == []
    assert texts("## Facts\n\n" + fence.format("- a")) == []


@pytest.mark.parametrize(
    ("mark", "done"), [("[ ]", False), ("[x]", True), ("[X]", True), ("[2026-01-01]", False)]
)
def test_ticked_check_box_marks_an_item_as_done(mark: str, done: bool) -> None:
    (item,) = facts(f"## Open Items\n- {mark} call Ana\n")
    assert (item.text, item.done) == ("call Ana", done)


def test_nested_note_belongs_to_its_fact_but_nested_fact_is_separate() -> None:
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


def test_items_below_a_struck_or_redacted_one_share_its_status_and_empty_ones_count_not() -> None:
    statuses = [fact.status for fact in facts("## Facts\n- ~~Old~~\n  - detail\n- New\n")]
    assert statuses == ["superseded", "superseded", "active"]

    body = "# Maria\n\n## Past (redacted)\n\n### Facts\n- x\n\n## Recent Facts\n- y\n"
    assert [fact.status for fact in facts(body)] == ["redacted", "active"]

    assert texts("## Facts\n- \n- [ ]\n- —\n-\n- ok\n") == ["ok"]


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ("- [2026-01-02] Sails (from: Sync)", "- Sails"),
        ("- [ ] (2026-01-02): ask Ada (source: [[Sync]], confidence: high)", "- [ ] ask Ada"),
        ("- Leads Sales (status: superseded)\n  - since spring", ""),
        ("- [2026-01-02] ~~Rows~~ (superseded: 2026-02-03)", ""),
        ("- Rows\n  - (status: archived)", ""),
        ("- [2026-01-02] Hides it (status: redacted)", "- Hides it (status: redacted)"),
        ("- Meets at 2026-01-02 [here](../a.md)", "- Meets at 2026-01-02 [here](../a.md)"),
    ],
)
def test_facts_say_only_what_holds_without_dates_and_notes(item: str, said: str) -> None:
    body = f"# Ada\n\n## Facts\n{item}\n- [x] Swims\n\n(from: Sync)\n"
    shown = facts_as_said(body)
    assert [len(line) for line in shown.split("\n")] == [len(line) for line in body.split("\n")]
    assert shown.split() == f"# Ada ## Facts {said} - [x] Swims (from: Sync)".split()


def test_frontmatter_sets_default_status_and_confidence() -> None:
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
    ids=["plain", "declared-active", "struck"],
)
def test_facts_on_a_redacted_page_or_section_are_redacted(
    body: str, line: str, status: str
) -> None:
    """A line cannot lift the redaction above it, but a superseded fact stays superseded."""
    (fact,) = facts(body.format(f"- {line}\n"))
    assert fact.status == status


def test_ids_survive_edits_of_other_lines_and_of_metadata() -> None:
    before = facts("## Facts\n- one\n- two\n- One\n")
    after = facts("# T\n\n## Facts\n- new\n- [2026-01-01] two (from: X)\n- One\n- one #archived\n")
    assert [fact.fact_id for fact in before] == [after[n].fact_id for n in (2, 1, 3)]
    assert len({fact.fact_id for fact in after}) == 4

    lines = "- [2026-01-01] x\n", "- [2026-01-02] x\n", "- x (source: a)\n"
    before = facts("## Facts\n" + "".join(lines))
    after = facts("## Facts\n" + "".join(lines[1:]))
    assert [fact.fact_id for fact in before[1:]] == [fact.fact_id for fact in after]

    dated, plain = facts("## Facts\n- [2026-01-01] x (source: a)\n"), facts("## Facts\n- x\n")
    assert dated[0].fact_id == plain[0].fact_id == fact_id(OWNER, "x")


@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_ids_have_at_most_53_bits(entity: str, text: str, discriminators: list[str]) -> None:
    assert 0 < fact_id(entity, text, *discriminators) < 2**53


LINES = st.sampled_from(
    ["x", "X", "x (source: a)", "[2026-01-01] x", "[2026-01-02] x", "~~x~~", "x #archived", "y"]
)


@given(st.lists(LINES, min_size=1, max_size=6), st.data())
def test_id_of_a_deleted_line_is_never_reused_by_another(
    lines: list[str], data: st.DataObject
) -> None:
    deleted = data.draw(st.integers(0, len(lines) - 1))
    remaining = lines[:deleted] + lines[deleted + 1 :]
    before = facts("## Facts\n" + "".join(f"- {line}\n" for line in lines))
    after = facts("## Facts\n" + "".join(f"- {line}\n" for line in remaining))
    assert len({fact.fact_id for fact in before}) == len(lines)
    assert before[deleted].fact_id not in {fact.fact_id for fact in after}
    by_id = {fact.fact_id: fact for fact in before}
    for fact in after:  # an id from before belongs to the same line
        previous = by_id.get(fact.fact_id, fact)
        assert (previous.text.lower(), previous.date, previous.sources) == (
            fact.text.lower(), fact.date, fact.sources,
        )  # fmt: skip


@given(markdown_bodies)
def test_facts_are_list_items_at_the_top_or_below_a_fact_heading(body: str) -> None:
    document = page(body, PERSON)
    lines = document.body.split("\n")
    for fact in read_facts(document, OWNER):
        index = fact.line - document.body_line
        assert lines[index].lstrip()[0] in "-*+0123456789"
        above = [each.text for each in headings(document.body) if each.line < index]
        assert len(above) <= 1 or any("Facts" in text or "Open Items" in text for text in above)
