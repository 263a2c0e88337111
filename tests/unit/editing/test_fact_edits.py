"""Adding, rewording, striking out and deleting facts of a page."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from kbx_tui.editing.fact_edits import (
    AddFact,
    ChangeFact,
    DeleteFact,
    FactEdit,
    StrikeFact,
    TickFact,
    add_facts,
    apply_fact_edit,
)
from kbx_tui.editing.journal import smallest_change
from kbx_tui.editing.page_edits import PageEdit, SetFields, apply_edits
from kbx_tui.errors import UnfitText, WriteFault
from kbx_tui.knowledge.entities import read_facts
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Fact, FactKind
from tests.unit.editing.odd_pages import odd_page

# ruff: noqa: E501  # a page before and after is clearest on one line


PATH, OWNER = "memory/people/ada.md", "person:ada"


def add(text: str, kind: FactKind = "fact", date: str = "2026-03-04", source: str = "") -> AddFact:
    return AddFact(OWNER, kind, text, date if kind == "fact" else "", source)


def edited(page: str, edit: FactEdit) -> str:
    return apply_fact_edit(PATH, page.encode(), edit).decode()


def fact_in(page: str, text: str) -> Fact:
    facts = read_facts(parse_document(PATH, page.encode()), OWNER)
    return next(fact for fact in facts if fact.text == text)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("# A\n", "# A\n\n## Recent Facts\n- [2026-03-04] new\n"),
        ("# A\n\nText.\n\n## Notes\nx", "# A\n\nText.\n\n## Notes\nx\n\n## Recent Facts\n- [2026-03-04] new\n"),
        ("", "## Recent Facts\n- [2026-03-04] new\n"),
        ("## Recent Facts\n- a\n\n## Open Items\n", "## Recent Facts\n- a\n- [2026-03-04] new\n\n## Open Items\n"),
        ("## Recent Facts\n- a", "## Recent Facts\n- a\n- [2026-03-04] new"),
        ("## Recent Facts\r\n- a  \r\n", "## Recent Facts\r\n- a  \r\n- [2026-03-04] new\r\n"),
        ("## Recent Facts\n\n## Notes\n", "## Recent Facts\n- [2026-03-04] new\n\n## Notes\n"),
        ("## Facts\n- a\n", "## Facts\n- a\n- [2026-03-04] new\n"),
        ("## Facts\n- a\n## Recent Facts\n", "## Facts\n- a\n## Recent Facts\n- [2026-03-04] new\n"),
        ("## Recent Facts\n- a\n  - source: x\n\nProse.\n", "## Recent Facts\n- a\n  - source: x\n- [2026-03-04] new\n\nProse.\n"),
        ("## Recent Facts\n- a\n### Older\n- b\n", "## Recent Facts\n- a\n- [2026-03-04] new\n### Older\n- b\n"),
    ],
    ids=["no-section", "end-of-file", "empty", "end-of-section", "no-final-line-end", "crlf",
         "empty-section", "facts", "recent-facts-first", "before-prose", "before-sub-heading"],
)  # fmt: skip
def test_new_fact_is_added_at_the_end_of_its_section(page: str, expected: str) -> None:
    assert edited(page, add("new")) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("## Open Items\n- [ ] a\n", "## Open Items\n- [ ] new (from: Kickoff)\n- [ ] a\n"),
        ("## Open Items\n\nProse.\n\n- [ ] a\n", "## Open Items\n\nProse.\n\n- [ ] new (from: Kickoff)\n- [ ] a\n"),
        ("# A\n", "# A\n\n## Open Items\n- [ ] new (from: Kickoff)\n"),
    ],
    ids=["before-the-first", "below-prose", "no-section"],
)  # fmt: skip
def test_new_open_item_is_added_at_the_top_of_its_section(page: str, expected: str) -> None:
    assert edited(page, add("new", "open_item", source="Kickoff")) == expected


@pytest.mark.parametrize("kind", ["fact", "open_item"])
@pytest.mark.parametrize(
    "page", ["# A\n", "## Recent Facts\r\n- a\r\n\r\n## Open Items\r\n- [ ] b", "## Open Items\n"]
)
def test_several_lines_are_added_as_one_after_the_other(page: str, kind: FactKind) -> None:
    edits = [add(text, kind) for text in ("one", "two", "three")]
    assert add_facts(PATH, page.encode(), edits) == apply_edits(PATH, page.encode(), edits)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- [2026-01-01] old text", "- [2026-01-01] new"),
        ("* old text (source: x, confidence: high)", "* new (source: x, confidence: high)"),
        ("- [x] [2026-01-01] old text", "- [x] [2026-01-01] new"),
        ("- old [[Alice|text]] (from: [[Kickoff]])", "- new (from: [[Kickoff]])"),
        ("- old\n  text", "- new"),
        ("- ~~old text~~", "- ~~new~~"),
        ("  - old text  ", "  - new  "),
    ],
    ids=["date", "notes", "box", "markup", "two-lines", "struck", "blanks"],
)
def test_rewording_keeps_date_check_box_and_notes(line: str, expected: str) -> None:
    page = f"## Open Items\n- first\n{line}\n- last\n"
    text = "old Alice" if "Alice" in line else "old text"
    text = "old text" if "Alice|text" in line else text
    assert edited(page, ChangeFact(fact_in(page, text), "new")) == (
        f"## Open Items\n- first\n{expected}\n- last\n"
    )


def test_rewording_can_replace_or_add_a_date() -> None:
    page = "## Facts\n- [2026-01-01] old\n- plain\n"
    change = ChangeFact(fact_in(page, "old"), "new", "2026-02-02")
    assert edited(page, change) == "## Facts\n- [2026-02-02] new\n- plain\n"
    change = ChangeFact(fact_in(page, "plain"), "new", "2026-02-02")
    assert edited(page, change) == "## Facts\n- [2026-01-01] old\n- [2026-02-02] new\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- [2026-01-01] old text (source: x)", "- [2026-01-01] ~~old text~~ (source: x)"),
        ("- old\n  text", "- old\n  text #superseded"),
        ("- old ~~bold~~ text", "- old ~~bold~~ text #superseded"),
    ],
    ids=["one-line", "two-lines", "strike-inside-the-text"],
)
def test_struck_fact_reads_as_superseded(line: str, expected: str) -> None:
    page = f"## Facts\n{line}\n- last\n"
    struck = edited(page, StrikeFact(fact_in(page, "old text")))
    assert struck == f"## Facts\n{expected}\n- last\n"
    assert [fact.status for fact in read_facts(parse_document(PATH, struck.encode()), OWNER)] == [
        "superseded",
        "active",
    ]


@pytest.mark.parametrize(
    ("date", "struck"),
    [("2026-03-05", "2026-03-05"), ("2026-02-05", "2026-03-01"), ("", "2026-03-01")],
)
def test_no_fact_is_struck_before_its_own_day(date: str, struck: str) -> None:
    page = f"## Facts\n- {f'[{date}] ' if date else ''}old text\n"
    assert f"~~ (superseded: {struck})" in edited(
        page, StrikeFact(fact_in(page, "old text"), "2026-03-01")
    )


@pytest.mark.parametrize("box", ["[ ] ", ""])
def test_ticked_item_reads_as_done(box: str) -> None:
    page = f"# Ada\n\n## Open Items\n- {box}[2026-03-01] send the plan (from: Kickoff)\n"
    ticked = edited(page, TickFact(fact_in(page, "send the plan")))
    assert ticked == page.replace(f"- {box}", "- [x] ")


def test_deleting_a_fact_takes_its_notes_but_no_nested_facts() -> None:
    page = "## Facts\n- a\n- b\n  - source: x\n- c"
    assert edited(page, DeleteFact(fact_in(page, "b"))) == "## Facts\n- a\n- c"
    assert edited(page, DeleteFact(fact_in(page, "c"))) == "## Facts\n- a\n- b\n  - source: x"

    page = "## Facts\n- a\n  - a nested fact\n"
    with pytest.raises(WriteFault, match=r"line 2 of memory/people/ada\.md cannot be edited"):
        edited(page, DeleteFact(fact_in(page, "a")))


TASKS = "## Facts\n- a\n\n## Open Items\n- [ ] call\n"
TASK = fact_in(TASKS, "call")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (add(" \n "), "the text is empty"),
        (add("~~gone~~"), "would be read differently as a line of the page: leave out"),
        (
            add("[2026-05-01] x", date="2026-11-24"),
            r"^'\[2026-05-01\] x' would be read differently",
        ),
        (add("- [x] a", "open_item"), r"^'- \[x\] a' would be read differently"),
        (add("1) [ ] a", "open_item"), "would be read differently"),
        (ChangeFact(TASK, "[x] a"), r"^'\[x\] a' would be read differently"),
        (ChangeFact(TASK, "* [x] a"), "would be read differently"),
        (ChangeFact(TASK, "a #redacted"), "would be read differently"),
        (ChangeFact(TASK, "[2026-05-01] a"), "would be read differently"),
        (TickFact(fact_in("## Facts\n- a\n", "a")), "is not an open item"),
        (add("x", date="yesterday"), "is not a date"),
        (add("x", source="a (b)"), "would be read differently"),
    ],
)
def test_edit_that_cannot_be_written_is_refused_with_a_reason(edit: FactEdit, message: str) -> None:
    with pytest.raises(UnfitText, match=message):
        edited(TASKS, edit)


def test_edit_of_a_fact_that_is_gone_is_refused() -> None:
    with pytest.raises(WriteFault, match=r"no longer holds fact \d+, or"):
        edited(TASKS, DeleteFact(fact_in("## Facts\n- gone\n", "gone")))


def test_text_stays_on_its_line_and_outside_of_code() -> None:
    page = edited("## Facts\n", add("one\n## Notes\n- two"))
    assert page == "## Facts\n- [2026-03-04] one ## Notes - two\n"

    with pytest.raises(WriteFault, match="cannot be added"):
        edited("# A\n```\ncode\n", add("x"))


def test_edit_keeps_the_encoding_of_the_file() -> None:
    page = "# Ada\n## Facts\n- café\n"
    for codec in ("utf-8-sig", "utf-16", "cp1252"):
        after = apply_fact_edit(PATH, page.encode(codec), add("naïve"))
        assert after.decode(codec) == page + "- [2026-03-04] naïve\n"
    with pytest.raises(WriteFault, match="cp1252, which has no '日'"):
        apply_fact_edit(PATH, page.encode("cp1252"), add("日本"))


def test_edit_is_refused_if_the_id_now_names_a_fact_with_another_date() -> None:
    page = "## Facts\n- [2026-02-01] walks\n"
    fact = fact_in(page, "walks")
    for edit_type in (StrikeFact, DeleteFact):
        with pytest.raises(WriteFault, match="now has another date or source"):
            edited(page, edit_type(replace(fact, date="2026-01-01")))
    assert edited(page, ChangeFact(fact, "rows")) == "## Facts\n- [2026-02-01] rows\n"


MAX_SPLICE = 400
"""Bytes that one edit may insert and remove: a line or two, in UTF-16."""


def facts_of(data: bytes) -> list[Fact]:
    return list(read_facts(parse_document(PATH, data), OWNER))


def contents(facts: list[Fact]) -> list[tuple[str, str, str, str, bool]]:
    return sorted((f.kind, f.text, f.date, f.status, f.done) for f in facts)


def random_edit(rng: random.Random, data: bytes) -> PageEdit:
    facts = facts_of(data)
    kind = rng.choice(("add", "add", "item", "change", "strike", "drop", "field"))
    if kind == "field":
        value = rng.choice(("Director", "a: b", "", None, ("x", "y z")))
        return SetFields(((rng.choice(("role", "team", "aliases", "note", "odd key")), value),))
    if kind == "item":
        return AddFact(OWNER, "open_item", "send the plan", "", "Kickoff")
    if kind == "add" or not facts:
        return AddFact(OWNER, "fact", "Speaks Catalan", "2026-04-05", "Kickoff")
    fact = rng.choice(facts)
    if kind == "change":
        return ChangeFact(fact, "Says something new")
    if kind == "strike":
        return StrikeFact(fact)
    return DeleteFact(fact)


@pytest.mark.parametrize("block", range(10))
def test_random_edits_of_odd_pages_change_only_the_spliced_bytes(block: int) -> None:
    refused = 0
    for seed in range(block * 100, block * 100 + 100):
        rng = random.Random(seed)
        before = odd_page(rng)
        edit = random_edit(rng, before)
        try:
            after = apply_edits(PATH, before, [edit])
        except WriteFault:
            refused += 1
            continue
        spliced = smallest_change(PATH, before, after)
        assert spliced.apply(before) == after
        assert spliced.inverse().apply(after) == before
        assert len(spliced.removed) + len(spliced.inserted) < MAX_SPLICE, (seed, edit)
        old, new = contents(facts_of(before)), contents(facts_of(after))
        if isinstance(edit, SetFields):
            assert old == new or edit.fields[0][0] == "status", (seed, edit)
        elif isinstance(edit, AddFact):
            assert len(new) == len(old) + 1, (seed, edit)
        else:
            assert len(new) == len(old) - isinstance(edit, DeleteFact), (seed, edit)
        lost = Counter(old) - Counter(new)
        assert lost.total() <= (not isinstance(edit, AddFact | SetFields)), (seed, edit)
    assert refused < 40  # most odd pages can be edited
