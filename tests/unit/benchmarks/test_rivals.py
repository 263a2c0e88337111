"""The comparison with other systems, on a set made by hand and two systems that need no model."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from pydoc_data.topics import topics

import pytest

from benchmarks.rivals.__main__ import Answer, compare, verdicts
from benchmarks.rivals.make_sets import Entry, heading, make_demo, make_set


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


RIGHT, WRONG = ["right.md"], ["wrong.md", "right.md"]


@pytest.mark.parametrize(
    ("ours", "theirs", "word"),
    [(RIGHT, RIGHT, "level"), (RIGHT, WRONG, "ahead"), (WRONG, RIGHT, "behind")],
)
def test_ours_is_ahead_or_behind_only_where_the_difference_is_certain(
    ours: list[str], theirs: list[str], word: str
) -> None:
    queries = [{"id": str(n), "form": "person"} for n in range(30)]
    grades = {str(n): {"right.md": 2} for n in range(30)}
    answers: dict[str, Answer] = {"ours": {"found": [ours] * 30}, "words": {"found": [theirs] * 30}}
    rows = compare(queries, grades, answers)
    assert [row.system for row in rows] == ["ours", "words"]
    assert verdicts(rows) == {rows[1]: word}


def test_a_verdict_does_not_depend_on_which_other_systems_were_run() -> None:
    queries = [{"id": str(n), "form": "person"} for n in range(30)]
    grades = {str(n): {"right.md": 2} for n in range(30)}
    answers: dict[str, Answer] = {
        "ours": {"found": [RIGHT] * 30},
        "blend": {"found": [WRONG] * 6 + [RIGHT] * 24},  # p is .03
        **{f"level {n}": {"found": [RIGHT] * 30} for n in range(4)},
    }
    found = {row.system: word for row, word in verdicts(compare(queries, grades, answers)).items()}
    assert found["blend"] == "ahead"


def test_few_queries_claim_nothing() -> None:
    answers: dict[str, Answer] = {"ours": {"found": [["a.md"]]}, "words": {"found": [[]]}}
    rows = compare([{"id": "1", "form": "topic"}], {"1": {"a.md": 2}}, answers)
    assert rows[1].empty == 1.0
    assert verdicts(rows) == {rows[1]: "few"}


@pytest.mark.slow
def test_the_blend_is_certainly_ahead_neither_on_the_demo_nor_on_a_made_set(
    demo_copy: Path, tmp_path: Path
) -> None:
    make_demo(demo_copy)
    chance = random.Random(45)
    people = [f"{first} {last}" for first in ("Ada", "Cleo", "Emil", "Ines") for last in SURNAMES]
    paragraphs = [
        (" ".join(part.split()), topic.lower())
        for topic, text in sorted(topics.items())
        for part in re.split(r"\n\s*\n", text)
        if 30 <= len(part.split()) <= 120
    ]
    entries = [
        Entry(heading(text), text, (chance.choice(people),), topic)
        for text, topic in chance.sample(paragraphs, 110)
    ]
    made = tmp_path / "made"
    make_set(made, entries, "frontmatter", "help topics of Python, people drawn by chance")
    command = [sys.executable, "-m", "benchmarks.rivals", "--set", str(demo_copy), str(made)]
    done = subprocess.run(
        [*command, "--systems", "words,blend", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| any (12) | blend |" in done.stdout
    assert "| person+topic (40) | blend |" in done.stdout


SURNAMES = ("Bern", "Dahl", "Falk", "Grove", "Hale", "Ivarsen", "Jarvis", "Koch")
