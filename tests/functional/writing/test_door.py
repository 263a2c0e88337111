"""The door set: 100 drafts with what a careful person would do; `door/README.md` describes it."""

from pathlib import Path

import pytest

from benchmarks.similarity import Decided, decide_drafts
from kbx_tui import KnowledgeBase
from kbx_tui.drafting.deciding import decide
from kbx_tui.drafting.drafts import new_draft

DOOR = Path(__file__).with_name("door")
FLOOR = 0.85
"""Share of proposals that are right or fine."""


@pytest.fixture(scope="module")
def decided() -> list[Decided]:
    return decide_drafts(DOOR)


def test_most_proposals_are_right_or_fine(decided: list[Decided]) -> None:
    assert len(decided) == 100
    assert sum(each.is_right for each in decided) >= FLOOR * len(decided)


def test_what_is_sure_loses_no_update(decided: list[Decided]) -> None:
    sure = [each for each in decided if each.verdict.is_sure]
    assert len(sure) >= 6
    for each in sure:
        assert each.is_best_or_fine and each.draft["relation"] != "conflict", each.draft["text"]


def test_keys_are_learned_from_the_pages_of_the_base(tmp_path: Path) -> None:
    changed = "- ~~dog’s breed: {}~~\n- dog’s breed: {}\n- side effect: {}\n- side effect: {}\n"
    for name, facts in {
        "Ann Moe": changed.format("pug", "beagle", "nausea", "fever"),
        "Bob Lind": changed.format("boxer", "collie", "rash", "cough"),
        "Cy Holt": "- dog’s breed: husky\n- side effect: itch\n",
    }.items():
        page = tmp_path / "people" / f"{name.lower().replace(' ', '-')}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"# {name}\n\n## Recent Facts\n{facts}", encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index()
        texts = ("dog's breed: spitz", "side effect: headache")
        checks = kb.drafts.check([new_draft(text, entity_name="Cy Holt") for text in texts])
    breed, effect = map(decide, checks)
    assert breed.proposal.action == "supersede"
    assert breed.reason.endswith("husky → spitz (one value at a time on 2 pages)")
    assert effect.proposal.action == "create"
    assert "several values, as on 2 pages" in checks[1].matches[-1].known.judgement.reason


def test_a_text_that_mentions_the_subject_is_compared_with_what_is_said_of_it(
    tmp_path: Path,
) -> None:
    page = tmp_path / "people" / "lena-voss.md"
    page.parent.mkdir()
    facts = (
        "- Maintains the seed catalogue\n- Drew the irrigation map in March\n"
        "- Reports to Omar Diaz\n- Married to Paul Frey\n"
    )
    later = (
        "- The greenhouse keys are kept by Lena Voss\n## Open Items\n- [ ] draft the hive policy\n"
    )
    page.write_text(f"# Lena Voss\n\n## Recent Facts\n{facts}{later}", encoding="utf-8")
    expected = {
        "The seed catalogue is maintained by Lena Voss": ("near", "skip"),
        "The irrigation map was drawn by Lena in March": ("near", "skip"),
        "Keeps the greenhouse keys": ("near", "skip"),
        "The irrigation map was drawn by Lena Voss in June": ("conflict", "supersede"),
        "The hive policy was written by Lena Voss": ("new", "create"),
        "Omar Diaz reports to Lena": ("conflict", "supersede"),
        "Paul Frey is married to Lena Voss": ("near", "skip"),
    }
    with KnowledgeBase(tmp_path) as kb:
        for text, verdict in expected.items():
            (check,) = kb.drafts.check([new_draft(text, entity_name="Lena Voss")])
            found = decide(check)
            assert (found.state, found.proposal.action) == verdict, text
