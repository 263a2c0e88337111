"""Run as a program: an index build with Ray whose worker, and then the program itself, is killed.

Arguments: the base, a file to which the hash of every text is written once it is embedded, and the
folder for Ray, which the test removes.
"""

import os
import signal
import sys
from pathlib import Path

import psutil

from kbx_tui import KnowledgeBase, Progress
from kbx_tui.bulk import ray_workers
from kbx_tui.bulk.ray_workers import RayEngine
from kbx_tui.embedding.embedder import Embedder, Vectors
from kbx_tui.index.build import stages

KILL_WORKER, KILL_PROGRAM = 96, 288
"""Texts that are embedded by then."""

embed = stages._embed
log_file = ""
killed: list[int] = []


def embed_and_log(embedder: Embedder, texts: dict[str, str]) -> Vectors:
    vectors = embed(embedder, texts)
    with open(log_file, "a", encoding="ascii") as log:  # noqa: PTH123 - sent to the workers as it is
        log.write("".join(f"{text_hash}\n" for text_hash in texts))
    return vectors


def kill(progress: Progress) -> None:
    if progress.stage != "vectors":
        return
    if progress.done >= KILL_WORKER and not killed:
        children = psutil.Process().children(recursive=True)
        worker = next(child for child in children if "RayWorker" in child.cmdline()[0])
        worker.kill()
        killed.append(worker.pid)
    if progress.done >= KILL_PROGRAM:
        assert killed
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    log_file = sys.argv[2]
    stages._embed = embed_and_log
    ray_workers._make_folder = lambda: Path(sys.argv[3])
    with KnowledgeBase(sys.argv[1]) as kb:
        kb.index(kill, engine=RayEngine(workers=2))
