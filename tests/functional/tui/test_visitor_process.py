"""The process of a visitor: what it sends, and how it ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.command_line import CHECKOUT
from tests.functional.tui.visitor_process import VisitorProcess
from tests.functional.vaults import tree
from tests.hostile_base import SHOWN_NAME, controls_in

EXPECTED = re.compile(
    r"\x1b\[[0-9;]*[mHJ]"  # colours, the place of the cursor, an empty screen
    r"|\x1b\[\?[0-9;]+[hl]|\x1b\[\?2026\$p"  # modes
    r"|\x1b\]22;[a-z]*\x07"  # the shape of the pointer
)
"""What the app itself sends besides text."""


def test_stream_holds_no_control_of_a_document_and_the_base_stays_as_it_is(hostile: Path) -> None:
    before = tree(hostile)
    with VisitorProcess(dict(os.environ), hostile) as process:
        process.tell("kbx_query", query="Mallory quokka")
        process.read_until(lambda: SHOWN_NAME.encode() in process.drawn)
        process.type("\r")  # reads the first result
        process.read_until(lambda: b"n N" in process.drawn)
        process.tell("resize", width=10**9, height=-1)  # makes no sense: left out
        process.tell("resize", width=90, height=30)
        process.type("C")  # the command line for these results
        process.read_until(lambda: process.told[-1]["type"] == "kbx_copy")
        process.type(">")
        process.read_until(lambda: process.told[-1]["type"] == "kbx_file")
        process.tell("kbx_redraw")
        process.read_until(lambda: process.told[-1]["type"] == "kbx_page")
        process.tell("quit")
        assert process.end() == 0
    page, copied, file, again, end = process.told
    assert page == again
    assert page["query"] == "Mallory quokka"
    assert page["title"] == f"{page['base']} - Mallory quokka"
    assert not controls_in(str(page["title"]))
    assert "quokka" in str(copied["text"])
    assert (file["name"], file["mime_type"]) == ("kbx-results-mallory-quokka.html", "text/html")
    assert str(file["text"]).startswith("<!doctype html>")
    assert end == {"type": "exit"}
    assert not controls_in(EXPECTED.sub("", process.drawn.decode()))
    assert tree(hostile) == before


def test_a_size_that_comes_before_the_first_screen_is_that_of_the_screen(hostile: Path) -> None:
    process = VisitorProcess(dict(os.environ), hostile)
    process.tell("resize", width=60, height=20)
    with process:
        process.read_until(lambda: process.told)
        drawn = len(process.drawn)
        process.tell("kbx_redraw")
        process.read_until(lambda: len(process.told) > 1 and b"\x1b[20;1H" in process.drawn[drawn:])
        assert b"\x1b[21;1H" not in process.drawn[drawn:]


def test_process_ends_when_its_server_is_gone_or_sends_a_malformed_packet(hostile: Path) -> None:
    for packet in (b"", b"M\0\0\0\2{]"):
        with VisitorProcess(dict(os.environ), hostile) as process:
            process.break_off(packet)
            assert process.end() in (0, 129)


def test_options_that_make_no_sense_are_refused_with_a_sentence() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "kbx_tui.tui.visitor", "--editor"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].endswith("the following arguments are required: --kb")
