"""Every error a person or program can meet, as one small tree.

    KbxError
    ├── ConfigError      kbx.toml or an option holds what it may not
    │   └── OutOfRange   a number outside its range
    ├── NotFound         no such knowledge base, document, entity or file
    │   └── Ambiguous    a name that several entities go by
    ├── IndexFault       the index cannot be read or written as asked
    │   ├── IndexLocked  another process writes it right now
    │   └── IndexForeign made by another schema version or embedding model
    ├── EmbeddingError   a model cannot be loaded, fetched or run
    │   ├── EmbeddingAuth         a service wants a key, or another one
    │   ├── EmbeddingRateLimited  a service asks to wait
    │   └── EmbeddingUnavailable  a service cannot be reached, or not now
    └── WriteFault       a file was not written and is as it was
        └── FileChanged  somebody else changed it since it was read

A message is one sentence: what, where, what to do. ``code`` is stable and meant for programs,
``exit_code`` is what the command line returns.
"""

from __future__ import annotations

from typing import ClassVar


class KbxError(Exception):
    """Base of all errors this package raises on purpose."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1


class ConfigError(KbxError):
    """A setting or option is unknown, of the wrong type or not among the valid values."""

    code = "config"
    exit_code = 2


class OutOfRange(ConfigError, ValueError):
    """A number lies outside its documented range, or is NaN."""

    code = "out_of_range"


class NotFound(KbxError):
    """What was named does not exist here."""

    code = "not_found"
    exit_code = 4


class Ambiguous(NotFound):
    """A name fits several entities; `candidates` are their ids."""

    code = "ambiguous"

    def __init__(self, message: str, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates


class IndexFault(KbxError):
    """The index cannot be opened, read or written."""

    code = "index"
    exit_code = 5


class IndexLocked(IndexFault):
    """Another process holds the writer lock."""

    code = "index_locked"


class IndexForeign(IndexFault):
    """The index was made by another schema version or another embedding model."""

    code = "index_foreign"


class EmbeddingError(KbxError):
    """An embedding model cannot be loaded, fetched or run."""

    code = "embedding"
    exit_code = 6


class EmbeddingAuth(EmbeddingError):
    """A service that embeds wants a key, or does not take the one it got."""

    code = "embedding_auth"


class EmbeddingRateLimited(EmbeddingError):
    """A service that embeds got too many requests; later it answers again."""

    code = "embedding_rate_limited"


class EmbeddingUnavailable(EmbeddingError):
    """A service that embeds cannot be reached, is too slow or has a fault of its own."""

    code = "embedding_unavailable"


class WriteFault(KbxError):
    """A file of the user was not written; it is as it was."""

    code = "write"
    exit_code = 7


class FileChanged(WriteFault):
    """A file is not what it was when it was read; both versions are kept here."""

    code = "file_changed"

    def __init__(self, message: str, path: str, expected: str, found: str) -> None:
        super().__init__(message)
        self.path, self.expected, self.found = path, expected, found
