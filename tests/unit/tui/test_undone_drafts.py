"""What undoing in the dedup mode says it took back."""

from dataclasses import replace

from kbx_tui.drafting.drafts import Choice, new_draft
from kbx_tui.tui.dedup.rows import ReviewStep, describe_undone, describe_undone_write

DRAFT, OTHER = new_draft("Speaks Catalan"), new_draft("Ships 5 releases")


def test_an_undone_change_is_named() -> None:
    decided = replace(DRAFT, choice=Choice("skip"))
    for now, then, words in (
        ((DRAFT,), (), "undone: “Speaks Catalan” removed again"),
        ((), (DRAFT, OTHER), "undone: 2 drafts here again"),
        ((decided,), (DRAFT,), "undone: your decision on “Speaks Catalan” is taken back"),
        ((DRAFT,), (decided,), "undone: “Speaks Catalan” is to skip again"),
        ((replace(DRAFT, kind="open_item"),), (DRAFT,), "undone: “Speaks Catalan” is a fact again"),
        ((replace(DRAFT, text="x"),), (DRAFT,), "undone: “Speaks Catalan” has its former text"),
        (
            (replace(DRAFT, entity_id="person:bob"),),
            (DRAFT,),
            "undone: “Speaks Catalan” has its former entity",
        ),
    ):
        assert describe_undone(now, None, ReviewStep(then, None)) == words
    moved = ReviewStep((DRAFT,), None, is_threshold=True)
    assert describe_undone((DRAFT,), 0.8, moved) == "threshold is that of each kind again"


def test_an_undone_write_names_its_files() -> None:
    paths = ["memory/people/alice.md", "memory/teams/mobile.md"]
    assert describe_undone_write(paths, 3) == (
        "undid the write to people/alice.md, teams/mobile.md; 3 drafts here again"
    )
    assert describe_undone_write(paths[:1], 0) == "undid the write to people/alice.md"
