"""Conversations and meetings that programs export as JSON: ChatGPT, Claude, Fathom, Granola.

Readers raise ValueError with a reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from kbx_tui.importing.imported_document import (
    Format,
    Imported,
    ImportedDocument,
    ImportProblem,
    SourceFile,
    content_id,
    name_unread_fields,
    unread_fields,
)
from kbx_tui.importing.rich_text import markdown_of
from kbx_tui.importing.transcripts import (
    Turn,
    fathom_turns,
    otter_turns,
    read_captions,
    read_fathom_text,
    read_otter,
    speakers,
    speech,
    transcript,
)
from kbx_tui.knowledge.fields import attendees_of, text_of
from kbx_tui.knowledge.markdown import headings
from kbx_tui.knowledge.reading import parse_document, read_frontmatter
from kbx_tui.knowledge.records import Attendee

_LINES_TRIED = 400
"""Lines of a text that are read to see whether it is a transcript."""


def read_conversations(file: SourceFile, form: Format | None) -> Imported:
    """Return the conversations of a file, none in an unknown format. Raises ValueError."""
    for captions in ("vtt", "srt"):
        if form == captions or (form is None and file.suffix == f".{captions}"):
            return read_captions(file, captions)
    if file.suffix == ".json":
        return _read_json(file, form)
    if (
        file.is_page
        and form in (None, "granola")
        and _granola_id(read_frontmatter(file.text).values)
    ):
        return Imported((_read_granola_page(file),))
    if file.is_page or file.suffix == ".txt" or form in ("otter", "fathom"):
        first = file.text.split("\n")[:_LINES_TRIED]
        if form == "fathom" or (form is None and fathom_turns(first)):
            return Imported((read_fathom_text(file),))
        if form == "otter" or (form is None and otter_turns(first)):
            return Imported((read_otter(file),))
    elif file.suffix == ".csv":
        return Imported()
    if form is not None:
        raise ValueError(f"it is not in the format {form}")
    return Imported()


def _read_json(file: SourceFile, form: Format | None) -> Imported:
    try:
        data = json.loads(file.text)
    except RecursionError as error:
        raise ValueError("its JSON is nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from error
    records = _objects_in(data)
    if any(isinstance(chat.get("mapping"), dict) for chat in records):
        return _read_chats(file, records, _chatgpt_note)
    if any(isinstance(chat.get("chat_messages"), list) for chat in records):
        return _read_chats(file, records, _claude_note)
    lists = [key for key in ("items", "meetings") if isinstance(data, dict) and key in data]
    meetings = list(map(_in_one_level, _objects_in(data[lists[0]] if lists else data)))
    if meetings and all(map(_is_recording, meetings)):
        pages = tuple(_fathom_meeting(file, meeting) for meeting in meetings)
        unread = map(unread_fields, meetings, pages)
        return Imported(pages, name_unread_fields(file.path, unread))
    if records and all(map(_is_utterance, records)):
        date = _local_date(records[0].get("start_timestamp"))
        said = transcript(f"granola:{content_id(file.data)}", file, _turns(records), date=date)
        return Imported((said,))
    notes, state = _granola_notes(data)
    if any(_GRANOLA_TEXTS & note.keys() for note in notes):
        return _granola_meetings(file, notes, state)
    if form is not None or file.name == "conversations.json":
        raise ValueError(f"it holds no conversations or meetings{f' of {form}' if form else ''}")
    return Imported()  # settings, users, feedback: beside the conversations of an export


def _is_utterance(record: dict[str, Any]) -> bool:
    return record.keys() >= _UTTERANCE and _text_in(record, "source") in _SOURCES


def _local_date(moment: object) -> str:
    """Return the local date of an ISO time or of seconds since 1970; empty for anything else."""
    try:
        if isinstance(moment, int | float) and not isinstance(moment, bool):
            return datetime.fromtimestamp(moment).date().isoformat()
        parsed = datetime.fromisoformat(str(moment).strip())
    except (ValueError, OverflowError, OSError):
        return ""
    return (parsed.astimezone() if parsed.tzinfo else parsed).date().isoformat()


def _text_in(record: object, *keys: str) -> str:
    """Return the first non-blank text of a JSON object under these keys, else an empty one."""
    found = (record.get(key) for key in keys) if isinstance(record, dict) else ()
    return next((text.strip() for text in found if isinstance(text, str) and text.strip()), "")


def _objects_in(value: object) -> list[dict[str, Any]]:
    """Return the objects of a JSON list, or the object itself; anything else gives none."""
    if isinstance(value, dict):
        return [value]
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _in_one_level(meeting: dict[str, Any]) -> dict[str, Any]:
    """Return a meeting of Fathom with what its webhooks put in objects beside each other."""
    parts = _objects_in([meeting.get(key) for key in ("meeting", "recording", "transcript")])
    return {key: part[key] for part in (meeting, *parts) for key in part}


def _is_recording(meeting: dict[str, Any]) -> bool:
    """Return whether an object is a meeting of Fathom, or a transcript alone."""
    said = any("speaker" in line for line in _objects_in(meeting.get("transcript")))
    return "recording_id" in meeting or "fathom_user" in meeting or (said and not _is_note(meeting))


def _fathom_meeting(file: SourceFile, meeting: dict[str, Any]) -> ImportedDocument:
    lines = _objects_in(meeting.get("transcript"))
    turns = _turns(lines)
    spoken = {
        email: name
        for line, (name, _) in zip(lines, turns, strict=True)
        if (email := _text_in(line.get("speaker"), "matched_calendar_invitee_email"))
    }
    emails = {name: email for email, name in spoken.items()}
    hosts = ("calendar_invitees", "invitees", "recorded_by", "fathom_user")
    invited = _attendees(map(meeting.get, hosts))
    people = [Attendee(spoken.get(who.email, who.name), who.email) for who in invited]
    named = {who.name for who in people}
    names = [who.name for who in speakers(turns)]
    people += [Attendee(name, emails.get(name, "")) for name in names if name not in named]
    link = _text_in(meeting, "share_url", "url")
    summaries = map(meeting.get, ("default_summary", "summary"))
    summary = "\n\n".join(
        each if isinstance(each, str) else _text_in(each, "markdown_formatted")
        for each in filter(None, summaries)
    )
    said = speech(turns) or _text_in(meeting, "transcript", "plaintext", "transcript_plaintext")
    alone = json.dumps(meeting, sort_keys=True).encode()
    page = transcript(
        f"fathom:{meeting.get('recording_id') or meeting.get('id') or content_id(alone)}",
        file,
        turns,
        title=_text_in(meeting, "title", "meeting_title"),
        date=_local_date(
            _text_in(meeting, "scheduled_start_time", "recording_start_time", "created_at")
        ),
        attendees=tuple(people),
        fields={"url": link} if link else {},
    )
    body = "\n".join(filter(None, (summary and summary + "\n", _items(meeting), said)))
    return replace(page, subtype="transcript" if said else "summary", body=body)


def _items(meeting: dict[str, Any]) -> str:
    lines = []
    for item in _objects_in(meeting.get("action_items")):
        who = _text_in(item.get("assignee"), "name")
        mark = "x" if item.get("completed") is True else " "
        if text := " ".join(_text_in(item, "description").split()):
            lines.append(f"- [{mark}] {who + ': ' if who else ''}{text}")
    return "\n".join(["## Action items", "", *lines, ""]) if lines else ""


_UTTERANCE = frozenset({"document_id", "source", "text"})
"""Keys of a line of a transcript of Granola, which its exporters write apart from the note."""
_SOURCES = {"microphone": "Me", "system": "Others", "speaker": "Others"}
_GRANOLA_TEXTS = {
    "last_viewed_panel", "notes", "notes_markdown", "notes_plain", "summary_markdown",
    "summary_text", "transcript",
}  # fmt: skip


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
        fields=page.frontmatter,
        body=page.body,
    )


def _granola_meetings(
    file: SourceFile, notes: Iterable[dict[str, Any]], state: dict[str, Any]
) -> Imported:
    meetings, problems, unread = list[ImportedDocument](), [], list[frozenset[str]]()
    for note in notes:
        title = _text_in(note, "title")
        said = note.get("transcript") or _entry(state, "transcripts", note["id"])
        turns = _turns(said.get("entries") if isinstance(said, dict) else said)
        text = _text_in(note, "notes_markdown", "notes_plain") or markdown_of(note.get("notes"))
        panels = _granola_panels(note, _entry(state, "documentPanels", note["id"]))
        stated = _text_in(note, "summary_markdown", "summary_text")
        written = (stated or panels, _text_in(note, "summary"), _text_in(note, "overview"))
        summary = "\n\n".join(dict.fromkeys(filter(None, written)))
        if text and summary and summary != text:
            text = f"{text}\n\n## Summary\n\n{summary}"
        text = text or summary
        parts = list(filter(None, (text and text + "\n", speech(turns))))
        if not parts or note.get("deleted_at"):
            reason = "is deleted" if note.get("deleted_at") else "holds no text"
            problems.append(ImportProblem(file.path, f"{title or note['id']} {reason}"))
            continue
        meeting = transcript(
            f"granola:{note['id']}",
            file,
            turns,
            title=title,
            date=_granola_date(note),
            attendees=_granola_attendees(note),
        )
        subtype = "notes" if text else "transcript"
        body = "\n## Transcript\n\n".join(parts)
        meetings.append(replace(meeting, subtype=subtype, body=body))
        unread.append(unread_fields(note, meetings[-1]))
    return Imported(tuple(meetings), (*problems, *name_unread_fields(file.path, unread)))


def _entry(state: dict[str, Any], key: str, note_id: str) -> Any:
    entries = state.get(key)
    return entries.get(note_id) if isinstance(entries, dict) else None


def _granola_panels(note: dict[str, Any], panels: object) -> str:
    """Return the summaries that Granola wrote of a note, each by the title of its template."""
    listed = panels or note.get("panels") or note.get("last_viewed_panel")
    is_panel = isinstance(listed, dict) and "content" in listed
    found = listed.values() if isinstance(listed, dict) and not is_panel else _objects_in(listed)
    texts = [
        (
            _text_in(panel, "title"),
            markdown_of(panel.get("content")) or markdown_of(panel.get("original_content")),
        )
        for panel in found
        if isinstance(panel, dict) and not panel.get("deleted_at")
    ]
    return "\n\n".join(f"### {title}\n\n{text}" if title else text for title, text in texts if text)


def _granola_notes(data: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the notes of JSON in any of its forms, and the store that they are in."""
    if isinstance(data, dict) and isinstance(data.get("cache"), str | dict):
        try:
            inner = data["cache"]
            data = json.loads(inner) if isinstance(inner, str) else inner
        except (ValueError, RecursionError):
            return [], {}
    if isinstance(data, dict) and isinstance(data.get("state"), dict):
        data = data["state"]
    state = data if isinstance(data, dict) else {}
    for key in ("documents", "docs", "notes"):
        if isinstance(state.get(key), list | dict) and not _is_note(state):
            data = state[key]
            break
    if isinstance(data, dict) and not _is_note(data):
        found = list(filter(_is_note, _objects_in(list(data.values()))))
        data = [found[0] | data] if len(found) == 1 else found  # beside it are its other parts
    return list(filter(_is_note, _objects_in(data))), state


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
    groups: list[object] = [note.get("attendees"), note.get("owner")]
    if isinstance(people, dict):
        groups += [people.get("attendees"), people.get("creator")]
    else:
        groups.append(people)
    if isinstance(event, dict):
        groups.append(event.get("attendees"))
    return _attendees(groups)


