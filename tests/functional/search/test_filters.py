"""Filters apply in every mode, combined, and change no score."""

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.search.query.typed_filters import unfinished_filter, with_filter
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault
from tests.unit.index.paths.reference_globs import in_scope

PERSON = "---\nname: {}\n---\n# {}\n"
PAGE = """---
title: Ferry {number}
date: '{date}'
tags: [{tag}]
attendees: [{attendee}]
---
# Ferry {number}

The ferry sails at noon.
"""
DATES, TAGS = ("2025-12-31", "2026-03-01", "2026-03-31"), ("ops", "Plan")
PEOPLE = {"Ada Stone": "person:ada-stone", "Ben Vale": "person:ben-vale"}
PAGES: dict[str, tuple[str, str, str, str]] = {
    f"memory/{folder}/p{number}.md": (folder, date, tag, attendee)
    for number, (folder, date, tag, attendee) in enumerate(
        itertools.product(("meetings", "notes"), DATES, TAGS, PEOPLE)
    )
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    files = {
        path: PAGE.format(number=number, date=date, tag=tag, attendee=attendee)
        for number, (path, (_, date, tag, attendee)) in enumerate(PAGES.items())
    }
    for name, entity in PEOPLE.items():
        files[f"memory/people/{entity.partition(':')[2]}.md"] = PERSON.format(name, name)
    return KnowledgeBase(index_vault(tmp_path_factory.mktemp("base"), files))


CASES = list(
    itertools.product(
        (None, ["meeting"]),
        (None, "2026", "2026-03-02"),
        (None, "2025", "2026-03-01"),
        ([], ["plan"], ["#OPS", "plan"]),
        ([], ["person:ada-stone"]),
    )
)


@pytest.mark.parametrize("case", CASES[::4], ids=repr)
def test_combined_filters_return_all_documents_that_match(kb: KnowledgeBase, case: Any) -> None:
    kinds, since, until, tags, entities = case
    wanted = {tag.lower().strip("#") for tag in tags}
    expected = {
        path
        for path, (folder, date, tag, attendee) in PAGES.items()
        if (not kinds or folder == "meetings")
        and (not since or date >= since)
        and (not until or date[: len(until)] <= until)
        and (not wanted or tag.lower() in wanted)
        and (not entities or PEOPLE[attendee] in entities)
    }
    filters = {
        "doc_types": kinds, "since": since, "until": until, "tags": tags, "entities": entities,
    }  # fmt: skip
    filters["path"] = None if kinds else "memory/{meetings,notes}/"
    for options in ({"fast": True}, {"hierarchy": False}, {}):
        response = kb.search("the ferry at noon", limit=100, **filters, **options)
        assert {result.path for result in response.results} == expected
        assert response.meta.in_scope == len(expected)


def test_scores_do_not_depend_on_filters(kb: KnowledgeBase) -> None:
    query = "what did Ada Stone say about the ferry?"
    everywhere = {r.path: r.score for r in kb.search(query, limit=100).results}
    inside = kb.search(query, limit=100, since="2026", tags=["ops"], entities=["person:ada-stone"])
    assert inside.results
    assert {r.path: r.score for r in inside.results}.items() <= everywhere.items()


@pytest.mark.parametrize(
    "filters",
    [
        {"since": "2026"},
        {"tags": ["ops"]},
        {"path": "memory/notes"},
        {"entities": ["person:ben-vale"]},
        {"doc_types": ["note"]},
    ],
)
def test_relevance_is_bit_identical_under_any_filter(
    kb: KnowledgeBase, filters: dict[str, Any]
) -> None:
    for query in ("what did Ada Stone say about the ferry?", "ferry 7", "pull request 7"):
        everything, inside = kb.retrieve(query), kb.retrieve(query, **filters)
        assert 0 < len(inside) < len(everything)
        rows = [everything.paths.index(path) for path in inside.paths]
        for unfiltered, filtered in (
            (everything.as_typed, inside.as_typed),
            (everything.as_searched, inside.as_searched),
        ):
            np.testing.assert_array_equal(unfiltered.doc_relevance[rows], filtered.doc_relevance)


def test_explain_shows_the_filters(kb: KnowledgeBase) -> None:
    explain = kb.search("ferry", since="2026-03", tags=["ops"], explain=True).meta.explain
    assert explain is not None
    assert explain["filters"]["from"] == "2026-03"
    assert explain["filters"]["tags"] == ["ops"]
    assert explain["lexical"] == {"in_scope": explain["lexical"]["in_scope"], "status": "complete"}
    assert 0 < explain["lexical"]["in_scope"] < explain["documents"]
    assert explain["vector"] == explain["lexical"]


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        ("type:Meeting", {"doc_types": ["meeting"]}),
        ("from:2026-03 to:2026-03-02", {"since": "2026-03", "until": "2026-03-02"}),
        ("in:memory/notes", {"path": "memory/notes"}),
        ("in:notes", {"path": "memory/notes"}),
        ("in:/memory/{meetings,notes}/p1*", {"path": "memory/{meetings,notes}/p1*"}),
        ("tag:ops,plan @ada", {"tags": ["ops", "plan"], "entities": ["person:ada-stone"]}),
        ('@"ben vale"', {"entities": ["person:ben-vale"]}),
    ],
)
def test_filter_typed_in_the_query_is_the_same_as_one_given_beside_it(
    kb: KnowledgeBase, typed: str, options: dict[str, Any]
) -> None:
    found = kb.search(f"{typed} when does the ferry sail?", limit=100)
    given = kb.search("when does the ferry sail?", limit=100, **options)
    assert found.results == given.results
    assert 0 < found.meta.in_scope == given.meta.in_scope < len(PAGES)
    assert " ".join(found.meta.typed_filters).startswith(typed[:3])


