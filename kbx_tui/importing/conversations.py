"""Conversations: captions (WebVTT, SubRip), transcripts of Otter and Fathom, notes of Granola, and
exports of ChatGPT and Claude. Readers raise ValueError with a reason.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import srt
import webvtt
from webvtt.errors import MalformedCaptionError, MalformedFileError

from kbx_tui.importing.imported_document import (
    ImportedDocument,
    SourceFile,
    Turn,
    content_id,
    date_in_name,
    local_date,
    objects_in,
    speakers,
    speech,
    split_transcript,
    spoken_by,
    text_in,
    text_of_file,
    title_in_name,
)
from kbx_tui.knowledge.dates import iso_date
from kbx_tui.knowledge.fields import attendees_of, text_of
from kbx_tui.knowledge.reading import parse_document, read_frontmatter
from kbx_tui.knowledge.records import Attendee

_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s+([^<>]+)>")
_TAG = re.compile(r"<[^<>]*>")  # without `<`, which takes quadratic time where none is closed


def read_vtt(file: SourceFile) -> list[ImportedDocument]:
    text = text_of_file(file)
    if not text.lstrip().startswith("WEBVTT"):
        raise ValueError("it does not begin with WEBVTT")
    try:
        captions = webvtt.WebVTT.from_string(text)
    except (MalformedFileError, MalformedCaptionError) as error:
        raise ValueError(f"it is not valid WebVTT: {error}") from error
    turns = [turn for caption in captions for turn in _voices(caption.raw_text)]
    return [_transcript("vtt", file, turns)]


def read_srt(file: SourceFile) -> list[ImportedDocument]:
    try:
        subtitles = list(srt.parse(text_of_file(file), ignore_errors=False))
    except (srt.SRTParseError, OverflowError) as error:  # a time of too many digits
        raise ValueError("it is not valid SubRip") from error
    turns = [turn for subtitle in subtitles for turn in _voices(subtitle.content)]
    return [_transcript("srt", file, turns)]


def _voices(cue: str) -> Iterator[Turn]:
    """Yield who says what in one cue: by voice tags, else by `Name: ` at the start of a line."""
    parts = _VOICE.split(cue)
    if len(parts) > 1:
        for name, words in zip(parts[1::2], parts[2::2], strict=True):
            yield html.unescape(name).strip(), _plain(words)
        return
    speaker = ""
    for line in _plain(cue).splitlines():
        named, words = spoken_by(line)
        speaker = named or speaker
        yield speaker, words


def _plain(words: str) -> str:
    return html.unescape(_TAG.sub("", words)).strip()


def _transcript(form: str, file: SourceFile, turns: list[Turn]) -> ImportedDocument:
    turns = _continued(turns)
    if not any(words for _, words in turns):
        raise ValueError("it holds no text")
    return ImportedDocument(
        import_id=f"{form}:{content_id(file.data)}",
        kind="meeting",
        subtype="transcript",
        title=title_in_name(file.stem),
        date=date_in_name(file.path) or file.modified,
        attendees=speakers(turns),
        body=speech(turns),
    )


def _continued(turns: list[Turn]) -> list[Turn]:
    """Return turns in which a cue without a speaker is said by the one before it."""
    continued, speaker = [], ""
    for name, words in turns:
        speaker = name or speaker
        continued.append((speaker, words))
    return continued


_TURN = re.compile(r"^(?P<name>\S[^\n]{0,80}?)[ \t]{1,}(?P<time>(?:\d{1,2}:)?\d{1,2}:\d{2})[ \t]*$")
_DATED = re.compile(r"(?:\w{3,9}, )?(\w{3,9} \d{1,2}, \d{4})")
_HEADINGS = ("SUMMARY KEYWORDS", "SPEAKERS", "KEYWORDS")


def looks_like_otter(text: str) -> bool:
    """Return whether a text has the turns of such a transcript: `Name  0:12` on its own line."""
    lines = text.split("\n")
    return sum(_TURN.match(line) is not None for line in lines[:400]) >= 1


def read_otter(file: SourceFile) -> list[ImportedDocument]:
    lines = text_of_file(file).split("\n")
    spoken = (line for line in lines if not line.startswith("Transcribed by "))
    before, turns = split_transcript(spoken, _TURN)
    if not turns:
        raise ValueError("it has no lines with a speaker and a time, such as `Alice Chen  0:12`")
    head = [line.strip() for line in before]
    named = _listed(head, "SPEAKERS")
    said = {attendee.name for attendee in speakers(turns)}
    attendees = (*(Attendee(name) for name in named if name not in said), *speakers(turns))
    title = next((line for line in head if line and line not in _HEADINGS), "")
    fields = {"keywords": list(words)} if (words := _listed(head, "SUMMARY KEYWORDS")) else {}
    return [
        ImportedDocument(
            import_id=f"otter:{content_id(file.data)}",
            kind="meeting",
            subtype="transcript",
            title=title if title and not _DATED.match(title) else title_in_name(file.stem),
            date=_otter_date(head) or date_in_name(file.path) or file.modified,
            attendees=tuple(who for who in attendees if not who.name.startswith("Unknown")),
            fields=fields,
            body=speech(turns),
        )
    ]


def _listed(head: list[str], heading: str) -> tuple[str, ...]:
    """Return the entries, separated by commas, on the lines below a heading."""
    if heading not in head:
        return ()
    entries: list[str] = []
    for line in head[head.index(heading) + 1 :]:
        if not line or line in _HEADINGS:
            break
        entries += [entry.strip() for entry in line.split(",") if entry.strip()]
    return tuple(entries)


def _otter_date(head: list[str]) -> str:
    for line in head:
        if (match := _DATED.search(line)) and (found := iso_date(match[1])):
            return found
    return ""


_FATHOM_TURN = re.compile(r"^(?:\d{1,2}:)?\d{1,2}:\d{2}\s+-\s+(?P<name>[^\n(]+)(?:\([^)]*\)\s*)?$")
_LINK = re.compile(r"https://fathom\.video/\S+")
_DAY = re.compile(r"\w+ \d{1,2}, \d{4}")


def looks_like_fathom(text: str) -> bool:
    """Return whether a text has the turns of such a transcript: `0:12 - Name (Company)`."""
    return any(_FATHOM_TURN.match(line) for line in text.split("\n")[:400])


def is_fathom_json(data: object) -> bool:
    """Return whether JSON is one meeting of the API, a list or a page of them."""
    meetings = _fathom_meetings(data)
    return bool(meetings) and all("recording_id" in meeting for meeting in meetings)


def read_fathom_text(file: SourceFile) -> list[ImportedDocument]:
    before, turns = split_transcript(text_of_file(file).split("\n"), _FATHOM_TURN)
    if not turns:
        raise ValueError("it has no lines such as `0:12 - Alice Chen`")
    head = [line.strip().lstrip("# ") for line in before if line.strip(" -\t")]
    title = head[0] if head and not _LINK.search(head[0]) else title_in_name(file.stem)
    day, (before_day, _, last) = "", title.rpartition(" - ")
    if before_day and _DAY.fullmatch(last.strip()):
        title, day = before_day.strip(), iso_date(last.strip())
    link = next((found[0] for line in head if (found := _LINK.search(line))), "")
    return [
        ImportedDocument(
            import_id=f"fathom:{content_id(link.encode() or file.data)}",
            kind="meeting",
            subtype="transcript",
            title=title,
            date=day or date_in_name(file.path) or file.modified,
            attendees=speakers(turns),
            fields={"url": link} if link else {},
            body=speech(turns),
        )
    ]


def read_fathom_json(data: object) -> list[ImportedDocument]:
    return [_fathom_document(meeting) for meeting in _fathom_meetings(data)]


def _fathom_meetings(data: object) -> list[dict[str, Any]]:
    return objects_in(data["items"] if isinstance(data, dict) and "items" in data else data)


def _fathom_document(meeting: dict[str, Any]) -> ImportedDocument:
    turns: list[Turn] = []
    emails: dict[str, str] = {}
    for line in objects_in(meeting.get("transcript")):
        speaker = line.get("speaker")
        name = text_in(speaker, "display_name")
        emails.setdefault(name, text_in(speaker, "matched_calendar_invitee_email"))
        turns.append((name, text_in(line, "text")))
    invited = []
    for person in objects_in(meeting.get("calendar_invitees")):
        email = text_in(person, "email")
        invited.append(Attendee(text_in(person, "name") or email, email))
    known = {attendee.email for attendee in invited if attendee.email}
    named = {attendee.name for attendee in invited}
    extra = [
        Attendee(who.name, emails.get(who.name, ""))
        for who in speakers(turns)
        if who.name not in named and emails.get(who.name) not in known
    ]
    link = text_in(meeting, "share_url", "url")
    summary = text_in(meeting.get("default_summary"), "markdown_formatted")
    return ImportedDocument(
        import_id=f"fathom:{meeting['recording_id']}",
        kind="meeting",
        subtype="transcript" if turns else "summary",
        title=text_in(meeting, "title", "meeting_title") or f"Meeting {meeting['recording_id']}",
        date=local_date(
            text_in(meeting, "scheduled_start_time", "recording_start_time", "created_at")
        ),
        attendees=tuple(attendee for attendee in (*invited, *extra) if attendee.name),
        fields={"url": link} if link else {},
        body="\n".join(filter(None, (summary and summary + "\n", _items(meeting), speech(turns)))),
    )


def _items(meeting: dict[str, Any]) -> str:
    lines = []
    for item in objects_in(meeting.get("action_items")):
        who = text_in(item.get("assignee"), "name")
        mark = "x" if item.get("completed") is True else " "
        text = " ".join(text_in(item, "description").split())
        if text:
            lines.append(f"- [{mark}] {who + ': ' if who else ''}{text}")
    return "\n".join(["## Action items", "", *lines, ""]) if lines else ""


_SOURCES = {"microphone": "Me", "system": "Others", "speaker": "Others"}
_ID_KEYS = ("granola_id", "granola-id", "doc_id")


def is_granola_json(data: object) -> bool:
    notes, _ = _granola_notes(data)
    return bool(notes) and any(
        {"notes_markdown", "notes_plain", "summary_markdown", "summary_text"} & note.keys()
        for note in notes
    )


def is_granola_markdown(file: SourceFile) -> bool:
    """Return whether a page was written by an exporter, which names the note's id."""
    values = read_frontmatter(text_of_file(file)).values
    return any(text_of(values.get(key)) for key in _ID_KEYS)


