"""Odd ways in which programs write transcripts, calendars, contacts and conversations."""

import json
import time
from collections.abc import Iterator

import pytest

from kbx_tui.importing.import_formats import read_documents
from kbx_tui.importing.imported_document import Format, Imported, ImportedDocument, SourceFile


def imported(name: str, text: str, form: Format | None = None) -> Imported:
    return read_documents([SourceFile(name, text.encode(), "2026-03-17")], form)


def one(name: str, text: str, form: Format | None = None) -> ImportedDocument:
    found = imported(name, text, form)
    (document,) = found.documents
    assert isinstance(document, ImportedDocument)
    assert not found.problems
    return document


def names(document: ImportedDocument) -> list[str]:
    return [who.name for who in document.attendees]


def cues(*texts: str, head: str = "WEBVTT") -> str:
    parts = (f"00:{n:02}.000 --> 00:{n + 1:02}.000\n{text}\n" for n, text in enumerate(texts))
    return f"{head}\n\n" + "\n".join(parts)


def vtt(*texts: str, head: str = "WEBVTT") -> ImportedDocument:
    return one("talk.vtt", cues(*texts, head=head))


@pytest.mark.parametrize(
    ("texts", "speakers", "body"),
    [
        (("(Rosa Diaz)\nWe begin.", "(Tim Ek)\nNote: bring tea."), ["Rosa Diaz", "Tim Ek"],
         "**Rosa Diaz:** We begin.\n\n**Tim Ek:** Note: bring tea.\n"),
        (("(Rosa Diaz)\nWe\n-\n(Tim Ek)\nBegin", "(Tim Ek)\nNow"), ["Rosa Diaz", "Tim Ek"],
         "**Rosa Diaz:** We\n\n**Tim Ek:** Begin Now\n"),
        ((">> ROSA DIAZ: Ships sail.", "at dawn.", ">> When?", ">> TIM: Soon."),
         ["Rosa Diaz", "Tim"],
         "**Rosa Diaz:** Ships sail. at dawn.\n\nWhen?\n\n**Tim:** Soon.\n"),
        (("- Rosa: Ready?\n- Tim: Yes.",), ["Rosa", "Tim"],
         "**Rosa:** Ready?\n\n**Tim:** Yes.\n"),
        (("-Rosa: Ready?\n-Tim: Yes.",), ["Rosa", "Tim"],
         "**Rosa:** Ready?\n\n**Tim:** Yes.\n"),
        (("[Rosa Diaz] We sail.", "(Applause)", "[TIM HALE] Note: at dawn."),
         ["Rosa Diaz", "Tim Hale"],
         "**Rosa Diaz:** We sail. (Applause)\n\n**Tim Hale:** Note: at dawn.\n"),
        (("[Rosa Diaz]: We sail.", "[Tim Hale]: At dawn."), ["Rosa Diaz", "Tim Hale"],
         "**Rosa Diaz:** We sail.\n\n**Tim Hale:** At dawn.\n"),
        (("SPEAKER_00: We sail.", "佐藤：はい"), ["佐藤"],
         "**Speaker_00:** We sail.\n\n**佐藤:** はい\n"),
        (("Note: we sail.", "Tip: at dawn.", "So it is this: bring tea."), [],
         "Note: we sail. Tip: at dawn. So it is this: bring tea.\n"),
        (("We sail.", "(Applause)", "One thing: bring tea.", "Thanks."), [],
         "We sail. (Applause) One thing: bring tea. Thanks.\n"),
        (("Rosa: We sail.", "Note: at dawn."), ["Rosa"],
         "**Rosa:** We sail. Note: at dawn.\n"),
        (("Before.<v.loud Rosa Diaz>We sail.</v>", "<v Tim Ek>Note: tea.</v>", "More."),
         ["Rosa Diaz", "Tim Ek"],
         "Before.\n\n**Rosa Diaz:** We sail.\n\n**Tim Ek:** Note: tea. More.\n"),
        (("so<00:00:00.500><c> we</c>", "so we\nsail<00:00:01.500><c> now</c>", "sail now"), [],
         "so we sail now\n"),
    ],
    ids=["brackets", "several in a cue", "arrows", "dashes", "dashes without space",
         "brackets in a line", "brackets and a colon", "machine and Japanese", "remarks",
         "no labels", "remark", "voice tags", "rolling"],
)  # fmt: skip
def test_speakers_of_captions(texts: tuple[str, ...], speakers: list[str], body: str) -> None:
    document = vtt(*texts)
    assert (names(document), document.body) == (speakers, body)


def test_every_line_of_captions_that_is_shown_is_kept() -> None:
    text = (
        "WEBVTT - Harbour talk\nKind: captions\nLanguage: en\n\nSTYLE\n::cue { color: red }\n\n"
        'NOTE not shown\nat all\n\n1 "Rosa Diaz" (4711)\n00:00:01.000 --> 00:00:02.000\nWe sail.\n'
        '\nAfter a blank line.\n\n2 "Tim Ek" (4712)\n00:00:02,000 --> 00:00:03,000 align:start\n'
        "With a comma.\n\nc-3\n00:00:04 --> 00:00:05\nWithout milliseconds.\n"
        "\nNOTE Confidence: 0.9\n\n-00:00:06 --> 00:00:07\n{b}Before{/b} its time.\n"
    )
    found = imported("talk.vtt", text)
    (document,) = found.documents
    assert isinstance(document, ImportedDocument)
    assert [problem.reason for problem in found.problems] == ["left out: 1 comment"]
    assert names(document) == ["Rosa Diaz", "Tim Ek"]
    assert document.body == (
        "Harbour talk\n\n**Rosa Diaz:** We sail. After a blank line.\n\n"
        "**Tim Ek:** With a comma. Without milliseconds. Before its time.\n"
    )


@pytest.mark.parametrize(
    ("name", "text", "body"),
    [
        ("a.vtt", "WEBVTT\nKind: captions\nTitle: A\n\n00:01.0 --> 00:02.0 align:start\nNOTE it",
         "Title: A NOTE it\n"),
        ("a.vtt", "WEBVTT\nKind: captions\nStyle:\n::cue(c) { color: red;\n }\n##\n\n\n"
         "00:01.0 --> 00:02.0\nStyle:\nWe sail", "Style: We sail\n"),
        ("a.vtt", "WEBVTT\n\n00:01.0 --> 00:02.0We sail\nroute66\n00:03.0 --> 00:04.0\nnow",
         "We sail route66 now\n"),
        ("a.srt", "1\n00:01,0 --> 00:02,0\nif 2 < 3 and 5 > 4\n\n7b\n00:02,0 --> 00:03,0\nx",
         "if 2 < 3 and 5 > 4 7b x\n"),
    ],
    ids=["header", "styles in the header", "beside the time", "no tag"],
)  # fmt: skip
def test_what_looks_like_a_part_of_the_format_is_text(name: str, text: str, body: str) -> None:
    assert one(name, text).body == body


