"""Publishing the index of one base to its object store. Loaded only where that is done."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from kbx_tui.api.session import Session
from kbx_tui.errors import IndexElsewhere, IndexFault, KbxError, StoreFault
from kbx_tui.index.build.repair import put_aside
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.index.index_folder import DEFAULT, store_of
from kbx_tui.index.ownership import allow
from kbx_tui.index.store import BUILD, Store
from kbx_tui.index.stored_page import write_marked_pages
from kbx_tui.object_store.mirror import files_here, note_publisher
from kbx_tui.object_store.object_client import ObjectClient, Progress
from kbx_tui.object_store.publish import (
    PublishReport,
    WriterLease,
    publish,
    sweep_if_due,
    writer_lease,
)
from kbx_tui.state_file import require_writable


class Publication:
    """The right to publish the index of a base, while it lasts."""

    def __init__(self, session: Session, lease: WriterLease) -> None:
        self._session, self._lease = session, lease

    def publish(
        self,
        progress: Progress = lambda done, total: None,
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> PublishReport | None:
        """Publish the index as it is now; None where cancelled.

        `progress` receives bytes uploaded, and how many there are. Other runs of indexing on this
        machine wait. Raises StoreFault, and IndexFault, also for an index without pages.
        """
        session = self._session
        folder = Path(session.store().uri)
        if not session.store().count("documents"):
            raise IndexFault(
                f"no page is indexed, so nothing was published: are the files in {session.root}?"
            )
        try:
            with writer_lock(session.root, on_wait=session.notice, cancelled=cancelled):
                write_marked_pages(session.root, session.store(), session.settings)
                report = publish(folder, self._lease, progress=progress, cancelled=cancelled)
        except OSError as error:
            reason = error.strerror or str(error)
            raise IndexFault(f"cannot read the index in {folder} ({reason})") from error
        if report is not None:
            try:
                sweep_if_due(self._lease, time.time())
            except StoreFault as error:
                session.notice(f"published, but what no version needs was not deleted: {error}")
        return report


@contextmanager
def publication(session: Session) -> Iterator[Publication | None]:
    """Hold the lease of the object store of a base; None for an index in a folder.

    From then on the base has its own index on this machine, which begins as a copy of what is
    published. Raises IndexElsewhere if most of the published pages are not here, IndexLocked while
    another process holds the lease, and StoreFault.
    """
    require_writable(session.root)
    uri = store_of(session.settings)
    if uri is None:
        yield None
        return
    with writer_lease(ObjectClient(uri)) as lease:
        if session.published is not None:
            with writer_lock(session.root, on_wait=session.notice):
                own = session.root / DEFAULT
                if lease.head.version:
                    _require_files(session)
                    store = Store(str(own))
                    put_aside(store)
                    if not store.exists():
                        _copy(Path(session.store().uri), own)
                note_publisher(session.root, uri)
            session.use_own_index()
        yield Publication(session, lease)


def _require_files(session: Session) -> None:
    """Raise IndexElsewhere where most of the published pages are not: they would be taken out."""
    here = list(files_here(session.root, session.store().column("documents", "path")))
    if 2 * sum(here) < len(here):
        raise IndexElsewhere(
            f"{session.root} lacks most of the pages that are published, which indexing would take "
            "out for all who read them: copy the files there first, or delete head.json in the "
            "store to start over"
        )


def _copy(mirrored: Path, own: Path) -> None:
    """Copy a mirrored index. What an interrupted copy leaves is removed by the next run."""
    new = own.with_name(f"{own.name}.new-{uuid4().hex[:8]}")
    try:
        shutil.copytree(mirrored, new, ignore=shutil.ignore_patterns(BUILD))
        with suppress(KbxError):  # the run that follows says so
            allow(new)
        shutil.copyfile(mirrored / BUILD, new / BUILD)  # last: without it, it is not put in place
        new.rename(own)
    except OSError as error:
        reason = error.strerror or str(error)
        raise IndexFault(f"cannot copy the published index to {own} ({reason})") from error
