"""Make an Obsidian vault of many notes, and measure it: index of its text, searches, links, edits.

    python -m benchmarks.vault FOLDER [--notes 10000]

The notes have frontmatter with tags and aliases, tags and properties in the text, wikilinks with
labels and headings, relative markdown links, embeds, daily notes and templates; they are the same
in every run. A link is added at a mention and undone, and every file is compared before and after.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.common import milliseconds, row, spread
from kbx_tui import KnowledgeBase

SEED = 12
FOLDERS = ("Inbox", "Work/Projects", "Work/Meetings", "Reading", "Areas/Home", "Areas/Health")
SYLLABLES = (
    *("ba", "do", "fe", "ki", "lo", "mu", "na", "po", "ra", "si", "ta", "vu", "we", "zo", "chi"),
    *("lan", "mer", "nor", "ple", "ster", "tor", "vel", "win"),
)
QUERIES = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=10_000)
    options = parser.parse_args()
    root: Path = options.folder
    titles = make_vault(root, options.notes)
    with KnowledgeBase(root) as kb:
        began, cpu = time.perf_counter(), time.process_time()
        report = kb.index(fast=True, full=True)
        seconds = time.perf_counter() - began
        stages = {name: round(spent, 1) for name, spent in report.seconds.items()}
        row("index of the text", f"{seconds:.1f} s, {time.process_time() - cpu:.1f} s of CPU")
        row("", f"{report.documents} documents, {stages}")
        generator = random.Random(SEED)
        queries = [generator.choice(titles) for _ in range(QUERIES // 2)]
        queries += [f"{word(generator)} {word(generator)}" for _ in range(QUERIES // 2)]
        kb.search(queries[0], fast=True)
        times = [milliseconds(partial(kb.search, query, fast=True)) for query in queries]
        row("warm search by words", spread(times))
        row("first links of a note", f"{milliseconds(lambda: kb.links.of('Work/Hub.md')):.0f} ms")
        paths = [generator.choice(kb.documents.paths()) for _ in range(QUERIES)]
        times = [milliseconds(partial(kb.links.of, path)) for path in paths]
        row("links of a note", spread(times))
        row("all broken links", f"{milliseconds(kb.links.check):.0f} ms")
        overview = kb.links.overview()
        row("", f"{overview.links} links, {overview.broken} broken")
        edit_and_undo(kb, root)


def edit_and_undo(kb: KnowledgeBase, root: Path) -> None:
    """Make a mention a link and undo it; compare all bytes outside the splice."""
    before = hashes(root)
    mention = kb.links.of("Work/Hub.md").mentions[0]
    took = milliseconds(lambda: kb.links.link(mention, "Work/Hub.md"))
    linked = milliseconds(lambda: kb.links.of("Work/Hub.md"))
    changed = {path for path, digest in hashes(root).items() if digest != before[path]}
    undone = milliseconds(kb.undo)
    is_same = hashes(root) == before
    row("a mention made a link", f"{took:.0f} ms, changed {changed == {mention.path}}")
    row("links after that edit", f"{linked:.0f} ms")
    row("undone", f"{undone:.0f} ms, all bytes as before: {is_same}")


def make_vault(root: Path, notes: int) -> list[str]:
    """Write the notes and return their titles."""
    generator = random.Random(SEED)
    titles = [f"{word(generator)} {word(generator)} {number}".title() for number in range(notes)]
    write(root / ".obsidian" / "templates.json", '{"folder": "Templates"}')
    write(root / ".obsidian" / "daily-notes.json", '{"folder": "Daily", "format": "DD.MM.YYYY"}')
    write(root / "Templates" / "Daily.md", "# {{date}}\n")
    write(root / "Work" / "Hub.md", "---\naliases: [The hub]\n---\n# Hub\n\nAll begins here.\n")
    for number, title in enumerate(titles):
        if number % 20 == 0:
            day, month, year = number // 20 % 28 + 1, number // 560 % 12 + 1, 2020 + number // 6720
            path = root / "Daily" / f"{day:02}.{month:02}.{year}.md"
        else:
            path = root / FOLDERS[number % len(FOLDERS)] / f"{title}.md"
        write(path, "\n".join(note(generator, number, titles)))
    return titles


def note(generator: random.Random, number: int, titles: list[str]) -> Iterator[str]:
    """Yield the lines of a note."""
    if number % 3 == 0:
        yield f"---\naliases: [{word(generator)}-{number}]\ntags: [area/{word(generator)}]"
        yield f'up: "[[{generator.choice(titles)}]]"\n---'
    for _ in range(generator.randint(3, 10)):
        words = [word(generator) for _ in range(generator.randint(8, 40))]
        words[2] = f"[[{generator.choice(titles)}]]"
        if generator.random() < 0.2:
            words[4] = f"[[{generator.choice(titles)}#Notes|{words[4]}]] #topic/{words[5]}"
        yield " ".join(words).capitalize() + ".\n"
    if number % 50 == 1:
        yield "See the hub, [[Hub]] and [the hub](../Work/Hub.md), and [[Missing note]].\n"
    if number % 50 == 2:
        yield "The hub is near. status:: open ![[picture.png]]\n"


def word(generator: random.Random) -> str:
    return "".join(generator.choice(SYLLABLES) for _ in range(generator.randint(2, 4)))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def hashes(root: Path) -> dict[str, str]:
    files = (file for file in root.rglob("*.md") if ".kbx" not in file.parts)
    return {
        file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }


if __name__ == "__main__":
    main()
