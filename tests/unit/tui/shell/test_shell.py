"""The tabs."""

import pytest

from kbx_tui.tui.app import mode_class
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import Span, part_at
from kbx_tui.tui.shell.frame_screen import TABS, fit_tabs, tab_line, tab_texts

BASE = ("acme", "5,706 documents")
COUNTS = {"dedup": "(3)"}


def shown(width: int, current: str = "explore", keymap: Keymap | None = None) -> str:
    texts, right = fit_tabs(tab_texts(current, keymap or Keymap(), COUNTS), BASE, width)
    line = "".join(span.text for span in tab_line(texts))
    return f"{line} | {right}"


def test_every_mode_has_a_tab_and_every_tab_a_screen() -> None:
    modes = [mode for mode in TABS if mode not in ("explore", "together")]
    assert [mode_class(mode).MODE for mode in modes] == modes


def test_tabs_shrink_with_the_width() -> None:
    full = " F1 Explore   F2 Drafts (3)   F3 Experts   F4 Tune   F5 Index  "
    assert shown(100) == f"{full} | acme · 5,706 documents"
    assert shown(72) == f"{full} | acme"
    assert shown(64) == f"{full} | "
    assert shown(57) == " F1 Explore F2 Draft (3) F3 Exper F4 Tune F5 Index | acme"
    assert shown(50) == " F1 Explore F2 Draf (3) F3 Expe F4 Tune F5 Inde | "
    assert shown(44) == " F1 Explore   F2 (3)   F3   F4   F5   | acme"
    assert shown(35) == " F1 Explore   F2   F3   F4   F5   | "


def test_tabs_name_bases_keys_and_compare_and_do_not_move() -> None:
    texts = tab_texts("dedup", Keymap(), {"together": "(2)"})
    shorter, right = fit_tabs(texts, BASE, 80)
    assert [text.words for text in shorter] == [
        "Explo",
        "Drafts",
        "Exper",
        "Tune",
        "Index",
        "All (2)",
    ]
    assert right == "acme"
    assert fit_tabs(texts, ("", ""), 80)[0] is texts[0]

    starts = {shown(100, mode).index("F3") for mode in ("explore", "dedup", "experts", "tune")}
    assert len(starts) == 1

    assert "compare" not in shown(100)
    assert " F1 Explore: compare" in shown(100, "compare")

    assert "ctrl+e Experts" in shown(100, keymap=Keymap({"mode.experts": "ctrl+e"}))


@pytest.mark.parametrize("width", [20, 30, 50, 80, 140])
def test_current_tab_is_always_named_and_marked(width: int) -> None:
    for mode, title in TABS.items():
        texts, _ = fit_tabs(tab_texts(mode, Keymap(), COUNTS), BASE, width)
        (marked,) = (text for text in texts if text.is_current)
        assert marked.mode == mode
        assert marked.words.startswith(title)
        assert "tab" in {span.look for span in marked.spans}


def test_a_part_is_found_at_its_cells() -> None:
    parts = [(1, (Span("港 "), Span("a"))), (2, (Span("b"),))]
    assert [part_at(parts, x) for x in (0, 3, 4, 5)] == [1, 1, 2, None]