def test_subtitles_without_numbers_and_blank_lines_are_read() -> None:
    text = (
        "00:00:01.000 --> 00:00:02.000\n{\\an8}<i>Rosa Diaz: We sail.</i>\n\nAnd return.\n2\n"
        "00:00:02,000 --> 99999999999:00:03,000\nTim Ek: When?"
    )
    document = one("talk.srt", text)
    assert document.body == "**Rosa Diaz:** We sail. And return.\n\n**Tim Ek:** When?\n"
    converted_twice = (
        "1\n00:00:01,000 --> 00:00:02,000\nAway\n\n2\n00:00:02,0 --> 00:00:03,0\nAhoy\n"
    )
    assert one("a.srt", converted_twice.replace("\n", "\r\r\n")).body == "Away Ahoy\n"


def test_a_line_of_speech_that_ends_in_a_time_begins_no_turn() -> None:
    text = (
        "Harbour talk\nA remark on the recording\n\nSUMMARY KEYWORDS\nferry, tide\n\n"
        "Rosa  0:00\nThe ferry leaves at 9:15\nand returns at 18:40\n\nSpeaker 2  0:21\n"
        "We close today  0:25\n\nUnknown Speaker  1:00:02\nDone.\n\n"
        "Transcribed by https://otter.ai\n"
    )
    document = one("talk_otter_ai.txt", text)
    assert names(document) == ["Rosa"]
    assert document.fields == {"keywords": ["ferry", "tide"]}
    assert document.body == (
        "A remark on the recording\n\n**Rosa:** The ferry leaves at 9:15 and returns at 18:40\n\n"
        "**Speaker 2:** We close today 0:25\n\n**Unknown Speaker:** Done.\n"
    )


def test_turns_whose_spaces_a_copy_has_joined_are_read() -> None:
    text = "Rosa Diaz 0:00\nWe meet at 10:30\n\nTim Ek 0:09\nNot at 0:05\n"
    document = one("Pier_talk_otter_ai.txt", text)
    assert (document.title, names(document)) == ("Pier talk", ["Rosa Diaz", "Tim Ek"])
    assert "We meet at 10:30" in document.body
    with pytest.raises(Exception, match="nothing of a known format"):
        imported("plan.txt", "We meet at 10:30\n\nthen eat at 12:30\n")


def test_the_head_of_a_text_of_otter_is_read_and_keeps_its_lines() -> None:
    text = (
        "Tide talk\nFr., 13. März 2026 10:02 • 12 min\n\nSPEAKERS\nRosa Diaz, Tim Ek\n\nSummary\n"
        "Low.\n- [ ] Tim buys rope\n\nRosa Diaz\nWe sail at six.\nOr seven.\n\nTim Ek\nFine.\n"
    )
    document = one("talk.txt", text)
    assert (document.title, document.date) == ("Tide talk", "2026-03-13")
    assert document.fields == {"time": "10:02", "duration": "12 min"}
    assert document.body == (
        "Summary\nLow.\n- [ ] Tim buys rope\n\n"
        "**Rosa Diaz:** We sail at six. Or seven.\n\n**Tim Ek:** Fine.\n"
    )


@pytest.mark.parametrize(
    ("head", "title", "fields", "body"),
    [
        ("Weekly Sync 2026-03-17", "Weekly Sync 2026-03-17", {}, ""),
        ("Sync 2026-03-17\nTue, Mar 17, 2026 9:00AM • 32:10", "Sync 2026-03-17",
         {"time": "09:00", "duration": "32:10"}, ""),
        ("Tuesday, March 17, 2026 at 9:00 PM", "talk", {"time": "21:00"}, ""),
        ("Sync\nTaken by Ida on 2026-03-17", "Sync", {}, "Taken by Ida on 2026-03-17\n\n"),
    ],
    ids=["title", "title and day", "day", "text"],
)  # fmt: skip
def test_only_a_line_of_day_time_and_length_leaves_the_head(
    head: str, title: str, fields: dict[str, str], body: str
) -> None:
    page = one("talk_otter_ai.txt", f"{head}\n\nRosa Diaz  0:04\nWe sail.\n", "otter")
    assert (page.title, page.date, page.fields) == (title, "2026-03-17", fields)
    assert page.body == f"{body}**Rosa Diaz:** We sail.\n"


def test_long_texts_are_read_in_linear_time() -> None:
    listed = [f"Ann B{number}" for number in range(8_000)]
    text = f"SPEAKERS\n{', '.join(listed)}\n\n" + "\n".join(f"{name}\nHi.\n" for name in listed)
    start = time.process_time()
    assert names(one("talk.txt", text, "otter")) == listed
    assert time.process_time() - start < 1

    lines = ("x" * 75 + "=\n") * 20_000
    text = f"BEGIN:VCARD\nNOTE;ENCODING=QUOTED-PRINTABLE:{lines}\nEND:VCARD\n"
    start = time.process_time()
    (problem,) = imported("c.vcf", text).problems
    assert time.process_time() - start < 1
    assert problem.reason == "card 1 cannot be read: it has no name"


@pytest.mark.parametrize("turn", ["[{0}] {1}", "{0} ({1}):", "{0} [{1}]", "[{0}]  {1}"])
def test_names_or_times_of_turns_may_be_in_brackets(turn: str) -> None:
    lines = [turn.format("Rosa Diaz", "00:00:04"), "We sail at (10:30)", ""]
    lines += [turn.format("Tim [guest]", "00:00:09"), "At dawn."]
    page = one("talk.txt", "\n".join(lines))
    assert names(page) == ["Rosa Diaz", "Tim [guest]"]
    assert page.body == "**Rosa Diaz:** We sail at (10:30)\n\n**Tim [guest]:** At dawn.\n"


