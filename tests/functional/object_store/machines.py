"""Machines that share a published index: one with the files, others without."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.object_store.object_client import ObjectClient
from kbx_tui.object_store.publish import PublishReport
from kbx_tui.object_store.store_uri import parse_store_uri
from tests.trusting import configure_trusted, copy_base


class Machine:
    """A base in a folder, and a cache of its own."""

    def __init__(self, folder: Path, uri: str) -> None:
        self.root, self.cache, self.uri = folder / "base", folder / "cache", uri
        self.root.mkdir(parents=True)
        configure_trusted(self.root, f'[index]\nuri = "{uri}"\n')

    @contextmanager
    def open(self, notices: list[str] | None = None) -> Iterator[KnowledgeBase]:
        """Open the base, with the cache of this machine."""
        heard = [] if notices is None else notices
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KBX_CACHE_DIR", str(self.cache))
            with KnowledgeBase(self.root, notice=heard.append) as kb:
                yield kb

    def publish(self) -> PublishReport:
        """Index the files and publish the index, as `kbx index` does."""
        with self.open() as kb, kb.publishing() as publication:
            assert publication is not None
            kb.index()
            report: PublishReport | None = publication.publish()
            assert report is not None
            return report

    def paths(self, query: str) -> list[str]:
        """Search, and return the paths of the results."""
        with self.open() as kb:
            return [result.path for result in kb.search(query).results]


def writer_machine(folder: Path, uri: str, demo: Path) -> Machine:
    """Return a machine with the files of the demo and its index, unpublished so far."""
    machine = Machine(folder, uri)
    keep_settings = shutil.ignore_patterns("kbx.toml", "app.json", "queries.*")
    copy_base(demo, machine.root, dirs_exist_ok=True, ignore=keep_settings)
    return machine


def client_of(uri: str) -> ObjectClient:
    """Return a client of the store."""
    return ObjectClient(parse_store_uri(uri))