def _attendees(groups: Iterable[object]) -> tuple[Attendee, ...]:
    """Return the people in lists of objects, or in objects alone, each once."""
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


def _turns(entries: object) -> list[Turn]:
    """Return what was said by the entries of a transcript of Fathom or Granola."""
    turns: list[Turn] = []
    for entry in _objects_in(entries):
        speaker = entry.get("speaker")
        source = _text_in(entry, "source") or _text_in(speaker, "source")
        name = _text_in(speaker, "display_name", "name", "diarization_label")
        name = name or _text_in(entry, "speaker") or _SOURCES.get(source, source)
        turns.append((name, _text_in(entry, "text")))
    return turns


TITLE_LENGTH = 60
"""Characters of the first message that name a conversation without a title."""


_MESSAGES = ("mapping", "chat_messages")
"""What holds the messages of a chat, of which only what someone said counts."""
ReadChat = Callable[[dict[str, Any]], ImportedDocument | None]


def _read_chats(file: SourceFile, chats: Iterable[dict[str, Any]], read: ReadChat) -> Imported:
    notes, problems, unread = list[ImportedDocument](), [], list[frozenset[str]]()
    for number, chat in enumerate(chats, 1):
        if note := read(chat):
            notes.append(note)
            unread.append(unread_fields(chat, note, _MESSAGES))
        else:
            name = _text_in(chat, "title", "name") or f"conversation {number}"
            problems.append(ImportProblem(file.path, f"{name} holds no text"))
    return Imported(tuple(notes), (*problems, *name_unread_fields(file.path, unread)))


