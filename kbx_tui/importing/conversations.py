"""Conversations: captions (WebVTT, SubRip), transcripts of Otter and Fathom, notes of Granola, and
exports of ChatGPT and Claude. Readers raise ValueError with a reason.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import groupby
from typing import Any

import srt
import webvtt
from webvtt.errors import MalformedCaptionError, MalformedFileError

from kbx_tui.importing.imported_document import Format, ImportedDocument, SourceFile, content_id
from kbx_tui.knowledge.dates import iso_date
from kbx_tui.knowledge.fields import attendees_of, text_of
from kbx_tui.knowledge.reading import parse_document, read_frontmatter
from kbx_tui.knowledge.records import Attendee

Turn = tuple[str, str]
"""Speaker, empty if unknown, and what they said."""


def read_conversations(file: SourceFile, form: Format | None) -> list[ImportedDocument]:
    """Return the conversations of a file, none in an unknown format. Raises ValueError."""
    is_page = file.suffix in (".md", ".markdown")
    if form == "vtt" or (form is None and file.suffix == ".vtt"):
        return [_read_vtt(file)]
    if form == "srt" or (form is None and file.suffix == ".srt"):
        return [_read_srt(file)]
    if file.suffix == ".json":
        return _read_json(file, form)
    if is_page and form in (None, "granola") and _granola_id(read_frontmatter(file.text).values):
        return [_read_granola_page(file)]
    if is_page or file.suffix == ".txt" or form in ("otter", "fathom"):
        if form == "fathom" or (form is None and _has_line(file, _FATHOM_TURN)):
            return [_read_fathom_text(file)]
        if form == "otter" or (form is None and _has_line(file, _OTTER_TURN)):
            return [_read_otter(file)]
    elif file.suffix == ".csv":
        return []
    if form is not None:
        raise ValueError(f"it is not in the format {form}")
    return []


def _has_line(file: SourceFile, pattern: re.Pattern[str]) -> bool:
    return any(map(pattern.match, file.text.split("\n")[:400]))


def _read_json(file: SourceFile, form: Format | None) -> list[ImportedDocument]:
    try:
        data = json.loads(file.text)
    except RecursionError as error:
        raise ValueError("its JSON is nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from error
    records = _objects_in(data)
    if records and all(isinstance(chat.get("mapping"), dict) for chat in records):
        return [note for chat in records for note in _chatgpt_note(chat)]
    if records and all(isinstance(chat.get("chat_messages"), list) for chat in records):
        return [note for chat in records for note in _claude_note(chat)]
    meetings = _objects_in(data["items"] if isinstance(data, dict) and "items" in data else data)
    if meetings and all("recording_id" in meeting for meeting in meetings):
        return list(map(_fathom_meeting, meetings))
    notes, transcripts = _granola_notes(data)
    if any(_GRANOLA_TEXTS & note.keys() for note in notes):
        return list(_granola_meetings(file, notes, transcripts))
    if form is not None or file.name == "conversations.json":
        raise ValueError(f"it holds no conversations or meetings{f' of {form}' if form else ''}")
    return []  # settings, users, feedback: beside the conversations of an export


def _meeting(
    import_id: str,
    file: SourceFile,
    turns: Sequence[Turn],
    *,
    title: str = "",
    date: str = "",
    attendees: tuple[Attendee, ...] | None = None,
    fields: dict[str, Any] | None = None,
) -> ImportedDocument:
    """Return a transcript; title and date are by default those in the name of its file."""
    return ImportedDocument(
        import_id=import_id,
        kind="meeting",
        subtype="transcript",
        title=title or _title_in_name(file.stem),
        date=date or _date_in_name(file.path) or file.modified,
        attendees=_speakers(turns) if attendees is None else attendees,
        fields=fields or {},
        body=_speech(turns),
    )


_DIGITAL_DATE = re.compile(r"(?<!\d)(20\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)")


def _date_in_name(name: str) -> str:
    """Return the ISO date in a file name, such as that of a recording; empty without one."""
    for match in _DIGITAL_DATE.finditer(name):
        try:
            return date(*map(int, match.groups())).isoformat()
        except ValueError:
            continue
    return ""


def _title_in_name(stem: str) -> str:
    """Return a readable title made from a file name, without dates and times of recordings."""
    text = re.sub(r"(?i)(\.transcript|[_ ]recording|gmt(?=20\d\d))(?![a-z])", " ", stem)
    text = _DIGITAL_DATE.sub(" ", text)
    text = re.sub(r"(?<![\w-])-?\d{6}(?!\d)", " ", text)
    return re.sub(r"[\s_]+", " ", text).strip(" -_.") or "Meeting"


def _local_date(moment: object) -> str:
    """Return the local date of an ISO time or of seconds since 1970; empty for anything else."""
    try:
        if isinstance(moment, int | float) and not isinstance(moment, bool):
            return datetime.fromtimestamp(moment).date().isoformat()
        parsed = datetime.fromisoformat(str(moment).strip())
    except (ValueError, OverflowError, OSError):
        return ""
    return (parsed.astimezone() if parsed.tzinfo else parsed).date().isoformat()


def _speech(turns: Iterable[Turn]) -> str:
    """Return turns as paragraphs, `**Speaker:** words`; adjacent ones of a speaker are joined."""
    paragraphs = []
    for speaker, group in groupby(turns, key=lambda turn: turn[0]):
        words = " ".join(" ".join(text.split()) for _, text in group if text.strip())
        if words:
            paragraphs.append(f"**{speaker}:** {words}" if speaker else words)
    return "\n\n".join(paragraphs) + "\n" if paragraphs else ""


def _speakers(turns: Iterable[Turn]) -> tuple[Attendee, ...]:
    """Return the distinct speakers in the order in which they speak."""
    return tuple(map(Attendee, dict.fromkeys(name for name, _ in turns if name)))


def _split_transcript(
    lines: Iterable[str], heading: re.Pattern[str]
) -> tuple[list[str], list[Turn]]:
    """Return the lines before the first turn, and the turns.

    A line that matches `heading`, which has the speaker as its group `name`, begins a turn.
    """
    head: list[str] = []
    turns: list[Turn] = []
    for line in lines:
        if match := heading.match(line):
            turns.append((match["name"].strip(), ""))
        elif not turns:
            head.append(line)
        elif line.strip():
            name, words = turns[-1]
            turns[-1] = name, f"{words} {line.strip()}"
    return head, turns


def _text_in(record: object, *keys: str) -> str:
    """Return the first non-blank text of a JSON object under these keys, else an empty one."""
    found = (record.get(key) for key in keys) if isinstance(record, dict) else ()
    return next((text.strip() for text in found if isinstance(text, str) and text.strip()), "")


def _objects_in(value: object) -> list[dict[str, Any]]:
    """Return the objects of a JSON list, or the object itself; anything else gives none."""
    if isinstance(value, dict):
        return [value]
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s+([^<>]+)>")
_TAG = re.compile(r"<[^<>]*>")  # without `<`, which takes quadratic time where none is closed
_SPEAKER = re.compile(r"^\s*(?:-\s+)?([^\W\d_][\w .,'’()&/-]{0,59}?)\s*:\s+(?=\S)")


def _read_vtt(file: SourceFile) -> ImportedDocument:
    if not file.text.lstrip().startswith("WEBVTT"):
        raise ValueError("it does not begin with WEBVTT")
    try:
        captions = webvtt.WebVTT.from_string(file.text)
    except (MalformedFileError, MalformedCaptionError) as error:
        raise ValueError(f"it is not valid WebVTT: {error}") from error
    return _captioned("vtt", file, [caption.raw_text for caption in captions])


def _read_srt(file: SourceFile) -> ImportedDocument:
    try:
        subtitles = list(srt.parse(file.text, ignore_errors=False))
    except (srt.SRTParseError, OverflowError) as error:  # a time of too many digits
        raise ValueError("it is not valid SubRip") from error
    return _captioned("srt", file, [subtitle.content for subtitle in subtitles])


def _captioned(form: str, file: SourceFile, cues: Iterable[str]) -> ImportedDocument:
    """Return a transcript in which a cue without a speaker is said by the one before it."""
    turns: list[Turn] = []
    for name, words in (turn for cue in cues for turn in _voices(cue)):
        turns.append((name or (turns[-1][0] if turns else ""), words))
    if not any(words for _, words in turns):
        raise ValueError("it holds no text")
    return _meeting(f"{form}:{content_id(file.data)}", file, turns)


def _voices(cue: str) -> Iterator[Turn]:
    """Yield who says what in one cue: by voice tags, else by `Name: ` at the start of a line."""
    parts = _VOICE.split(cue)
    if len(parts) > 1:
        for name, words in zip(parts[1::2], parts[2::2], strict=True):
            yield html.unescape(name).strip(), _plain(words)
        return
    speaker = ""
    for line in _plain(cue).splitlines():
        match = _SPEAKER.match(line)
        if match and len(match[1].split()) <= 6:
            speaker, line = match[1].strip(), line[match.end() :]
        yield speaker, line.strip()


def _plain(words: str) -> str:
    return html.unescape(_TAG.sub("", words)).strip()


_OTTER_TURN = re.compile(
    r"^(?P<name>\S[^\n]{0,80}?)[ \t]{1,}(?P<time>(?:\d{1,2}:)?\d{1,2}:\d{2})[ \t]*$"
)
_DATED = re.compile(r"(?:\w{3,9}, )?(\w{3,9} \d{1,2}, \d{4})")
_HEADINGS = ("SUMMARY KEYWORDS", "SPEAKERS", "KEYWORDS")


def _read_otter(file: SourceFile) -> ImportedDocument:
    spoken = (line for line in file.text.split("\n") if not line.startswith("Transcribed by "))
    before, turns = _split_transcript(spoken, _OTTER_TURN)
    if not turns:
        raise ValueError("it has no lines with a speaker and a time, such as `Alice Chen  0:12`")
    head = [line.strip() for line in before]
    names = dict.fromkeys(who.name for who in _speakers(turns))
    listed = [name for name in _listed(head, "SPEAKERS") if name not in names]
    title = next((line for line in head if line and line not in _HEADINGS), "")
    keywords = _listed(head, "SUMMARY KEYWORDS")
    days = (iso_date(match[1]) for line in head if (match := _DATED.search(line)))
    return _meeting(
        f"otter:{content_id(file.data)}",
        file,
        turns,
        title="" if _DATED.match(title) else title,
        date=next(filter(None, days), ""),
        attendees=tuple(
            Attendee(name) for name in (*listed, *names) if not name.startswith("Unknown")
        ),
        fields={"keywords": keywords} if keywords else {},
    )


def _listed(head: list[str], heading: str) -> list[str]:
    """Return the entries, separated by commas, on the lines below a heading."""
    entries: list[str] = []
    for line in head[head.index(heading) + 1 :] if heading in head else ():
        if not line or line in _HEADINGS:
            break
        entries += [entry.strip() for entry in line.split(",") if entry.strip()]
    return entries


_FATHOM_TURN = re.compile(r"^(?:\d{1,2}:)?\d{1,2}:\d{2}\s+-\s+(?P<name>[^\n(]+)(?:\([^)]*\)\s*)?$")
_LINK = re.compile(r"https://fathom\.video/\S+")
_DAY = re.compile(r"\w+ \d{1,2}, \d{4}")


def _read_fathom_text(file: SourceFile) -> ImportedDocument:
    before, turns = _split_transcript(file.text.split("\n"), _FATHOM_TURN)
    if not turns:
        raise ValueError("it has no lines such as `0:12 - Alice Chen`")
    head = [line.strip().lstrip("# ") for line in before if line.strip(" -\t")]
    title = head[0] if head and not _LINK.search(head[0]) else _title_in_name(file.stem)
    day, (before_day, _, last) = "", title.rpartition(" - ")
    if before_day and _DAY.fullmatch(last.strip()):
        title, day = before_day.strip(), iso_date(last.strip())
    link = next((found[0] for line in head if (found := _LINK.search(line))), "")
    return _meeting(
        f"fathom:{content_id(link.encode() or file.data)}",
        file,
        turns,
        title=title,
        date=day,
        fields={"url": link} if link else {},
    )


def _fathom_meeting(meeting: dict[str, Any]) -> ImportedDocument:
    """Return a meeting of the JSON of the API."""
    turns: list[Turn] = []
    emails: dict[str, str] = {}
    for line in _objects_in(meeting.get("transcript")):
        speaker = line.get("speaker")
        name = _text_in(speaker, "display_name")
        emails.setdefault(name, _text_in(speaker, "matched_calendar_invitee_email"))
        turns.append((name, _text_in(line, "text")))
    invited = [
        Attendee(_text_in(person, "name", "email"), _text_in(person, "email"))
        for person in _objects_in(meeting.get("calendar_invitees"))
    ]
    known = {attendee.email for attendee in invited if attendee.email}
    named = {attendee.name for attendee in invited}
    extra = [
        Attendee(who.name, emails[who.name])
        for who in _speakers(turns)
        if who.name not in named and emails[who.name] not in known
    ]
    link = _text_in(meeting, "share_url", "url")
    summary = _text_in(meeting.get("default_summary"), "markdown_formatted")
    return ImportedDocument(
        import_id=f"fathom:{meeting['recording_id']}",
        kind="meeting",
        subtype="transcript" if turns else "summary",
        title=_text_in(meeting, "title", "meeting_title") or f"Meeting {meeting['recording_id']}",
        date=_local_date(
            _text_in(meeting, "scheduled_start_time", "recording_start_time", "created_at")
        ),
        attendees=tuple(attendee for attendee in (*invited, *extra) if attendee.name),
        fields={"url": link} if link else {},
        body="\n".join(filter(None, (summary and summary + "\n", _items(meeting), _speech(turns)))),
    )


def _items(meeting: dict[str, Any]) -> str:
    lines = []
    for item in _objects_in(meeting.get("action_items")):
        who = _text_in(item.get("assignee"), "name")
        mark = "x" if item.get("completed") is True else " "
        if text := " ".join(_text_in(item, "description").split()):
            lines.append(f"- [{mark}] {who + ': ' if who else ''}{text}")
    return "\n".join(["## Action items", "", *lines, ""]) if lines else ""


_SOURCES = {"microphone": "Me", "system": "Others", "speaker": "Others"}
_GRANOLA_TEXTS = {"notes_markdown", "notes_plain", "summary_markdown", "summary_text"}


def _granola_id(frontmatter: Mapping[str, Any]) -> str:
    """Return the id of the note that an exporter of Granola names in a page; empty without one."""
    ids = (text_of(frontmatter.get(key)) for key in ("granola_id", "granola-id", "doc_id"))
    return next(filter(None, ids), "")


def _read_granola_page(file: SourceFile) -> ImportedDocument:
    page = parse_document(file.path, file.data)
    days = (_local_date(text_of(page.frontmatter.get(key))) for key in ("created_at", "created"))
    return ImportedDocument(
        import_id=f"granola:{_granola_id(page.frontmatter)}",
        kind="meeting",
        subtype="notes",
        title=page.title,
        date=page.date or next(filter(None, days), file.modified),
        attendees=attendees_of(page.frontmatter),
        body=page.body,
    )


def _granola_meetings(
    file: SourceFile, notes: Iterable[dict[str, Any]], transcripts: dict[str, Any]
) -> Iterator[ImportedDocument]:
    """Yield the notes. Deleted ones and those without text are left out."""
    for note in notes:
        turns = _granola_turns(note.get("transcript") or transcripts.get(note["id"]))
        text = _text_in(note, "notes_markdown", "summary_markdown", "summary_text", "notes_plain")
        parts = list(filter(None, (text and text + "\n", _speech(turns))))
        if parts and not note.get("deleted_at"):
            meeting = _meeting(
                f"granola:{note['id']}",
                file,
                turns,
                title=_text_in(note, "title"),
                date=_granola_date(note),
                attendees=_granola_attendees(note),
            )
            subtype = "notes" if text else "transcript"
            yield replace(meeting, subtype=subtype, body="\n## Transcript\n\n".join(parts))


def _granola_notes(data: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the notes of JSON in any of its forms, and transcripts by id of note."""
    if isinstance(data, dict) and isinstance(data.get("cache"), str | dict):
        try:
            inner = data["cache"]
            data = json.loads(inner) if isinstance(inner, str) else inner
        except (ValueError, RecursionError):
            return [], {}
    if isinstance(data, dict) and isinstance(data.get("state"), dict):
        data = data["state"]
    transcripts: dict[str, Any] = {}
    if isinstance(data, dict):
        found = data.get("transcripts")
        transcripts = found if isinstance(found, dict) else {}
        for key in ("documents", "docs", "notes"):
            if isinstance(data.get(key), list | dict) and not _is_note(data):
                data = data[key]
                break
    if isinstance(data, dict) and not _is_note(data):
        data = list(data.values())
    return list(filter(_is_note, _objects_in(data))), transcripts


