"""Measure how the time to read a file grows with its size, for content that is hard to parse.

    python -m benchmarks.parsing [--sizes 250000 500000 1000000]

Prints CPU seconds per size for parsing, blocks, facts and chunks together, and the ratio between
the last two sizes: 2.0 is linear for a doubled size.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence

from kbx_tui.knowledge.chunker import split_documents
from kbx_tui.knowledge.entities import read_facts
from kbx_tui.knowledge.reading import parse_document

Content = Callable[[int], str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[250_000, 500_000, 1_000_000])
    sizes = parser.parse_args().sizes
    print(f"{'content':<22}{''.join(f'{size:>11,}' for size in sizes)}{'ratio':>8}")
    for name, content in CONTENTS.items():
        seconds = [read_seconds(content(size)) for size in sizes]
        ratio = seconds[-1] / max(seconds[-2], 1e-3) if len(seconds) > 1 else 0.0
        print(f"{name:<22}{''.join(f'{s:>11.2f}' for s in seconds)}{ratio:>8.1f}", flush=True)


def read_seconds(text: str) -> float:
    """Return the CPU seconds it takes to read a page with this text."""
    data = text.encode()
    start = time.process_time()
    document = parse_document("memory/people/x.md", data)
    read_facts(document, "person:x")
    split_documents([document], count_words, max_tokens=200)
    return time.process_time() - start


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def front(unit: Content, head: str = "") -> Content:
    return lambda size: f"---\n{head}{unit(size - 10)}\n---\n# A page\n"


def numbered(unit: str) -> Content:
    def content(size: int) -> str:
        count = size // len(unit.format(100_000, 99_999))
        return "".join(unit.format(100_000 + n, 99_999 + n) for n in range(count))

    return content


def repeat(unit: str) -> Content:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


CONTENTS: Mapping[str, Content] = {
    "prose": repeat("A plain sentence of some words.\n\n"),
    "headings": repeat("# h\n"),
    "sections of facts": repeat("## Facts\n- x\n"),
    "bullets": lambda size: "## Facts\n" + repeat("- x y\n")(size),
    "rules": repeat("---\n"),
    "unclosed frontmatter": lambda size: "---\n" + repeat("key: value\n")(size),
    "ligatures": lambda size: repeat("\ufdfa \ufb03 ")(size // 3),
    "nested quotes": lambda size: (">" * 10_000 + " x\n") * (size // 10_003),
    "nested brackets": repeat("["),
    "open links": repeat("[[a ["),
    "wikilinks": repeat("[[a]] "),
    "table": repeat("| a | b |\n"),
    "nested lists": lambda size: "".join(" " * (n % 40) + "- x\n" for n in range(size // 24)),
    "deep list": lambda size: "- " * (size // 2),
    "short paragraphs": repeat("a\n\n"),
    "links": repeat("[a](b) *c* `d`\n"),
    "backticks": repeat("`` ` "),
    "redacted lines": repeat("[redacted]\n\n"),
    "redacted items": lambda size: "## Facts\n" + repeat("- [redacted] x\n")(size),
    "marks below an item": lambda size: "## Facts\n- x\n" + repeat("\n  [redacted]\n")(size),
    "marks in a table": lambda size: "## Facts\n" + repeat("| a |\n[redacted]\n")(size),
    "fact in paragraphs": lambda size: "## Facts\n- x\n" + repeat("\n  - y\n\n   z\n")(size),
    "notes of a fact": lambda size: "## Facts\n- x\n" + repeat("  - status: done\n")(size),
    "equal facts": lambda size: "## Facts\n" + repeat("- [x] **a** [b](c) (2026-01-01)\n")(size),
    "long fact": lambda size: "## Facts\n- " + repeat("[[a|b]] `c` (x) ")(size),
    "quotes and facts": lambda size: "## Facts\n" + (">" * 5_000 + " x\n") * (size // 5_003),
    "fact of quotes": lambda size: "## Facts\n- " + ">" * size,
    "fact of brackets": lambda size: "## Facts\n- " + "[" * size,
    "html": repeat("<b>\n"),
    "definitions": numbered("[a{}]: {}\n"),
    "fences": repeat("```\nx\n"),
    "attendees": front(numbered("- Ann B{}{}\n"), "attendees:\n"),
    "attendees, one text": front(repeat("Ann Bee, "), "attendees: "),
    "tags": front(numbered("t{}{}, "), "tags: "),
    "linked tags": front(repeat("- [[x]]\n"), "tags:\n"),
    "anchors": front(numbered("- &a{0} x{1}\n- *a{0}\n"), "x:\n"),
    "merged keys": front(numbered("a{0}: &a{0} {{<<: *a{1}, k{0}: 1}}\n"), "a99999: &a99999 {}\n"),
    "invalid frontmatter": front(repeat("a: b: c\n")),
    "one line": repeat("word "),
    "one word": repeat("w"),
}


if __name__ == "__main__":
    main()
