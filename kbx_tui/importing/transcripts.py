"""Transcripts of meetings: captions (WebVTT, SubRip), and texts of Otter and Fathom.

Every line of a file is a turn, a field of the page, or text of the page as it stands. Readers raise
ValueError with a reason.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from kbx_tui.formatting import format_count
from kbx_tui.importing.imported_document import (
    Imported,
    ImportedDocument,
    ImportProblem,
    SourceFile,
    content_id,
)
from kbx_tui.knowledge.dates import date_of, day_in, iso_date, only_day
from kbx_tui.knowledge.fields import attendees_of, text_of
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.markdown import strip_markup
from kbx_tui.knowledge.reading import Frontmatter, read_frontmatter
from kbx_tui.knowledge.records import Attendee
from kbx_tui.knowledge.turns import LONGEST_NAME, NOBODY, UNKNOWN, is_capitalised

Turn = tuple[str, str]
"""Speaker, empty if unknown, and what they said."""


def transcript(
    import_id: str,
    file: SourceFile,
    turns: Sequence[Turn],
    *,
    title: str = "",
    date: str = "",
    attendees: tuple[Attendee, ...] | None = None,
    fields: dict[str, Any] | None = None,
    head: Sequence[str] = (),
) -> ImportedDocument:
    """Return the page of a meeting; title and date are by default those in its file name.

    `head` are lines of text above the turns, such as a summary.
    """
    return ImportedDocument(
        import_id=import_id,
        kind="meeting",
        subtype="transcript",
        title=title or _title_in_name(file.stem),
        date=date or day_in(file.path) or file.modified,
        attendees=speakers(turns) if attendees is None else attendees,
        fields=fields or {},
        body="\n".join([*head, "", ""] if head else []) + speech(turns),
    )


_DIGITAL_DATE = re.compile(r"(?<!\d)(20\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)")


def _title_in_name(stem: str) -> str:
    """Return a readable title made from a file name, without dates and times of recordings."""
    text = re.sub(r"(?i)(\.transcript|[_ ]recording|_otter_ai|gmt(?=20\d\d))(?![a-z])", " ", stem)
    text = _DIGITAL_DATE.sub(" ", text)
    text = re.sub(r"(?<![\w-])-?\d{6}(?!\d)", " ", text)
    return re.sub(r"[\s_]+", " ", text).strip(" -_.") or "Meeting"


def speech(turns: Iterable[Turn]) -> str:
    """Return turns as paragraphs, `**Speaker:** words`; adjacent ones of a speaker are joined."""
    paragraphs = []
    for speaker, group in groupby(turns, key=lambda turn: turn[0]):
        words = " ".join(" ".join(text.split()) for _, text in group if text.strip())
        if words:
            paragraphs.append(f"**{speaker}:** {words}" if speaker else words)
    return "\n\n".join(paragraphs) + "\n" if paragraphs else ""


def speakers(turns: Iterable[Turn]) -> tuple[Attendee, ...]:
    names = dict.fromkeys(name for name, _ in turns if name)
    return tuple(Attendee(name) for name in names if not UNKNOWN.fullmatch(name))


# Captions

_TIMING = re.compile(
    r"-?\d[\d.,]*:[\d:.,]*\d[ \t]*-->[ \t]*-?\d[\d:.,]*"
    r"(?:\s+(?:align|line|position|region|size|vertical|[XY][12]):\S+)*\s*"
)
"""The times of a cue and its settings, after which some programs write the text."""
_SPEAKER_OF_CUE = re.compile(r'\d+ "([^"]+)" \(\d+\)')
"""The identifier of a cue in transcripts of Webex."""
_IDENTIFIER = re.compile(r"(?=\S*\d)\S+")
_COMMENT = re.compile(
    r"\n[ \t]*\n[ \t]*NOTE(?=\s)(?!\s(?:confidence|duration|language|recognizability):)",
    re.IGNORECASE,
)
"""A comment, except for those in which Microsoft Stream describes the recognition of speech."""
_NO_TEXT = re.compile(r"NOTE(?:[ \t].*)?|(?:STYLE|REGION)[ \t]*")
"""The first line of a block of WebVTT that is not shown."""
_METADATA = re.compile(r"(?:kind|language|region|x-[\w-]+) ?[:=]", re.IGNORECASE)
_STYLE = re.compile("style:", re.IGNORECASE)
"""The line of a header of YouTube's below which styles are, up to a blank line."""