def read_granola_markdown(file: SourceFile) -> list[ImportedDocument]:
    page = parse_document(file.path, file.data)
    note_id = next(filter(None, (text_of(page.frontmatter.get(key)) for key in _ID_KEYS)))
    date = page.date or local_date(text_of(page.frontmatter.get("created_at")))
    return [
        ImportedDocument(
            import_id=f"granola:{note_id}",
            kind="meeting",
            subtype="notes",
            title=page.title,
            date=date or local_date(text_of(page.frontmatter.get("created"))) or file.modified,
            attendees=attendees_of(page.frontmatter),
            body=page.body,
        )
    ]


def read_granola_json(file: SourceFile, data: object) -> list[ImportedDocument]:
    """Return the notes of JSON. Deleted ones and those without text are left out."""
    notes, transcripts = _granola_notes(data)
    documents = []
    for note in notes:
        turns = _turns(note.get("transcript") or transcripts.get(str(note.get("id"))))
        text = text_in(note, "notes_markdown", "summary_markdown", "summary_text", "notes_plain")
        parts = [text + "\n" if text else "", speech(turns)]
        if note.get("deleted_at") or not any(parts):
            continue
        documents.append(
            ImportedDocument(
                import_id=f"granola:{note.get('id')}",
                kind="meeting",
                subtype="notes" if text else "transcript",
                title=text_in(note, "title") or title_in_name(file.stem),
                date=_granola_date(note) or date_in_name(file.path) or file.modified,
                attendees=tuple(_attendees(note)),
                body="\n## Transcript\n\n".join(filter(None, parts)),
            )
        )
    return documents


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
    return [note for note in objects_in(data) if _is_note(note)], transcripts


