"""The token that clients of the HTTP server must send, if the owner set one.

It is read from a file or from the environment, never from the command line, which every user of
the machine can see in the list of processes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from kbx_tui.errors import ConfigError

VARIABLE = "KBX_TOKEN"
HOW = "make one with `openssl rand -hex 32`"

_VALID = re.compile(r"[\x21-\x7e]{16,512}")
"""What fits into a header, long enough not to be guessed."""


def access_token(file: Path | None, environment: Mapping[str, str]) -> str | None:
    """Return the token of `file`, else of KBX_TOKEN; None if neither is given.

    Raises ConfigError if it cannot be read or is not 16 to 512 visible ASCII characters; the
    message does not contain it.
    """
    if file is not None:
        source, token = str(file), _read(file)
    elif VARIABLE in environment:
        source, token = VARIABLE, environment[VARIABLE]
    else:
        return None
    if not _VALID.fullmatch(token := token.strip()):
        raise ConfigError(
            f"the token in {source} must have 16 to 512 letters, digits or signs, and no spaces; "
            f"{HOW}"
        )
    return token


def _read(file: Path) -> str:
    try:
        with file.open(encoding="ascii", errors="replace") as opened:
            return opened.read(1_000)
    except OSError as error:
        raise ConfigError(
            f"the token file {file} cannot be read ({error.strerror}); {HOW} > {file}"
        ) from error