def read_captions(file: SourceFile, form: str) -> Imported:
    """Return a transcript in which a cue without a speaker is said by the one before it."""
    is_vtt = form == "vtt"
    if is_vtt and not file.text.lstrip().startswith("WEBVTT"):
        raise ValueError("it does not begin with WEBVTT")
    cues = list(_cues(file.text, is_vtt=is_vtt))
    if not is_vtt and len(cues) == 1:
        raise ValueError("it is not valid SubRip: no line is a time with `-->`")
    turns: list[Turn] = []
    speaker = ""
    for name, words in _said(cues):
        speaker = speaker if name is None else name
        turns.append((speaker, words))
    if len(cues) == 1 or not any(words for _, words in turns):
        raise ValueError("it holds no text")
    document = transcript(f"{form}:{content_id(file.data)}", file, turns)
    comments = len(_COMMENT.findall(file.text)) if is_vtt else 0
    left_out = f"left out: {format_count(comments, 'comment')}"
    return Imported((document,), (ImportProblem(file.path, left_out),) if comments else ())


def _cues(text: str, *, is_vtt: bool) -> Iterator[tuple[str, str]]:
    """Yield what is before the first cue, then each cue: the speaker in its identifier, its text.

    A blank line does not end a cue: many programs write some in a text. Identifiers, which are
    numbers or follow a blank line in WebVTT, and its header, comments and styles are left out.
    """
    lines = [line.strip() for line in text.removeprefix("\ufeff").strip().split("\n")]
    times = [number for number, line in enumerate(lines) if _TIMING.match(line)]
    speaker, start = "", 0
    for time in [*times, len(lines)]:
        end, next_speaker = time, ""
        above, before = ["", "", *lines][time : time + 2] if time < len(lines) else ("", "")
        if match := _SPEAKER_OF_CUE.fullmatch(before):
            end, next_speaker = time - 1, match[1].strip()
        elif before.isdigit() or (is_vtt and not above and _IDENTIFIER.fullmatch(before)):
            end = time - 1
        shown = lines[start:end]
        yield speaker, "\n".join(_shown(shown, has_header=not start) if is_vtt else shown)
        speaker, start = next_speaker, time
        if time < len(lines):
            lines[time] = _TIMING.sub("", lines[time], count=1)


def _shown(lines: Sequence[str], *, has_header: bool) -> Iterator[str]:
    """Yield the lines of WebVTT that are text; of the header, what follows WEBVTT."""
    for first in lines[:1]:
        yield first.removeprefix("WEBVTT").strip(" \t-–") if has_header else first
    is_hidden, previous = False, "WEBVTT"
    for line in lines[1:]:
        if not line:
            is_hidden = False
        elif (not previous and _NO_TEXT.fullmatch(line)) or (has_header and _STYLE.fullmatch(line)):
            is_hidden = True
        if not (is_hidden or (has_header and _METADATA.match(line))):
            yield line
        previous = line


_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s++([^<>]+)>")
_WORD_TIME = re.compile(r"<[\d:.]+>")
"""The time of a word, in captions that roll: each cue repeats the last line of the one before."""
_TAG = re.compile(
    r"<(?:/?[a-z][^<>\n]*|/|[\d:.]+)>|\{(?:\\[^{}]*|/?[biu])\}", re.IGNORECASE
)  # without `<`, or time is quadratic where none is closed
_LABEL = re.compile(
    r"(?P<dash>[-–]\s*)?(?P<name>[^\W\d_][\w .,'’()&/|-]{0,59}?)\s*(?::\s+|：\s*)(?=\S)"
)
_CHANGE = re.compile(r">>+\s*(?:(?P<name>[^\W\d_][^:>]{0,59}?)\s*:(?:\s+|$))?")
_BRACKETS = re.compile(r"[(\[]\s*(?P<name>[^\W\d_][^()\[\]:]{0,59}?)\s*[)\]]\s*:?\s*")
_LINE_MARK = "-–"


