"""Any property of the frontmatter filters, on every surface, and ordinary text stays text."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.index.store import Store
from kbx_tui.index.stored_records import DOCUMENTS
from kbx_tui.index.text_columns import CodedColumn, TextColumn, TextLists
from kbx_tui.knowledge.fields import properties_of
from kbx_tui.search.query.typed_filters import TypedFilter, unfinished_filter
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.retrieval import scope
from kbx_tui.search.retrieval.scope import matcher
from kbx_tui.tools.dispatch import call
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault

PAGES = {
    "a": "status: active\npriority: 3\nDue-Date: 2026-11-30\nowner: '[[people/ada|Ada Stone]]'",
    "b": "status: In Progress\npriority: 10\ndue_date: 2026-12-05\ntopics: [rope, anchor]",
    "c": "status: done\npriority: 2.5\ndue date: 2027\nsalary: 90000 # redacted",
    "d": "title: Error log",
}
TEXT = "The ferry sails at noon. error:timeout at 10:30, see http://x and stauts:active."


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    files = {
        f"memory/notes/{name}.md": f"---\n{front}\n---\n# Page {name}\n\n{TEXT}\n"
        for name, front in PAGES.items()
    }
    return KnowledgeBase(index_vault(tmp_path_factory.mktemp("base"), files))


def found(kb: KnowledgeBase, query: str) -> str:
    paths = (result.path for result in kb.search(query, limit=50).results)
    return "".join(sorted(Path(path).stem for path in paths))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ferry status:active", "a"),
        ("ferry status:Active,done", "ac"),
        ('status:"in progress"', "b"),
        ("Status:in-progress ferry", "b"),
        ("ferry -status:done", "abd"),
        ("ferry priority>2.5", "ab"),
        ("ferry priority<=3 priority>=2.5", "ac"),
        ("-priority>2.5", "cd"),
        ("due-date<2026-12", "a"),
        ("due_date:2026", "ab"),
        ("due_date>2026-11-30", "bc"),
        ("due_date<=2026-12", "ab"),
        ("topics:rope", "b"),
        ('owner:"ada stone"', "a"),
        ("owner:ada", "a"),
        ("ferry -type:note", ""),
        ("ferry -in:memory/notes/a.md", "bcd"),
        ("ferry error:timeout", "abcd"),
        ("ferry 10:30 http://x", "abcd"),
        ("ferry priority>high", "abcd"),
        ("status: active ferry", "abcd"),
        ("priority>" + "9" * 2000, ""),
    ],
)
def test_property_filters_as_typed_and_other_text_is_searched_for(
    kb: KnowledgeBase, query: str, expected: str
) -> None:
    assert found(kb, query) == expected


@pytest.mark.parametrize(
    ("value", "compared", "wanted", "expected"),
    [
        ("9", "<", "10", True),
        ("1e5", ">", "2", False),
        ("9" * 400, ">", "1", False),
        ("9" * 400, ":", "9" * 400, True),
        ("9" * 400, ":", "9" * 399, False),
        ("2026-02-31", "<", "2026-03", True),
        ("2026-99-99", "<", "2027-01", False),
        ("٣", ":", "3", False),
        ("1.10.2", ":", "1102", False),
        ("2026-03-17T10:00", "<=", "2026-03-17", True),
        ("\x1b[31mred", ":", "red", False),
    ],
)
def test_values_are_compared_as_what_they_are(
    value: str, compared: str, wanted: str, expected: bool
) -> None:
    assert matcher(compared, [wanted])(value) is expected


def test_hundreds_of_values_asked_for_are_compared_with_hundreds_of_values(tmp_path: Path) -> None:
    values = [f"v{number}" for number in range(300)]
    base = index_vault(
        tmp_path / "kb", {"a.md": f"---\nstatus: [{', '.join(values)}]\n---\nferry\n"}
    )
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    with KnowledgeBase(base) as kb:
        kb.search("ferry")
        sys.setprofile(count)
        try:
            response = kb.search(f"status:{','.join(f'{value}x' for value in values)},v299")
        finally:
            sys.setprofile(None)
    assert len(response.results) == 1
    assert calls < 200_000


def test_misspelt_property_is_named_and_searched_for_as_words(kb: KnowledgeBase) -> None:
    assert len(kb.search("ferry stauts:active").results) == len(PAGES)
    for typed in ("stauts:active", '-stauts:"in progress"', 'stauts:"in', "stauts>2"):
        note = f"{typed} is not a filter: no page has that property; did you mean status?"
        assert note in kb.search(f"ferry {typed} at noon").meta.notes
    note = "budget<2026-12 is not a filter: no page has that property"
    assert note in kb.search("ferry budget<2026-12").meta.notes
    for query in ("error:timeout http://x", "ferry p<0.05", "ferry -budget<2026-12"):
        assert not [each for each in kb.search(query).meta.notes if "is not a filter" in each]


@pytest.mark.parametrize(
    ("query", "values", "is_whole"),
    [
        ("x status:", ("In Progress", "active", "done"), False),
        ("x -status:do", ("done",), False),
        ('x status:"in', ("In Progress",), False),
        ("x status:ACT", ("active",), False),
        ("topics:anchor", (), True),
        ("x error:tim", (), True),
    ],
)
def test_values_of_a_property_are_completed(
    kb: KnowledgeBase, query: str, values: tuple[str, ...], is_whole: bool
) -> None:
    unfinished = unfinished_filter(query)
    assert unfinished is not None
    completed = kb.documents.complete_filter(unfinished)
    assert (completed.values, completed.is_whole) == (values, is_whole)


def test_every_surface_filters_and_agents_not_by_what_is_redacted(
    kb: KnowledgeBase, kbx: CommandLine
) -> None:
    ran = kbx("search", "priority<3", "--kb", kb.root, "--json")
    assert [row["path"] for row in ran.json["results"]] == ["memory/notes/c.md"]
    assert ran.json["meta"]["typed_filters"] == ["priority<3"]
    assert found(kb, "salary:90000") == "c"
    answer = call(kb, "kbx.search", {"query": "priority<3"})
    assert "memory/notes/c.md" in json.dumps(answer)
    hidden = call(kb, "kbx.search", {"query": "salary>1 ferry"})
    assert "salary>1" not in json.dumps(hidden["meta"].get("typed_filters", ""))


def test_why_not_names_the_property_that_leaves_a_document_out(kb: KnowledgeBase) -> None:
    answer = kb.why_not(SearchRequest("ferry status:done"), "memory/notes/a.md")
    assert [change.text for change in answer.changes] == ["without status:done"]


def test_ten_thousand_properties_filter_and_older_file_of_documents_is_not_needed(
    tmp_path: Path,
) -> None:
    many = "\n".join(f"key{number}: {number}" for number in range(10_000))
    base = index_vault(tmp_path, {"memory/notes/many.md": f"---\n{many}\n---\n# Many\n\nferry\n"})
    with KnowledgeBase(base) as kb:
        assert found(kb, "ferry key9999>9998") == "many"
        assert found(kb, "ferry key9999<9998") == ""
    for file in Path(Store(str(base / ".kbx" / "index")).uri).glob("documents*.bin"):
        data, tag = file.read_bytes(), DOCUMENTS.format_tag.encode()
        assert tag in data
        file.write_bytes(data.replace(tag, tag[:-1] + b"0"))
    with KnowledgeBase(base) as kb:
        assert found(kb, "ferry key9999>9998") == "many"


def test_properties_are_flat_texts() -> None:
    values = properties_of(
        {"A b": [1, ["x", {"name": "y", "z": 2}]], "ok": True, "=": "n", "no": None}
    )
    assert list(values) == ["a_b=1", "a_b=x", "a_b=y", "ok=true"]


def test_texts_are_read_once_for_each_property_and_distinct_values_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passes, compared = 0, list[str]()

    class Counted(TextColumn):
        def __iter__(self) -> Iterator[str]:
            nonlocal passes
            passes += 1
            return super().__iter__()

    def counted(operator: str, wanted: str) -> Callable[[str], bool]:
        def is_matching(value: str) -> bool:
            compared.append(value)
            return matcher(operator, wanted)(value)

        return is_matching

    monkeypatch.setattr(scope, "matcher", counted)
    rows = [(f"status={n % 3}", "due=1", "due=2", f"subdue={n}") for n in range(900)]
    texts = Counted.of(map(TextLists.joined, rows))
    keys = CodedColumn.of([TextLists.joined(("status", "due", "subdue"))] * len(rows))
    known = scope.Properties(TextLists(texts), keys)
    assert known.named_in("Status:1 error:5032") == ("Status",)
    assert known.misspelt("stauts:1 error:5032") == (("stauts:1", "status"),)
    assert passes == 0
    assert known.rows(TypedFilter("status", ("1",))).tolist() == list(range(1, 900, 3))
    assert compared == ["0", "1", "2"]
    assert len(known.rows(TypedFilter("status", ("1",), ">"))) == 300
    assert known.values("status").counts == {"0": 300, "1": 300, "2": 300}
    assert passes == 1
    assert known.values("due").counts == {"1": 900, "2": 900}
