"""Text from files as data: nothing in it may act on a terminal. Pure.

Both the app and the command line show names, titles and lines of files that anyone may have
written; what they show goes through here.
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
    "\u061c\u200e\u200f"  # marks of direction
    "\u202a\u202b\u202c\u202d\u202e"  # embeddings and overrides
    "\u2066\u2067\u2068\u2069"  # isolates
    "\u206a\u206b\u206c\u206d\u206e\u206f"  # deprecated shaping
    "\ufeff\ufff9\ufffa\ufffb\u00ad"  # byte order mark, interlinear notes, soft hyphen
)
_KEPT_FORMATS = frozenset("\u200c\u200d")  # joiners: scripts and emoji need them
_COMMON = re.compile(r"[\x20-\x7e\xa0-\xac\xae-\u02ff]*")
"""Text of which nothing has to be looked at; most lines are."""


def visible(text: str) -> str:
    """Return `text` on one line, with nothing left that a terminal would obey.

    Escape sequences go as a whole, so do controls of writing direction; a line break or tab
    becomes a space; any other control or lone surrogate becomes U+FFFD.
    """
    if _COMMON.fullmatch(text):
        return text
    return "".join(map(_shown, _ESCAPE_SEQUENCE.sub("", text)))


def visible_lines(text: str, tab: int = 4) -> list[str]:
    """Return the lines of `text`, each `visible`, tabs as spaces; line n of a file is item n-1."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [visible(line.expandtabs(tab)) for line in lines]


def _shown(character: str) -> str:
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