def _said(cues: Sequence[tuple[str, str]]) -> Iterator[tuple[str | None, str]]:
    """Yield who says what: an empty name is someone unknown, None is the speaker so far.

    Speakers are marked in one way in all of a file: in identifiers of cues, by voice tags, or at
    the start of a line as `(Name)`, also above the text, `>> NAME:`, `- Name:` or `Name:`.
    """
    if any(speaker or _VOICE.search(text) for speaker, text in cues):
        for speaker, text in cues:
            before, *parts = _VOICE.split(text)
            yield speaker or None, _plain(before)
            for name, words in zip(parts[::2], parts[1::2], strict=True):
                yield html.unescape(name).strip(), _plain(words)
        return
    rolls = any(_WORD_TIME.search(text) for _, text in cues)
    texts = [list(filter(None, map(str.strip, _plain(text).split("\n")))) for _, text in cues]
    is_speaker = _speaker_test(texts)
    last = ""
    for lines in texts:
        for number, line in enumerate(lines, 1):
            if rolls and line == last:
                continue
            last = line
            if match := _CHANGE.match(line):
                yield _without_capitals(match["name"] or ""), line[match.end() :]
            elif match := _mark(line, is_speaker, is_last=number == len(lines)):
                yield _without_capitals(match["name"]), line[match.end() :]
            elif line.strip(_LINE_MARK):
                yield None, line


def _mark(
    line: str, is_speaker: Callable[[re.Match[str]], bool], *, is_last: bool
) -> re.Match[str] | None:
    """Return the mark of a speaker at the start of a line; one above no text is that of a sound."""
    found = _BRACKETS.match(line)
    if found and is_speaker(found) and not (is_last and found.end() == len(line)):
        return found
    found = _LABEL.match(line)
    return found if found and is_speaker(found) else None


def _speaker_test(texts: Sequence[Sequence[str]]) -> Callable[[re.Match[str]], bool]:
    """Return a function that says whether what looks like a label of a speaker is one here.

    It is if at least half of the cues begin with one of its kind. Elsewhere `(Applause)` is a
    sound, and `Name:` counts if it recurs, follows a dash or is a full name.
    """
    first = [lines[0] for lines in texts if lines]
    heads = ((_BRACKETS.match(line), line, rest) for line, *rest in filter(None, texts))
    bracketed = sum(
        bool(found and (rest or found.end() < len(line))) for found, line, rest in heads
    )
    are_bracketed = 2 * bracketed >= len(first) - 1
    labelled = [match["name"] for lines in texts for line in lines if (match := _LABEL.match(line))]
    counts = Counter(labelled)
    at_start = filter(None, map(_LABEL.match, first))
    named = sum(fold(label["name"]) not in NOBODY for label in at_start)
    are_labelled = 2 * named >= len(first)

    def is_speaker(match: re.Match[str]) -> bool:
        name = match["name"]
        words = name.split()
        if len(words) > LONGEST_NAME or fold(name) in NOBODY:
            return False
        if match.re is _BRACKETS:
            return are_bracketed
        is_full_name = len(words) > 1 and all(word[0].isupper() for word in words)
        return are_labelled or counts[name] > 1 or bool(match["dash"]) or is_full_name

    return is_speaker


def _without_capitals(name: str) -> str:
    """Return `Carl` for CARL, as captioners write all names; initials are kept."""
    words = (word.capitalize() if len(word) > 2 else word for word in name.split())
    return " ".join(words) if name.isupper() else name


def _plain(words: str) -> str:
    return html.unescape(_TAG.sub("", words)).strip()


# Text of Otter and Fathom

_TIME = r"(?P<time>(?:\d{1,2}:)?\d{1,2}:\d{2})"
_OTTER_TURN = re.compile(
    r"(?P<open>\[)?(?P<name>[^\s\[][^\n]{0,60}?)(?(open)\])(?P<gap>[ \t]{1,40})"
    rf"[(\[]?{_TIME}[)\]]?:?[ \t]*"
)
"""`Ann Lee  0:12`. Zoom writes the name in brackets, Rev the time."""
_FATHOM_TURN = re.compile(
    rf"@?{_TIME}[ \t]{{1,8}}-[ \t]{{1,8}}(?P<name>[^\n(]{{1,80}})(?:\(.*\)\s*)?"
)
_SENTENCE = re.compile(r"[!?;]|\w{4,}[.:](?:\s|$)")

