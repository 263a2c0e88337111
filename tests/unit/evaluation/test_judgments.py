from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.evaluation.judgments import read_judgments


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return folder


QUERY = '{"id": "q1", "text": "who decided?", "kind": "person", "form": "person-only"}\n'


def test_labelled_folder_is_read_in_query_order(tmp_path: Path) -> None:
    write(
        tmp_path,
        queries_jsonl='{"id": "q2", "text": "rollbacks", "kind": "topic"}\n\n' + QUERY,
        qrels_tsv="q1\tmemory/a.md\t2\nq1\tmemory/b.md\t0\nq9\tmemory/b.md\t1\n",
        entities_tsv="q1\tmemory/people/alice.md\t1\n",
    )
    topic, person = read_judgments(tmp_path)
    assert (topic.id, topic.group, topic.grades, topic.entities) == ("q2", "topic", {}, frozenset())
    assert person.group == "person-only"
    assert person.grades == {"memory/a.md": 2, "memory/b.md": 0}
    assert person.entities == {"memory/people/alice.md"}


def test_queries_and_grades_are_required_but_entities_optional(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"qrels\.tsv"):
        read_judgments(tmp_path)
    write(tmp_path, qrels_tsv="q1\tmemory/a.md\t1\n")
    with pytest.raises(NotFound, match=r"queries\.jsonl"):
        read_judgments(tmp_path)
    write(tmp_path, queries_jsonl=QUERY)
    assert len(read_judgments(tmp_path)) == 1


@pytest.mark.parametrize(
    ("queries", "qrels", "message"),
    [
        ("{", "", r"queries\.jsonl:1 is not a JSON object"),
        ("[1]", "", "is not a JSON object: Expected `object`, got `array`"),
        ('{"id": "q1"}', "", "needs a text under 'text'"),
        ('{"text": "a"}', "", "needs a text under 'id'"),
        (QUERY, "q1 memory/a.md 1", r"qrels\.tsv:1 must be query, path and grade"),
        (QUERY, "q1\ta\t1\nq1\tb\tgood", r"qrels\.tsv:2 needs a grade"),
        (QUERY, "q1\ta\t-1", "needs a grade"),
    ],
)
def test_invalid_line_is_reported_with_file_and_line_number(
    tmp_path: Path, queries: str, qrels: str, message: str
) -> None:
    write(tmp_path, queries_jsonl=queries, qrels_tsv=qrels)
    with pytest.raises(ConfigError, match=message):
        read_judgments(tmp_path)