def test_a_time_in_speech_begins_no_turn_in_a_text_of_fathom() -> None:
    text = (
        "Harbour - March 17, 2026\nVIEW RECORDING - 5 mins: https://fathom.video/share/a\n"
        "Hosted by the port\n\n---\n\n0:03 - Rosa Diaz (Port of Faro)\n  We begin.\n"
        "0:12 - Tim Ek\n  The slots:\n0:05 - unloading\n0:30 - Rosa Diaz (Port of Faro)\n  Good.\n"
    )
    document = one("talk.txt", text)
    assert (document.title, document.date) == ("Harbour", "2026-03-17")
    assert names(document) == ["Rosa Diaz", "Tim Ek"]
    assert document.body.startswith("Hosted by the port\n\n**Rosa Diaz:** We begin.")
    assert "The slots: 0:05 - unloading" in document.body


@pytest.mark.parametrize(
    ("head", "turn", "date", "fields"),
    [
        ("Harbour - January 29\nVIEW RECORDING - 131 mins (No highlights): \n", "0:09 - {}",
         "2026-01-29", {"duration": "131 mins"}),
        ("# Harbour - May 2\n[**VIEW RECORDING - 1 min**](https://fathom.video/a)\n",
         "[@0:09](https://fathom.video/a?timestamp=9) - **{}**", "2025-05-02",
         {"url": "https://fathom.video/a", "duration": "1 min"}),
    ],
    ids=["day without a year", "markdown"],
)  # fmt: skip
def test_the_head_of_a_text_of_fathom_is_read(
    head: str, turn: str, date: str, fields: dict[str, str]
) -> None:
    names_said = (turn.format("Rosa Diaz"), turn.format("Tim Ek (Port)"))
    page = one("talk.md", f"{head}\n---\n\n{names_said[0]}\nWe sail.\n\n{names_said[1]}\nAye.\n")
    assert (page.title, page.date, page.fields) == ("Harbour", date, fields)
    assert page.body == "**Rosa Diaz:** We sail.\n\n**Tim Ek:** Aye.\n"


def test_a_page_of_fathom_or_otter_keeps_its_properties_and_paragraphs() -> None:
    front = "---\ntitle: Tides\ndate: 2026-01-29\nattendees: [Ida Lund, Tim Ek]\nport: Faro\n---\n"
    head = "## Purpose\n\nBuy rope.\n\n"
    fathom = "[@0:09](https://a.example) - **Tim Ek (Port, Ltd. (Faro))**\nWe sail.\n"
    pages = [
        one("a.md", front + head + fathom),
        one("a.md", f"{front}{head}Tim Ek  0:09\nWe sail."),
    ]
    for page in pages:
        assert (page.title, page.date, names(page)) == (
            "Tides",
            "2026-01-29",
            ["Tim Ek", "Ida Lund"],
        )
        assert page.fields["port"] == "Faro"
        assert page.body.endswith("Buy rope.\n\n**Tim Ek:** We sail.\n")
    assert pages[0].body.startswith("## Purpose\n\nBuy rope.")


def meeting(name: str, record: object) -> ImportedDocument:
    return one(name, json.dumps(record))


def test_meetings_of_fathom_are_read_whatever_part_of_them_is_exported() -> None:
    speaker = {"display_name": "Tim Ek", "matched_calendar_invitee_email": "t@a.example"}
    said = {"transcript": [{"speaker": speaker, "text": "Aye."}]}
    host = {"name": "Rosa Diaz", "email": "r@a.example"}
    whole = {
        "recording_id": 7,
        "recorded_by": host,
        "calendar_invitees": [{"email": "t@a.example"}],
    }
    assert names(meeting("a.json", whole | said)) == ["Tim Ek", "Rosa Diaz"]
    alone = meeting("Tides 2026-03-17.json", said)
    assert (alone.title, alone.date) == ("Tides", "2026-03-17")
    assert (
        alone.body
        == meeting("a.json", {"transcript": [{"speaker": "Tim Ek", "text": "Aye."}]}).body
    )
    several = imported("a.json", json.dumps([said, said | {"title": "Tides"}])).documents
    assert len({each.import_id for each in several if isinstance(each, ImportedDocument)}) == 2
    for summary in ({"markdown_formatted": "Low."}, "Low."):
        assert meeting("a.json", {"recording_id": 7, "summary": summary}).body == "Low.\n"
    assert meeting("a.json", {"meetings": [whole | said]}).body == alone.body

    hook = meeting(
        "a.json",
        {
            "id": 7,
            "fathom_user": host,
            "meeting": {"title": "Tides", "scheduled_start_time": "2026-03-17T12:00:00Z",
                        "invitees": [{"name": "Tim Ek", "email": "t@a.example"}]},
            "recording": {"share_url": "https://a.example", "duration_in_minutes": 5},
            "transcript": {"plaintext": "0:03 - Tim Ek\n  Aye."},
        },
    )  # fmt: skip
    assert (hook.title, hook.date, names(hook)) == ("Tides", "2026-03-17", ["Tim Ek", "Rosa Diaz"])
    assert (hook.fields, hook.body) == ({"url": "https://a.example"}, "0:03 - Tim Ek\n  Aye.")


def test_rich_text_and_panels_of_granola_become_markdown() -> None:
    def text(words: str, **more: object) -> dict[str, object]:
        return {"type": "text", "text": words, **more}

    def block(kind: str, *content: object, **attrs: object) -> dict[str, object]:
        return {"type": kind, "content": list(content), "attrs": attrs}

    link = [{"type": "link", "attrs": {"href": "https://a.example"}}]
    item = block("listItem", block("paragraph", text("Bring "), text("rope", marks=link)),
                 block("orderedList", block("listItem", block("paragraph", text("long"))))
                 )  # fmt: skip
    notes = block("doc", block("heading", text("Tides"), level=3), block("bulletList", item))
    note = {"id": "n", "title": "Harbour", "created_at": "2026-03-17T09:00:00", "notes": notes}
    panels = {"n": {"p": {"title": "Next", "content": block("doc", text("Sail."))}}}
    said = {"n": [{"text": "Aye.", "source": "system"}]}
    state = {"documents": {"n": note}, "documentPanels": panels, "transcripts": said}
    assert meeting("cache-v4.json", {"cache": {"state": state}}).body == (
        "### Tides\n\n- Bring [rope](https://a.example)\n  1. long\n\n## Summary\n\n"
        "### Next\n\nSail.\n\n## Transcript\n\n**Others:** Aye.\n"
    )
    viewed = {"docs": [note | {"notes": None, "last_viewed_panel": panels["n"]["p"]}]}
    assert meeting("docs.json", viewed).body == "### Next\n\nSail.\n"
    parts = {"document": viewed["docs"][0], "panels": [panels["n"]["p"]], "transcript": said["n"]}
    assert (
        meeting("n.json", parts).body == "### Next\n\nSail.\n\n## Transcript\n\n**Others:** Aye.\n"
    )
    low = {"notes": None, "summary": "Low.", "overview": "Ebb."}
    assert meeting("n.json", note | low).body == "Low.\n\nEbb.\n"
    assert meeting("n.json", note | low | {"panels": parts["panels"]}).body == (
        "### Next\n\nSail.\n\nLow.\n\nEbb.\n"
    )
    alone = [{"document_id": "n", "start_timestamp": "2026-03-02T12:00:00Z"} | said["n"][0]]
    page = meeting("Tides.transcript.json", alone)
    assert (page.title, page.date, page.body) == ("Tides", "2026-03-02", "**Others:** Aye.\n")
    chunks = [{"document_id": "a", "source": "wiki", "text": "Paris is large."}]
    with pytest.raises(Exception, match="nothing of a known format"):
        imported("chunks.json", json.dumps(chunks))
    page = one("a.md", "---\ngranola_id: n\nurl: https://a.example\n---\nSail.\n")
    assert page.fields["url"] == "https://a.example"


