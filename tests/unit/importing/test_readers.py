"""What readers make of the peculiarities of their formats."""

import json
import re
import time

import pytest

from kbx_tui.errors import ConfigError
from kbx_tui.importing.import_formats import read_documents
from kbx_tui.importing.import_planning import AttendeeMatcher
from kbx_tui.importing.imported_document import Format, ImportedDocument, SourceFile
from tests.unit.importing.samples import WRITERS, Sample, people, samples


def documents(*files: tuple[str, str | bytes]) -> list[ImportedDocument]:
    sources = [
        SourceFile(name, text.encode() if isinstance(text, str) else text) for name, text in files
    ]
    imported = read_documents(sources)
    assert not imported.problems
    return [one for one in imported.documents if isinstance(one, ImportedDocument)]


def problem(name: str, text: str) -> str:
    imported = read_documents([SourceFile(name, text.encode())])
    assert not imported.documents
    (found,) = imported.problems
    return found.reason


def chatgpt_nodes() -> dict[str, object]:
    def message(role: str, *parts: object) -> dict[str, object]:
        content = {"content_type": "text", "parts": list(parts)}
        return {"author": {"role": role}, "content": content}

    return {
        "root": {"message": None, "parent": None, "children": ["s"]},
        "s": {"message": message("system", "hidden"), "parent": "root", "children": ["q"]},
        "q": {"message": message("user", "Who leads?"), "parent": "s", "children": ["a", "b"]},
        "a": {"message": message("assistant", "Bob."), "parent": "q", "children": []},
        "b": {"message": message("assistant", "Alice.", {"image": 1}), "parent": "q"},
    }


def test_a_chatgpt_conversation_is_its_current_branch_or_all_of_it() -> None:
    chat = {"id": "c1", "title": "Leads", "create_time": 1773738000.5, "current_node": "b"}
    (note,) = documents(("conversations.json", json.dumps([chat | {"mapping": chatgpt_nodes()}])))
    assert (note.title, note.folder, note.import_id) == ("Leads", "chats", "chatgpt:c1")
    assert note.date == "2026-03-17"
    assert note.body == "## Me\n\nWho leads?\n\n## Assistant\n\nAlice.\n"

    chat = {"id": "c1", "title": "x", "mapping": chatgpt_nodes(), "current_node": {}}
    (note,) = documents(("conversations.json", json.dumps([chat])))
    assert note.body.endswith("Alice.\n")


def test_a_conversation_that_loops_ends() -> None:
    nodes = {"a": {"message": None, "parent": "b"}, "b": {"message": None, "parent": "a"}}
    chat = {"id": "c1", "title": "x", "mapping": nodes, "current_node": "a"}
    whole = {"id": "c2", "title": "y", "mapping": chatgpt_nodes(), "current_node": "b"}
    data = json.dumps([chat, whole]).encode()
    imported = read_documents([SourceFile("conversations.json", data)])
    (note,) = imported.documents
    assert isinstance(note, ImportedDocument)
    assert note.title == "y"
    assert [problem.reason for problem in imported.problems] == ["x holds no text"]


def test_attachments_of_a_claude_conversation_are_kept() -> None:
    said = {
        "sender": "human",
        "text": "Read this",
        "content": [{"type": "text", "text": "Read this"}, {"type": "tool_use", "text": "no"}],
        "attachments": [{"file_name": "plan.txt", "extracted_content": "The plan."}],
    }
    chat = {"uuid": "u1", "name": "", "created_at": "2026-03-17T09:00:00", "chat_messages": [said]}
    (note,) = documents(("conversations.json", json.dumps([chat])))
    assert note.title == "Read this"
    assert note.body == "## Me\n\nRead this\n\n### plan.txt\n\nThe plan.\n"


def test_a_page_without_a_usable_granola_id_is_none_of_granola() -> None:
    page = SourceFile("a.md", b"---\ngranola_id: n1\n---\n# Sync\n\nText\n")
    other = SourceFile("b.md", b"---\ngranola_id:\n---\n# Other\n")
    imported = read_documents([page, other])
    (note,) = imported.documents
    assert isinstance(note, ImportedDocument)
    assert note.import_id == "granola:n1"
    assert [problem.path for problem in imported.problems] == ["b.md"]