def _is_note(record: dict[str, Any]) -> bool:
    return isinstance(record.get("id"), str) and "title" in record and "created_at" in record


def _granola_date(note: dict[str, Any]) -> str:
    """Return the date of the meeting, else that of the note."""
    for key in ("calendar_event", "google_calendar_event"):
        event = note.get(key)
        start = event.get("start") if isinstance(event, dict) else None
        moment = text_in(event, "scheduled_start_time", "start_time") or text_in(
            start, "dateTime", "date"
        )
        if day := local_date(moment):
            return day
    return local_date(text_in(note, "created_at"))


def _attendees(note: dict[str, Any]) -> list[Attendee]:
    people = note.get("people")
    groups: list[object] = [note.get("attendees")]
    if isinstance(people, dict):
        groups += [people.get("attendees"), people.get("creator")]
    else:
        groups.append(people)
    event = note.get("google_calendar_event")
    if isinstance(event, dict):
        groups.append(event.get("attendees"))
    attendees: dict[str, Attendee] = {}
    for person in (person for group in groups for person in objects_in(group)):
        email = text_in(person, "email")
        name = text_in(person, "name", "displayName") or _detailed_name(person) or email
        if name:
            attendees.setdefault(email.lower() or name, Attendee(name, email))
    return list(attendees.values())