def test_typed_filters_narrow_and_never_widen_what_options_allow(kb: KnowledgeBase) -> None:
    both = kb.search("ferry tag:plan", limit=100, doc_types=["note"])
    assert {result.doc_type for result in both.results} == {"note"}
    assert 0 < both.meta.in_scope < len(PAGES) / 2
    neither = kb.search("ferry type:meeting", doc_types=["note"])
    assert (neither.results, neither.meta.in_scope) == ((), 0)
    assert "no document matches type note and type:meeting; omit" in neither.meta.notes[0]
    assert not kb.search("ferry tag:ops tag:plan").results
    assert kb.search("ferry tag:ops,plan").meta.in_scope == len(PAGES)


def test_query_of_filters_alone_lists_their_documents_newest_first(kb: KnowledgeBase) -> None:
    response = kb.search("@ada-stone type:note", limit=100, explain=True)
    dates = [result.date for result in response.results]
    assert dates == sorted(dates, reverse=True)
    assert len(dates) == response.meta.in_scope > 0
    assert response.results[0].explain is not None
    assert response.results[0].explain["exact"] == "filter"


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("ferry type:memo", "no document has type memo; existing types: meeting, note, person"),
        ("ferry type:meating", "no document has type meating; did you mean meeting?"),
        ("ferry @ada-stoen", "no entity is called ada-stoen; did you mean Ada Stone?"),
        ("ferry @zzzz", "no entity is called zzzz"),
        ("ferry in:memory/nowhere", "there are no documents in memory/nowhere; paths start"),
        ("ferry in:../..", "there are no documents in ../..; paths start"),
        ("ferry tag:nothing", "no document matches tag:nothing; omit or change it"),
    ],
)
def test_note_says_what_a_typed_filter_does_not_find(
    kb: KnowledgeBase, query: str, note: str
) -> None:
    meta = kb.search(query).meta
    assert meta.in_scope == 0
    assert [text for text in meta.notes if text.startswith(note)]
    assert len(meta.notes) == 1


def test_notes_say_what_a_filter_without_a_date_or_an_excluded_word_does(kb: KnowledgeBase) -> None:
    response = kb.search("ferry from:Ada")
    assert not response.results
    assert response.meta.notes == ("from:Ada holds no date such as 2026-03-17, 2026-03 or 2026",)

    left_out = kb.search("sail -ferry").meta
    assert left_out.in_scope < len(PAGES)
    note = 'documents with ferry are left out; quote it to search for it: "-ferry"'
    assert note in left_out.notes
    quoted = kb.search('sail at noon "-ferry"')
    assert quoted.meta.in_scope > len(PAGES)
    assert not [note for note in quoted.meta.notes if "left out" in note]


