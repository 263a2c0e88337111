"""Transcripts of recordings as captions: WebVTT (Zoom, Teams, Meet) and SubRip."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import srt
import webvtt
from webvtt.errors import MalformedCaptionError, MalformedFileError

from kbx_tui.importing.imported_document import ImportedDocument, SourceFile
from kbx_tui.importing.readers.reading_help import (
    Turn,
    content_id,
    date_in_name,
    speakers,
    speech,
    spoken_by,
    text_of_file,
    title_in_name,
)

_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s+([^<>]+)>")
_TAG = re.compile(r"<[^<>]*>")  # without `<`, which takes quadratic time where none is closed


def read_vtt(file: SourceFile) -> list[ImportedDocument]:
    """Return the transcript of a WebVTT file. Raises ValueError with a reason."""
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
    """Return the transcript of a SubRip file. Raises ValueError with a reason."""
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
