"""The files of TREC tools: qrels, topics and runs.

Fields are separated by blanks, so a document or a query id is written with `%20` for a blank and
`%25` for `%`, as in a URL; all other characters, such as colons and letters with accents, stay. The
id of a query is its text, written that way, unless a file of topics gives the texts of other ids.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

from kbx_tui.errors import ConfigError
from kbx_tui.evaluation.formats.graded_file import Grade, GradedFile, lines_of

_BLANK = re.compile(r"[\s%\x00-\x1f\x7f]")
_FIELDS = re.compile(r"[ \t\v\f\r]+")
"""What separates fields for tools in C; a no-break space does not."""
_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL)
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)")
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*([^<]+)")
_IDS, _TEXTS = ("id", "qid", "query_id", "_id"), ("text", "query", "title")

Topics = Mapping[str, str]
"""Text of a query by its id."""


def encode(text: str) -> str:
    """Return a text without blanks, from which `decode` restores it."""
    return _BLANK.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)


def decode(field: str) -> str:
    """Return the text of a field."""
    return unquote(field)


def read_qrels(data: bytes, topics: Topics | None = None, scale: float | None = None) -> GradedFile:
    """Return the grades of qrels: lines of query id, an unused field, document and grade.

    Raises ConfigError without topics if all ids are numbers, instead of texts of queries.
    """
    file = GradedFile()
    ids = set()
    for number, line in lines_of(data, file.problems):
        place, fields = f"line {number}", _FIELDS.split(line.strip(" \t\v\f\r"))
        if len(fields) != 4:
            file.problems.append(f"{place}: not query id, 0, document and grade: {line[:60]!r}")
            continue
        query_id, _, document, rating = fields
        ids.add(query_id)
        if topics is not None and query_id not in topics:
            file.problems.append(f"{place}: no topic has the id {query_id[:60]!r}")
            continue
        query = decode(query_id) if topics is None else topics[query_id]
        file.add(place, query, decode(document), rating, scale)
    if topics is None and ids and all(map(str.isdecimal, ids)):
        raise ConfigError("the queries are only numbers there; `--topics` names a file with texts")
    return file


def write_qrels(grades: Iterable[Grade]) -> str:
    """Return grades as qrels."""
    return "".join(
        f"{encode(grade.query)} 0 {encode(grade.path)} {grade.grade}\n" for grade in grades
    )


def read_topics(data: bytes) -> tuple[dict[str, str], list[str]]:
    """Return topics, and a sentence about each line that cannot be read.

    They are JSON lines (`id` and `text`), lines of id, tab and text, or TREC's `<top>` elements.
    """
    topics: dict[str, str] = {}
    problems: list[str] = []
    if data.lstrip().startswith(b"<"):
        for found in _TOPIC.finditer(data.decode("utf-8", "replace")):
            query_id, title = _NUMBER.search(found[1]), _TITLE.search(found[1])
            if query_id and title:
                topics[query_id[1]] = " ".join(title[1].split())
            else:
                problems.append(f"a topic without number or title: {found[1].strip()[:60]!r}")
        return topics, problems
    for number, line in lines_of(data, problems):
        topic = _json_topic(line) if line.lstrip().startswith("{") else _tab_topic(line)
        if topic is None:
            problems.append(f"line {number}: not a topic with id and text: {line[:60]!r}")
        else:
            topics[topic[0]] = topic[1]
    return topics, problems


def write_topics(queries: Iterable[str]) -> str:
    """Return queries as JSON lines of topics, with the ids that qrels and runs have."""
    lines = ({"id": encode(query), "text": query} for query in queries)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def read_run(data: bytes) -> tuple[dict[str, list[str]], list[str]]:
    """Return the documents of a run by query id, best first, and what cannot be read.

    Lines have query id, Q0, document, rank, score and tag. As in trec_eval the score decides; equal
    scores are ordered by rank.
    """
    rows: dict[str, dict[str, tuple[float, float]]] = {}
    problems: list[str] = []
    for number, line in lines_of(data, problems):
        fields = _FIELDS.split(line.strip(" \t\v\f\r"))
        try:
            query_id, _, document, rank, score, _ = fields
            place = -float(score), float(rank)
        except ValueError:
            problems.append(
                f"line {number}: not query id, Q0, document, rank, score and tag: {line[:60]!r}"
            )
            continue
        if any(value != value for value in place):  # NaN has no place in an order
            problems.append(f"line {number}: rank or score is not a number")
            continue
        rows.setdefault(decode(query_id), {}).setdefault(decode(document), place)
    return {query: sorted(found, key=found.__getitem__) for query, found in rows.items()}, problems


def write_run(ranked: Mapping[str, Sequence[str]], tag: str) -> str:
    """Return a run; scores count down, so that tools that sort by score keep our order."""
    return "".join(
        f"{encode(query)} Q0 {encode(path)} {rank} {len(paths) - rank + 1} {encode(tag) or 'kbx'}\n"
        for query, paths in ranked.items()
        for rank, path in enumerate(paths, 1)
    )


def _json_topic(line: str) -> tuple[str, str] | None:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    found = [next((fields[key] for key in keys if key in fields), None) for keys in (_IDS, _TEXTS)]
    return _topic(*(str(value) if isinstance(value, str | int) else "" for value in found))


def _tab_topic(line: str) -> tuple[str, str] | None:
    query_id, _, text = line.partition("\t")
    return _topic(query_id, text)


def _topic(query_id: str, text: str) -> tuple[str, str] | None:
    query_id, text = query_id.strip(), text.strip()
    return (query_id, text) if query_id and text else None
