"""Every error that this package raises on purpose, as one small tree.

    KbxError
    ├── ConfigError      an invalid setting or option
    │   └── OutOfRange   a number outside its range
    ├── NotFound         no such knowledge base, document, entity or file
    │   └── Ambiguous    a name that matches several entities
    ├── IndexFault       the index cannot be opened, read or written
    │   ├── IndexDamaged its files are not what was written
    │   ├── IndexLocked  another process is writing it
    │   │   └── IndexElsewhere  another machine writes and publishes it
    │   ├── StoreFault   the object store that it is published to cannot be used
    │   ├── EngineFault  the engine that builds it cannot be started or used
    │   └── IndexForeign built by another schema version or embedding model
    ├── EmbeddingError   a model cannot be loaded, downloaded or run
    │   ├── EmbeddingAuth         a service requires a key, or rejects the one sent
    │   ├── EmbeddingRateLimited  a service asks to wait
    │   └── EmbeddingUnavailable  a service cannot be reached
    ├── RerankerError    a reranker cannot be loaded, downloaded or run
    ├── NotConfirmed     so many files or a system folder would be indexed, or many pages
    │                    changed, and nobody agreed
    ├── NotTrusted       a base from elsewhere has a setting that the user has not allowed
    └── WriteFault       a file was not written and is unchanged
        ├── ReadOnly     the base is open for reading only
        ├── UnfitText    a text or value that would be read differently, or damage its page
        ├── FileChanged  it was changed by another process since it was read
        └── RecordDamaged  the journal no longer holds what a write recorded

A message is one sentence: what happened, where, and what to do. ``code`` is stable and meant for
programs; ``exit_code`` is the exit status of the command line.
"""

from __future__ import annotations

from typing import ClassVar

RATE_LIMIT_SECONDS = 60.0
"""Delay after a rate-limit error without a duration: such limits are usually per minute."""


class KbxError(Exception):
    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1


class ConfigError(KbxError):
    code = "config"
    exit_code = 2


class OutOfRange(ConfigError, ValueError):
    code = "out_of_range"


class NotFound(KbxError):
    code = "not_found"
    exit_code = 4


class UnknownEntity(NotFound):
    """No entity in the index has the given name."""


class Ambiguous(NotFound):
    """A name matches several entities; `candidates` are their ids."""

    code = "ambiguous"

    def __init__(self, message: str, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates


class IndexFault(KbxError):
    code = "index"
    exit_code = 5


class IndexDamaged(IndexFault):
    code = "index_damaged"


class IndexLocked(IndexFault):
    code = "index_locked"


class IndexElsewhere(IndexLocked):
    code = "index_elsewhere"


class StoreFault(IndexFault):
    code = "store"


class EngineFault(IndexFault):
    code = "engine"


class IndexForeign(IndexFault):
    code = "index_foreign"


class EmbeddingError(KbxError):
    code = "embedding"
    exit_code = 6


class EmbeddingAuth(EmbeddingError):
    code = "embedding_auth"


class EmbeddingRateLimited(EmbeddingError):
    """An embedding service received too many requests; try again in `retry_after_seconds`."""

    code = "embedding_rate_limited"

    def __init__(self, message: str, retry_after_seconds: float = RATE_LIMIT_SECONDS) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class EmbeddingUnavailable(EmbeddingError):
    code = "embedding_unavailable"


class RerankerError(KbxError):
    code = "reranker"
    exit_code = 6


class NotConfirmed(KbxError):
    code = "not_confirmed"
    exit_code = 9


class NotTrusted(KbxError):
    code = "not_trusted"
    exit_code = 8


class WriteFault(KbxError):
    code = "write"
    exit_code = 7


class ReadOnly(WriteFault):
    code = "read_only"


class UnfitText(WriteFault):
    """What was requested cannot be written: another request may succeed, not the same again."""

    code = "unfit_text"


class FileChanged(WriteFault):
    """A file changed since it was read; `expected` and `found` are its text before and now.

    For a write that cannot be undone, `expected` is what it wrote, instead of `replaced`.
    """

    code = "file_changed"

    def __init__(
        self, message: str, path: str, expected: str, found: str, replaced: str = ""
    ) -> None:
        super().__init__(message)
        self.path, self.expected, self.found, self.replaced = path, expected, found, replaced


class RecordDamaged(WriteFault):
    """A write cannot be undone: its record changed since it was written.

    `current` is the text of the file, `restored` what undoing by that record would have written.
    """

    code = "record_damaged"

    def __init__(self, message: str, path: str, current: str, restored: str) -> None:
        super().__init__(message)
        self.path, self.current, self.restored = path, current, restored