def test_note_names_all_entities_that_share_a_name(tmp_path: Path) -> None:
    files = {
        f"memory/people/{slug}.md": PERSON.format(name, name)
        for slug, name in (("ada-stone", "Ada Stone"), ("ada-vale", "Ada Vale"))
    }
    files["memory/notes/ferry.md"] = "# Ferry\n\nAda Stone and Ada Vale plan the ferry.\n"
    with KnowledgeBase(index_vault(tmp_path, files)) as base:
        meta = base.search("What did Ada say about the ferry?").meta
    assert [entity.score for entity in meta.pass1_entities[:2]] == [0.8, 0.8]
    assert meta.notes[0].startswith("Ada may be Ada ")
    assert meta.notes[0].endswith("their documents count equally")


def test_nonsense_query_has_no_results_and_counts_documents_below_the_floor(
    kb: KnowledgeBase,
) -> None:
    response = kb.search("qwzx vbnrt plkjh")
    assert not response.results
    assert 0 < response.meta.total_below_floor <= response.meta.in_scope


NAMES = sorted(
    f"memory/{folder}{name}.md"
    for folder in ("", "people/", "people_ops/", "2026/01/", "2026/03/x/", "100%/", "it's/",
                   "a[1]/", "{a,b}/", "back\\slash/", 'quo"te/', "with blank/", "é/", "_/", "!a/")
    for name in ("a", "a[1]", "b_c", "100%")
)  # fmt: skip
PATTERNS = [
    "", "memory", "memory/people", "memory/people/", "memory/peopl", "memory/p_ople", "memory/%",
    "memory/100%/", "memory/it's", "memory/it's/*.md", "memory/a[1]", "memory/a[1]/a[1].md",
    "memory/a[[]1]/", "memory/{a,b}", "memory/[{]a,b}/*", "memory/back\\slash/", "memory/*\\*/",
    'memory/quo"te/', "memory/with blank/", "memory/é", "memory/_/", "memory/!a/", "memory/[!a]/",
    "memory/2026/0[1-3]/", "memory/2026/0[1-3]", "memory/2026/**/a.md", "**/b_c.md", "*/*.md",
    "memory/?????????*.md", "{memory/people/,memory/_/a.md}", "memory/**/100%.md", "memory/[", "{",
    "' OR 1=1 --", "memory/') OR starts_with(path, 'memory", "\x00", "memory/\n",
]  # fmt: skip


@pytest.fixture(scope="module")
def demo_kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    files = {path: f"# Page {number}\n\nA duck swims.\n" for number, path in enumerate(NAMES)}
    return KnowledgeBase(index_vault(tmp_path_factory.mktemp("base"), files))


@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
def test_search_returns_exactly_the_documents_in_scope(
    demo_kb: KnowledgeBase, pattern: str
) -> None:
    expected = set(in_scope(pattern, NAMES))
    for options in ({"fast": True}, {"hierarchy": False}, {}):
        results = demo_kb.search("swimming duck", path=pattern, limit=1000, **options).results
        assert {result.path for result in results} == expected
    evidence = demo_kb.retrieve("swimming duck", path=pattern)
    assert set(evidence.paths) == expected
    assert (evidence.as_typed.raw_lexical > 0.0).all(), "words missed a document in scope"
    assert (evidence.as_typed.cosine > 0.1).all(), "vectors missed a document in scope"
    assert demo_kb.documents.count_scope(pattern) == (len(expected), len(NAMES))


@pytest.mark.parametrize("path", ["", "**", "memory/people/", "memory/**", "memory/2026/0[1-3]/"])
def test_scope_holds_the_path_and_is_complete(demo_kb: KnowledgeBase, path: str) -> None:
    scope = demo_kb.retrieve("duck", path=path).scope
    assert (scope.path, scope.in_scope, scope.complete) == (path, len(in_scope(path, NAMES)), True)


