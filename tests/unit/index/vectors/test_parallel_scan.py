"""Blocks of work are done once each, by two threads where it is worth it."""

from __future__ import annotations

import threading
import time

import pytest

from kbx_tui.index.vectors.parallel_scan import share


@pytest.mark.parametrize("worth_from", [1, 100])
def test_every_block_is_done_once(worth_from: int) -> None:
    done: list[int] = []
    share(range(40), done.append, worth_from=worth_from)
    assert sorted(done) == list(range(40))


def test_a_second_thread_helps_from_so_many_blocks_on() -> None:
    threads = set[int]()

    def work(_: int) -> None:
        threads.add(threading.get_ident())
        time.sleep(0.002)

    share(range(3), work, worth_from=4)
    assert threads == {threading.get_ident()}
    share(range(40), work, worth_from=4)
    assert len(threads) == 2


def test_what_goes_wrong_in_either_thread_is_raised() -> None:
    def work(block: int) -> None:
        time.sleep(0.001)
        if block > 20:
            raise ZeroDivisionError(block)

    with pytest.raises(ZeroDivisionError):
        share(range(40), work, worth_from=1)
