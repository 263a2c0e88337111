"""Makes untrusted text safe to display: nothing in it can control a terminal. Pure.

The app and the command line pass all names, titles and lines of files through this module.
"""

from __future__ import annotations

import re
import unicodedata

_ESCAPE_SEQUENCE = re.compile(
    r"""(?x)
      (?: \x1b\[ | \x9b ) [0-?]* [ -/]* (?: [@-~] | $ )                      # CSI: colours, cursor
    | (?: \x1b[\]PX^_] | [\x9d\x90\x98\x9e\x9f] ) .*? (?: \x07 | \x1b\\ | \x9c | $ )  # OSC, DCS ...
    | \x1b [ -/]* [0-~]                                                      # two characters
    """,
    re.DOTALL,
)
_SPACES = frozenset("\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029")
_DROPPED = frozenset(
    "\u061c\u200e\u200f"  # direction marks
    "\u202a\u202b\u202c\u202d\u202e"  # embeddings and overrides
    "\u2066\u2067\u2068\u2069"  # isolates
    "\u206a\u206b\u206c\u206d\u206e\u206f"  # deprecated shaping
    "\ufeff\ufff9\ufffa\ufffb\u00ad"  # byte order mark, interlinear annotations, soft hyphen
)
_KEPT_FORMATS = frozenset("\u200c\u200d")  # joiners, which scripts and emoji need
_HARMLESS = re.compile(r"[\x20-\x7e\xa0-\xac\xae-\u02ff]*")
"""Text that needs no inspection, which is true of most lines."""


def safe_line(text: str) -> str:
    """Return `text` as one line without terminal controls.

    Escape sequences and bidirectional controls are removed, a line break or tab becomes a space,
    and any other control or lone surrogate becomes U+FFFD.
    """
    if _HARMLESS.fullmatch(text):
        return text
    return "".join(map(_replacement, _ESCAPE_SEQUENCE.sub("", text)))


def safe_lines(text: str) -> list[str]:
    """Return the lines of a text without terminal controls; line n of a file is item n - 1."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [safe_line(line.expandtabs(4)) for line in lines]


def _replacement(character: str) -> str:
    if character in _SPACES:
        return " "
    if character in _DROPPED or "\U000e0000" <= character <= "\U000e007f":
        return ""
    category = unicodedata.category(character)
    if category in ("Cc", "Cs"):
        return "\ufffd"
    if category == "Cf" and character not in _KEPT_FORMATS:
        return ""
    return character


def replace_surrogates(text: str) -> str:
    """Return `text` with `?` for each lone surrogate, which few libraries accept."""
    return text.encode("utf-8", "replace").decode()
