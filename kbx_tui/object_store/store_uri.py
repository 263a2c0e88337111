"""URIs of object stores: `s3://bucket/prefix`, `gs://` and `az://`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kbx_tui.errors import ConfigError

SCHEMES = ("s3", "gs", "az")
"""Amazon S3 and compatible stores, Google Cloud Storage, Azure Blob Storage."""

ENDPOINT_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "s3": ("AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    "az": ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ENDPOINT", "AZURE_STORAGE_USE_EMULATOR"),
    "gs": (),
}
"""Environment variables that select the store of a URI, by scheme; none holds a secret."""
OFFLINE = "KBX_STORE_OFFLINE"
"""Environment variable that restricts reading to the copies on this machine."""

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)/*(.*)", re.DOTALL)
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,62}")
_PREFIX = re.compile(r"[\w.~()!*' -]+(/[\w.~()!*' -]+)*")
_CREDENTIALS = re.compile(r"[@?&#=;]|\b(AKIA|ASIA)[A-Z0-9]{12,}")
"""Separators before a user, password or signature in a URL, and AWS key ids."""


@dataclass(frozen=True, slots=True)
class StoreUri:
    """Where an index is published; `str()` gives the URI."""

    scheme: str
    bucket: str
    prefix: str
    """Prefix without leading and trailing slashes; empty for the whole bucket."""

    def __str__(self) -> str:
        return f"{self.scheme}://{'/'.join(filter(None, (self.bucket, self.prefix)))}"


def is_store_uri(text: str) -> bool:
    """Return whether a setting is a URI, perhaps an invalid one, and not a folder."""
    return "://" in text and not text.lower().startswith("file")


def parse_store_uri(text: str) -> StoreUri:
    """Return the parts of a URI. Raises ConfigError, whose message contains no credentials."""
    require_no_credentials(text)
    match = _URI.fullmatch(text)
    scheme, bucket, prefix = match.groups() if match else ("", "", "")
    scheme, prefix = scheme.lower(), prefix.strip("/")
    if scheme == "db":
        raise ConfigError(
            f"{text} names a LanceDB server, where an index can no longer be kept: "
            "write s3://bucket/base, or leave uri out for .kbx/index in the base"
        )
    is_valid = _BUCKET.fullmatch(bucket) and (not prefix or _PREFIX.fullmatch(prefix))
    if scheme not in SCHEMES or not is_valid or {".", ".."} & {*prefix.split("/")}:
        raise ConfigError(
            f"{text} is not the URI of an object store: write s3://bucket/base, gs://bucket/base "
            "or az://container/base"
        )
    return StoreUri(scheme, bucket, prefix)


def require_no_credentials(text: str) -> None:
    """Raise ConfigError if a URI may hold credentials; the message does not repeat the text."""
    if is_store_uri(text) and _CREDENTIALS.search(text):
        raise ConfigError(
            "the URI of an object store may hold no user, key or signature, and it is not shown "
            "here: write s3://bucket/base, and put credentials into the environment"
        )
