"""What agents propose, in the app: it is said once, shown among the drafts, decided and undone."""

from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.tools.dispatch import call
from kbx_tui.tui.dedup.panes import DraftLine, DraftList
from tests.functional.tui.driving import WIDE, running
from tests.functional.tui.reviewing_drafts import ALICE, Review, reviewing

pytestmark = pytest.mark.slow

SLACK = "Prefers async Slack over email"
FRIDAY = "Takes no meetings on Friday afternoons"


def propose(root: Path, method: str, text: str = "", *, fact: str = "", **params: Any) -> str:
    """Propose a write as an agent does, and return the id of its draft."""
    with KnowledgeBase(root) as kb:
        if fact:
            facts = kb.entities.facts(entity="Alice Chen")
            params["fact_id"] = next(each.fact_id for each in facts if each.text == fact)
        if text:
            params["text"] = text
        name = f"kbx.memory_{method}"
        answer = call(kb, name, params, allow_writes=True, proposer="claude-code\x1b[5m [b]")
    return str(answer["proposal"]).removeprefix("proposal:")


def outcomes(root: Path) -> list[str]:
    with KnowledgeBase(root) as kb:
        return [each.outcome for each in kb.drafts.proposals()]


async def test_proposals_are_announced_decided_by_the_keys_of_drafts_and_undone(
    demo_copy: Path,
) -> None:
    page = demo_copy / ALICE
    before = page.read_text("utf-8")
    propose(demo_copy, "add", "Collects antique barometers", entity="Alice Chen")
    propose(demo_copy, "edit_fact", f"{SLACK}, in writing", fact=SLACK)
    propose(demo_copy, "delete_fact", fact=FRIDAY)
    propose(demo_copy, "add", "Hums at the oars", entity="Alice Chen")
    async with running(demo_copy, WIDE) as driver:
        await driver.until(lambda: "claude-code [b] proposes 4 changes" in driver.screen_text())
        await driver.until(lambda: "Drafts (4)" in driver.screen_text())
        await driver.press("f2")
        await driver.until_focused(DraftLine)
        await driver.press("escape")
        review = Review(driver)
        await driver.until(lambda: len(review.rows) == 4)
        await review.checked()
        assert review.actions == ["create", "merge", "delete", "create"]
        assert not any(row.is_sure for row in review.rows)
        assert all(row.by == "claude-code [b], just now" for row in review.rows)
        await review.press("a")
        await review.until(review.says("nothing is decided"))
        await review.go_to("Collects")
        await review.press("c")
        await review.go_to(SLACK)
        await review.press("m")
        await review.until(lambda: review.screen.query_one(DraftLine).use == "merge")
        await review.press("enter")
        await review.go_to(FRIDAY)
        await review.press("enter")
        await review.until(review.says("it asks to remove a fact"))
        await review.press("u")
        await review.go_to("Hums")
        await review.press("minus")
        await review.until(lambda: all(row.is_decided for row in review.rows))
        await review.write()
        await review.until(lambda: not review.rows)
        after = page.read_text("utf-8")
        assert "Collects antique barometers" in after
        assert f"{SLACK}, in writing" in after
        assert FRIDAY not in after
        assert "Hums" not in after
        assert outcomes(demo_copy) == ["accepted", "accepted", "accepted", "refused"]
        await review.press("z")
        await review.until(lambda: len(review.rows) == 4)
        await review.until(lambda: page.read_text("utf-8") == before)
        await review.until(lambda: outcomes(demo_copy) == ["waiting"] * 4)


async def test_what_is_proposed_or_decided_elsewhere_meanwhile_appears_and_goes(
    demo_copy: Path,
) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan\n")
        first = propose(demo_copy, "add", "Collects barometers", entity="Alice Chen")
        await review.until(lambda: len(review.rows) == 2)
        await review.until(review.says("proposes 1 change"))
        await review.checked()
        await review.press("z")  # what was pasted goes, what came since stays
        await review.until(lambda: [row.id for row in review.rows] == [first])
        second = propose(demo_copy, "add", "Rows on Sundays", entity="Alice Chen")
        await review.until(lambda: [row.id for row in review.rows] == [first, second])
        await review.checked()
        with KnowledgeBase(demo_copy) as kb:
            kb.drafts.save([each for each in kb.drafts.stored() if each.id != first])
        await review.until(lambda: [row.id for row in review.rows] == [second])
        review.screen.set_focus(review.screen.query_one(DraftList))
        await review.press("delete")
        await review.until(lambda: outcomes(demo_copy) == ["refused", "refused"])
        await review.press("z")
        await review.until(lambda: outcomes(demo_copy) == ["refused", "waiting"])
