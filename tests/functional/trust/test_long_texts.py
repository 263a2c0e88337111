"""Text of a clone that is made to take long takes no longer than as much of any other text."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.cli.output import table_text
from kbx_tui.drafting.drafts import drafts_from_text
from kbx_tui.editing.name_correction import NameCorrection
from kbx_tui.editing.page_merge import with_links_to
from kbx_tui.evaluation.exchange import read_topics
from kbx_tui.importing.import_formats import read_documents
from kbx_tui.importing.import_planning import AttendeeMatcher, ImportPlanner
from kbx_tui.importing.imported_document import Imported, ImportedDocument, SourceFile
from kbx_tui.index.build.stages import document_row
from kbx_tui.index.tables import searched_text
from kbx_tui.knowledge.chunker import split_documents
from kbx_tui.knowledge.entities import build_entities, page_entity
from kbx_tui.knowledge.entity_names import NameUseCounter
from kbx_tui.knowledge.fact_sections import read_facts
from kbx_tui.knowledge.linking import Linker
from kbx_tui.knowledge.reading import Conventions, parse_document
from kbx_tui.knowledge.records import Attendee, Document
from kbx_tui.knowledge.topics import NoteOutline, TopicRules, Topics
from kbx_tui.search.link_graph import part_line
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


TEAMS = (
    "# C\n\n## Teams (from Linear)\n\n"
    + "".join(f"- **Team {number}** (OPS)\n" for number in range(4_000))
    + "\n## Notes\n\n"
    + "OPS [[OPS]] " * 20_000
)
NOTES = "".join(f"  - source: s{number}\n" for number in range(12_000))
SPACES = " " * 150_000


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
        lambda: import_head(f"VIEW RECORDING - 1{' ' * 3_000}!a"),
        lambda: import_head(f"VIEW RECORDING{'!' * 40_000}a"),
        lambda: drafts_from_text(f"# Alice{SPACES}b\n- x\n"),
        lambda: read_topics(b"<top>" * 200_000),
        lambda: with_links_to("n.md", b"# N\n" + b"[[Bo]]\n" * 6_000, "a.md", lambda _: "Ann"),
        lambda: NameCorrection("Bo Li", "Bo Lee", Conventions()).apply("n.md", b"Bo\nLi " * 80_000),
        lambda: table_text([{"title": f"-{'1' * 60_000}x"}], "csv"),
    ],
    ids=["honorifics", "parenthesis", "attributes", "tags of html", "fields", "names", "teams",
         "one name", "tags", "headings", "attendees", "titles", "notes", "rules",
         "parts", "spaces", "marks", "drafts", "topics", "links", "correction", "csv"],
)  # fmt: skip
def test_time_and_memory_grow_with_the_length_of_the_text(work: Callable[[], object]) -> None:
    began = time.process_time()
    work()
    assert time.process_time() - began < 4.0  # each took from 5 seconds to hours


def test_a_timeline_takes_no_longer_for_each_fact_of_a_long_page(tmp_path: Path) -> None:
    facts = "".join(f"- [2026-03-01] Fact {n} (superseded: 2026-03-17)\n" for n in range(8_000))
    text = f"# Ann Lee\n\n## Recent Facts\n{facts}"
    base = index_vault(tmp_path, {"memory/people/ann-lee.md": text}, fast=True)
    with KnowledgeBase(base) as kb:
        kb.entities.card("person:ann-lee")
        began = time.process_time()
        found = kb.entities.timeline("person:ann-lee")
        assert time.process_time() - began < 2.0  # it took 10 seconds
    assert found.more == 7_951  # and the page
