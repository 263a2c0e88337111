import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kbx_tui.knowledge.dates import (
    DailyNotes,
    date_of,
    day_in,
    first_day,
    folder_of_version,
    iso_date,
    only_day,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-17", "2026-03-17"), ("2026-3-7", "2026-03-07"), ("2026/03/17", "2026-03-17"),
        ("20260317", "2026-03-17"), ("2026-03-17T09:30:00Z", "2026-03-17"),
        ("17 March 2026", "2026-03-17"), ("Mar 17, 2026", "2026-03-17"),
        ("17.03.2026", "2026-03-17"), ("March 17th, 2026", "2026-03-17"),
        ("17. März 2026", "2026-03-17"), ("2026年3月17日", "2026-03-17"),
        ("2026. 3. 17", "2026-03-17"), ("2026. 3.17", ""),
        ("03/17/2026", "2026-03-17"), ("17-03-2026", "2026-03-17"), ("2026 Mar 17", "2026-03-17"),
        ("17.Mar.2026", "2026-03-17"), ("令和8年3月17日", "2026-03-17"),
        ("平成元年12月3日", "1989-12-03"), ("17 марта 2026", "2026-03-17"),
        ("03/07/2026", ""), ("13/17/2026", ""), ("2026-13-45", ""), ("soon", ""),
    ],
)  # fmt: skip
def test_unambiguous_dates_are_converted_to_iso(text: str, expected: str) -> None:
    assert iso_date(text) == expected