def _chatgpt_note(chat: dict[str, Any]) -> ImportedDocument | None:
    messages = list(map(_chatgpt_message, _branch(chat)))
    chat_id = _text_in(chat, "conversation_id", "id")
    return _note("chatgpt", chat_id, _text_in(chat, "title"), chat.get("create_time"), messages)


def _claude_note(chat: dict[str, Any]) -> ImportedDocument | None:
    messages = list(map(_claude_message, _objects_in(chat.get("chat_messages"))))
    if any(text for _, text in messages):
        messages.insert(0, ("Summary", _text_in(chat, "summary")))
    title, created = _text_in(chat, "name"), chat.get("created_at")
    return _note("claude", _text_in(chat, "uuid"), title, created, messages)


def _note(
    program: str, chat_id: str, title: str, created: object, messages: Sequence[Turn]
) -> ImportedDocument | None:
    said = [(who, text) for who, text in messages if text]
    if not (said and chat_id):
        return None
    first = next(text for who, text in said if who != "Summary").split("\n")[0].lstrip("# ")
    return ImportedDocument(
        import_id=f"{program}:{chat_id}",
        kind="note",
        title=" ".join(title.split()) or " ".join(first.split())[:TITLE_LENGTH].strip(),
        date=_local_date(created),
        fields={"tags": ["chat", program]},
        folder="chats",
        body="\n\n".join(f"## {who}\n\n{_below_heading(text)}" for who, text in said) + "\n",
    )


