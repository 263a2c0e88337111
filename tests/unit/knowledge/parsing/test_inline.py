from kbx_tui.knowledge.inline import strip_markup


def test_strip_markup_keeps_the_text_only() -> None:
    assert (
        strip_markup(
            r"**Bold** _it_ [[A|b]] [[C]] [d](e.md) `f` snake_case 2*3*4 \*g\* ![h](i.png)"
        )
        == "Bold it b C d f snake_case 2*3*4 *g* h"
    )