def _is_note(record: dict[str, Any]) -> bool:
    return isinstance(record.get("id"), str) and "title" in record and "created_at" in record


def _granola_date(note: dict[str, Any]) -> str:
    """Return the date of the meeting, else that of the note."""
    for key in ("calendar_event", "google_calendar_event"):
        event = note.get(key)
        start = event.get("start") if isinstance(event, dict) else None
        moment = _text_in(event, "scheduled_start_time", "start_time")
        if day := _local_date(moment or _text_in(start, "dateTime", "date")):
            return day
    return _local_date(_text_in(note, "created_at"))


def _granola_attendees(note: dict[str, Any]) -> tuple[Attendee, ...]:
    people, event = note.get("people"), note.get("google_calendar_event")
    groups: list[object] = [note.get("attendees")]
    if isinstance(people, dict):
        groups += [people.get("attendees"), people.get("creator")]
    else:
        groups.append(people)
    if isinstance(event, dict):
        groups.append(event.get("attendees"))
    attendees: dict[str, Attendee] = {}
    for person in (person for group in groups for person in _objects_in(group)):
        email = _text_in(person, "email")
        name = _text_in(person, "name", "displayName") or _detailed_name(person) or email
        if name:
            attendees.setdefault(email.lower() or name, Attendee(name, email))
    return tuple(attendees.values())