@pytest.mark.parametrize(
    ("date", "path", "expected"),
    [
        ("2026-03-17", "2025-01-01-a.md", "2026-03-17"),
        (20260317, "a.md", "2026-03-17"),
        ("someday", "memory/notes/2025-01-02-a.md", "2025-01-02"),
        (None, "memory/meetings/2024/12/31/a.md", "2024-12-31"),
        (None, "log/2024/12-31.md", "2024-12-31"),
        (None, "log/2024/2024-12/31.md", "2024-12-31"),
        (None, "log/2024/12/pump.md", "2024-12"),
        (None, "log/2024/12/2023-11 pump.md", "2023-11"),
        (None, "log/2024-12-31 pump/2023-11.md", "2024-12-31"),
        (None, "log/2024.12.31 pump/a.md", "2024-12-31"),
        (None, "releases/2024.12.1/a.md", ""),
        (None, "releases/2024.1.12/a.md", ""),
        (None, "log/2024.md", "2024"),
        (None, "memory/meetings/2024/13/31/99-2024-02-30.md", ""),
        (None, "log/8124/12/pump.md", ""),
        (None, "a-2024-01-011.md", ""),
    ],
    ids=[
        *("frontmatter", "number", "file-name", "folders", "day-of-folder", "month-twice", "month"),
        *("month-in-name", "folder-begins-with-day", "dots", "patch-version", "version", "year"),
        *("impossible", "not-a-year", "no-date"),
    ],
)
def test_document_date_comes_from_frontmatter_then_file_name_then_folders(
    date: object, path: str, expected: str
) -> None:
    assert date_of({} if date is None else {"date": date}, path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("log/pump/2024.12.10.md", ""),
        ("log/pump/pump 2024.12.1/notes.md", ""),
        ("log/pump/2024-12-10.md", "2024-12-10"),
        ("log/2024.12.10.md", "2024-12-10"),
        ("log/pump/old/2024.12.10.md", "2024-12-10"),
    ],
)
def test_names_beside_a_version_are_versions(path: str, expected: str) -> None:
    names = ("log/pump/v2024.12.0.md", path, "a.0.md", "notes/part 5000.1.0.md")
    assert list(map(folder_of_version, names)) == ["log/pump", None, None, None]
    found = date_of({}, path, body="# Pump 2024.12.10\n", version_folders=["log/pump"])
    assert found == expected


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("2025-06-council", "2025-06"),
        ("council 2025_06", "2025-06"),
        ("June 2025 council", "2025-06"),
        ("Rat Juni 2025", "2025-06"),
        ("2025年6月", "2025-06"),
        ("2025-W23", "2025-06-02/08"),
        ("Week 23, 2025", "2025-06-02/08"),
        ("KW27-2025", "2025-06-30/07-06"),
        ("log 2025w1", "2024-12-30/2025-01-05"),
        ("Woche 23, 2025", "2025-06-02/08"),
        ("2025年第23週", "2025-06-02/08"),
        ("2025 June council", "2025-06"),
        ("wk23_2025 shop", "2025-06-02/08"),
        ("Week 23 of 2025", "2025-06-02/08"),
        ("Uge 23 2025", "2025-06-02/08"),
        ("juil. 2025", "2025-07"),
        ("июнь 2025", "2025-06"),
        ("2025-W54", ""),
        ("2025-Q2 goals", "2025-04-01/06-30"),
        ("Goals q4 2025", "2025-10-01/12-31"),
        ("2025q1", "2025-01-01/03-31"),
        ("2025-Q5", ""),
        ("faq1 2025b", ""),
        ("release v2025.6.4", ""),
        ("June 4th, 2025", "2025-06-04"),
        ("Talk, 4 Jun 2025", "2025-06-04"),
        ("2025-06-04T1030 call", "2025-06-04"),
        ("root.log.2025.06.04", "2025-06-04"),
        ("202506041030", "2025-06-04"),
        ("20250604-call", "2025-06-04"),
        ("20250604103000123", "2025-06-04"),
        ("202506041030001234", ""),
        ("IMG_20250604_103000", "2025-06-04"),
        ("4. Juni 2025", "2025-06-04"),
        ("Sitzung 4.6.2025", "2025-06-04"),
        ("1er août 2025", "2025-08-01"),
        ("CM du 4 févr. 2025", "2025-02-04"),
        ("Rat 4. Mrz 2025", "2025-03-04"),
        ("4 ene 2025", "2025-01-04"),
        ("4 giu. 2025", "2025-06-04"),
        ("4 июн. 2025", "2025-06-04"),
        ("4. desember 2025", "2025-12-04"),
        ("a day ago 2025", ""),
        ("4 de marzo de 2025", "2025-03-04"),
        ("2025年6月4日 会議", "2025-06-04"),
        ("2025년 6월 4일", "2025-06-04"),
        ("令和七年六月二十四日 総会", "2025-06-24"),
        ("二〇二五年十月", "2025-10"),
        ("二〇二五年二三十月", ""),
        ("令和十二十年六月", ""),
        ("平成三〇年六月四日", "2018-06-04"),
        ("十十年計画", ""),
        ("data marts 2025", ""),
        ("Lug nuts, lug 2025", ""),
        ("2025 OTT launch", ""),
        ("4 lug. 2025", "2025-07-04"),
        ("4. marts 2025", "2025-03-04"),
        ("INC-2025-06", ""),
        ("2025-26 season", ""),
        ("1.2025.06", ""),
        ("20259904", ""),
        ("room 20251", ""),
    ],
)
def test_a_file_name_may_hold_a_day_a_month_or_a_week(stem: str, expected: str) -> None:
    assert date_of({}, f"log/{stem}.md") == expected


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"Date": "2025-06-04"}, "2025-06-04"),
        ({"DATE": "4 June 2025, 10:00"}, "2025-06-04"),
        ({"date": "[[2025-06-04]]"}, "2025-06-04"),
        ({"date": [["2025-06-04"]]}, "2025-06-04"),
        ({"date": "[[Log/June 4th, 2025|then]]"}, "2025-06-04"),
        ({"date": "2025-06"}, "2025-06"),
        ({"date": 2025}, "2025"),
        ({"date": "[[2025-W23]]"}, "2025-06-02/08"),
        ({"created": "2025-06-04T10:30"}, "2025-06-04"),
        ({"date created": "Wednesday, June 4th 2025"}, "2025-06-04"),
        ({"created": 1749031200000}, "2025-06-04"),
        ({"publishDate": "2025-06-04"}, "2025-06-04"),
        ({"fecha": "4 de junio de 2025"}, "2025-06-04"),
        ({"Meeting date": "2025-06-04"}, "2025-06-04"),
        ({"Created time": "June 4, 2025 9:15 AM"}, "2025-06-04"),
        ({"created-at": "Jun 2025"}, "2025-06"),
        ({"datum": "4.6.2025"}, "2025-06-04"),
        ({"date": [["June 4th", "2025"]]}, "2025-06-04"),
        ({"date": ["2025-06-04", "2025-06-11"]}, "2025-06-04"),
        ({"date": {"end": "2025-06-11", "start": "2025-06-04"}}, "2025-06-04"),
        ({"date": {"zone": "UTC", "from": "4 June 2025, 10:00"}}, "2025-06-04"),
        ({"date": {"place": "Quay"}}, ""),
        ({"year": 1998}, "1998"),
        ({"year": "third"}, ""),
        ({"Jahr": "[[1998]]"}, "1998"),
        ({"année": [1998, 1999]}, "1998"),
        ({"Erstellt am": "4.6.2025"}, "2025-06-04"),
        ({"créé le": "4 juin 2025"}, "2025-06-04"),
        ({"作成日": "2025年6月4日"}, "2025-06-04"),
        ({"createdDate": "2025-06-04"}, "2025-06-04"),
        ({"created": "2025-06-04", "year": 1998}, "2025-06-04"),
        ({"date": "2024-01-02", "created": "2025-06-04"}, "2024-01-02"),
    ],
)
def test_a_date_may_be_in_several_properties(properties: dict[str, object], expected: str) -> None:
    assert date_of(properties, "a.md") == expected
    decomposed = {unicodedata.normalize("NFD", key): properties[key] for key in properties}
    assert date_of(decomposed, "a.md") == expected


