"""Text of a clone that is made to take long takes no longer than as much of any other text."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from itertools import islice
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from unittest.mock import Mock

import pytest

from kbx_tui.api import KnowledgeBase
from kbx_tui.cli.output import table_text
from kbx_tui.drafting.drafts import Choice, Draft, drafts_from_text
from kbx_tui.drafting.planning import make_plan
from kbx_tui.editing.file_edits import FileEdit, write_files
from kbx_tui.editing.page_edits import NameCorrection
from kbx_tui.editing.page_merge import with_links_to
from kbx_tui.evaluation.exchange import read_topics
from kbx_tui.importing.import_formats import read_documents
from kbx_tui.importing.import_planning import AttendeeMatcher, ImportPlanner
from kbx_tui.importing.imported_document import Imported, ImportedDocument, SourceFile
from kbx_tui.index.build.stages import document_row
from kbx_tui.index.tables import searched_text
from kbx_tui.index.text_columns import TextLists
from kbx_tui.knowledge.chunker import split_documents
from kbx_tui.knowledge.entities import build_entities, page_entity, read_facts
from kbx_tui.knowledge.entity_names import NameUseCounter, strip_subject
from kbx_tui.knowledge.facts import notes_in
from kbx_tui.knowledge.fields import unique_ids
from kbx_tui.knowledge.linking import Linker
from kbx_tui.knowledge.obsidian_vault import FileLookup
from kbx_tui.knowledge.reading import Conventions, parse_document
from kbx_tui.knowledge.records import Attendee, Document, Entity, FactKind
from kbx_tui.knowledge.topics import NoteOutline, TopicRules, Topics
from kbx_tui.knowledge.vault import walk
from kbx_tui.search.document_links import MentionSearch
from kbx_tui.search.link_graph import part_line
from kbx_tui.search.open_index import BodyReader
from kbx_tui.search.query.name_matching import NameMatcher
from kbx_tui.search.ranking.rank import rank
from kbx_tui.similarity.compared_words import exchanged_words, normal_form
from kbx_tui.similarity.comparisons import value_texts
from kbx_tui.tui.reading.markdown_lines import render_inline
from tests.functional.vaults import index_vault


def page(text: str, path: str = "memory/people/bill.md") -> Document:
    return parse_document(path, text.encode())


def use_entities(text: str, path: str = "memory/people/bill.md") -> None:
    document = page(text, path)
    entities = build_entities([document])
    Linker(entities).links(document)
    NameUseCounter(entities).uses(document)


def search_tags(count: int) -> None:
    text = searched_text(document_row(page("".join(f"#t{n} " for n in range(count)))))
    assert text.count("t1 ") == 1


def chunk_headings() -> None:
    document = page(f"# {'x' * 100_000}\n" + f"## y\n\n{'a ' * 80}\n\n" * 3_000)
    (chunks,) = split_documents([document], lambda texts: [len(text) // 2 for text in texts])
    assert sum(len(chunk.heading) for chunk in chunks) < 5_000_000


def match_people(count: int) -> None:
    pages = (page(f"# Anna{n} Berg{n}\n", f"memory/people/p{n}.md") for n in range(count))
    matcher = AttendeeMatcher([page_entity(each, each.id) for each in pages])
    for number in range(count):
        matcher.match(Attendee(f"Carl{number} Dorn{number}"), "Call")
    assert len(matcher.unknown) == count


def plan_namesakes(count: int) -> None:
    documents = tuple(ImportedDocument(f"x:{n}", "note", "New chat") for n in range(count))
    planner = ImportPlanner("", (), (), lambda _: None, create_people=False)
    assert len(planner.plan(Imported(documents), AttendeeMatcher(())).edits) == count


def import_head(line: str) -> None:
    text = f"{line}\n\n0:12 - Rosa Diaz\nWe sail.\n"
    (meeting,) = read_documents([SourceFile("talk.txt", text.encode())]).documents
    assert isinstance(meeting, ImportedDocument)
    assert meeting.body.endswith("We sail.\n")


def import_turns(count: int) -> None:
    speaker = {"display_name": "Ann Lee"}
    turns = [{"speaker": speaker, "text": f"We sail boat {number}"} for number in range(count)]
    meeting = {"recording_id": 7, "title": "Talk", "transcript": turns}
    meeting |= {f"k{number}": f"Boat {number} leaks" for number in range(count)}
    data = json.dumps([meeting]).encode()
    (problem,) = read_documents([SourceFile("a.json", data)]).problems
    assert problem.reason.count("1 k") == count


def find_parts(count: int) -> None:
    body = "".join(f"# h{number}\n" for number in range(count))
    assert [part_line(body, 1, f"h{number}") for number in range(count)] == [*range(1, count + 1)]


def select_topics(count: int) -> None:
    properties = {f"k{number}": f"[[Ann {number}]]" for number in range(10)}
    notes = [
        NoteOutline(f"a/b/n{n}.md", f"N {n}", "note", (), (), (), properties) for n in range(400)
    ]
    names = tuple(f"k{number}" for number in reversed(range(count)))
    rules = TopicRules(properties=names, folders=(*names, "a", "a/b"))
    assert {each.type for each in Topics(notes).entities(rules, ())} == {"a", *names[-10:]}


def change_links(count: int) -> None:
    data = with_links_to("n.md", b"[[bo]]\n" * count, "memory/people/bill.md", lambda _: "Bill")
    assert data == b"[[Bill]]\n" * count


def name_in_lists(count: int) -> None:
    people = [Entity(f"person:g{n}", f"Grace G{n}", "person", f"g{n}.md") for n in range(1_000)]
    matcher = NameMatcher.of([*people, Entity("person:ann-lee", "Ann Lee", "person", "ann.md")])
    found = matcher.find(f"Ann Lee, {'grace, ' * count}Grace and Ann Lee")
    assert len(found) == 1_000 * (count + 1) + 2


def properties(value: str) -> str:
    """Return a page with a property of attendees in each of 100 mixtures of letter cases."""
    keys = (
        "".join(c.upper() if number >> place & 1 else c for place, c in enumerate("attendees"))
        for number in range(100)
    )
    return "---\n" + "".join(f'{key}: "{value}"\n' for key in keys) + "---\n# Bo\n"


def find_aliases(count: int) -> None:
    search = MentionSearch(["Ann", *(f"alias {number}" for number in range(count))])
    text = "a b alias al " * 10_000 + "Ann"
    assert list(search.find(text)) == [(len(text) - 3, len(text))]


def strip_aliases(count: int) -> None:
    aliases = tuple(f"alias {number}" for number in range(count))
    bill = Entity("person:bill", "Bill Bo", "person", "bill.md", aliases)
    assert all(strip_subject(f"Bill likes tea {n}", bill) != "" for n in range(count))


def find_nested_names(count: int) -> None:
    names = ", ".join(" ".join("b" * words) for words in range(3, 100))
    entities = build_entities([page(f"---\naliases: [{names}]\n---\n# Bill Bo\n")])
    (link,) = Linker(entities).links(page("b " * count, "memory/notes/n.md"))
    assert link.count == count // 99


def link_in_letter_cases(count: int) -> None:
    people = [page("# Alexandrina Bo\n", f"memory/people/p{number}.md") for number in range(1_000)]
    name = "alexandrina bo"
    cases = (
        "".join(c.upper() if number >> place & 1 else c for place, c in enumerate(name))
        for number in range(2 ** len(name))
    )
    note = replace(page("# N\n", "memory/notes/n.md"), links=tuple(islice(cases, count)))
    links = Linker(build_entities(people)).links(note)
    assert [link.count for link in links] == [count] * len(people)


def number_ids(count: int) -> None:
    note = page("---\nid: x\n---\n")
    same = [replace(note, path=f"{number}.md") for number in range(count)]
    taken = [f"{note.kind}:0", *(f"{note.kind}:0.md{'~' * number}" for number in range(count))]
    others = [replace(note, path=f"a/{place}.md", id=each) for place, each in enumerate(taken)]
    assert len({*unique_ids([*same, *others]).values()}) == len(same) + len(others)


def follow_links(count: int) -> None:
    with TemporaryDirectory() as folder:
        Path(folder, "0.md").touch()
        for number in range(1, count):
            Path(folder, f"{number}.md").symlink_to(f"{number - 1}.md")
        assert 10 < len(walk(Path(folder)).files) < 100


def find_namesake_files(count: int) -> None:
    files = FileLookup(f"f{number}/n.md" for number in range(5_000))
    for number in range(count):
        folder = f"f{number % 5_000}"
        assert files.find("N" if number % 2 else "../n", f"{folder}/x.md") == f"{folder}/n.md"


def plan_many_drafts(count: int) -> None:
    text = "# Bill Bo\n\n## Facts\n" + "".join(f"- fact {number}\n" for number in range(3_000))
    bill = page_entity(page(text), "person:bill")
    texts = [*(f"new {number}" for number in range(count)), "new 1", "fact 1"]
    drafts = [
        Draft(str(number), text, entity_id=bill.id, choice=Choice("create"))
        for number, text in enumerate(texts)
    ]
    plan = make_plan(
        drafts,
        entities={bill.id: bill},
        facts={},
        read=lambda _: text.encode(),
        today="2026-03-04",
    )
    assert [draft.id for draft in plan.drafts] == [draft.id for draft in drafts[:-2]]
    assert [problem.draft_id for problem in plan.problems] == [str(count), str(count + 1)]
    added = "".join(f"- [2026-03-04] new {number}\n" for number in range(count))
    assert plan.files[0].after.decode() == text + added


def test_a_page_is_read_once_for_all_drafts_that_add_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# Bill Bo\n\n## Recent Facts\n- fact 1\n"
    people = [Entity(f"person:{name}", name, "person", "bo.md") for name in ("Bill", "Bo")]
    kinds: tuple[FactKind, ...] = ("fact", "open_item")
    drafts = [
        Draft(f"{number}{kind}{person.name}", f"{person.name} new {number}", kind, person.id)
        for number in range(100)
        for person in people
        for kind in kinds
    ]
    drafts = [replace(draft, choice=Choice("create")) for draft in drafts]
    again = [replace(draft, id=f"{draft.id} again") for draft in drafts]
    known = replace(drafts[0], id="known", text="Fact 1.")
    parsed, compared = Mock(side_effect=parse_document), Mock(side_effect=normal_form)
    monkeypatch.setattr("kbx_tui.editing.fact_edits.parse_document", parsed)
    monkeypatch.setattr("kbx_tui.drafting.planning.normal_form", compared)
    plan = make_plan(
        [*drafts, known, *again],
        entities={person.id: person for person in people},
        facts={},
        read=lambda _: text.encode(),
        today="2026-03-04",
    )
    assert parsed.call_count < 10
    assert compared.call_count < 4 * len(plan.drafts) + 4 * len(plan.problems)
    assert plan.drafts == tuple(drafts)
    assert [problem.reason for problem in plan.problems[:2]] == [
        "'fact 1' is already in bo.md:4",
        "an earlier draft adds 'Bill new 0' to bo.md",
    ]
    assert len(plan.problems) == 1 + len(again)
    facts = "".join(
        f"- [2026-03-04] {person.name} new {n}\n" for n in range(100) for person in people
    )
    after = plan.files[0].after.decode()
    assert after.startswith(text + facts)
    assert after.count("- [ ] ") == 200


def ask_again_and_again(count: int) -> None:
    people = [
        Entity(f"person:a{n}", f"Bo A{n}", "person", f"a{n}.md", ("Ann",)) for n in range(1_000)
    ]
    found = NameMatcher.of(people).find("what did " + "ann " * count + "say")
    assert len({match.entity for match in found}) == len(people)


TEAMS = (
    "# C\n\n## Teams (from Linear)\n\n"
    + "".join(f"- **Team {number}** (OPS)\n" for number in range(4_000))
    + "\n## Notes\n\n"
    + "OPS [[OPS]] " * 20_000
)
NOTES = "".join(f"  - source: s{number}\n" for number in range(12_000))
SPACES = " " * 150_000
SOURCE = f"- x (from: a{SPACES[:9_900]}b)\n"


@pytest.mark.parametrize(
    "work",
    [
        lambda: use_entities(f"# {'Dr ' * 60_000}Bo\n"),
        lambda: use_entities(f"# a({SPACES}b\n"),
        lambda: use_entities(f"# a{{{SPACES}b\n"),
        lambda: use_entities(f"# a<{SPACES}b\n"),
        lambda: use_entities(f"# A\n\n[k::{SPACES}\n(k::{SPACES}\n"),
        lambda: use_entities(f"# Bill Bo\n\n{'The. Now. ' * 10}{'bill ' * 9_000}"),
        lambda: use_entities(
            f"# C\n\n## Teams (from Linear)\n\n- **B**{SPACES}\1\n", "memory/context/company.md"
        ),
        lambda: use_entities(TEAMS, "memory/context/company.md"),
        lambda: search_tags(60_000),
        chunk_headings,
        lambda: match_people(3_000),
        lambda: plan_namesakes(6_000),
        lambda: list(read_facts(page("# A\n## Facts\n- x\n" + NOTES), "x")),
        lambda: select_topics(20_000),
        lambda: find_parts(20_000),
        lambda: import_turns(40_000),
        lambda: import_head(f"VIEW RECORDING - 1{' ' * 3_000}!a"),
        lambda: import_head(f"VIEW RECORDING{'!' * 40_000}a"),
        lambda: drafts_from_text(f"# Alice{SPACES}b\n- x\n"),
        lambda: read_topics(b"<top>" * 200_000),
        lambda: NameCorrection("Bo Li", "Bo Lee", Conventions()).apply("n.md", b"Bo\nLi " * 80_000),
        lambda: table_text([{"title": f"-{'1' * 60_000}x"}], "csv"),
        lambda: change_links(20_000),
        lambda: name_in_lists(8),
        lambda: strip_aliases(10_000),
        lambda: use_entities(properties("a," * 5_000)),
        lambda: use_entities(properties(f"a{' ' * 9_990}b")),
        lambda: find_aliases(10_000),
        lambda: render_inline(["*a* " * 2_500 + "[a](b) " * 13_000] * 5),
        lambda: notes_in("".join(f"(source: {number}) " for number in range(30_000))),
        lambda: find_nested_names(40_000),
        lambda: link_in_letter_cases(16_000),
        lambda: number_ids(6_000),
        lambda: follow_links(2_000),
        lambda: ask_again_and_again(30),
        lambda: find_namesake_files(20_000),
        lambda: plan_many_drafts(60),
        lambda: list(read_facts(page("# A\n## Facts\n" + SOURCE * 20), "x")),
        lambda: searched_text(document_row(page(f"---\nk: a{'0' * 80_000} b\n---\n"))),
        lambda: value_texts("[[ " * 60_000),
        lambda: exchanged_words("!" * 50_000 + "a is b", "b is a"),
    ],
    ids=["honorifics", "parenthesis", "attributes", "tags of html", "fields", "names", "teams",
         "one name", "tags", "headings", "attendees", "titles", "notes", "rules",
         "parts", "turns", "spaces", "marks", "drafts", "topics", "correction", "csv",
         "links changed", "names listed", "aliases", "commas", "blanks",
         "mentions", "emphasis", "notes", "nested names", "letter cases", "ids", "links of links",
         "names again", "files of one name", "drafts of a page", "spaces of a source",
         "digits", "brackets", "signs"],
)  # fmt: skip
def test_time_and_memory_grow_with_the_length_of_the_text(work: Callable[[], object]) -> None:
    began = time.process_time()
    work()
    assert time.process_time() - began < 4.0  # each took from 5 seconds to hours


def test_suggestions_for_broken_links_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ", ".join(f"mason {number}" for number in range(100))
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/b.md").write_text(f"---\naliases: [{names}]\n---\n# Bo\n")
    (tmp_path / "memory/a.md").write_text("".join(f"[[mison {n}]]\n" for n in range(200, 300)))
    kb = KnowledgeBase(tmp_path)
    kb.index(fast=True)
    assert all(link.suggestions for link in kb.links.check())
    kb.close()
    monkeypatch.setattr("kbx_tui.search.document_links.MOST_COMPARED", 1_000)
    found = [bool(link.suggestions) for link in KnowledgeBase(tmp_path).links.check()]
    assert found == [True] * 10 + [False] * 90


def test_tags_of_a_page_are_read_once_for_all_its_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "".join(f"#t{number} [[x{number}]]\n" for number in range(50))
    kb = KnowledgeBase(index_vault(tmp_path / "base", {"memory/a.md": note}, fast=True))
    read = Mock(side_effect=TextLists._at)
    monkeypatch.setattr(TextLists, "_at", lambda texts, row: read(texts, row))
    assert len(kb.links.check()) == 50
    assert read.call_count < 10


def test_why_not_tries_a_few_days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days = {
        f"memory/n{number}.md": f"---\ndate: {date(1990, 1, 1) + timedelta(number)}\n---\nboat\n"
        for number in range(300)
    }
    kb = KnowledgeBase(index_vault(tmp_path / "base", {**days, "memory/x.md": "x"}, fast=True))
    ranked = Mock(side_effect=rank)
    monkeypatch.setattr("kbx_tui.search.why_not.rank", ranked)
    (change,) = (
        each
        for each in kb.why_not("boat", "memory/n99.md", limit=1).changes
        if each.dimension == "until"
    )
    assert change.value == "1990-04-10"
    assert ranked.call_count < 300


def test_files_of_a_write_are_not_compared_with_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits = [FileEdit(f"memory/{number}.md", None, None) for number in range(300)]
    compared = Mock(side_effect=PurePath.__eq__)
    monkeypatch.setattr(PurePath, "__eq__", lambda one, other: compared(one, other))
    assert write_files(tmp_path, edits, "nothing").entry is None
    assert compared.call_count < 10 * len(edits)


def test_a_timeline_splits_a_page_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = "# Bill Bo\n\n## Facts\n\n" + "".join(f"- fact {n}\n" for n in range(20))
    kb = KnowledgeBase(index_vault(tmp_path / "base", {"memory/people/bill.md": page}, fast=True))
    body = Mock(split=Mock(side_effect=page.split))
    monkeypatch.setattr(BodyReader, "read", lambda self, paths: [(body, 1) for _ in paths])
    assert len(kb.entities.timeline("Bill Bo").entries) >= 20
    assert body.split.call_count == 1


def test_pages_that_link_to_the_same_pages_are_related_in_time(tmp_path: Path) -> None:
    links = " ".join(f"[[n{number}]]" for number in range(700))
    files = {f"memory/n{number}.md": f"# n{number}\n\n{links}\n" for number in range(700)}
    kb = KnowledgeBase(index_vault(tmp_path / "base", files, fast=True))
    kb.related("memory/n1.md")  # which reads the links
    began = time.process_time()
    assert len(kb.related("memory/n1.md", limit=50).related) == 50
    assert time.process_time() - began < 1.0  # it took 2.5, four times that for twice the pages
