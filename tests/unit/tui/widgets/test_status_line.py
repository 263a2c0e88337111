"""The texts of the status line: which one is shown, and how much of it."""

from __future__ import annotations

from kbx_tui.tui.widgets.status_line import StatusLine, seconds_to_read


def lines(status: StatusLine, width: int = 30) -> list[str]:
    return ["".join(span.text for span in line) for line in status.lines(width)]


def test_error_differs_from_a_notice_by_its_sign() -> None:
    status = StatusLine()
    status.error = "no disk"
    assert lines(status) == [" ✗ no disk"]
    status.notice = "saved"
    assert lines(status) == [" saved"]
    status.notice = ""
    assert lines(status) == [" ✗ no disk"]


def test_long_text_that_has_been_read_takes_one_line() -> None:
    status = StatusLine()
    status.note = "the index in .kbx/index is damaged; `kbx index --full` rebuilds it"
    (line,) = lines(status)
    assert line == " the index in .kbx/index is…"


def test_without_a_text_the_line_is_blank() -> None:
    assert lines(StatusLine()) == []


def test_longer_texts_stay_longer() -> None:
    assert seconds_to_read("saved", 4.0) == 4.0
    assert seconds_to_read("x" * 150, 4.0) == 11.0
