"""Pages as nobody would write them on purpose: what holds for these holds for any."""

from __future__ import annotations

import random

PIECES = (
    "- [2026-01-02] Prefers async Slack over email",
    "- Prefers tea  ",
    "  - nested fact, indented",
    "  - source: [[Kickoff]]",
    "* starred bullet with *emphasis*",
    "1. numbered",
    "- [ ] open item (from: Kickoff)",
    "- [x] [2026-02-03] ticked",
    "- ~~struck out~~",
    "- [2026-03-04] with [[Link|a link]] and `code` (source: memory/notes/x.md, confidence: high)",
    "- a line\n  that goes on",
    "- 日本語の事実",
    "- émigré’s café",
    "A paragraph\twith a tab.   ",
    "",
    "   ",
    "```",
    "- in a fence?",
    "~~~ python",
    "<div>",
    "<!-- comment -->",
    "<!-- open comment",
    "> - quoted",
    "| a | b |",
    "---",
    "***",
    "# Name",
    "## Recent Facts",
    "## Recent Facts:",
    "## Facts",
    "### Older",
    "## Open Items",
    "Open Items\n----------",
    "## Notes",
    "- [2026-01-02] Prefers async Slack over email",
    "\\- escaped",
    "    - in an indented block",
    "-",
    "- ",
    "- #superseded gone by now",
    "- text status: archived",
    "\x0b\x0c odd spaces \u2028 here",
)
FRONTS = (
    "",
    "---\nrole: SRE\n---\n",
    "---\nrole: 'a: b'   # why\nteam: \"[[X]]\"\naliases: [a, b]\n\n"
    "# comment\nnote: |\n  two\n  lines\n---\n",
    "---\naliases:\n- A\n- B\nstatus: superseded\n---\n",
    "---\ntitle: broken: yaml\nrole: x\n---\n",
    "---\nno closing: line\n",
    "---\n- a list\n---\n",
    "---\n---\n",
)
ENDS = ("\n", "\r\n", "\r")
CODECS = (
    "utf-8", "utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16",
)  # fmt: skip


def odd_page(chance: random.Random) -> bytes:
    """Return the bytes of a page: odd structure, line ends, encoding, end of file."""
    lines = [chance.choice(PIECES) for _ in range(chance.randint(0, 14))]
    if chance.random() < 0.7:
        lines.insert(chance.randint(0, len(lines)), "## Recent Facts")
    text = chance.choice(FRONTS) + "\n".join(lines) + chance.choice(("", "\n", "\n\n", "  "))
    end = chance.choice(ENDS)
    text = text.replace("\n", end)
    if chance.random() < 0.1:
        text = text.replace(end, chance.choice(ENDS), 3)
    data = text.encode(chance.choice(CODECS))
    if chance.random() < 0.05:
        data += b"\n- broken \xff\xfe byte" if not data.startswith((b"\xff", b"\xfe")) else b""
    return data