@given(
    st.text("〇一二九十", min_size=1, max_size=4),
    st.sampled_from("年月日元"),
    st.text("年月日元十2 "),
)
@example("二十十", "日", "")
def test_dates_in_numerals_never_fail(numeral: str, unit: str, rest: str) -> None:
    text = f"{numeral}{unit}{rest}"
    date_of({"date": text, "year": text}, f"{text}/{text}.md", body=f"Date: {text}\n\n# {text}\n")
    for read in (iso_date, only_day, day_in):
        assert read(text) == "" or len(read(text)) == len("2025-06-04")


@pytest.mark.parametrize("key", ["data", "day", "Day"])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("sales-2023-Q1.csv", "2026-03-17"),
        ("sales-2023-01-02.csv", "2026-03-17"),
        ("2023-01-02 export", "2026-03-17"),
        (2011, "2026-03-17"),
        (3, "2026-03-17"),
        ("day 1 of 2021-05-05 camp", "2026-03-17"),
        (["2023-01-02.csv", "2023-01-03.csv"], "2026-03-17"),
        ("2025-06-04", "2025-06-04"),
        (20250604, "2025-06-04"),
        ("[[2025-06-04]]", "2025-06-04"),
        ("2025-06-04T10:30:00+02:00", "2025-06-04"),
        ("2025-06-04 10:30", "2025-06-04"),
        ("Mercoledì 4 giugno 2025, ore 10.30", "2025-06-04"),
        ("quarta-feira, 4 de junho de 2025", "2025-06-04"),
        ("4.6.2025", "2025-06-04"),
        ([["June 4th", "2025"]], "2025-06-04"),
    ],
)
def test_a_key_that_may_mean_something_else_counts_with_nothing_but_a_day(
    key: str, value: object, expected: str
) -> None:
    assert date_of({key: value}, "2026-03-17 camp.md") == expected


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("a.md", "# Council, 4 June 2025\n", "2025-06-04"),
        ("a.md", "# 2025/06/04 Council\n", "2025-06-04"),
        ("a.md", "Council 2025-06-04\n===\n", "2025-06-04"),
        ("a.md", "# 12. Use queues\n\nDate: 2025-06-04\n", "2025-06-04"),
        ("a.md", "# Council\n\n- **Date:** Wednesday, June 4, 2025\n", "2025-06-04"),
        ("a.md", "| Datum | 4. Juni 2025 |\n", "2025-06-04"),
        ("a.md", "2) **Datum**: 4. Juni 2025\n", "2025-06-04"),
        ("a.md", "# 会議\n\n開催日時：令和7年6月4日（水）\n", "2025-06-04"),
        ("a.md", "# Council\n\nWhen: 4 June 2025, 10:00\n", "2025-06-04"),
        ("a.md", "# 総会\n\n日時\u3000令和七年六月四日\n", "2025-06-04"),
        ("a.md", "# Council\n\n* Date & time: 2025-06-04 10:00\n", "2025-06-04"),
        ("a.md", "# Pleno\n\n**Fecha:** 4 de junio de 2025\n", "2025-06-04"),
        ("a.md", "<h1 align=center>Council, 4 June 2025</h1>\n", "2025-06-04"),
        ("minutes/2025/06 June/council.md", "", "2025-06"),
        ("minutes/2025/Juni/council.md", "", "2025-06"),
        ("minutes/2025/jun.md", "", "2025-06"),
        ("minutes/2025/June/04.md", "", "2025-06-04"),
        ("議事録/2025年/6月/a.md", "", "2025-06"),
        ("2025/may contain nuts/a.md", "", ""),
        ("2025/maya.md", "", ""),
        ("a.md", "Data: https://x.example/2023-01-02.csv\n", ""),
        ("a.md", "# Rilievi\n\n**Data:** from 2023-01-02 on\n", ""),
        ("a.md", "# Consiglio\n\n- **Data:** mercoledì 4 giugno 2025\n", "2025-06-04"),
        ("a.md", "| Data | 4 giugno 2025, 10:00 |\n", "2025-06-04"),
        ("2025-06.md", "# Council, 4 June 2025\n", "2025-06-04"),
        ("2025-05-01.md", "# Council, 4 June 2025\n", "2025-05-01"),
        ("a.md", "## 2025-06-04\n\nSince 4 June 2025.\n", ""),
        ("a.md", "# Council of June 2025\n", ""),
        ("a.md", "line\n" * 20 + "Date: 2025-06-04\n", ""),
    ],
)
def test_the_top_of_a_page_may_state_its_day(path: str, body: str, expected: str) -> None:
    assert date_of({}, path, body=body) == expected


def test_odd_and_foreign_dates_are_read_or_left_in_little_time() -> None:
    body = "1" * 1_000_000 + "\n\n" + "=" * 1_000_000 + "x\n"
    assert date_of({}, "a.md", body=body + "\nCouncil 2025-06-04\n===\n") == "2025-06-04"

    assert date_of({"date": "0000-05"}, "a.md") == ""
    assert date_of({}, "4. Juni 2025.md", DailyNotes("D. MMMM YYYY")) == "2025-06-04"


@pytest.mark.parametrize("date", ["2025", "2025-01", "2025-01-01"])
def test_the_first_day_of_a_date(date: str) -> None:
    assert first_day(date) == "2025-01-01"