def test_links_between_notion_pages_become_wikilinks_without_ids() -> None:
    first, second = "a" * 32, "b" * 32
    link = f"[the budget](Plan%20{first}/Budget%20{second}.md)"
    page = f"# Plan\n\nStatus: Done\nTags: one, two\n\nSee {link}.\n"
    plan, budget = documents(
        (f"Export-1/Plan {first}.md", page),
        (f"Export-1/Plan {first}/Budget {second}.md", "# Budget\n\nSmall.\n"),
    )
    assert plan.body == "See [[Budget|the budget]].\n"
    assert plan.fields == {"status": "Done", "tags": ["one", "two"]}
    assert (plan.folder, budget.folder) == ("notion", "notion/plan")


def notion_body(text: str, *others: tuple[str, str]) -> str:
    """Return the body of a Notion page, imported together with other pages."""
    page, *_ = documents((f"Home {'d' * 32}.md", f"# Home\n\n{text}\n"), *others)
    return page.body.removesuffix("\n")


def test_a_notion_link_is_recognised_as_markdown_reads_it() -> None:
    plan = (f"Plan (draft) {'a' * 32}.md", "# Plan (draft)\n")
    link = f"[the plan](Plan%20(draft)%20{'a' * 32}.md)"
    assert notion_body(link, plan) == "[[Plan (draft)|the plan]]"
    assert notion_body(f"`{link}`", plan) == f"`{link}`"
    assert notion_body(f"```\n{link}\n```", plan) == f"```\n{link}\n```"
    table = "| a | b |\n| --- | --- |\n| x | {} |"
    assert notion_body(table.format(link), plan) == table.format("[[Plan (draft)\\|the plan]]")


def test_a_notion_link_names_the_path_of_one_of_several_pages_and_a_page_its_file() -> None:
    first, second = (f"One/Notes {'a' * 32}.md", "# Notes\n"), (f"Two/Notes {'b' * 32}.md", "x\n")
    body = notion_body(f"[Notes](Two/Notes%20{'b' * 32}.md)", first, second)
    assert body == "[[notion/two/notes|Notes]]"

    (page,) = documents((f"Plan {'a' * 32}.md", "# \n\nText\n"))
    assert page.title == "Plan"


def test_a_notion_table_becomes_a_markdown_table_if_it_can_be_read() -> None:
    name = f"Tasks {'c' * 32}"
    _, table = documents(
        (f"Home {'d' * 32}.md", "# Home\n"), (f"{name}.csv", "Name,Done\na|b,Yes\n")
    )
    assert table.body == "| Name | Done |\n| --- | --- |\n| a\\|b | Yes |\n"

    odd = SourceFile(f"x {'a' * 32}.csv", b"a," + b"b" * 140_000)
    imported = read_documents([SourceFile(f"Home {'d' * 32}.md", b"# Home\n"), odd])
    assert len(imported.documents) == 1
    assert "not a readable table" in imported.problems[0].reason


def test_a_logseq_graph_keeps_journals_namespaces_tasks_and_references() -> None:
    block = "64f1e0a2-0000-4000-8000-000000000001"
    journal, page = documents(
        ("journals/2026_03_17.md", f"- TODO call Bob\n- DONE plan\n- (({block}))\n"),
        ("pages/work___fares.md", f"alias:: prices\n- The cap stays\n  id:: {block}\n"),
    )
    assert (journal.title, journal.date) == ("2026-03-17", "2026-03-17")
    assert journal.body == "- [ ] call Bob\n- [x] plan\n- The cap stays\n"
    assert (page.title, page.folder, page.stem) == ("work/fares", "logseq/work", "fares")
    assert page.fields == {"aliases": ["prices"]}


def test_people_of_an_address_book_have_their_fields() -> None:
    card = (
        "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Alice Chen\r\nN:Chen;Alice;;;\r\nNICKNAME:achen\r\n"
        "EMAIL;TYPE=work:alice@x.example\r\nEMAIL:a@y.example\r\nORG:Larkwater;Platform\r\n"
        "TITLE:Director\r\nNOTE:Met in\\nPorto\r\nEND:VCARD\r\n"
    )
    broken = "BEGIN:VCARD\r\nVERSION:3.0\r\nEMAIL:x@y.example\r\nEND:VCARD\r\n"
    imported = read_documents([SourceFile("all.vcf", (card + broken).encode())])
    (alice,) = imported.documents
    assert isinstance(alice, ImportedDocument)
    assert alice.fields == {
        "aliases": ["achen"],
        "email": "alice@x.example",
        "emails": ["alice@x.example", "a@y.example"],
        "role": "Director",
        "company": "Larkwater",
        "team": "Platform",
    }
    assert alice.body == "Met in\nPorto\n"
    assert [one.reason for one in imported.problems] == [
        "card 2 cannot be read: it has no name x@y.example"
    ]


