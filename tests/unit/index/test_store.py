"""Errors of the store become IndexFault, panics of its Rust code too."""

import errno

import pyarrow as pa
import pytest

from kbx_tui.errors import IndexDamaged, IndexFault, NotFound
from kbx_tui.index.store import batched_clauses, is_one_of, translate_errors


class PanicException(BaseException):
    """As raised by a panic in Rust."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (PanicException("index out of bounds"), IndexDamaged),
        (pa.lib.ArrowKeyError("no such field"), IndexDamaged),
        (RuntimeError("Not found: data/1.lance"), IndexDamaged),
        (FileNotFoundError(errno.ENOENT, "No such file"), IndexDamaged),
        (OSError(errno.EMFILE, "Too many open files"), IndexFault),
        (RuntimeError("LanceError(IO): No space left on device (os error 28)"), IndexFault),
        (RuntimeError("Too many open files (os error 24)"), IndexFault),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_every_error_of_the_store_is_an_index_fault(
    error: BaseException, kind: type[IndexFault]
) -> None:
    with pytest.raises(IndexFault) as raised, translate_errors("read a table", "/base/index"):
        raise error
    assert type(raised.value) is kind
    assert "cannot read a table" in str(raised.value)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), NotFound("no index"), TypeError("a bug")])
def test_other_exceptions_pass(error: BaseException) -> None:
    with pytest.raises(type(error)), translate_errors("read a table", "/base/index"):
        raise error


def test_values_are_listed_in_batches() -> None:
    assert list(batched_clauses("path", ["a", "it's 100%_\\", "c"], 2)) == [
        "path IN ('a', 'it''s 100%_\\')",
        "path IN ('c')",
    ]
    assert list(batched_clauses("path", [], 2)) == []
    assert is_one_of("path", []) == "false"
