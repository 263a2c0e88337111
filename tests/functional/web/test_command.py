"""`kbx web` on the command line: where it may listen, its links, its end."""

from __future__ import annotations

import asyncio
import re
import signal
import ssl
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kbx_tui.web.listening import listen
from tests.command_line import CommandLine, program_environment
from tests.functional.web.running import SECONDS, Running, running, stranger, visitor

LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/#[\w-]{43}\n")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with a note."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "note.md").write_text("# A note\n")
    return folder


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, and its key."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    files = tmp_path / "cert.pem", tmp_path / "key.pem"
    files[0].write_bytes(made.public_bytes(pem))
    files[1].write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_other_machines_are_not_served_without_encryption(
    kbx: CommandLine, notes: Path, host: str
) -> None:
    ran = kbx("web", notes, "--host", host, "--port", "0")
    assert ran.code == 2
    assert "--certfile" in ran.err
    assert "--insecure-bind" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--certfile", "a.pem"), "--certfile and --keyfile are given together"),
        (("--certfile", "a.pem", "--keyfile", "b.pem"), "cannot be used"),
        (("--base-url", "kbx"), "--base-url kbx is neither"),
        (("--base-url", "/a/../b"), "--base-url"),
        (("--base-url", "ftp://example.org"), "--base-url"),
        (("--base-url", "https://a@example.org"), "--base-url"),
        (("--base-url", "/kbx?x"), "--base-url"),
        (("--base-url", "http://[::1"), "--base-url"),
        (("--base-url", "https://example.org:99999"), "--base-url"),
        (("--base-url", 'https://a">b/'), "--base-url"),
        (("--host", "no such host"), "cannot be"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_a_sentence(
    kbx: CommandLine, notes: Path, arguments: tuple[str, ...], words: str
) -> None:
    ran = kbx("web", notes, *arguments, "--insecure-bind", "--port", "0")
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_an_address_is_as_browsers_spell_it() -> None:
    listening = listen("127.0.0.1", 0, base_url="https://Notes.example.org:443/kbx/")
    listening.socket.close()
    assert listening.url == "https://notes.example.org/kbx/"
    assert listening.rules.accepts_origin("https://notes.example.org", "notes.example.org")


def test_a_folder_without_notes_is_not_served(kbx: CommandLine, tmp_path: Path) -> None:
    ran = kbx("web", tmp_path, "--port", "0")
    assert ran.code == 4
    assert ran.out == ""


def test_a_port_that_is_taken_is_reported(kbx: CommandLine, notes: Path) -> None:
    taken = listen("127.0.0.1", 0)
    ran = kbx("web", notes, "--port", str(taken.port))
    taken.socket.close()
    assert ran.code == 2
    assert "name another --port" in ran.err


def test_a_link_of_no_server_is_refused(kbx: CommandLine, state_folder: Path) -> None:
    ran = kbx("web", "--new-link", "--port", "9")
    assert ran.code == 1
    assert "no `kbx web` of yours is running on port 9" in ran.err


def test_the_program_prints_links_and_ends_with_ctrl_c(notes: Path, state_folder: Path) -> None:
    """A second link is for the owner alone, and what the server started ends with it."""
    program = subprocess.Popen(
        [sys.executable, "-m", "kbx_tui", "web", notes, "--port", "0"],
        env=program_environment({"GEMINI_API_KEY": "secret"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    link = LINK.fullmatch(program.stdout.readline())
    assert link is not None
    (socket,) = (state_folder / "web").iterdir()
    assert socket.name == f"{link[1]}.sock"
    assert socket.stat().st_mode & 0o777 == 0o600
    assert socket.parent.stat().st_mode & 0o777 == 0o700
    second = subprocess.run(
        [sys.executable, "-m", "kbx_tui", "web", "--new-link", "--port", link[1]],
        env=program_environment({}),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert LINK.fullmatch(second)
    assert second != link[0]
    started = children(program.pid)
    assert started
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=SECONDS)
    assert program.returncode == 130
    assert "Traceback" not in errors
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)


def children(pid: int) -> list[int]:
    psutil = pytest.importorskip("psutil")
    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


async def test_with_a_certificate_cookies_need_encryption(
    certificate: tuple[Path, Path], state_folder: Path
) -> None:
    listening = listen("127.0.0.1", 0, certificate=certificate, base_url="/kbx")
    assert listening.url.startswith("https://127.0.0.1:")
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with running(listening=listening) as server:
        async with stranger() as client:
            answer = await client.post(
                f"{server.url}enter",
                data=server.token(),
                headers={"Origin": server.origin},
                ssl=trusting,
            )
            cookie = answer.headers["Set-Cookie"]
            assert cookie.startswith("__Secure-kbx-")
            assert "; Secure" in cookie
            assert "Path=/kbx/" in cookie


async def test_everything_is_below_the_path_that_a_proxy_serves(state_folder: Path) -> None:
    listening = listen("127.0.0.1", 0, base_url="http://127.0.0.1:1234/a/kbx/")
    assert listening.url == "http://127.0.0.1:1234/a/kbx/"
    with running(listening=listening) as server:
        server.url = f"http://127.0.0.1:{listening.port}/a/kbx/"  # as the proxy sees it
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Running, "origin", "http://127.0.0.1:1234")
            async with visitor(server) as known:
                page = await known.open()
                await page.until("welcome")
                assert (await known.client.get(server.url)).status == 200
                asked = f"{server.url[:-1]}?q=a+b"
                answer = await known.client.get(asked, allow_redirects=False)
                assert (answer.status, answer.headers["Location"]) == (308, "/a/kbx/?q=a+b")
                for path in ("/", "/static/app.js", "/a/"):
                    other = await known.client.get(f"http://127.0.0.1:{listening.port}{path}")
                    assert other.status == 404
                await page.socket.close()


async def test_a_second_visitor_has_a_session_of_their_own(state_folder: Path) -> None:
    with running() as server:
        async with visitor(server) as one, visitor(server) as other:
            pages = await asyncio.gather(one.open(), other.open())
            assert pages[0].session != pages[1].session


def test_only_the_page_knows_its_files() -> None:
    from kbx_tui.web.page_files import read_page_files

    files = read_page_files()
    assert {"app.html", "entry.html", "app.js", "xterm.mjs", "mono.woff2"} <= files.keys()
    for name, file in files.items():
        text = file.body.decode("utf-8", "replace")
        if not name.startswith(("xterm", "addon", "icon", "mono")):
            assert not re.search(r"https?://", text), name
