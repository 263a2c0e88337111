"""Random pages with unusual structure, line ends and encodings."""

import random

LINES = (
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
CODECS = ("utf-8", "utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16")


def odd_page(rng: random.Random) -> bytes:
    """Return the bytes of a random page."""
    lines = [rng.choice(LINES) for _ in range(rng.randint(0, 14))]
    if rng.random() < 0.7:
        lines.insert(rng.randint(0, len(lines)), "## Recent Facts")
    text = rng.choice(FRONTS) + "\n".join(lines) + rng.choice(("", "\n", "\n\n", "  "))
    line_end = rng.choice(ENDS)
    text = text.replace("\n", line_end)
    if rng.random() < 0.1:
        text = text.replace(line_end, rng.choice(ENDS), 3)
    data = text.encode(rng.choice(CODECS))
    if rng.random() < 0.05:
        data += b"\n- broken \xff\xfe byte" if not data.startswith((b"\xff", b"\xfe")) else b""
    return data