def _detailed_name(person: dict[str, Any]) -> str:
    match person:
        case {"details": {"person": {"name": name}}}:
            return _text_in(name, "fullName")
    return ""


def _granola_turns(entries: object) -> list[Turn]:
    turns: list[Turn] = []
    if isinstance(entries, dict):
        entries = entries.get("entries")
    for entry in _objects_in(entries):
        speaker = entry.get("speaker")
        source = _text_in(entry, "source") or _text_in(speaker, "source")
        name = _text_in(speaker, "name", "diarization_label") or _SOURCES.get(source, source)
        turns.append((name, _text_in(entry, "text")))
    return turns


TITLE_LENGTH = 60
"""Characters of the first message that name a conversation without a title."""


def _chatgpt_note(chat: dict[str, Any]) -> Iterator[ImportedDocument]:
    messages = list(map(_chatgpt_message, _branch(chat)))
    chat_id = _text_in(chat, "conversation_id", "id")
    yield from _chat("chatgpt", chat_id, _text_in(chat, "title"), chat.get("create_time"), messages)


def _claude_note(chat: dict[str, Any]) -> Iterator[ImportedDocument]:
    messages = list(map(_claude_message, _objects_in(chat["chat_messages"])))
    title, created = _text_in(chat, "name"), chat.get("created_at")
    yield from _chat("claude", _text_in(chat, "uuid"), title, created, messages)