BOLD, LINK_MARK = {"type": "bold"}, {"type": "link", "attrs": {"href": "https://a.example"}}
PARAGRAPH = [
    {"type": "text", "text": "rope", "marks": [BOLD, LINK_MARK]},
    {"type": "hardBreak", "marks": [BOLD]},
    {"type": "text", "text": "sail"},
]
PANEL = """<h3>Tides &amp; wind</h3>
<ul>
<li>Bring <b>the <a href="https://a.example/?a=1&amp;b=2">rope</a></b> now
<ol><li><p>long</p></li><li>strong</li></ol>
</li></ul><hr><p>Low:<br>at
ten</p> Sail"""


@pytest.mark.parametrize(
    ("content", "markdown"),
    [
        ({"type": "paragraph", "content": PARAGRAPH}, "[rope](https://a.example)\nsail"),
        (PANEL, "### Tides & wind\n\n- Bring the [rope](https://a.example/?a=1&b=2) now\n"
                "  1. long\n  2. strong\n\nLow:\nat ten\n\nSail"),
        ("Sail.\n\n- a <b", "Sail.\n\n- a <b"),
        ({"type": "taskList", "content": [{"type": "taskItem", "attrs": {"checked": True},
          "content": [{"type": "paragraph", "content": PARAGRAPH[2:]}]}]}, "- [x] sail"),
        ({"type": "image", "attrs": {"src": "a.png", "alt": "rig"}}, "![rig](a.png)"),
        ({"type": "heading", "attrs": {"level": 2.0}, "content": PARAGRAPH[2:]}, "## sail"),
        ({"type": "heading", "attrs": {"level": True}, "content": PARAGRAPH[2:]}, "## sail"),
        ({"type": "heading", "attrs": {"level": 10**9}, "content": PARAGRAPH[2:]}, "## sail"),
    ],
)  # fmt: skip
def test_a_panel_of_granola_keeps_its_text_whatever_its_form(
    content: object, markdown: str
) -> None:
    note = {"id": "n", "title": "Harbour", "created_at": "2026-03-17T09:00:00"}
    for panel in ({"content": content}, {"content": None, "original_content": content}):
        viewed = {"docs": [note | {"last_viewed_panel": panel}]}
        assert meeting("docs.json", viewed).body == f"{markdown}\n"


def event(lines: str, head: str = "") -> ImportedDocument:
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\n{head}BEGIN:VEVENT\nUID:1\nSUMMARY:Tide\n{lines}"
    return one("c.ics", f"{text}\nEND:VEVENT\nEND:VCALENDAR\n")


@pytest.fixture
def lisbon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Lisbon")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


TOKYO = "X-WR-TIMEZONE:Asia/Tokyo\n"
CUSTOM = (
    "BEGIN:VTIMEZONE\nTZID:Harbour Time\nBEGIN:STANDARD\nDTSTART:19700101T000000\n"
    "TZOFFSETFROM:+0300\nTZOFFSETTO:+0300\nEND:STANDARD\nEND:VTIMEZONE\n"
)


@pytest.mark.usefixtures("lisbon")
@pytest.mark.parametrize(
    ("head", "lines", "date", "hours", "zone"),
    [
        (TOKYO, "DTSTART:20260701T160000Z\nDTEND:20260701T170000Z", "2026-07-02", "01:00-02:00",
         "Asia/Tokyo"),
        (TOKYO, "DTSTART;TZID=America/Lima:20260701T120000\nDURATION:PT90M", "2026-07-02",
         "02:00-03:30", "Asia/Tokyo"),
        (TOKYO, "DTSTART:20260701T160000", "2026-07-01", "16:00", ""),
        ("", "DTSTART;TZID=America/Lima:20260701T120000", "2026-07-01", "12:00", "America/Lima"),
        ("", "DTSTART;TZID=Tokyo Standard Time:20260701T120000", "2026-07-01", "12:00",
         "Asia/Tokyo"),
        ("", "DTSTART;TZID=/mozilla.org/20050126_1/Asia/Tokyo:20260701T120000", "2026-07-01",
         "12:00", "Asia/Tokyo"),
        (CUSTOM, "DTSTART;TZID=Harbour Time:20260701T120000", "2026-07-01", "12:00",
         "Harbour Time"),
        ("", 'DTSTART;TZID="(UTC+09:00) Osaka, Tokyo":20260701T120000', "2026-07-01", "12:00",
         "(UTC+09:00) Osaka, Tokyo"),
        ("", "DTSTART:20260701T233000Z", "2026-07-02", "00:30", "UTC+01:00"),
        ("", "DTSTART:20260701T120000\nDTSTART:20260799T120000", "2026-07-01", "12:00", ""),
    ],
    ids=["utc", "other zone", "floating", "own zone", "windows", "vendor", "custom", "unknown",
         "utc without a zone", "twice"],
)  # fmt: skip
def test_an_event_is_on_the_day_of_its_calendar(
    head: str, lines: str, date: str, hours: str, zone: str
) -> None:
    document = event(lines, head)
    assert (document.date, document.fields["time"]) == (date, hours)
    assert document.fields.get("timezone", "") == zone


def test_events_of_several_days_say_until_when() -> None:
    whole = event("DTSTART;VALUE=DATE:20260701\nDTEND;VALUE=DATE:20260704")
    assert whole.fields == {"until": "2026-07-03"}
    single = event("DTSTART;VALUE=DATE:20260701\nDTEND;VALUE=DATE:20260702")
    assert single.fields == {}
    night = event("DTSTART:20260701T230000\nDTEND:20260702T010000\nCOMMENT:Bring\\, tea")
    assert night.fields == {"time": "23:00-01:00", "until": "2026-07-02"}
    assert night.body == "- Comment: Bring, tea\n"


