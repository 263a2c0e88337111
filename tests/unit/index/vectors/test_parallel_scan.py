"""Every block is scanned once, on a second thread too where that pays off."""

import threading

import pytest

from kbx_tui.index.vectors.stored_vectors import parallel_scan
from tests.waiting import PATIENCE


@pytest.mark.parametrize("parallel_from", [1, 100])
def test_every_block_is_scanned_once(parallel_from: int) -> None:
    scanned: list[int] = []
    parallel_scan(range(40), scanned.append, parallel_from=parallel_from)
    assert sorted(scanned) == list(range(40))


def test_a_second_thread_is_used_only_for_many_blocks() -> None:
    threads = set[int]()
    parallel_scan(range(3), lambda _: threads.add(threading.get_ident()), parallel_from=4)
    assert threads == {threading.get_ident()}
    both = threading.Barrier(2)

    def wait_for_the_other(_: int) -> None:
        both.wait(PATIENCE)

    parallel_scan(range(2), wait_for_the_other, parallel_from=2)


@pytest.mark.parametrize("in_this", [True, False])
def test_errors_of_either_thread_are_raised(in_this: bool) -> None:
    this, both = threading.get_ident(), threading.Barrier(2)

    def work(block: int) -> None:
        both.wait(PATIENCE)
        if (threading.get_ident() == this) == in_this:
            raise ZeroDivisionError(block)

    with pytest.raises(ZeroDivisionError):
        parallel_scan(range(2), work, parallel_from=1)