def test_changed_events_of_a_series_have_own_ids_and_rooms_do_not_attend() -> None:
    head = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"
    event = (
        "BEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Standup\r\nDTSTART;VALUE=DATE:20260317\r\n"
        "RRULE:FREQ=WEEKLY\r\nATTENDEE;CUTYPE=ROOM;CN=Room 4:mailto:r@x.example\r\nEND:VEVENT\r\n"
    )
    moved = event.replace("RRULE:FREQ=WEEKLY", "RECURRENCE-ID;VALUE=DATE:20260324")
    first, second = documents(("c.ics", f"{head}{event}{moved}{event}END:VCALENDAR\r\n"))
    assert (first.import_id, second.import_id) == ("ics:1", "ics:1#2026-03-24")
    assert first.attendees == ()
    assert first.fields == {"repeats": "FREQ=WEEKLY"}


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("x.vtt", "no header", "does not begin with WEBVTT"),
        ("x.vtt", "WEBVTT\n\n", "holds no text"),
        ("x.srt", "1\nnonsense\n", "not valid SubRip"),
        ("x.ics", "nothing", "does not hold a VCALENDAR"),
        ("x.vcf", "nothing", "does not hold a VCARD"),
        ("x.vcf", "BEGIN:VCARD\nFN;CHARSET=klingon;ENCODING=QUOTED-PRINTABLE:J=C3\nEND:VCARD\n",
         "card 1 cannot be read: unknown encoding"),
        ("x.json", "{", "is not JSON"),
        ("x.json", "[" * 100_000, "is not JSON|nested too deeply"),
        ("conversations.json", "[]", "holds no conversations"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_a_problem_with_a_reason(name: str, text: str, reason: str) -> None:
    assert re.search(reason, problem(name, text))


def test_hostile_lines_are_read_in_linear_time() -> None:
    tags, tabs = "<v " * 200_000, "\t" * 200_000  # quadratic time would be many minutes
    (captions,) = documents(("a.vtt", f"WEBVTT\n\n00:01.000 --> 00:02.000\n{tags}\n"))
    assert captions.body.startswith("<v <v")
    (meeting,) = documents(("a.txt", f"A{tabs}b\n0:01 - C{tabs}D\n0:02 - C\nHello\n"))
    assert meeting.body.endswith("**C:** Hello\n")


@pytest.mark.parametrize("start", ["00010101T000000Z", "99991231T235959Z"])
def test_an_event_at_the_end_of_time_keeps_its_date(
    start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC+3" if start < "1" else "UTC-3")
    time.tzset()
    event = f"BEGIN:VEVENT\nUID:1\nSUMMARY:x\nDTSTART:{start}\nEND:VEVENT\n"
    try:
        (read,) = documents(("c.ics", f"BEGIN:VCALENDAR\n{event}END:VCALENDAR\n"))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert read.date.replace("-", "") == start[:8]


def test_files_of_no_known_format_are_refused() -> None:
    with pytest.raises(ConfigError, match="nothing of a known format"):
        documents(("shopping.txt", "milk\n"))


def read(sample: Sample, form: Format) -> ImportedDocument:
    imported = read_documents([sample.file], form if form in ("notion", "logseq") else None)
    assert not imported.problems
    (document,) = imported.documents
    assert isinstance(document, ImportedDocument)
    return document


@pytest.mark.parametrize("form", WRITERS)
def test_attendees_of_twenty_samples_are_recognised(form: Format) -> None:
    expected = recognised = 0
    for sample in samples(form):
        matcher = AttendeeMatcher(people())
        document = read(sample, form)
        names = {matcher.match(who, document.title).name for who in document.attendees}
        expected += len(sample.people)
        recognised += len(names & set(sample.people))
    assert len(samples(form)) >= 20
    assert recognised / expected >= 0.95


@pytest.mark.parametrize("form", WRITERS)
def test_title_date_and_words_are_read_from_every_sample(form: Format) -> None:
    for sample in samples(form):
        document = read(sample, form)
        assert document.title == "Fare review"
        assert "We agree." in document.body
        if form != "logseq":
            assert document.date == "2026-03-17"


@pytest.mark.parametrize("form", WRITERS)
def test_the_same_file_has_the_same_id_again(form: Format) -> None:
    for sample in samples(form):
        assert read(sample, form).import_id == read(sample, form).import_id