def test_what_no_field_takes_of_an_event_is_kept_as_text() -> None:
    lines = (
        "DTSTART:20260701T120000\nRRULE:FREQ=DAILY\nEXDATE:20260703T120000\nGEO:53.7;-0.3\n"
        "X-ALT-DESC;FMTTYPE=text/html:<style>p {}</style><p>Bring <b>tea</b> &amp\\; cake</p>\n"
        "TRANSP:OPAQUE\nX-MICROSOFT-CDO-BUSYSTATUS:BUSY\nX-PIER:Seven\nX-MSG:Bring rope"
    )
    assert event(lines).body == (
        "Bring tea & cake\n\n- Not on: 20260703T120000\n- Geo: 53.7;-0.3\n- Pier: Seven\n"
        "- Msg: Bring rope\n"
    )


ODD_REMINDER = "BEGIN:VALARM\nTRIGGER:soon\nEND:VALARM\n"
ODD_ZONE = CUSTOM.replace("+0300", "+5744")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("BEGIN:VCALENDAR\n{event}", "part of a calendar"),
        ("{event}END:VEVENT\n", "part of a calendar"),
        (f"BEGIN:VCALENDAR\n{ODD_ZONE}{{event}}END:VEVENT\nEND:VCALENDAR\n", "a time zone: "),
        (f"BEGIN:VCALENDAR\n{{event}}{ODD_REMINDER}END:VEVENT\nEND:VCALENDAR\n", "a reminder: "),
    ],
    ids=["cut", "event alone", "broken zone", "broken reminder"],
)
def test_a_broken_calendar_loses_no_event(text: str, reason: str) -> None:
    lines = "BEGIN:VEVENT\nUID:1\nSUMMARY:Tide\nDTSTART;TZID=Harbour Time:20260701T120000\n"
    found = imported("c.ics", text.format(event=lines))
    (document,) = found.documents
    assert isinstance(document, ImportedDocument)
    assert (document.title, document.date) == ("Tide", "2026-07-01")
    assert [reason in problem.reason for problem in found.problems] == [True]


def test_a_calendar_without_events_or_a_readable_date_says_so() -> None:
    found = imported("c.ics", f"BEGIN:VCALENDAR\n{CUSTOM}END:VCALENDAR\n")
    assert [problem.reason for problem in found.problems] == ["it is a calendar without events"]

    document = event("DTSTART:20260230T100000\nDESCRIPTION:Low tide")
    assert (document.date, document.fields) == ("", {})
    assert document.body == "Low tide\n\n- Dtstart: 20260230T100000\n"


def test_properties_that_occur_twice_are_tolerated() -> None:
    rules = "RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY\nDURATION:PT1H\nDURATION:nonsense"
    document = event(f"DTSTART:20260701T120000\n{rules}\nCATEGORIES:a,b\nCATEGORIES:c")
    assert document.fields == {
        "time": "12:00-13:00",
        "repeats": "FREQ=DAILY FREQ=WEEKLY",
        "tags": ["a", "b", "c"],
    }
    assert document.body == "- Duration: nonsense\n"
    named_twice = event("DTSTART:20260701T120000\nSUMMARY:Tide\nLOCATION:Pier\nLOCATION:Quay")
    assert "- Location: Quay\n" in named_twice.body


def test_what_a_calendar_holds_besides_events_is_named() -> None:
    todo = "BEGIN:VTODO\nUID:2\nSUMMARY:Paint\nEND:VTODO\n"
    alarm = "BEGIN:VALARM\nACTION:DISPLAY\nDESCRIPTION:Bring rope\nTRIGGER:-PT1H\nEND:VALARM\n"
    event = f"BEGIN:VEVENT\nUID:1\nSUMMARY:Tide\nCLASS=PUBLIC\n{alarm}END:VEVENT\n"
    head = "X-WR-CALNAME:Harbour\nX-WR-CALDESC:All tides\nCONTACT:Ida\n"
    found = imported("c.ics", f"BEGIN:VCALENDAR\n{head}{event}{todo}{todo}END:VCALENDAR\n")
    (document,) = found.documents
    assert isinstance(document, ImportedDocument)
    assert document.fields == {"calendar": "Harbour"}
    assert [problem.reason for problem in found.problems] == [
        "left out: CLASS=PUBLIC",
        "left out: X-WR-CALDESC: All tides",
        "left out: CONTACT: Ida",
        "left out: 1 reminder, 2 to-dos",
    ]


@pytest.mark.parametrize(
    ("line", "named"),
    [("Z", "Z"), ('X-PLACE;AT=a\r\n  "b"\\nc:d', 'X-PLACE;AT=a "b"\\nc:d')],
    ids=["no-property", "broken-parameter"],
)
def test_a_broken_line_of_a_calendar_loses_that_line_alone(line: str, named: str) -> None:
    event = "BEGIN:VEVENT\nUID:{}\nSUMMARY:{}\nDTSTART:20260317\nEND:VEVENT\n"
    lines = ["BEGIN:VCALENDAR", event.format(1, "Sail") + line, event.format(2, "Moor")]
    found = imported("a.ics", "\n".join(lines) + "END:VCALENDAR\n")
    titles = [each.title for each in found.documents if isinstance(each, ImportedDocument)]
    assert titles == ["Sail", "Moor"]
    assert [problem.reason for problem in found.problems] == [f"left out: {named}"]


def test_the_newest_version_of_an_event_is_kept_and_the_others_are_named() -> None:
    version = "BEGIN:VEVENT\nUID:1\nSUMMARY:Tide at {}\nSEQUENCE:{}\nEND:VEVENT\n"
    versions = [version.format(*each) for each in ((8, 1), (9, 2), (9, 2), (7, 0))]
    found = imported("c.ics", f"BEGIN:VCALENDAR\n{''.join(versions)}END:VCALENDAR\n")
    (document,) = found.documents
    assert isinstance(document, ImportedDocument)
    assert document.title == "Tide at 9"
    (problem,) = found.problems
    assert problem.reason == "left out: 2 other versions of events: Tide at 8, Tide at 7"


def card(lines: str, version: str = "3.0") -> ImportedDocument:
    return one("c.vcf", f"BEGIN:VCARD\nVERSION:{version}\n{lines}\nEND:VCARD\n")


