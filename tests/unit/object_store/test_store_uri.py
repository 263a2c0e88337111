"""URIs of object stores."""

import pytest

from kbx_tui.errors import ConfigError
from kbx_tui.object_store.store_uri import is_store_uri, parse_store_uri


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("s3://bucket/base", "s3://bucket/base"),
        ("S3://bucket//a/b/", "s3://bucket/a/b"),
        ("gs://bucket", "gs://bucket"),
        ("az://container/notes of the team", "az://container/notes of the team"),
    ],
)
def test_uri_is_normalized(text: str, normal: str) -> None:
    assert str(parse_store_uri(text)) == normal


@pytest.mark.parametrize(
    "text",
    ["s3://", "s3:///base", "s3://b/../c", "ftp://bucket/base", "s3://bucket/a\nb", "https://h/b"],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not the URI of an object store"):
        parse_store_uri(text)


def test_neither_folders_nor_lancedb_servers_are_stores() -> None:
    with pytest.raises(ConfigError, match="can no longer be kept: write s3://bucket/base"):
        parse_store_uri("db://notes")
    assert not is_store_uri("~/index")
    assert not is_store_uri("file:///index")


@pytest.mark.parametrize(
    "text",
    [
        "s3://key:hidden@bucket/base",
        "s3://bucket/base?aws_secret_access_key=hidden",
        "az://container/base?sig=hidden",
        "s3://AKIAIOSFODNN7EXAMPLE/hidden",
    ],
)
def test_credentials_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(ConfigError, match="may hold no user, key or signature") as raised:
        parse_store_uri(text)
    assert "hidden" not in str(raised.value)
