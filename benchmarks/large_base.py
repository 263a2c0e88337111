"""Generate a base of many documents and index it without embedding them.

    python -m benchmarks.large_base FOLDER [--documents 100000]

Word frequencies follow a Zipf distribution; documents name people, teams and projects. The vectors
of the texts are seeded unit vectors, random but identical in every run: they cost nothing and are
as many as real ones. The index names the bundled model, so queries are embedded as usual; the
quality of its results means nothing. `queries.jsonl` beside it asks for people and words, for
`benchmarks.rivals`. Takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import peak_mb, row
from kbx_tui.embedding.embedder import BUNDLED, Vector, Vectors
from kbx_tui.index.build.build_index import build
from kbx_tui.index.tables import text_hash
from kbx_tui.settings_file import load_settings

SEED = 20
PEOPLE, TEAMS, PROJECTS, VOCABULARY, QUERIES = 2000, 50, 300, 40_000, 100
CONSONANTS, VOWELS = "bcdfghjklmnprstvwxz", "aeiou"
TOKENS_PER_WORD = 1.4
"""Average of the bundled model's tokenizer on English."""


class SeededVectors:
    """An embedder that returns unit vectors seeded by the text, without meaning."""

    model = BUNDLED.name
    dimension = 384
    max_tokens = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = np.stack([_random(text) for text in texts])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed([text])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [round(TOKENS_PER_WORD * (text.count(" ") + 1)) for text in texts]


def _random(text: str) -> Vector:
    seed = int(text_hash(text)[:16], 16)
    return np.random.default_rng(seed).standard_normal(384, dtype=np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=100_000)
    options = parser.parse_args()
    began = time.monotonic()
    write_base(options.folder, options.documents)
    row(f"{options.documents:,} documents written", f"{time.monotonic() - began:.0f} s")
    report = build(options.folder, load_settings(options.folder), SeededVectors())
    row(
        "indexed",
        f"{report.seconds['total']:.0f} s, {report.chunks:,} chunks, {report.links:,} links",
    )
    row("peak memory", f"{peak_mb():.0f} MB")


def write_base(folder: Path, documents: int) -> None:
    """Write entity pages, and equal numbers of meetings and notes."""
    chance = random.Random(SEED)
    words = sorted({_word(chance) for _ in range(VOCABULARY)})
    chance.shuffle(words)
    bounds = np.cumsum([1.0 / rank for rank in range(3, len(words) + 3)]).tolist()
    teams = [f"Team {words[-number].title()}" for number in range(1, TEAMS + 1)]
    projects = [f"Project {words[-number - 100].title()}" for number in range(1, PROJECTS + 1)]
    people = [f"{_word(chance).title()} {_word(chance).title()}" for _ in range(PEOPLE)]
    for number, name in enumerate(people):
        team, role = chance.choice(teams), chance.choice(("engineer", "designer", "analyst"))
        facts = "\n".join(f"- {name} {_sentence(chance, words, bounds)}" for _ in range(3))
        text = f"---\nrole: {role}\nteam: {team}\n---\n# {name}\n\n## Facts\n\n{facts}\n"
        _write(folder / f"memory/people/p{number:04}.md", text)
    for kind, names in (("teams", teams), ("projects", projects)):
        for number, name in enumerate(names):
            text = f"# {name}\n\n{_sentence(chance, words, bounds)}.\n"
            _write(folder / f"memory/{kind}/{number:04}.md", text)
    pages = len(people) + len(teams) + len(projects)
    for number in range(documents - pages):
        title = " ".join(chance.choices(words, cum_weights=bounds, k=5)).capitalize()
        body = " ".join(chance.choices(words, cum_weights=bounds, k=chance.randint(60, 220)))
        year, month = 2016 + number % 10, 1 + number // 10 % 12
        head = f"date: {year}-{month:02}-{1 + number // 120 % 28:02}"
        folder_name = "notes"
        if number % 2:
            folder_name = "meetings"
            head += f"\nattendees: [{', '.join(chance.sample(people, 4))}]"
        text = f"---\n{head}\n---\n# {title}\n\n{chance.choice(projects)}: {body}.\n"
        _write(folder / f"memory/{folder_name}/{year}/{month:02}/d{number:06}.md", text)
    queries = []
    for number in range(QUERIES):
        topic = " ".join(chance.choices(words, cum_weights=bounds, k=3))
        text = f"what did {chance.choice(people)} say about {topic}?" if number % 2 else topic
        queries.append(json.dumps({"id": str(number), "text": text}))
    _write(folder / "queries.jsonl", "\n".join(queries) + "\n")


def _word(chance: random.Random) -> str:
    syllables = range(chance.randint(2, 4))
    return "".join(chance.choice(CONSONANTS) + chance.choice(VOWELS) for _ in syllables)


def _sentence(chance: random.Random, words: Sequence[str], bounds: Sequence[float]) -> str:
    return " ".join(chance.choices(words, cum_weights=bounds, k=10))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