@pytest.mark.parametrize(
    ("lines", "fields"),
    [
        ("FN:Ida Holm\nORG:Faro\\, Lda;Quay\\; 3;Cranes\nTITLE:Head\\, Quays",
         {"role": "Head, Quays", "company": "Faro, Lda", "team": "Quay; 3, Cranes"}),
        ("FN:Ida Holm\nPHOTO;ENCODING=b;TYPE=png:data:image/png;base64,iVB\nTEL:+35189",
         {"phone": "+35189"}),
        ("FN:Ida Holm\nPHOTO;JPEG;ENCODING=BASE64:\n/9j/2wBDAAYEBQ+g\nHBYWICwgIy==\n\nTEL:+35189",
         {"phone": "+35189"}),
        ("FN;ENCODING=QUOTED-PRINTABLE:Ida H=C3=\n=B8lm\nTEL;:+35189", {"phone": "+35189"}),
        ("FN:Ida Holm\nFN:Ida H.\nTITLE:Pilot\nTITLE:Pilot\nUID:7\nUID:8",
         {"role": "Pilot", "aliases": ["Ida H."]}),
        ("FN:Ida Holm\nNICKNAME:idah,Ida\\, the pilot\nCATEGORIES:port,tide",
         {"aliases": ["idah", "Ida, the pilot"], "tags": ["port", "tide"]}),
        ("FN:Ida Holm\nTEL;VALUE=uri:tel:+35189\nADR;TYPE=home:;;Quay 3\\, left;Faro;;8000;PT",
         {"phone": "+35189", "address": "Quay 3, left, Faro, 8000, PT"}),
        ("FN:Ida Holm\nBDAY:1980-04-15 or so", {"birthday": "1980-04-15 or so"}),
        ("FN:Ida Holm\nBDAY:19800415\nURL:https://a.example/x\nitem1.EMAIL;type=pref:i@a.example",
         {"email": "i@a.example", "birthday": "1980-04-15", "url": "https://a.example/x"}),
        ("FN:Ida Holm\nEMAIL:i@a.example\nEMAIL;PREF=1;VALUE=uri:mailto:i@b.example\n"
         "EMAIL;TYPE=pref:Ida <i@c.example>",
         {"email": "i@c.example", "emails": ["i@c.example", "i@b.example", "i@a.example"]}),
    ],
    ids=["escapes", "broken photo", "photo on lines", "quoted printable", "twice", "lists",
         "addresses", "doubt", "groups", "preferred"],
)  # fmt: skip
def test_fields_of_contacts(lines: str, fields: dict[str, object]) -> None:
    document = card(lines)
    assert document.kind == "person"
    assert document.fields == fields


def test_quoted_printable_may_be_of_windows_and_hold_lines() -> None:
    place = card("FN:Ida Holm\nADR;WORK;ENCODING=QUOTED-PRINTABLE:;;Kaistra=DFe 1;Ulm;;;", "2.1")
    assert (place.fields, place.body) == ({"address": "Kaistraße 1, Ulm"}, "")

    note = "FN:Ida Holm\nNOTE;ENCODING=QUOTED-PRINTABLE:tides=0D=0A=\nand winds"
    assert card(note, "2.1").body == "tides\nand winds\n"


def test_commas_of_an_old_card_are_text() -> None:
    fields = card("N:Holm;Ida\nORG:Faro, Lda;Quay, 3\nTITLE:Head, Quays", "2.1").fields
    assert fields == {"role": "Head, Quays", "company": "Faro, Lda", "team": "Quay, 3"}


def test_what_no_field_takes_of_a_card_stays_as_text() -> None:
    document = card(
        "FN:Ida Holm\nNOTE:Met in Faro\nsaid a forgetful program\nROLE:Pilot\nTITLE:Captain\n"
        "item2.X-ABDATE:2009-08-08\nitem2.X-ABLabel:_$!<Anniversary>!$_\nIMPP:skype:ida\n"
        "GENDER:F\nREV:20260317T090000Z\nORG:Faro\nORG:Port;Night"
    )
    assert document.fields == {"role": "Captain", "company": "Faro"}
    assert document.body == (
        "Met in Faro\nsaid a forgetful program\n\n- Role: Pilot\n- Organisation: Port, Night\n"
        "- Anniversary: 2009-08-08\n- Impp: skype:ida\n- Gender: F\n"
    )

    document = card(
        "FN:Ida Holm\nN:Holm;Ida;;Dr.;M.A.,Ph.D.\nEMAIL:by post\nLABEL:Quay 3\\nFaro\n"
        "item1.TEL:+35189\nitem1.X-ABLabel:Night watch\nX-MARK(CHARSET=UTF-8):tides"
    )
    assert document.fields == {"phone": "+35189"}
    assert document.body == (
        "- X-MARK(CHARSET=UTF-8):tides\n- Email: by post\n- Full name: Dr. Ida Holm M.A.,Ph.D.\n"
        "- Label: Quay 3 Faro\n- Night watch: +35189\n"
    )


def test_each_card_has_its_own_lines() -> None:
    card = "BEGIN:VCARD\nUID:7\nFN:{}\n{}END:VCARD\n"
    agent = card.format("Bo Ek", "TEL:2\n")
    boss = f"home.begin:vcard FN:Ida Holm\nAGENT:\n{agent}TEL:1\nend:vcard\n"
    text = f"Sent by a phone\n{boss}{card.format('Rosa', '')}{card.format('Rosa', '')}"
    found = imported("c.vcf", text)
    people = [each for each in found.documents if isinstance(each, ImportedDocument)]
    assert [(each.title, each.fields.get("phone")) for each in people] == [
        ("Ida Holm", "1"), ("Bo Ek", "2"), ("Rosa", None),
    ]  # fmt: skip
    assert len({each.import_id for each in people}) == 3
    assert [each.reason for each in found.problems] == [
        "left out, outside of cards: Sent by a phone"
    ]


_FOLDED = "BEGIN:VCARD\r\nFN:Zoë Ångström\r\nNOTE:voi\r\n là\r\nEND:VCARD\r\n"


@pytest.mark.parametrize(
    "data",
    [
        _FOLDED.encode().replace("ë".encode(), b"\xc3\r\n \xab"),
        _FOLDED.encode("utf-16"),
        _FOLDED.encode("utf-16-be"),
        _FOLDED.replace("\r", "\r\r").encode(),
    ],
    ids=["within a character", "utf-16", "utf-16 without a mark", "line ends converted twice"],
)
def test_folded_lines_are_joined(data: bytes) -> None:
    (found,) = read_documents([SourceFile("c.vcf", data)], None).documents
    assert isinstance(found, ImportedDocument)
    assert (found.title, found.body) == ("Zoë Ångström", "voilà\n")


