"""Every block is scanned once, on a second thread too where that pays off."""

import threading
import time

import pytest

from kbx_tui.index.vectors.int8_codes import parallel_scan


@pytest.mark.parametrize("parallel_from", [1, 100])
def test_every_block_is_scanned_once(parallel_from: int) -> None:
    scanned: list[int] = []
    parallel_scan(range(40), scanned.append, parallel_from=parallel_from)
    assert sorted(scanned) == list(range(40))


def test_a_second_thread_is_used_only_for_many_blocks() -> None:
    threads = set[int]()

    def work(_: int) -> None:
        threads.add(threading.get_ident())
        time.sleep(0.002)

    parallel_scan(range(3), work, parallel_from=4)
    assert threads == {threading.get_ident()}
    parallel_scan(range(40), work, parallel_from=4)
    assert len(threads) == 2


def test_errors_of_either_thread_are_raised() -> None:
    def work(block: int) -> None:
        time.sleep(0.001)
        if block > 20:
            raise ZeroDivisionError(block)

    with pytest.raises(ZeroDivisionError):
        parallel_scan(range(40), work, parallel_from=1)
