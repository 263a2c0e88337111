"""What is read of a store is not trusted."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from kbx_tui.errors import StoreFault
from kbx_tui.object_store.published_version import (
    Head,
    Manifest,
    PublishedFile,
    decode_head,
    decode_manifest,
)

DIGEST = "a" * 64
URI = "s3://bucket/base"


def published(path: str = "words.bin", **changes: Any) -> dict[str, Any]:
    return {
        "path": path, "size": 3, "digest": DIGEST, "key": f"files/{DIGEST}-1f", **changes,
    }  # fmt: skip


def decoded(files: Sequence[dict[str, Any]], **changes: Any) -> Manifest:
    data = msgspec.json.encode({"version": 1, "published_at": 1.0, "files": files, **changes})
    head = Head(1, version=1, manifest="manifests/1", manifest_digest=sha256(data).hexdigest())
    return decode_manifest(data, head, URI)


def test_manifest_is_read_as_it_was_written() -> None:
    manifest = Manifest(1, 1.0, (PublishedFile("a/b.bin", 3, DIGEST, f"files/{DIGEST}-1f"),))
    head = Head(1, manifest_digest=sha256(msgspec.json.encode(manifest)).hexdigest())
    assert decode_manifest(msgspec.json.encode(manifest), head, URI) == manifest


OUTSIDE = ("", ".", "/etc/passwd", "../x", "a/../../x", "a\\b", "C:x", "a\0b", "a\nb")


@pytest.mark.parametrize(
    ("files", "changes"),
    [
        *(([published(path)], {}) for path in OUTSIDE),
        ([published("a/b"), published("a//b")], {}),
        ([published(size=-1)], {}),
        ([published(digest="../../../x")], {}),
        ([published(key="../../secrets")], {}),
        ([published(key=f"files/{'b' * 64}-1f")], {}),  # of another digest
        ([published()], {"published_at": -1.0}),
        ([published()], {"published_at": 1e300}),
    ],
)
def test_what_nobody_published_is_refused(
    files: list[dict[str, Any]], changes: dict[str, float]
) -> None:
    with pytest.raises(StoreFault, match="is not what was written"):
        decoded(files, **changes)


def test_head_of_another_program_may_be_kept_and_one_of_a_newer_is_never_deleted() -> None:
    with pytest.raises(StoreFault, match="of another program: name another place"):
        decode_head(b'{"title": "head"}', URI)
    with pytest.raises(StoreFault, match="by a newer version of kbx-tui: update this one"):
        decode_head(b'{"format": 2, "revision": "other than now"}', URI)