def _detailed_name(person: dict[str, Any]) -> str:
    details = person.get("details")
    details = details.get("person") if isinstance(details, dict) else None
    name = details.get("name") if isinstance(details, dict) else None
    return text_in(name, "fullName") if isinstance(name, dict) else ""


def _turns(entries: object) -> list[Turn]:
    turns: list[Turn] = []
    if isinstance(entries, dict):
        entries = entries.get("entries")
    for entry in objects_in(entries):
        speaker = entry.get("speaker")
        source = text_in(entry, "source") or text_in(speaker, "source")
        name = text_in(speaker, "name", "diarization_label") or _SOURCES.get(source, source)
        turns.append((name, text_in(entry, "text")))
    return turns


FOLDER = "chats"
TITLE_LENGTH = 60
"""Characters of the first message that name a conversation without a title."""


def is_chatgpt(data: object) -> bool:
    chats = objects_in(data)
    return bool(chats) and all(isinstance(chat.get("mapping"), dict) for chat in chats)


def is_claude(data: object) -> bool:
    chats = objects_in(data)
    return bool(chats) and all(isinstance(chat.get("chat_messages"), list) for chat in chats)


def read_chatgpt(data: object) -> list[ImportedDocument]:
    """Return the conversations that have a message, each on its last branch."""
    documents = []
    for chat in objects_in(data):
        messages = [_chatgpt_message(message) for message in _branch(chat)]
        chat_id = text_in(chat, "conversation_id", "id")
        documents += _document("chatgpt", chat_id, chat, "title", "create_time", messages)
    return documents


def read_claude(data: object) -> list[ImportedDocument]:
    documents = []
    for chat in objects_in(data):
        messages = [_claude_message(message) for message in objects_in(chat["chat_messages"])]
        documents += _document(
            "claude", text_in(chat, "uuid"), chat, "name", "created_at", messages
        )
    return documents


def _document(
    program: str,
    chat_id: str,
    chat: dict[str, Any],
    title_key: str,
    time_key: str,
    messages: list[tuple[str, str]],
) -> list[ImportedDocument]:
    body = "\n\n".join(f"## {who}\n\n{text}" for who, text in messages if text)
    if not (body and chat_id):
        return []
    title = " ".join(text_in(chat, title_key).split())
    if not title:
        first = next(text for _, text in messages if text).split("\n")[0]
        title = " ".join(first.split())[:TITLE_LENGTH].strip()
    return [
        ImportedDocument(
            import_id=f"{program}:{chat_id}",
            kind="note",
            title=title,
            date=local_date(chat.get(time_key)),
            fields={"tags": ["chat", program]},
            folder=FOLDER,
            body=body + "\n",
        )
    ]


def _branch(chat: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages from the first to the current one."""
    nodes = chat["mapping"]
    node_id = chat.get("current_node")
    if not isinstance(node_id, str) or node_id not in nodes:
        # older exports: the last node that nothing follows
        leaves = [key for key, node in nodes.items() if _is_leaf(node)]
        node_id = leaves[-1] if leaves else None
    messages: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(node_id, str) and node_id not in seen and isinstance(nodes.get(node_id), dict):
        seen.add(node_id)
        message = nodes[node_id].get("message")
        if isinstance(message, dict):
            messages.append(message)
        node_id = nodes[node_id].get("parent")
    return messages[::-1]


def _is_leaf(node: object) -> bool:
    return isinstance(node, dict) and not node.get("children")


def _chatgpt_message(message: dict[str, Any]) -> tuple[str, str]:
    author = message.get("author")
    role = text_in(author, "role")
    content = message.get("content")
    if role not in ("user", "assistant") or not isinstance(content, dict):
        return "", ""
    metadata = message.get("metadata")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return "", ""
    if content.get("content_type") not in ("text", "multimodal_text", "code"):
        return "", ""  # thoughts, results of tools
    parts = content.get("parts")
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    if code := text_in(content, "text"):
        texts.append(f"```\n{code}\n```")
    return ("Me" if role == "user" else "Assistant"), "\n\n".join(filter(str.strip, texts)).strip()


def _claude_message(message: dict[str, Any]) -> tuple[str, str]:
    who = "Me" if text_in(message, "sender") == "human" else "Assistant"
    texts = [
        text_in(part, "text")
        for part in objects_in(message.get("content"))
        if part.get("type", "text") == "text"
    ]
    text = "\n\n".join(filter(None, texts)) or text_in(message, "text")
    for attachment in objects_in(message.get("attachments")):
        name = text_in(attachment, "file_name") or "attachment"
        extract = text_in(attachment, "extracted_content")
        if extract:
            text = f"{text}\n\n### {name}\n\n{extract}".strip()
    return who, text
