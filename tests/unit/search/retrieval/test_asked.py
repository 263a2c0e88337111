import json
import re

import numpy as np
import pytest

from kbx_tui.index.text_columns import TextColumn, TextLists
from kbx_tui.search.evidence.evidence import AskedKind
from kbx_tui.search.query.query_terms import NamedQuery
from kbx_tui.search.retrieval.asked import OLDEST, DocumentKinds, asked_kind
from tests.unit.search.snapshots import snapshot_of

DATES = ("2020", "2022-01", "2022-01-01", "2026-03-17", "")
PATHS = [f"{row}.md" for row in range(len(DATES))]
KINDS = DocumentKinds(snapshot_of(PATHS, titles=PATHS, dates=DATES))


def asked(query: str, *, for_time: bool = False) -> AskedKind | None:
    named = NamedQuery.of(query, [], [])
    return asked_kind(query, named, KINDS, np.arange(len(DATES)), for_time=for_time)


def test_the_newest_may_have_a_month_or_year_as_date() -> None:
    found = asked("latest news")
    assert found is not None
    oldest, month, day, newest, undated = found.factors.tolist()
    assert pytest.approx(oldest) == OLDEST
    assert oldest < month == day < newest == 1.0
    assert undated == pytest.approx((oldest + month + day + newest) / 4)
    assert asked("news of 2020", for_time=True) is None


@pytest.mark.parametrize(
    ("properties", "is_meeting"),
    [
        ("attendees=Ada Lund attendees=Ben Vale", True),
        ("attendees=Ada Lund attendees=Ben Vale author=Cleo Roe", True),
        ("attendees=Ada Lund attendees=Ben Vale author=Ben Vale", True),
        ("presents=Ada Lund, Ben Vale auteur=Ben Vale", True),
        ("author=Ben Vale", True),  # a line of the page names the attendees
        ("authority=Ada Lund authority=Ben Vale", True),
        ("autorizado=Ada Lund autorizado=Ben Vale", True),
        ("authors=Ada Lund authors=Ben Vale", False),
        ("author=Ada Lund and Ben Vale", False),
        ("autoren=Ada Lund autoren=Ben Vale", False),
    ],
)
def test_several_people_meet_unless_they_are_authors(properties: str, is_meeting: bool) -> None:
    people = [("Ada Lund", ""), ("people/Ben Vale", "")]
    held = TextLists.joined(re.split(r" (?=\w+=)", properties))
    paths = ["meetings/1.md", "meetings/2.md", "meetings/3.md", "notes/4.md"]
    base = snapshot_of(
        paths,
        titles=["Meeting 1", "Meeting 2", "Meeting 3", "Rules"],
        attendees=(*["[]"] * 3, json.dumps(people)),
        properties=TextLists(TextColumn.of([*[""] * 3, held])),
    )
    assert DocumentKinds(base).meetings.tolist() == [True, True, True, is_meeting]


def test_a_text_asks_for_no_meetings_but_may_ask_who() -> None:
    titles = [f"Meeting {row}" if row < 3 else f"Index {row}" for row in range(len(DATES))]
    base = snapshot_of(PATHS, titles=titles, dates=DATES, kinds=["person"] * 3 + [""] * 2)
    for query, asked_for in (("decisions", "meetings"), ("tell me who decides", "people")):
        found, of_text = (
            DocumentKinds(base).asked_for(query + " on an index and its files" * times)
            for times in (1, 3)
        )
        assert found is not None and found[0] == asked_for
        assert (of_text is None) == (asked_for == "meetings")
