"""Judge queries of the demo in the app, by keys alone in a terminal, until there is a decision.

    python -m benchmarks.judging [--queries 25] [--grades 6] [--pause 3.0] [--speed 6.0]

Replays a user who types a query, thinks for `--pause` seconds about each of its first results,
grades it, and at last asks F4 for advice. `--speed` is in characters a second. The grades are those
of the demo's labelled queries; a document without one counts as not relevant. Prints how long it
took, how long the app itself needed, and what it advised. The exit code is 1 if a grade was lost or
given to another document.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.common import copy_of, row
from kbx_tui import KnowledgeBase
from kbx_tui.demo import SHIPPED
from kbx_tui.evaluation.judgments import read_judgments
from tests.terminal.terminal import APP, Terminal, terminal

LABELS = Path("tests", "functional", "search", "demo_judgments")
GRADED = Path(".kbx", "judgments.jsonl")
CLEAR, F4, LEAVE = "\x15", "\x1bOS", "escape"
QUIET = 0.4
"""Seconds without output after which the app has shown everything."""
ADVICE = re.compile(r"(?:Keep what you have|Change): [^│]*")


@dataclass
class Session:
    """One person at one terminal. Times are in seconds."""

    app: Terminal
    root: Path
    pause: float
    speed: float
    waited: float = 0.0
    """Spent waiting for the app."""
    lost: list[str] = field(default_factory=list)

    def judge(self, query: str, grades: list[tuple[str, int]]) -> None:
        """Type a query, and grade its first results."""
        self.app.press("/", CLEAR)
        for letter in query:
            self.app.type(letter)
            self.app.listen(1 / self.speed)
        self.settle()
        self.app.press("down")
        for path, grade in grades:
            self.app.listen(self.pause)
            before = self.graded()
            self.app.press(str(grade))
            start = time.monotonic()
            while self.graded() == before and time.monotonic() - start < 10:
                self.app.listen(0.01)
            self.waited += time.monotonic() - start
            if self.graded()[len(before) :] != [(query, path, grade)]:
                self.lost.append(f"{query!r}: {path} {grade}, but {self.graded()[len(before) :]}")

    def settle(self) -> None:
        """Wait until the app writes nothing more."""
        start, length = time.monotonic(), -1
        while length != len(self.app.written):
            length = len(self.app.written)
            self.app.listen(QUIET)
        self.waited += time.monotonic() - start

    def graded(self) -> list[tuple[str, str, int]]:
        """Return query, path and grade of all that is on disk."""
        file = self.root / GRADED
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        entries = map(json.loads, lines)
        return [(entry["query"], entry["path"], entry["grade"]) for entry in entries]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=25)
    parser.add_argument("--grades", type=int, default=6)
    parser.add_argument("--pause", type=float, default=3.0)
    parser.add_argument("--speed", type=float, default=6.0)
    options = parser.parse_args()
    with copy_of(SHIPPED) as root:
        with KnowledgeBase(root) as kb:
            kb.index()
            planned = plan(kb, options.queries, options.grades)
        sys.exit(replay(root, planned, options.pause, options.speed))


def plan(kb: KnowledgeBase, queries: int, grades: int) -> dict[str, list[tuple[str, int]]]:
    """Return the first results of labelled queries, each with its grade."""
    labelled = [query for query in read_judgments(LABELS) if query.is_measurable][:queries]
    return {
        query.text: [
            (result.path, query.grades.get(result.path, 0))
            for result in kb.search(query.text, limit=grades).results
        ]
        for query in labelled
    }


def replay(
    root: Path, planned: dict[str, list[tuple[str, int]]], pause: float, speed: float
) -> int:
    """Judge as planned, ask for advice, and print what came of it."""
    own = {"HOME": str(root.parent)}
    with terminal([*APP, "--kb", str(root)], size=(140, 40), environment=own) as app:
        app.wait_for("documents")
        session, start = Session(app, root, pause, speed), time.monotonic()
        for query, grades in planned.items():
            session.judge(query, grades)
        judged = time.monotonic() - start
        app.press(LEAVE)
        app.type(F4)
        session.settle()
        before = len(app.text)
        app.press("O")
        asked = time.monotonic()
        while not (advice := ADVICE.findall(app.text[before:])) and time.monotonic() - asked < 60:
            app.listen(0.1)
        session.settle()
        took = time.monotonic() - start
    row("queries, grades", f"{len(planned)}, {len(session.graded())}")
    row("judged after", f"{judged / 60:.1f} min")
    row("decision after", f"{took / 60:.1f} min, {session.waited:.0f} s of them waiting")
    row("advice", " ".join(advice[-1].split()) if advice else "none")
    for lost in session.lost:
        row("lost", lost)
    return 1 if session.lost or not advice else 0


if __name__ == "__main__":
    main()