def _chat(
    program: str, chat_id: str, title: str, created: object, messages: Sequence[Turn]
) -> Iterator[ImportedDocument]:
    """Yield the note of a conversation, if there is a message in it."""
    said = [(who, text) for who, text in messages if text]
    if not (said and chat_id):
        return
    first = said[0][1].split("\n")[0]
    yield ImportedDocument(
        import_id=f"{program}:{chat_id}",
        kind="note",
        title=" ".join(title.split()) or " ".join(first.split())[:TITLE_LENGTH].strip(),
        date=_local_date(created),
        fields={"tags": ["chat", program]},
        folder="chats",
        body="\n\n".join(f"## {who}\n\n{text}" for who, text in said) + "\n",
    )


def _branch(chat: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of the last branch, from the first to the current one."""
    nodes = {key: node for key, node in chat["mapping"].items() if isinstance(node, dict)}
    node_id = chat.get("current_node")
    if not isinstance(node_id, str) or node_id not in chat["mapping"]:
        # older exports: the last node that nothing follows
        node_id = next((key for key in reversed(nodes) if not nodes[key].get("children")), None)
    messages: list[dict[str, Any]] = []
    while isinstance(node_id, str) and node_id in nodes:
        node = nodes.pop(node_id)  # a chain that loops ends
        if isinstance(node.get("message"), dict):
            messages.append(node["message"])
        node_id = node.get("parent")
    return messages[::-1]


def _chatgpt_message(message: dict[str, Any]) -> Turn:
    role, content = _text_in(message.get("author"), "role"), message.get("content")
    if role not in ("user", "assistant") or not isinstance(content, dict):
        return "", ""
    metadata = message.get("metadata")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return "", ""
    if content.get("content_type") not in ("text", "multimodal_text", "code"):
        return "", ""  # thoughts, results of tools
    parts = content.get("parts")
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    if code := _text_in(content, "text"):
        texts.append(f"```\n{code}\n```")
    return ("Me" if role == "user" else "Assistant"), "\n\n".join(filter(str.strip, texts)).strip()


def _claude_message(message: dict[str, Any]) -> Turn:
    texts = [
        _text_in(part, "text")
        for part in _objects_in(message.get("content"))
        if part.get("type", "text") == "text"
    ]
    text = "\n\n".join(filter(None, texts)) or _text_in(message, "text")
    for attachment in _objects_in(message.get("attachments")):
        name = _text_in(attachment, "file_name") or "attachment"
        if extract := _text_in(attachment, "extracted_content"):
            text = f"{text}\n\n### {name}\n\n{extract}".strip()
    return ("Me" if _text_in(message, "sender") == "human" else "Assistant"), text