@pytest.mark.parametrize("rank", ["²", "", "-1", '"', "x,y", pytest.param("1" * 5000, id="long")])
def test_an_odd_rank_loses_no_card(rank: str) -> None:
    page = card(f"FN;PREF={rank}:Ida Holm\nEMAIL;PREF={rank}:i@a.example")
    assert (page.title, page.fields) == ("Ida Holm", {"email": "i@a.example"})


def test_ids_of_cards_that_share_one_do_not_depend_on_their_order() -> None:
    cards = [f"BEGIN:VCARD\nUID:7\nFN:{name}\nEND:VCARD\n" for name in ("Bo", "Rosa", "Bo")]
    one_way, other_way = (imported("c.vcf", "".join(each)) for each in (cards, cards[1:]))
    assert set(one_way.documents) == set(other_way.documents)
    assert len(one_way.documents) == 2


def test_an_organisation_is_a_note_and_a_group_is_named() -> None:
    office = card("KIND:org\nFN:Port Office\nORG:Faro\\, Port;Night")
    assert (office.kind, office.fields) == ("note", {"company": "Faro, Port", "team": "Night"})
    assert card("KIND:location\nFN:Pier Seven").kind == "note"
    assert card("FN:Port of Faro\nORG:Port of Faro\nX-ABShowAs:COMPANY").kind == "note"
    for kind in ("KIND", "X-ADDRESSBOOKSERVER-KIND"):
        found = imported("c.vcf", f"BEGIN:VCARD\n{kind}:group\nFN:Crew\nEND:VCARD\n")
        assert not found.documents
        assert [one.reason for one in found.problems] == ["card 1 cannot be read: Crew is a group"]


def chatgpt(*messages: dict[str, object]) -> ImportedDocument:
    nodes: dict[str, object] = {
        str(n): {"message": message, "parent": str(n - 1) if n else None}
        for n, message in enumerate(messages)
    }
    last = str(len(messages) - 1)
    chat = {"id": "c", "title": "Tides", "mapping": nodes, "current_node": last}
    return one("conversations-001.json", json.dumps([chat]))


def message(role: str, *parts: object, kind: str = "text", **metadata: object) -> dict[str, object]:
    content = {"content_type": kind, "parts": list(parts)}
    return {"author": {"role": role}, "content": content, "metadata": metadata}


def test_turns_by_voice_and_names_of_attachments_are_kept() -> None:
    spoken = {
        "content_type": "audio_transcription",
        "text": "When is high tide?",
        "direction": "in",
    }
    audio = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://x"}
    document = chatgpt(
        message("user", spoken, audio, kind="multimodal_text"),
        message("assistant", audio, {**spoken, "text": "At noon."}, kind="multimodal_text"),
        message("user", "See this", attachments=[{"name": "tides.pdf"}]),
        message("assistant", "not said", kind="thoughts"),
        message("assistant", "New kind", kind="some_new_kind"),
    )
    assert document.body == (
        "## Me\n\nWhen is high tide?\n\n## Assistant\n\nAt noon.\n\n"
        "## Me\n\nSee this\n\n(attached: tides.pdf)\n\n## Assistant\n\nNew kind\n"
    )


def test_what_is_not_text_in_a_conversation_is_read_or_named() -> None:
    canvas = json.dumps({"name": "Letter", "content": "Dear harbour"})
    handed = {"content_type": "code", "text": canvas}
    document = chatgpt(
        message("user", "# Write"),
        {"author": {"role": "assistant"}, "content": handed},
        message("assistant", {"content_type": "image_asset_pointer"}, kind="multimodal_text"),
        message("assistant", kind="some_new_kind"),
    )
    assert document.body == (
        "## Me\n\n### Write\n\n## Assistant\n\n### Letter\n\nDear harbour\n\n"
        "## Assistant\n\n(left out: image_asset_pointer)\n\n"
        "## Assistant\n\n(left out: some_new_kind)\n"
    )


def test_documents_voices_and_the_summary_of_a_conversation_with_claude_are_kept() -> None:
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "name": "artifacts", "input": {"title": "Plan", "content": "Sail"}},
        {"type": "tool_result", "content": []},
        {"type": "text", "text": "Done."},
    ]
    messages = [
        {"sender": "human", "content": [{"type": "voice_note", "text": "# Plan it"}]},
        {"sender": "assistant", "content": parts},
    ]
    chat = {"uuid": "u", "name": "", "summary": "About a plan", "chat_messages": messages}
    document = one("conversations.json", json.dumps([chat]))
    assert document.title == "Plan it"
    assert document.body == (
        "## Summary\n\nAbout a plan\n\n## Me\n\n### Plan it\n\n"
        "## Assistant\n\n### Plan\n\nSail\n\nDone.\n"
    )


@pytest.mark.parametrize(
    ("message", "body"),
    [
        ({"text": "See", "attachments": [{"file_name": "a.pdf"}]}, "See\n\n(attached: a.pdf)"),
        ({"attachments": [{"extracted_content": "Low."}]}, "### attachment\n\nLow."),
        ({"content": [{"type": "tool_use", "input": {"path": "a.md", "file_text": "Low."}}]},
         "### a.md\n\nLow."),
        ({"text": "Low.", "content": [{"type": "some_kind"}, {"type": "text", "text": ""}]},
         "Low.\n\n(left out: some_kind)"),
    ],
    ids=["not extracted", "no name", "file", "kind"],
)  # fmt: skip
def test_parts_of_a_message_of_claude_are_read_or_named(
    message: dict[str, object], body: str
) -> None:
    chat = {"uuid": "u", "name": "Tides", "chat_messages": [{"sender": "human", **message}]}
    assert one("conversations.json", json.dumps([chat])).body == f"## Me\n\n{body}\n"


