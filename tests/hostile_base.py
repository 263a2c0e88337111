"""A knowledge base whose names, lines and paths all contain terminal controls."""

import json
import unicodedata
from pathlib import Path

MARKUP = "[red]x[/]"
ACTS = (
    f"{MARKUP} [@click=app.quit]quit[/] [link=https://evil.example]here[/link]"  # our own markup
    " \x1b[31mred\x1b[0m \x9b1mbold \x1b[2J\x1b[H"  # colours, an empty screen
    " \x1b]52;c;aGk=\x07 \x1b]0;title\x1b\\ \x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\"
    " \u202eexe.txt\u202c \u2066isolated\u2069 \u200f\u061c"  # writing direction
    " z\u200be\u2060r\ufeffo\u00ad w\u200did\u200cth\U000e0041"  # invisible
    " \x07\x08\x00\x7f\x0b\x0c\x85\u2028\u2029 end"
)
"""Controls that a terminal or a toolkit might interpret."""

NAME = f"Mallory {MARKUP} \x1b[31mQuill\x1b[0m \u202eevil"
"""Name of a person, short enough to fit in a list."""
SHOWN_NAME = f"Mallory {MARKUP} Quill evil"
"""`NAME` as it must appear on the screen."""
FOLDER = "[red]kb[-] \u202eevil\u200b"
"""Folder of the base; LanceDB cannot open one with control characters in its name."""
ODD_PATH = "memory/notes/[red]odd[-] \x1b[31m\u202e\u200b\nname.md"
"""A path with a line break, which POSIX file systems allow."""


def write_hostile_base(parent: Path) -> Path:
    """Write the base below `parent` and return its root."""
    root = parent / FOLDER
    page = (
        f"---\naliases: {json.dumps([f'mal {ACTS}'])}\nrole: {json.dumps(f'Role {ACTS}')}\n"
        f"team: {json.dumps(f'Team {MARKUP}')}\n---\n# {NAME}\n\n"
        f"## Recent Facts\n- [2026-02-15] Fact {ACTS} (from: Source {ACTS})\n\n"
        f"## Open Items\n- [ ] Item {ACTS}\n"
    )
    note = (
        f"---\ntitle: {json.dumps(f'Note {ACTS}')}\ndate: '2026-01-02'\n---\n# Note {ACTS}\n\n"
        f"Mallory quokka {ACTS}\n\n[[mallory|label \x1b[31m\u202e<b>]]"
        f" [[nowhere <b> \x1b[31m\u202eevil]]\n\n```\n{ACTS}\n```\n"
    )
    files = {
        "memory/people/mallory.md": page,
        "memory/people/[red]trent[-]\u202e.md": f"# Trent {MARKUP}\n",
        "memory/notes/note.md": note,
        "memory/notes/[red]folder[-] \x1b[31m\u202e/deep.md": f"# Deep {ACTS}\n\nquokka\n",
        ODD_PATH: f"Mallory's other quokka {ACTS}\n",
    }
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    return root


def controls_in(text: str) -> set[str]:
    """Return the control characters of `text` except line breaks."""
    return {
        character
        for character in set(text) - {"\n"}
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and character not in "\u200c\u200d"  # joiners: scripts and emoji need them
    }
