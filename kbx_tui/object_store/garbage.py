"""Deleting objects that no version needs any more, by the holder of the lease.

A version that was replaced stays for `GRACE`: readers may be fetching it. All ages are by the clock
of the store. A key is never used again once it may be deleted (`publish.REUSED_AGE`, and a new key
for each upload), so that a process which lost its lease deletes nothing that is needed.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256

from msgspec.structs import replace

from kbx_tui.errors import StoreFault
from kbx_tui.object_store.object_client import ObjectClient, StoredObject
from kbx_tui.object_store.published_version import (
    FILE_KEY,
    FILES,
    HEAD,
    MANIFEST_KEY,
    MANIFESTS,
    Head,
    decode_manifest,
)
from kbx_tui.object_store.writer_lease import WriterLease

GRACE = timedelta(hours=24)
SWEEP_SECONDS = 6 * 3600.0
"""Time between two sweeps, each of which reads the manifests of all versions that are kept."""


def sweep_if_due(lease: WriterLease, now: float) -> int:
    """Sweep if the last time is long ago; `now` is in seconds since 1970. Raises StoreFault."""
    if 0 <= now - lease.head.swept_at < SWEEP_SECONDS:  # below 0 by a clock that was wrong
        return 0
    deleted = sweep(lease)
    lease.publish(swept_at=now)
    return deleted


def sweep(lease: WriterLease, grace: timedelta = GRACE) -> int:
    """Delete what no version needs, or did until `grace` ago; return how many objects.

    Raises StoreFault, also where the lease was lost.
    """
    lease.renew()
    client, head = lease.client, lease.head
    oldest = client.modified(HEAD) - grace
    manifests = [found for found in client.list(MANIFESTS) if MANIFEST_KEY.fullmatch(found.key)]
    kept = {head.manifest} | {
        manifest.key for manifest in manifests if not _was_replaced(manifest, manifests, oldest)
    }
    needed = {key for manifest in kept for key in _files(client, head, manifest)}
    deleted = [manifest.key for manifest in manifests if manifest.key not in kept]
    deleted += [
        found.key
        for found in client.list(FILES)
        if FILE_KEY.fullmatch(found.key) and found.key not in needed and found.modified < oldest
    ]
    lease.renew()  # the machine may have been asleep since the first time
    client.delete(deleted)
    return len(deleted)


def _was_replaced(manifest: StoredObject, manifests: list[StoredObject], oldest: datetime) -> bool:
    """Return whether a newer version followed before `oldest`."""
    return any(
        later.modified < oldest and _version(later) > _version(manifest) for later in manifests
    )


def _version(manifest: StoredObject) -> int:
    match = MANIFEST_KEY.fullmatch(manifest.key)
    assert match is not None
    return int(match["version"])


def _files(client: ObjectClient, head: Head, key: str) -> set[str]:
    """Return the keys of the files of a version; none where its manifest is gone or damaged."""
    stored = client.read(key)
    if stored is None:
        return set()
    named = replace(head, manifest=key, manifest_digest=sha256(stored[0]).hexdigest())
    with suppress(StoreFault):
        return {file.key for file in decode_manifest(stored[0], named, client.uri).files}
    return set()
