"""Judgments as OpenSearch's Search Relevance Workbench imports them: one JSON document.

{"name": "...", "type": "IMPORT_JUDGMENT",
 "judgmentRatings": [{"query": "...", "ratings": [{"docId": "...", "rating": "3.000"}]}]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kbx_tui.errors import ConfigError
from kbx_tui.evaluation.formats.graded_file import Grade, GradedFile


def read_opensearch(data: bytes, scale: float | None = None) -> GradedFile:
    """Return the grades of a file; a part of it that cannot be read is named by its place.

    Raises ConfigError for what is not JSON, or has no `judgmentRatings`.
    """
    file = GradedFile()
    ratings = _decode(data)
    for index, entry in enumerate(ratings):
        place = f"judgmentRatings[{index}]"
        query = entry.get("query") if isinstance(entry, dict) else None
        documents = entry.get("ratings") if isinstance(entry, dict) else None
        if not isinstance(query, str) or not isinstance(documents, list):
            file.problems.append(f"{place}: not a query with ratings")
            continue
        for number, row in enumerate(documents):
            where = f"{place}.ratings[{number}]"
            document = row.get("docId") if isinstance(row, dict) else None
            if not isinstance(document, str):
                file.problems.append(f"{where}: no docId")
            else:
                file.add(where, query, document, row.get("rating"), scale)
    return file


def write_opensearch(grades: Iterable[Grade]) -> str:
    """Return grades as the body of a request that imports them."""
    by_query: dict[str, list[dict[str, str]]] = {}
    for grade in grades:
        rating = {"docId": grade.path, "rating": f"{grade.grade:.3f}"}
        by_query.setdefault(grade.query, []).append(rating)
    body = {
        "name": "kbx judgments",
        "description": "Judgments exported by kbx",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [
            {"query": query, "ratings": ratings} for query, ratings in by_query.items()
        ],
    }
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


def _decode(data: bytes) -> list[Any]:
    try:
        body = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ConfigError(f"line {error.lineno} is not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(f"line {line} is not UTF-8") from error
    except RecursionError as error:
        raise ConfigError("the JSON is nested too deeply") from error
    ratings = body.get("judgmentRatings") if isinstance(body, dict) else body
    if not isinstance(ratings, list):
        raise ConfigError("there is no list judgmentRatings in it")
    return ratings
