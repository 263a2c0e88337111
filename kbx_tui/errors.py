"""Every error a person or program can meet, as one small tree.

    KbxError
    ├── ConfigError      kbx.toml or an option holds what it may not
    │   └── OutOfRange   a number outside its range
    ├── NotFound         no such knowledge base, document, entity or file
    ├── IndexFault       the index cannot be read or written as asked
    │   ├── IndexLocked  another process writes it right now
    │   └── IndexForeign made by another schema version or embedding model
    └── EmbeddingError   a model cannot be loaded, fetched or run

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
