"""The log of openings is compacted without changing frecency or losing a line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kbx_tui.search import frecency
from kbx_tui.search.frecency import DAY, OpenedDocuments
from tests.command_line import program_environment

PATHS = [f"memory/{number}.md" for number in range(7)]
ROWS = {path: row for row, path in enumerate(PATHS)}
NOW = 40 * DAY


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / ".kbx" / "usage.jsonl"
    file.parent.mkdir()
    return file


def lines(count: int) -> bytes:
    opened = ({"path": PATHS[n * n % 7], "at": n * 977.25 % NOW} for n in range(count))
    return b"".join(json.dumps(line).encode() + b"\n" for line in opened)


def test_long_log_is_compacted_and_gives_the_same_frecency(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_bytes(lines(20_000))
    monkeypatch.setattr(frecency, "COMPACTED_LINES", 10**9)
    before = OpenedDocuments(tmp_path).frecency(ROWS, now=NOW).tolist()
    assert len(file.read_bytes().splitlines()) == 20_000
    monkeypatch.undo()
    opened = OpenedDocuments(tmp_path)
    assert opened.frecency(ROWS, now=NOW).tolist() == before
    assert len(file.read_bytes().splitlines()) <= len(PATHS)
    assert opened.frecency(ROWS, now=NOW).tolist() == before
    assert OpenedDocuments(tmp_path).frecency(ROWS, now=NOW).tolist() == before


def test_opening_counts_after_compaction(file: Path, tmp_path: Path) -> None:
    file.write_bytes(lines(5_000))
    opened = OpenedDocuments(tmp_path)
    before = opened.frecency(ROWS, now=NOW)
    opened.add(PATHS[0], now=NOW)
    assert opened.frecency(ROWS, now=NOW)[0] > before[0]


def test_unreadable_lines_survive_compaction_byte_for_byte(file: Path, tmp_path: Path) -> None:
    odd = [b'{"path": "\xff"}', b"[" * 100_000, b'{"path": "a", "at": 1, "opens": -5}', b"\0"]
    file.write_bytes(lines(4_000) + b"\n".join(odd) + b"\n")
    said: list[str] = []
    OpenedDocuments(tmp_path, said.append).frecency(ROWS, now=NOW)
    left = file.read_bytes().split(b"\n")
    assert len(left) < 20
    assert set(odd) <= set(left)
    assert said == [f"{file}: 4 lines cannot be read; left out, and kept in the file"]


ADD = """
import sys
from pathlib import Path
from kbx_tui.search.frecency import OpenedDocuments
opened = OpenedDocuments(Path(sys.argv[1]))
print(flush=True)
sys.stdin.readline()
for number in range(300):
    opened.add("memory/0.md", now=float(number))
"""


def test_no_opening_of_another_process_is_lost_during_compaction(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frecency, "COMPACTED_LINES", 1)
    adders = [
        subprocess.Popen(
            [sys.executable, "-c", ADD, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=program_environment({}),
        )
        for _ in range(2)
    ]
    for adder in adders:
        assert adder.stdout and adder.stdout.readline()
    for adder in adders:
        assert adder.stdin
        adder.stdin.write(b"\n")
        adder.stdin.close()
    reader = OpenedDocuments(tmp_path)
    while any(adder.poll() is None for adder in adders):
        reader.frecency(ROWS)
    for adder in adders:
        assert adder.wait() == 0
        assert adder.stdout
        adder.stdout.close()
    opens = OpenedDocuments(tmp_path).opens()["memory/0.md"]
    assert opens == (600, 299.0)