_CLOCK = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d\d)\s?(?P<half>[ap]m)?\b", re.IGNORECASE)
_LENGTH = re.compile(r"\s{0,9}•\s*(\d[\w: ]*)")
_HEADINGS = ("SUMMARY KEYWORDS", "SPEAKERS", "KEYWORDS")


def otter_turns(lines: Sequence[str]) -> dict[int, str]:
    """Return the speakers of the lines that begin a turn, by number of the line.

    A line of speech may end in a time as well (`See you at 10:30`). Otter writes a blank line
    before a turn and two spaces before its time; where a copy has lost those, a turn is a name, and
    there are two at least.
    """
    found = {
        number: match
        for number, line in enumerate(lines)
        if (match := _OTTER_TURN.fullmatch(line)) and _may_be_name(match["name"])
    }
    spaced = {number: match for number, match in found.items() if match["gap"] != " "}
    usual = spaced or {
        number: match for number, match in found.items() if is_capitalised(match["name"])
    }
    apart = {n: match for n, match in usual.items() if n == 0 or not lines[n - 1].strip()}
    turns = _in_order(apart if 2 * len(apart) >= len(usual) else usual if spaced else {})
    return turns if spaced or len(turns) > 1 else _turns_without_times(lines)


def _turns_without_times(lines: Sequence[str]) -> dict[int, str]:
    """Return the speakers listed at the top of a text, by the lines that hold their name alone."""
    (listed, _), _ = _listed(lines)
    names = frozenset(listed)
    return {
        number: line.strip()
        for number, line in enumerate(lines)
        if line.strip() in names and not lines[number - 1].strip()
    }


def _may_be_name(name: str) -> bool:
    return len(name.split()) <= LONGEST_NAME and not _SENTENCE.search(name)


def fathom_turns(lines: Sequence[str]) -> dict[int, str]:
    matches = {
        number: match
        for number, line in enumerate(lines)
        if (match := _FATHOM_TURN.fullmatch(strip_markup(line).rstrip()))
    }
    return _in_order(matches)


def _in_order(matches: Mapping[int, re.Match[str]]) -> dict[int, str]:
    """Return the names of as many matches as possible such that their times never fall.

    Of several choices, the first matches are kept.
    """
    numbers = list(matches)
    times = [_seconds(match["time"]) for match in matches.values()]
    earliest: list[int] = []
    by_length: list[list[int]] = []  # the matches that n others can precede
    for index, time in enumerate(times):
        length = bisect_right(earliest, time)
        earliest[length : length + 1] = [time]
        if length == len(by_length):
            by_length.append([])
        by_length[length].append(index)
    kept: list[int] = []
    for indices in reversed(by_length):
        fitting = (i for i in indices if not kept or (i < kept[-1] and times[i] <= times[kept[-1]]))
        kept.append(next(fitting))
    return {numbers[i]: matches[numbers[i]]["name"].strip() for i in reversed(kept)}


def _seconds(time: str) -> int:
    seconds = 0
    for part in time.split(":"):
        seconds = seconds * 60 + int(part)
    return seconds


def _split_transcript(
    lines: Sequence[str], names: Mapping[int, str]
) -> tuple[list[str], list[Turn]]:
    """Return the lines before the first turn, and the turns; `names` are by their first line."""
    starts = [*names, len(lines)]
    turns = [
        (name, " ".join(filter(None, map(str.strip, lines[start + 1 : end]))))
        for (start, name), end in zip(names.items(), starts[1:], strict=True)
    ]
    return list(lines[: starts[0]]), turns


def _properties(file: SourceFile) -> tuple[dict[str, Any], str]:
    """Return the frontmatter of a page and what is below it; of another text, none and all."""
    front = read_frontmatter(file.text) if file.is_page else Frontmatter({}, file.text, 1)
    return front.values, front.body


def _present(listed: Iterable[Attendee], turns: Sequence[Turn]) -> tuple[Attendee, ...]:
    """Return who speaks, then who else is listed."""
    return tuple({who.name: who for who in (*speakers(turns), *listed)}.values())