def test_counts_are_those_of_the_results_after_narrowing(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        query = "migration rehearsal"
        ranking = kb.rank(kb.retrieve(query))
        facets = kb.documents.facets(ranking)
        assert facets.total == ranking.total_matched
        assert {value.key for value in facets.values} == {"type", "tag", "@", "in"}
        for value in facets.values:
            narrowed = with_filter(query, value.key, value.value)
            assert kb.search(narrowed).meta.total_matched == value.count
        everything = kb.documents.facets("")
        assert everything.total == len(kb.documents.paths())
        assert (
            kb.documents.facets("memory/meetings").total
            == kb.documents.count_scope("memory/meetings")[0]
        )
        folders = {value.value: value.count for value in everything.values if value.key == "in"}
        assert folders["memory/meetings"] == kb.documents.count_scope("memory/meetings")[0]
        assert "memory" not in folders  # all documents are in it
        dates = [ranking.evidence.dates[row] for row in ranking.order.tolist()]
        months = Counter(date[:7] for date in dates if date)
        assert dict(facets.months) == months
        names = [month for month, _ in facets.months]
        assert names == sorted(set(names))
        assert facets.undated == dates.count("")


@pytest.mark.parametrize(
    ("query", "first", "is_whole"),
    [
        ("x type:me", "meeting", False),
        ("x type:meeting", None, True),
        ("x type:note,MEE", None, False),
        ("x type:zz", None, True),
        ("tag:migr", "migration", False),
        ("in:mem", "memory/", False),
        ("in:memory/mee", "memory/meetings/", False),
        ("in:memory/", None, True),
        ("in:no", "notes/", False),
        ("in:notes", None, True),
        ("in:meetings/2026/0", "meetings/2026/01/", False),
        ("@ali", "alice-chen", False),
        ('@"Alice C', "Alice Chen", False),
        ("@alice", "alice-chen", True),
        ("from:2026-", "2026-04", False),
        ("from:", "2026", True),
        ("to:2026-03-1", "2026-03-17", False),
        ("to:2026-03-17", None, True),
        ("from:2026-03", None, True),
        ("from:Bob", None, True),
    ],
)
def test_filters_are_completed_from_the_base(
    demo_kb_path: Path, query: str, first: str | None, is_whole: bool
) -> None:
    unfinished = unfinished_filter(query)
    assert unfinished is not None
    with KnowledgeBase(demo_kb_path) as kb:
        found = kb.documents.complete_filter(unfinished)
    assert found.is_whole is is_whole
    if first is not None:
        assert found.values[0] == first
        assert unfinished.completed(first).startswith(query)


def test_saved_query_shows_what_is_new_since_it_was_opened(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        request = "rollback plan"
        kb.queries.save("rollbacks", request, {"alpha": 0.7})
        assert kb.queries.open("rollbacks", request).results == ()
        first = kb.search(request).results[0].path
        with (demo_copy / first).open("a", encoding="utf-8") as page:
            page.write("\nThe rollback plan has one more step.\n")
        new = demo_copy / "memory/notes/rollback-of-the-rollback.md"
        new.write_text("# Rollback plan of the rollback\n\nRollback plan.\n", encoding="utf-8")
        kb.index()
        news = kb.queries.open("rollbacks", request)
        assert {(one.path, one.is_new) for one in news.results} == {
            (first, False),
            ("memory/notes/rollback-of-the-rollback.md", True),
        }
        assert kb.queries.open("rollbacks", request).results == ()
        (saved,) = kb.queries.saved()
        assert (saved.query, saved.settings) == (request, {"alpha": 0.7})


def test_the_best_results_are_listed_newest_first(kbx: CommandLine, demo_kb_path: Path) -> None:
    search = ("search", "migration rollback", "--kb", demo_kb_path, "--json", "--explain")
    by_score = kbx(*search, "--limit", "50").json["results"]
    by_date = kbx(*search, "--limit", "12", "--sort", "date").json
    newest = sorted(by_score, key=lambda result: result["date"] or "", reverse=True)[:12]
    assert [result["path"] for result in by_date["results"]] == [row["path"] for row in newest]
    assert by_date["meta"]["explain"]["sort"] == "date"


def test_entities_are_pinned_and_muted_by_name(kbx: CommandLine, demo_kb_path: Path) -> None:
    search = ("search", "what did alice decide", "--kb", demo_kb_path, "--json", "--explain")
    ran = kbx(*search, "--pin", "grace tully,project:migration", "--mute", "Alice")
    explain = ran.json["meta"]["explain"]
    assert set(explain["kept_entities"]) >= {"person:grace-tully", "project:migration"}
    assert explain["muted"] == ["person:alice-chen"]
    assert "person:alice-chen" not in explain["kept_entities"]
    unknown = kbx(*search, "--mute", "Alise Chen")
    assert (unknown.code, "Alice Chen (person:alice-chen)" in unknown.err) == (4, True)


NOTE = "1 muted document left out: [search] muted_documents in kbx.toml"


def test_muted_document_is_left_out_which_is_said_until_undone(demo_copy: Path) -> None:
    (demo_copy / "kbx.toml").write_text("# mine\n[search]\n", encoding="utf-8")
    with KnowledgeBase(demo_copy) as kb:
        before = kb.search("rollback plan")
        muted = before.results[0].path
        written = kb.tuner.mute_documents([muted])
        after = kb.search("rollback plan")
        assert muted not in [result.path for result in after.results]
        assert NOTE in after.meta.notes
        assert after.meta.in_scope == before.meta.in_scope - 1
        assert NOTE not in kb.search("rollback plan", path="memory/people").meta.notes
        assert kb.tuner.first_results(["rollback plan"])[0][0] == muted
        assert kb.tuner.mute_documents([muted]).written is False
        assert "# mine" in (demo_copy / "kbx.toml").read_text(encoding="utf-8")
        assert written.entry is not None
        kb.undo(written.entry)
        assert kb.search("rollback plan").results[0].path == muted


def test_citation_key_after_an_at_sign_is_its_note_where_no_entity_is_called_so(
    tmp_path: Path,
) -> None:
    notes = {
        "Ice.md": "---\ncitekey: frostLakes2021\n---\nThin ice forms near reeds.\n",
        "@hale2019.md": "Reeds slow the flow.\n",
        "Peat.md": '---\naliases: ["@moor2020"]\n---\nPeat stores carbon.\n',
        "Invoice.md": "The rent is due.\n",
        "Q3.md": "# Invoice 2021\n\nThe rent is due.\n",
        "INC-0117-outage.md": "The pump failed.\n",
        "Review.md": "We follow @frostLakes2021, @hale2019 and @moor2020; ice, ice.\n",
    }
    with KnowledgeBase(index_vault(tmp_path / "base", notes, fast=True)) as kb:
        for query, path in (
            ("@frostLakes2021", "Ice.md"),
            ("@hale2019", "@hale2019.md"),
            ("@moor2020", "Peat.md"),
            ("@frostLakes2021 ice", "Ice.md"),
        ):
            response = kb.search(query, fast=True)
            assert [result.path for result in response.results] == [path]
        assert kb.search("frostlakes2021", fast=True).results[0].path == "Ice.md"
        for word in ("nobody2021", "invoice", "inc-117", "ice.md"):
            response = kb.search(f"@{word} rent", fast=True)
            note = f"no entity is called {word}"
            assert (response.results, response.meta.notes[:1]) == ((), (note,))


def test_newest_first_in_words_sorts_all_results_and_leaves_none_out(kb: KnowledgeBase) -> None:
    wanted = kb.search("ferry", sort="date", limit=50)
    for query in ("ferry, newest first", "newest first: ferry"):
        found = kb.search(query, limit=50)
        assert [each.path for each in found.results] == [each.path for each in wanted.results]
        assert found.meta.typed_filters == ("newest first",)
        by_score = kb.search(query, limit=50, sort="score").results
        assert by_score == kb.search("ferry", limit=50).results
    nothing = kb.search("ferry newest first tag:nothing").meta.notes
    assert "no document matches tag:nothing; omit or change it" in nothing
