import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.cli.output import ProgressLines, format_pace, json_text, padded
from kbx_tui.index.build.progress import Progress, Stage

CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F))]


@given(st.text(st.characters()))
def test_json_round_trips(text: str) -> None:
    shown = json_text([text])
    assert json.loads(shown) == [text]
    shown.encode("utf-8")  # lone surrogates too


@pytest.mark.parametrize("character", CONTROLS, ids=lambda character: f"U+{ord(character):04X}")
def test_json_escapes_terminal_controls(character: str) -> None:
    shown = json_text({"snippet": f"a{character}b"})
    assert character not in shown.replace("\n", "")
    assert json.loads(shown) == {"snippet": f"a{character}b"}


def test_json_leaves_letters_unescaped_and_prints_a_span_on_one_line() -> None:
    assert "Jérôme 移行 🚢" in json_text(["Jérôme 移行 🚢"])

    data = {"matches": [[2, 6], [61, 65]], "snippet": "[\n  1,\n  2\n]"}
    assert '"matches": [\n    [2, 6],\n    [61, 65]\n  ]' in json_text(data)
    assert json.loads(json_text(data)) == data


def test_wide_characters_are_padded_by_cells() -> None:
    assert [padded(text, 6) for text in ("Mira", "田中", "Alexander")] == [
        "Mira  ",
        "田中  ",
        "Alexander",
    ]


def progress_of(stage: Stage, done: int, total: int, rate: float = 0.0) -> Progress:
    left = (total - done) / rate if rate else None
    return Progress(stage, done, total, rate, left, searchable=False)


def test_a_line_is_printed_per_stage_and_then_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 0.0
    listener = ProgressLines(clock=lambda: now)
    listener(progress_of("reading", 0, 5_706))
    listener(progress_of("reading", 100, 5_706))
    now = 4.0
    listener(progress_of("vectors", 0, 1_204))
    now = 13.9
    listener(progress_of("vectors", 300, 1_204, 30.0))
    now = 14.0
    listener(progress_of("vectors", 312, 1_204, 31.2))
    assert capsys.readouterr().err.splitlines() == [
        "kbx: reading: 5,706",
        "kbx: vectors: 1,204",
        "kbx: vectors: 312 of 1,204, 31/s, 29 s left",
    ]


def test_stage_of_one_step_prints_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    ProgressLines()(progress_of("text index", 0, 1))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("progress", "pace"),
    [
        (progress_of("vectors", 0, 10), ""),
        (progress_of("vectors", 9, 10, 5.0), "5/s"),
        (progress_of("vectors", 100, 1_000, 2.0), "2/s, 8 min left"),
        (
            replace(progress_of("vectors", 9, 10, 5.0), searchable=True),
            "5/s, words can be searched",
        ),
    ],
    ids=["unknown", "nearly-done", "minutes", "searchable"],
)
def test_pace_omits_what_is_unknown(progress: Progress, pace: str) -> None:
    assert format_pace(progress) == pace
