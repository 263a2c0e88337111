"""The comparison with other systems, on a set made by hand and two systems that need no model."""

import json
from pathlib import Path

import pytest

from benchmarks.rivals.__main__ import Answer, compare
from benchmarks.rivals.make_sets import Entry, make_set


def test_a_set_is_made_alike_each_time_and_labels_what_its_text_says(tmp_path: Path) -> None:
    people = ("Ada Bern", "Cleo Dahl", "Emil Falk")
    entries = [
        Entry(f"Entry {n} on valves", f"The pressure valve {n} of room {n % 3}.", (name,), part)
        for n, (name, part) in enumerate((name, part) for name in people for part in "xyz")
    ]
    made = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        counts = make_set(folder, entries, "text", "made by hand\n")
        made.append({file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()})
    assert made[0] == made[1]
    assert counts["person"] == len(people)
    queries = [json.loads(line) for line in made[0]["queries.jsonl"].splitlines()]
    grades = [line.split("\t") for line in made[0]["qrels.tsv"].decode().splitlines()]
    for query in queries:
        relevant = [path for identifier, path, _ in grades if identifier == query["id"]]
        assert relevant
        for name in query["people"]:
            assert all(name in (tmp_path / "a" / path).read_text() for path in relevant)


@pytest.mark.parametrize(("place", "word"), [(0, "level"), (1, "ahead")])
def test_ours_is_ahead_only_where_the_difference_is_certain(
    tmp_path: Path, place: int, word: str
) -> None:
    queries = [{"id": str(n), "form": "person"} for n in range(30)]
    (tmp_path / "qrels.tsv").write_text("".join(f"{n}\tright.md\t2\n" for n in range(30)))
    theirs = ["wrong.md"] * place + ["right.md"]
    answers: dict[str, Answer] = {
        "ours": {"found": [["right.md"]] * 30},
        "words": {"found": [theirs] * 30},
    }
    rows = compare(tmp_path, queries, answers)
    assert [row.system for row in rows] == ["ours", "words"]
    assert rows[0].ndcg == 1.0
    assert rows[1].word(rows[1].difference.p) == word


def test_few_queries_claim_nothing(tmp_path: Path) -> None:
    (tmp_path / "qrels.tsv").write_text("1\ta.md\t2\n")
    answers: dict[str, Answer] = {"ours": {"found": [["a.md"]]}, "words": {"found": [[]]}}
    *_, row = compare(tmp_path, [{"id": "1", "form": "topic"}], answers)
    assert (row.empty, row.word(0.0)) == (1.0, "few")
