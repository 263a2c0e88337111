"""Date words of a query: a preference that is shown, bounded and can be turned off."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.search.results.response import SearchResponse
from tests.functional.vaults import index_vault

TODAY = date(2026, 4, 20)
"""A Monday; the demo ends on 16 April."""


@pytest.fixture(scope="module")
def kb(demo_kb_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(demo_kb_path) as kb:
        yield kb


def search(kb: KnowledgeBase, query: str, **options: Any) -> SearchResponse:
    response: SearchResponse = kb.search(query, today=TODAY, **options)
    return response


def dates_of(response: SearchResponse) -> list[str]:
    return [result.date for result in response.results]


def read(response: SearchResponse) -> list[tuple[str, str]]:
    return [(found.text, found.words) for found in response.meta.dates]


def test_document_of_that_time_comes_first_and_others_are_still_found(kb: KnowledgeBase) -> None:
    january = search(kb, "platform sync in January")
    march = search(kb, "platform sync in March")
    assert january.results[0].path == "memory/meetings/2026/01/13/platform-sync.notes.md"
    assert march.results[0].path == "memory/meetings/2026/03/10/platform-sync.notes.md"
    assert read(march) == [("in March", "March 2026")]
    assert "memory/meetings/2026/01/13/platform-sync.notes.md" in [r.path for r in march.results]


def test_time_alone_and_with_a_person_lists_its_documents_and_no_others(kb: KnowledgeBase) -> None:
    for query in ("last week", "what happened last week?", "meetings last week"):
        response = search(kb, query)
        assert dates_of(response) == ["2026-04-16", "2026-04-14"]
        assert response.meta.total_matched == 2

    response = search(kb, "what did Alice Chen do last month", limit=3)
    assert response.meta.search_mode == "two_pass"
    assert all(day.startswith("2026-03") for day in dates_of(response))

    response = search(kb, "zeppelin yesterday and in March", fast=True)
    assert response.meta.dates
    assert not [r for r in response.results if "march" not in r.snippet.casefold()]
    assert not search(kb, "zeppelin last week", fast=True).results


def test_off_the_seed_and_a_query_without_date_words_read_no_dates(kb: KnowledgeBase) -> None:
    response = search(kb, "platform sync last week", dates="off", explain=True)
    assert response.meta.dates == ()
    assert response.meta.explain is not None
    assert "last week" in response.meta.explain["document_query"]
    explained = response.results[0].explain
    assert explained is not None
    assert (explained["date_part"], explained["date_reason"]) == (0.0, None)

    on, off = (search(kb, "what may Alice march for", dates=use) for use in ("prefer", "off"))
    assert on.results == off.results

    assert not search(kb, "migration in March", preset="seed").meta.dates
    assert search(kb, "migration in March", preset="seed", dates="prefer").meta.dates


def test_filter_is_the_filter_by_date(kb: KnowledgeBase) -> None:
    filtered = search(kb, "migration in March", dates="filter", limit=50, explain=True)
    given = search(kb, "migration in March", since="2026-03-01", until="2026-03-31", limit=50)
    assert [r.path for r in filtered.results] == [r.path for r in given.results]
    assert filtered.meta.explain is not None
    assert filtered.meta.explain["filters"]["from"] == "2026-03-01"
    assert filtered.meta.explain["dates"] == "filter"


def test_note_says_that_no_document_is_of_that_time(kb: KnowledgeBase) -> None:
    response = kb.search("migration last week", today=date(2030, 1, 7))
    assert "no document is dated 31 December 2029 to 6 January 2030" in response.meta.notes
    assert response.results
    alone = kb.search("migration", today=date(2030, 1, 7)).results
    assert [r.path for r in response.results] == [r.path for r in alone]
    assert not kb.search("last week", today=date(2030, 1, 7)).results


def test_date_part_is_a_part_of_the_document(kb: KnowledgeBase) -> None:
    response = search(kb, "platform sync in March", explain=True)
    explained = [result.explain or {} for result in response.results]
    assert {row["date_reason"] for row in explained} >= {"of that time", "of another time"}
    for row in explained:
        assert (row["date_part"] > 0.0) == (
            row["date_reason"] not in ("of another time", "undated")
        )
        assert row["date_part"] <= row["answered"]


def page(folder: Path, name: str, title: str, day: str = "") -> None:
    path = folder / "memory" / "notes" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    frontmatter = f"---\ndate: {day}\n---\n" if day else ""
    path.write_text(f"{frontmatter}# {title}\n\nHigh tides for the ferries.\n", encoding="utf-8")


def test_title_or_path_that_names_the_time_counts_as_its_date(tmp_path: Path) -> None:
    page(tmp_path, "a.md", "Q1 2026 goals", "2025-12-10")
    page(tmp_path, "b.md", "Goals", "2025-12-11")
    page(tmp_path, "c.md", "Q1 2025 goals", "2025-12-12")
    page(tmp_path, "2026-03-17.md", "Standup")
    page(tmp_path, "2026-03-18-copy.md", "Copy", "2026-03-19")
    with KnowledgeBase(tmp_path) as kb:
        response = search(kb, "goals for the ferries in Q1 2026", explain=True, fast=True)
        reasons = {Path(r.path).name: (r.explain or {})["date_reason"] for r in response.results}
        assert reasons == {
            "a.md": "its title or path names that time",
            "b.md": "of another time",
            "c.md": "of another time",
            "2026-03-17.md": "of that time",
            "2026-03-18-copy.md": "of that time",
        }
        assert Path(response.results[0].path).name == "a.md"
        on_day = search(kb, "ferries on 17 March", fast=True)
        assert Path(on_day.results[0].path).name == "2026-03-17.md"


def test_name_that_the_base_knows_is_not_a_month(tmp_path: Path) -> None:
    people = tmp_path / "memory" / "people"
    people.mkdir(parents=True)
    (people / "april-jones.md").write_text("# April Jones\n\nCaptain.\n", encoding="utf-8")
    page(tmp_path, "2026-04-01-tides.md", "Tides")
    page(tmp_path, "2026-02-01-tides.md", "April Jones on tides")
    with KnowledgeBase(tmp_path) as kb:
        assert search(kb, "advice from April on tides").meta.dates == ()
        assert read(search(kb, "tides in April")) == [("in April", "April 2026")]


def test_names_are_found_without_the_date_words(kb: KnowledgeBase) -> None:
    response = search(kb, "Alice Chen in March 2026")
    assert [e.name for e in response.meta.pass1_entities if e.score == 1.0] == ["Alice Chen"]


def test_a_kind_of_text_is_a_topic_where_documents_of_that_time_name_it(tmp_path: Path) -> None:
    pages = {
        "posts/2026-01-12-oars.md": "# Oars\n\nAsh is best.\n",
        "posts/2026-02-03-rules.md": "# Rules\n\nHow to write posts.\n",
        "posts/2026-02-17-sails.md": "# Sails\n\nDry them.\n",
    }
    with KnowledgeBase(index_vault(tmp_path, pages)) as kb:
        january, february = (
            search(kb, f"posts from {month} 2026") for month in ("January", "February")
        )
    assert [result.title for result in january.results] == ["Oars"]
    assert february.results[0].title == "Rules"


def test_a_type_or_folder_is_listed_for_a_time_in_which_no_document_says_it(tmp_path: Path) -> None:
    pages = {
        "log/2026-01-12-lunch.md": "# Lunch\n\nSoup and bread.\n",
        "log/2026-02-03-stop.md": "# Stop\n\nAn incident: the pump stopped.\n",
        "log/2026-03-05-tea.md": "# Tea\n\nNo milk.\n",
        "incidents/2026-03-06-slow.md": "# Slow pump\n\nThe filter was full.\n",
        "log/2026-03-07-leak.md": "---\ntype: incident\n---\n# Leak\n\nThe hose.\n",
        "incidents/README.md": "# List\n\nThe latest are on top.\n",
    }
    with KnowledgeBase(index_vault(tmp_path, pages)) as kb:
        january, february, march, articles, *newest = (
            search(kb, query)
            for query in (
                "incidents in January 2026",
                "incidents in February 2026",
                "incident of March 2026",
                "articles of March 2026",
                "the latest incident",
                "last incidents",
                "latest on the incident",
            )
        )
    assert all(result.score < 1.0 for result in january.results)
    assert february.results[0].title == "Stop"
    assert [result.title for result in march.results] == ["Leak", "Slow pump"]
    note = "no document of March 2026 says “{}”; these are {}"
    assert note.format("incident", "those of that type, folder or title") in march.meta.notes
    assert len(articles.results) == 3
    assert note.format("articles", "all of that time") in articles.meta.notes
    assert [[each.title for each in response.results] for response in newest[:2]] == [
        ["Leak", "Slow pump"]
    ] * 2
    assert newest[2].results[0].score < 1.0


def test_the_newest_of_a_series_are_those_with_its_title(tmp_path: Path) -> None:
    pages = {
        "2026-01-12 Lab meeting.md": "Lab meeting: the lab is cold, says this lab meeting.\n",
        "notes/2026-02-03.md": "# Lab meeting, 3 February 2026\n\nCake.\n",
        "2026-03-05 Board meeting.md": "No lab.\n",
        "2026-02-20 Rules.md": "What a lab meeting is for.\n",
    }
    with KnowledgeBase(index_vault(tmp_path, pages)) as kb:
        last, latest, one, dated = (
            [result.date for result in search(kb, query).results]
            for query in (
                "last lab meeting",
                "latest lab meeting",
                "last board meeting",
                "lab meeting february",
            )
        )
    assert last == latest == ["2026-02-03", "2026-01-12"]
    assert one[0] == "2026-03-05"
    assert dated[0] == "2026-02-03"


def test_the_newest_of_a_kind_are_those_with_its_type_folder_or_title(tmp_path: Path) -> None:
    pages = {
        "old/2025-01-12.md": "# Postmortem January\n\nThe pump.\n",
        "old/2025-02-12.md": "# Postmortem February\n\nThe hose.\n",
        "postmortem/2026-03-05-leak.md": "# Leak\n\nWater.\n",
        "notes/2026-03-06.md": "---\ntype: postmortem\n---\n# Smoke\n\nFire.\n",
        "notes/2026-03-07.md": "# Sail, March\n\nA postmortem of one sail.\n",
    }
    with KnowledgeBase(index_vault(tmp_path, pages)) as kb:
        for query in ("last postmortem", "newest postmortem"):
            found = dates_of(search(kb, query))
            assert found == ["2026-03-06", "2026-03-05", "2025-02-12", "2025-01-12"]
        assert all(result.score < 1.0 for result in search(kb, "last sail").results)


def test_june_beside_meeting_stays_a_name_where_the_base_has_one(
    tmp_path: Path,
) -> None:
    pages = {
        "people/june-park.md": "---\nname: June Park\ntype: person\n---\n# June Park\n",
        "2026-02-03-plan.md": "# Plan\n\nMeeting with June Park about the roof.\n",
        "2025-06-04-walk.md": "# Walk\n\nRain, a meeting.\n",
        "2025-05-04-sea.md": "# Sea\n\nSand.\n",
    }
    with KnowledgeBase(index_vault(tmp_path, pages)) as kb:
        for query in ("meeting june", "notes of june"):
            response = search(kb, query)
            assert read(response) == []
            assert {"June Park", "Plan"} <= {result.title for result in response.results}
        assert read(search(kb, "notes may")) == [("may", "May 2025")]
        assert read(search(kb, "meeting in june")) == [("in june", "June 2025")]


def test_a_page_about_a_month_or_year_is_of_any_time_in_it(tmp_path: Path) -> None:
    files = {
        "updates/2025-06-board.md": "## Second week\n\nThe roof is done.\n",
        "updates/2025-07-board.md": "## First week\n\nNo news since June, said the builder.\n",
        "papers/roof.md": "---\nyear: 2024\n---\n# Roofs in rain\n",
    }
    with KnowledgeBase(index_vault(tmp_path, files, fast=True)) as kb:
        for query in ("what happened in June 2025", "what happened on 18 June 2025"):
            response = search(kb, query, fast=True)
            assert [result.path for result in response.results] == ["updates/2025-06-board.md"]
            assert response.meta.notes == ()
        assert dates_of(search(kb, "from:2025-06-20 to:2025-06-21", fast=True)) == ["2025-06"]
        assert dates_of(search(kb, "to:2024-06", fast=True)) == ["2024"]
        notes = search(kb, "what happened in May 2025", fast=True).meta.notes
        assert "no document is dated May 2025" in notes
        months = {"2024-01": 1, "2025-06": 1, "2025-07": 1}
        assert dict(kb.documents.facets("").months) == months
        assert kb.experts("roof").experts == ()


def test_pages_dated_in_the_month_come_before_those_named_by_its_year(tmp_path: Path) -> None:
    dated = ("log/2025-06-03.md", "log/2025-06-weir.md", "log/Juni 2025.md", "log/2025-W23.md")
    others = ("log/2025.md", "log/2025-Q2.md", "log/2025-07-01.md", "log/2024-06-03.md", "log/a.md")
    index_vault(tmp_path, dict.fromkeys((*dated, *others), "# Day\n\nThe weir.\n"), fast=True)
    with KnowledgeBase(tmp_path) as kb:
        for month in ("in June 2025", "jun 2025", "juin 2025", "giugno 2025", "2025-06"):
            response = kb.search(f"weir {month}", fast=True, today=date(2026, 3, 20))
            assert {result.path for result in response.results[:4]} == {*dated}


def test_what_happened_is_asked_in_other_languages(tmp_path: Path) -> None:
    pages = ("log/2025-06-03.md", "log/2025-06.md", "log/2025.md", "log/2024-06-03.md")
    index_vault(tmp_path, dict.fromkeys(pages, "# Day\n\nThe weir.\n"), fast=True)
    with KnowledgeBase(tmp_path) as kb:
        for query in (
            "was ist im Juni 2025 passiert",
            "qu'est-ce qui est arrivé en juin 2025",
            "qué pasó en junio de 2025",
        ):
            response = kb.search(query, fast=True, today=date(2026, 3, 20))
            assert [result.path for result in response.results] == [*pages[:3]]