def read_otter(file: SourceFile) -> ImportedDocument:
    stated, text = _properties(file)
    lines = text.strip("\n").rstrip().split("\n")
    if re.match(r"Transcribed by .*otter\.ai", lines[-1]):
        del lines[-1]
    before, turns = _split_transcript(lines, otter_turns(lines))
    if not turns:
        raise ValueError("it has no lines with a speaker and a time, such as `Alice Chen  0:12`")
    (listed, keywords), rest = _listed(before)
    dated = [line for line in rest if day_in(line)]
    only_dates = [line for line in dated if only_day(_LENGTH.sub("", line))]
    when = next(iter(only_dates or dated), "")
    title = text_of(stated.get("title"))
    title = title or next((line for line in rest[:1] if line not in only_dates[:1]), "")
    fields = dict(stated)
    if started := _CLOCK.search(when.partition("•")[0]):
        hour, half = int(started["hour"]), (started["half"] or "").upper()
        hour = hour % 12 + 12 * (half == "PM") if half else hour
        fields["time"] = f"{hour:02}:{started['minute']}"
    if lasted := _LENGTH.search(when):
        fields["duration"] = lasted[1]
    if keywords:
        fields["keywords"] = keywords
    return transcript(
        f"otter:{content_id(file.data)}",
        file,
        turns,
        title=title,
        date=date_of(stated, "") or day_in(when),
        attendees=_present([*attendees_of(stated), *map(Attendee, listed)], turns),
        fields=fields,
        head=[line for line in rest if line not in (title, *only_dates[:1])],
    )


def _listed(head: Sequence[str]) -> tuple[tuple[list[str], list[str]], list[str]]:
    """Return the speakers and keywords listed below their headings, and all other lines."""
    entries: dict[str, list[str]] = {heading: [] for heading in _HEADINGS}
    heading, rest = "", []
    for line in map(str.strip, head):
        if line in _HEADINGS or not line:
            heading = line
        elif heading:
            entries[heading] += [entry.strip() for entry in line.split(",") if entry.strip()]
        else:
            rest.append(line)
    names = [name for name in entries["SPEAKERS"] if not UNKNOWN.fullmatch(name)]
    return (names, entries["SUMMARY KEYWORDS"] + entries["KEYWORDS"]), rest


_RECORDING = re.compile(
    r"\W*+VIEW RECORDING(?: - (?P<length>\d\w*+(?: ++(?!https?:)\w++)*+))?+(?: \([^()]*\))?+"
    r"\W*+(?:(?P<link>https?://[^\s()]++)\W*+)?+"
)
_DAY = re.compile(r"\w+ \d{1,2}(?:, \d{4})?")


def read_fathom_text(file: SourceFile) -> ImportedDocument:
    stated, text = _properties(file)
    lines = text.split("\n")
    before, turns = _split_transcript(lines, fathom_turns(lines))
    if not turns:
        raise ValueError("it has no lines such as `0:12 - Alice Chen`")
    head = [line.strip() for line in before if not line.strip() or line.strip(" -\t")]
    recording = next(filter(None, map(_RECORDING.fullmatch, head)), None)
    fields = dict(stated)
    if recording:
        head.remove(recording[0])
        found = {"url": recording["link"], "duration": recording["length"]}
        fields |= {name: value for name, value in found.items() if value}
    title = text_of(stated.get("title"))
    if not title and (first := next(filter(None, head), "")):
        head.remove(first)
        title = first.lstrip("# ")
    day, (before_day, _, last) = "", title.rpartition(" - ")
    if before_day and _DAY.fullmatch(last.strip()) and (day := _last_day(last, file.modified)):
        title = before_day.strip()
    return transcript(
        f"fathom:{content_id(text_of(fields.get('url')).encode() or file.data)}",
        file,
        turns,
        title=title,
        date=date_of(stated, "") or day,
        attendees=_present(attendees_of(stated), turns),
        fields=fields,
        head=[body] if (body := "\n".join(head).strip()) else [],
    )


def _last_day(day: str, until: str) -> str:
    """Return the ISO date of `March 17, 2026`, or of the last `March 17` until an ISO date."""
    if "," in day:
        return iso_date(day.strip())
    years = (int(until[:4]) - back for back in range(2)) if until else ()
    days = (iso_date(f"{day.strip()}, {year}") for year in years)
    return next((found for found in days if found and found <= until), "")
