"""`kbx web` on the command line: where it may listen, its links, its end."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kbx_tui.errors import KbxError
from kbx_tui.web.links import ask_for_link, listen
from tests.command_line import CommandLine, program_environment
from tests.functional.web.running import SECONDS, Running, running, visitor
from tests.waiting import wait_until

LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/#[\w-]{43}\n")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with a note."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "note.md").write_text("# A note\n")
    return folder


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


async def test_servers_on_two_addresses_may_have_the_same_port(state_folder: Path) -> None:
    first = listen("127.0.0.1", 0)
    second = listen("127.0.0.2", first.port)
    with running(listening=first), running(listening=second):
        for host in ("127.0.0.1", "127.0.0.2"):
            assert ask_for_link(first.port, host).startswith(f"http://{host}:")
        with pytest.raises(KbxError, match=r"--host 127\.0\.0\.1 or --host 127\.0\.0\.2 says"):
            ask_for_link(first.port)
    with running(listening=listen("127.0.0.2", 0)) as only:
        port = only.server.listening.port
        assert ask_for_link(port).startswith("http://127.0.0.2:")
        with pytest.raises(KbxError, match="no `kbx web` of yours"):
            ask_for_link(port, "localhost")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems need the whole path")
async def test_a_state_folder_of_any_depth_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBX_STATE_DIR", str(tmp_path / ("long" * 30) / "state"))
    with running() as server:
        assert ask_for_link(server.server.listening.port).startswith(server.url)


@pytest.mark.parametrize("target", ["folder", "nowhere", "file"])
def test_a_link_in_place_of_the_folder_of_the_server_is_not_followed(
    kbx: CommandLine, notes: Path, state_folder: Path, target: str
) -> None:
    elsewhere = state_folder.parent / target
    state_folder.mkdir()
    if target == "folder":
        elsewhere.mkdir(mode=0o755)
    elif target == "file":
        elsewhere.write_text("text")
    (state_folder / "web").symlink_to(elsewhere)
    ran = kbx("web", notes, "--port", "0")
    assert ran.code == 2
    assert ran.out == ""
    assert f"the folder {state_folder / 'web'} of `kbx web` cannot be used" in ran.err
    if target == "folder":
        assert list(elsewhere.iterdir()) == []
        assert elsewhere.stat().st_mode & 0o777 == 0o755


def test_the_program_prints_links_and_ends_with_ctrl_c(
    notes: Path, state_folder: Path, tmp_path: Path
) -> None:
    """A second link is for the owner alone, and what the server started ends with it."""
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\ncp "${1#file://}" "$0.page"\n')
    browser.chmod(0o755)
    program = subprocess.Popen(
        [sys.executable, "-m", "kbx_tui", "web", notes, "--port", "0", "--open"],
        env=program_environment({"GEMINI_API_KEY": "secret", "BROWSER": str(browser)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    link = LINK.fullmatch(program.stdout.readline())
    assert link is not None
    socket, page = (
        state_folder / "web" / name for name in (f"127.0.0.1-{link[1]}.sock", f"{link[1]}.html")
    )
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
    opened = browser.with_suffix(".page")
    wait_until(lambda: opened.exists() and opened.read_text())
    assert link[0].strip() in opened.read_text()
    assert page.stat().st_mode & 0o777 == 0o600
    started = children(program.pid)
    assert started
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=SECONDS)
    assert program.returncode == 130
    assert "Traceback" not in errors
    assert not socket.exists()
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)


def children(pid: int) -> list[int]:
    psutil = pytest.importorskip("psutil")
    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


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


def test_only_the_page_knows_its_files() -> None:
    from kbx_tui.web.serving import read_page_files

    files = read_page_files()
    assert {"app.html", "entry.html", "app.js", "xterm.mjs", "mono.woff2"} <= files.keys()
    for name, file in files.items():
        text = file.body.decode("utf-8", "replace")
        if not name.startswith(("xterm", "addon", "icon", "mono")):
            assert not re.search(r"https?://", text), name
