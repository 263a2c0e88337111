"""What the app and servers ask of the system."""

import subprocess
import sys

import pytest

from kbx_tui.system import usable_cores

ALLOCATE_ON_THREADS = """
import ctypes, threading
from kbx_tui.system import limit_heaps
limit_heaps()
all_run = threading.Barrier(20)
threads = [threading.Thread(target=all_run.wait) for _ in range(20)]
for thread in threads: thread.start()
for thread in threads: thread.join()
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.slow  # another process
@pytest.mark.skipif(sys.platform != "linux", reason="the allocator of glibc")
@pytest.mark.parametrize("chosen", [None, "1"])
def test_threads_share_a_heap_per_core_or_what_the_user_has_set(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None
) -> None:
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    if chosen:
        monkeypatch.setenv("MALLOC_ARENA_MAX", chosen)
    command = [sys.executable, "-c", ALLOCATE_ON_THREADS]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert 1 <= said.count("Arena ") <= int(chosen or max(2, usable_cores()))


GAPS = """
import psutil
from kbx_tui.system import limit_heaps, release_memory
{first}
b"x" * 20_000_000  # glibc would put blocks of that size in a heap from now on
blocks = [(b"x" * {size}, bytes(600)) for _ in range(64_000_000 // {size})]
kept = [small for _, small in blocks]  # so that what is freed lies between blocks in use
before = psutil.Process().memory_info().rss
del blocks
{then}
print(before - psutil.Process().memory_info().rss)
"""


@pytest.mark.slow  # another process
@pytest.mark.skipif(sys.platform != "linux", reason="the allocator of glibc")
@pytest.mark.parametrize(
    ("size", "first", "then", "least"),
    [(8_000, "", "release_memory()", 20_000_000), (2_000_000, "limit_heaps()", "", 60_000_000)],
)
def test_freed_memory_between_blocks_in_use_goes_back_to_the_system(
    monkeypatch: pytest.MonkeyPatch, size: int, first: str, then: str, least: int
) -> None:
    monkeypatch.delenv("MALLOC_MMAP_THRESHOLD_", raising=False)
    command = [sys.executable, "-c", GAPS.format(size=size, first=first, then=then)]
    run = subprocess.run(command, capture_output=True, check=True)
    assert int(run.stdout) > least


WHILE_IMPORTING = """
import sys, threading
from kbx_tui.system import release_memory
releasing = threading.Thread(target=release_memory)

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "pyarrow.lib":  # of which most is still to come
            releasing.start()

sys.meta_path.insert(0, Finder)
import pyarrow
releasing.join()
"""


@pytest.mark.slow  # another process
def test_memory_is_released_while_another_thread_imports_arrow() -> None:
    command = [sys.executable, "-c", WHILE_IMPORTING]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stderr == ""
