"""The text that `kbx index` and `kbx status` print."""

import re
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kbx_tui.bulk import ray_workers
from tests.command_line import CommandLine, program_environment
from tests.functional.vaults import FILES, write_vault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A few pages without an index; indexing the whole demo would take longer."""
    return write_vault(tmp_path / "kb")


PATIENT = """
from kbx_tui import ending
from kbx_tui.__main__ import main

ending.LIMIT_SECONDS = 600.0
main()
"""
"""`kbx` that is not ended by force while a test waits for its end."""


def started_index(vault: Path, *program: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *(program or ("-m", "kbx_tui")), "index", "--kb", vault],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=program_environment({}),
    )


def test_index_reports_totals_and_changes(kbx: CommandLine, vault: Path) -> None:
    ran = kbx("index", "--kb", vault)
    assert ran.code == 0
    assert ran.out.startswith(f"{len(FILES)} documents, ")
    assert f"{len(FILES)} new" in ran.out
    assert "kbx: vectors: " in ran.err


def test_second_run_has_nothing_to_do(kbx: CommandLine, demo_copy: Path) -> None:
    ran = kbx("index", "--kb", demo_copy)
    assert "no file changed; 0 texts embedded" in ran.out


def test_first_ten_problems_are_listed_with_the_number_of_the_rest(
    kbx: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "good.md").write_text("# Good\n", encoding="utf-8")
    for number in range(12):
        (tmp_path / f"gone-{number:02}.md").symlink_to(tmp_path / "nowhere.md")
    ran = kbx("index", "--fast", "--kb", tmp_path)
    assert ran.code == 0
    assert "12 problems:" in ran.out
    assert "gone-09.md" in ran.out
    assert "gone-10.md" not in ran.out
    assert "and 2 more; `kbx status --json` lists all" in ran.out


def test_status_says_which_command_updates_the_index(kbx: CommandLine, vault: Path) -> None:
    before = kbx("status", "--kb", vault).out
    assert "none yet; `kbx index` or the first search builds it" in before
    kbx("index", "--kb", vault)
    (vault / "memory" / "notes" / "brand-new.md").write_text("# New\n", encoding="utf-8")
    after = kbx("status", "--kb", vault).out
    assert "meaning   100 %" in after
    assert "1 file; `kbx index` updates the index" in after
    assert "new memory/notes/brand-new.md" in after


def test_no_wait_fails_while_another_process_is_indexing(kbx: CommandLine, demo_copy: Path) -> None:
    from kbx_tui.index.build.writer_lock import writer_lock

    with writer_lock(demo_copy):
        ran = kbx("index", "--no-wait", "--kb", demo_copy)
    assert (ran.code, ran.out) == (5, "")
    assert re.search(r"process \d+ on .+ \(since .+\) is indexing", ran.err), ran.err


@pytest.mark.parametrize(
    ("name", "command", "code"),
    [("writer.lock", "index", 5), ("edit.lock", "memory add Hums --entity Alice --force", 7)],
)
def test_a_link_in_the_place_of_a_lock_is_named(
    kbx: CommandLine, demo_copy: Path, name: str, command: str, code: int
) -> None:
    lock = demo_copy / ".kbx" / name
    lock.unlink(missing_ok=True)
    lock.symlink_to("nowhere")
    ran = kbx(*command.split(), "--kb", demo_copy)
    assert (ran.code, ran.err.count("\n")) == (code, 1)
    assert f"{lock} is a link or a folder, where a lock belongs: remove it" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_wait_for_another_process_ends_at_once_with_ctrl_c(vault: Path) -> None:
    from kbx_tui.index.build.writer_lock import writer_lock

    with writer_lock(vault), started_index(vault, "-c", PATIENT) as process:
        assert process.stderr is not None
        assert process.stderr.readline().endswith("; waiting\n")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.startswith("kbx: interrupted")


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_is_reported_in_one_line_and_the_next_run_continues(
    kbx: CommandLine, vault: Path
) -> None:
    for number in range(500):  # enough to be still running when the signal arrives
        page = vault / "memory" / "notes" / f"page-{number}.md"
        page.write_text(f"# Page {number}\n\nNumber {number} of many pages.\n", "utf-8")
    process = started_index(vault)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("kbx: vectors"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1].startswith("kbx: interrupted")
    assert "Traceback" not in err
    assert kbx("search", "page number 7", "--fast", "--json", "--kb", vault).json["results"]
    assert kbx("index", "--json", "--kb", vault).json["finished"] is True


needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray has no wheel for this system")
RAY = ("index", "--engine", "ray", "--yes")


def test_missing_package_is_named_with_its_extra(
    kbx: CommandLine, fresh_demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    run = kbx(*RAY, "--kb", str(fresh_demo))
    assert run.code == 5
    assert 'needs the package ray: pip install "kbx-tui[ray]"' in run.err
    assert not (fresh_demo / ".kbx" / "index").exists()


def test_options_of_ray_need_the_engine(kbx: CommandLine, fresh_demo: Path) -> None:
    for option in (("--ray-workers", "2"), ("--ray-address", "auto")):
        run = kbx("index", *option, "--kb", str(fresh_demo))
        assert run.code == 2
        assert "need --engine ray" in run.err


@needs_ray
def test_address_where_nothing_listens_is_named(kbx: CommandLine, fresh_demo: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        run = kbx(*RAY, "--ray-address", address, "--kb", str(fresh_demo))
    assert run.code == 5
    assert f"no Ray cluster answers at {address} (Connection refused)" in run.err


@needs_ray
def test_silent_address_is_given_up_after_a_time(
    kbx: CommandLine, fresh_demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_workers, "JOIN_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        run = kbx(*RAY, "--ray-address", address, "--kb", str(fresh_demo))
    assert run.code == 5
    assert f"cannot use the Ray cluster at {address} (no answer within 0 s)" in run.err