_HEADING_LEVEL, _LOWEST_LEVEL = 2, 6


def _below_heading(text: str) -> str:
    """Return a message with its headings below that of the message, for the outline of the page."""
    lines = text.split("\n")
    for heading in headings(text):
        level = min(heading.level + _HEADING_LEVEL, _LOWEST_LEVEL)
        lines[heading.line : heading.end] = [f"{'#' * level} {heading.text}"] + [""] * (
            heading.end - heading.line - 1
        )
    return "\n".join(lines)


def _branch(chat: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of the last branch, from the first to the current one."""
    mapping = chat.get("mapping")
    pairs = mapping.items() if isinstance(mapping, dict) else ()
    nodes = {key: node for key, node in pairs if isinstance(node, dict)}
    node_id = chat.get("current_node")
    if not isinstance(node_id, str) or node_id not in nodes:
        # older exports: the last node that nothing follows
        node_id = next((key for key in reversed(nodes) if not nodes[key].get("children")), None)
    messages: list[dict[str, Any]] = []
    while isinstance(node_id, str) and node_id in nodes:
        node = nodes.pop(node_id)  # a chain that loops ends
        if isinstance(node.get("message"), dict):
            messages.append(node["message"])
        node_id = node.get("parent")
    return messages[::-1]


_UNSPOKEN = frozenset(
    {
        "execution_output", "model_editable_context", "reasoning_recap", "system_error",
        "tether_browsing_display", "tether_quote", "thoughts", "user_editable_context",
    }
)  # fmt: skip
"""Kinds of content that nobody said: thoughts, settings, results of tools."""
_OF_TEXT = frozenset({"text", "multimodal_text", "code", "audio_asset_pointer", ""})


def _chatgpt_message(message: dict[str, Any]) -> Turn:
    role, content = _text_in(message.get("author"), "role"), message.get("content")
    if role not in ("user", "assistant") or not isinstance(content, dict):
        return "", ""
    metadata = message.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    if metadata.get("is_visually_hidden_from_conversation"):
        return "", ""
    if content.get("content_type") in _UNSPOKEN:
        return "", ""
    parts = content.get("parts")
    # parts other than text are objects: one spoken has a text, a picture does not
    texts = [
        part if isinstance(part, str) else _text_in(part, "text")
        for part in (parts if isinstance(parts, list) else ())
    ]
    if code := _text_in(content, "text"):
        texts.append(_document_in(code) or f"```\n{code}\n```")
    if not any(texts) and "attachments" not in metadata:
        kinds = [_text_in(each, "content_type") for each in (content, *_objects_in(parts))]
        texts += [f"(left out: {kind})" for kind in kinds[-1:] if kind not in _OF_TEXT]
    if role == "assistant":
        texts = list(map(_without_citations, texts))
    texts += _attached(metadata.get("attachments"), "name")
    return ("Me" if role == "user" else "Assistant"), "\n\n".join(filter(str.strip, texts)).strip()


def _document_in(arguments: str) -> str:
    """Return the document in what an assistant hands to a canvas, as JSON; empty without one."""
    try:
        handed = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    text = _text_in(handed, "content", "file_text")
    return f"# {_text_in(handed, 'name', 'title', 'path') or 'Document'}\n\n{text}" if text else ""


_CITATION = re.compile(
    "(?<![ \t])[ \t]*\ue200(?P<shown>[^\ue200\ue201]*)\ue201"
    r"|(?<![ \t])[ \t]*【[^【】\n]{0,200}†[^【】\n]{0,200}】"
    r"|(?<![ \t])[ \t]*:contentReference\[oaicite:[^\]\n]{0,40}\](?:\{[^}\n]{0,40}\})?"
)
"""Marks of sources in answers of ChatGPT; those in private characters may also show a name."""
_PRIVATE = re.compile("[\ue200-\ue2ff]")


def _without_citations(text: str) -> str:
    return _PRIVATE.sub("", _CITATION.sub(_shown_text, text))


def _shown_text(citation: re.Match[str]) -> str:
    """Return what a mark shows: the name of an entity or the text of a link, mostly nothing."""
    kind, *arguments = (citation["shown"] or "").split("\ue202")
    if kind == "entity" and arguments:
        try:
            _, name, *_ = json.loads(arguments[0])
        except (ValueError, TypeError, RecursionError):
            name = ""
        return f" {name}"
    return f" {arguments[0]}" if kind == "url" and arguments else ""


def _attached(files: object, key: str) -> list[str]:
    """Return the text that a program read from each attached file, or a line that names it."""
    texts = []
    for file in _objects_in(files):
        name, extract = _text_in(file, key), _text_in(file, "extracted_content")
        if name or extract:
            heading = f"# {name or 'attachment'}\n\n{extract}"
            texts.append(heading if extract else f"(attached: {name})")
    return texts


_UNSPOKEN_BY_CLAUDE = ("flag", "thinking", "token_budget", "tool_result")


def _claude_message(message: dict[str, Any]) -> Turn:
    texts, left_out = [], []
    for part in _objects_in(message.get("content")):
        kind = _text_in(part, "type")
        if kind == "tool_use":
            texts.append(_document_in(json.dumps(part.get("input"))))
        elif kind not in _UNSPOKEN_BY_CLAUDE:
            texts.append(_text_in(part, "text"))
            left_out += [] if texts[-1] or kind in _OF_TEXT else [f"(left out: {kind})"]
    texts = list(filter(None, texts)) or [_text_in(message, "text")]
    texts += left_out
    for key in ("attachments", "files"):
        texts += _attached(message.get(key), "file_name")
    sender = "Me" if _text_in(message, "sender") == "human" else "Assistant"
    return sender, "\n\n".join(filter(None, texts))