def test_properties_of_notes_are_kept_as_written_where_no_field_takes_them() -> None:
    page = f"Trip {'a' * 32}.md"
    trip = one(page, "# Trip\n\nDate: March 1, 2026 → March 3, 2026\n\nBody\n", "notion")
    assert (trip.date, trip.fields) == ("2026-03-01", {"when": "March 1, 2026 → March 3, 2026"})
    assert one(page, "# Trip\n\nDate: Spring\n\nBody\n", "notion").fields == {"when": "Spring"}
    empty = one(page, "# Trip\n\nStatus: Done\nPlace:\n\nBody\n", "notion")
    assert (empty.fields, empty.body) == ({"status": "Done", "place": ""}, "Body\n")
    dashed = one("pages/Boat.md", "- title:: Skiff\n  tags:: pier\n\n- x\n  id:: of us\n", "logseq")
    assert (dashed.title, dashed.fields, dashed.body) == (
        "Skiff",
        {"tags": ["pier"]},
        "- x\n  id:: of us\n",
    )
    twice = one("pages/Boat.md", "builder:: Ida\nbuilder:: Bo\n\n- x\n", "logseq")
    assert twice.fields == {"builder": "Ida, Bo"}
    drawn = SourceFile("whiteboards/quay.edn", b"{}")
    found = read_documents([drawn, SourceFile("pages/Boat.md", b"- x\n")], "logseq")
    assert [problem.reason for problem in found.problems] == ["files left out: 1 .edn"]


def test_marks_of_sources_are_removed_from_answers_alone() -> None:
    answer = (
        "High tide is at noon \ue200cite\ue202turn0search1\ue202turn0news2\ue201. "
        "Low tide【4†source】【7:2†tides.pdf】 follows :contentReference[oaicite:0]{index=0}, says "
        '\ue200entity\ue202["organization","Port of Faro","faro"]\ue201 in '
        "\ue200url\ue202its tables\ue202turn0search1\ue201."
    )
    document = chatgpt(message("user", "Why【4†source】?"), message("assistant", answer))
    assert document.body == (
        "## Me\n\nWhy【4†source】?\n\n## Assistant\n\nHigh tide is at noon. Low tide follows, says "
        "Port of Faro in its tables.\n"
    )


def test_headings_in_messages_are_below_those_of_the_page() -> None:
    answer = "# Plan\n\nTides\n=====\n\n```\n# not one\n```\n\n##### Deep"
    document = chatgpt(message("user", "Plan?"), message("assistant", answer))
    assert document.body == (
        "## Me\n\nPlan?\n\n## Assistant\n\n### Plan\n\n### Tides\n\n\n```\n# not one\n```\n\n"
        "###### Deep\n"
    )


def test_files_beside_conversations_are_named() -> None:
    chats = [{"uuid": "u", "chat_messages": [{"sender": "human", "text": "Hi"}]}, {"uuid": "v"}]
    found = read_documents(
        [
            SourceFile("conversations.json", json.dumps(chats).encode()),
            SourceFile("users.json", b'[{"uuid": "u"}]'),
        ]
    )
    assert len(found.documents) == 1
    assert [(each.path, each.reason) for each in found.problems] == [
        ("conversations.json", "conversation 2 holds no text"),
        ("users.json", "it holds nothing of a known format"),
    ]


LABEL = "_$!<" * 100_000
QUOTED = f"NOTE;ENCODING=QUOTED-PRINTABLE:{'n' * 300_000}=\n" + "=\n" * 100_000
PUNYCODE = f"NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=punycode:a-{'za' * 300_000}"
MANY_NAMES = "".join(f"N:F{n};G{n};;;\nNICKNAME:k{n}\n" for n in range(10_000))
PAGE_ID = "a" * 32
PAGE = f"Page {PAGE_ID}.md"
LINK = f"[x](Page%20{PAGE_ID}.md)"
BLOCK_ID = "12345678-1234-1234-1234-123456789012"
EMBEDDING = f"- {'b' * 100_000}\n  id:: {BLOCK_ID}\n" + f"- (({BLOCK_ID}))\n" * 20_000
CLAUDE = {
    "uuid": "1",
    "chat_messages": [{"attachments": [{"extracted_content": "y" * 300}] * 30_000}],
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.vcf", f"BEGIN:VCARD\nFN:Bo Lee\nitem1.X-ABLABEL:{LABEL}\nEND:VCARD\n"),
        ("c.vcf", f"BEGIN:VCARD\nFN:Bo Lee\n{QUOTED}\nEND:VCARD\n"),
        ("c.vcf", f"BEGIN:VCARD\nFN:Bo Lee\n{MANY_NAMES}END:VCARD\n"),
        ("c.vcf", f"BEGIN:VCARD\nFN:Bo Lee\nNOTE{'A;B=c,.' * 5_000}\nEND:VCARD\n"),
        ("c.vcf", f"BEGIN:VCARD\nFN:Bo Lee\n{PUNYCODE}\nEND:VCARD\n"),
        ("t.txt", f"2026-03-17{' ' * 60_000}x\n\nRosa Diaz  0:04\nWe sail.\n"),
        (PAGE, "# T\n" + "\n" * 200_000 + "x\n"),
        (PAGE, "# T\n\n| a |\n|---|\n" + f"| {LINK} |\n" * 10_000),
        (PAGE, f"# {'T' * 100_000}\n\n" + f"{LINK}\n" * 10_000),
        ("graph/journals/2026_01_01.md", "- x\n"),
        ("conversations.json", json.dumps([CLAUDE])),
    ],
    ids=[
        "label",
        "quoted",
        "names",
        "parameters",
        "encoding",
        "length",
        "blank",
        "table",
        "title",
        "blocks",
        "attachments",
    ],
)
def test_a_file_made_to_take_long_is_read_in_seconds(name: str, text: str) -> None:
    others = [SourceFile("graph/pages/a.md", EMBEDDING.encode())] if "graph" in name else []
    began = time.process_time()
    found = read_documents([SourceFile(name, text.encode(), "2026-03-17"), *others])
    assert time.process_time() - began < 5.0  # minutes, or all memory, where a step is repeated
    assert len(found.documents) == 1 + len(others)
    assert sum(len(page.body) for page in found.documents if isinstance(page, ImportedDocument)) < (
        100_000_000
    )


def test_a_calendar_that_the_library_cannot_read_is_a_problem() -> None:
    text = "BEGIN:VCALENDAR\nBEGIN:VEVENT\n<BEGIN:VTIMEZONE\nTZID:x\nEND:VTIMEZONE\nEND:VCALENDAR\n"
    (problem,) = imported("c.ics", text).problems
    assert problem.reason.startswith("it is not a valid calendar")


@pytest.mark.parametrize(
    "times",
    ["DTSTART:99991231T000000Z\nDURATION:P999999D", "DTSTART;VALUE=DATE:00010101\nDTEND:00010101"],
)
def test_an_event_that_ends_when_no_calendar_does_is_named(times: str) -> None:
    text = f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Ball\n{times}\nEND:VEVENT\nEND:VCALENDAR\n"
    (problem,) = imported("c.ics", text).problems
    assert problem.reason == "Ball cannot be read: date value out of range"
