"""Judgments written in every format come back, whatever queries and paths contain."""

import io
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError
from kbx_tui.evaluation.exchange import (
    Grade,
    GradedFile,
    escape,
    grade_of,
    read_judgment_file,
    read_opensearch,
    read_qrels,
    read_quepid,
    read_run,
    read_topics,
    write_opensearch,
    write_qrels,
    write_quepid,
    write_run,
)

any_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
queries = any_text.map(lambda text: " ".join(text.split()))
"""As the store normalises them."""
paths = any_text | st.sampled_from(
    ["memory/a b.md", "memory/50%.md", "memory/100%20.md", "memory/é: ü.md", 'memory/"q", r.md']
)
grades = st.lists(st.builds(Grade, st.just(""), queries, paths, st.integers(0, 3)), max_size=8)

FORMATS: dict[str, tuple[Callable[..., str], Callable[..., GradedFile]]] = {
    "qrels": (write_qrels, read_qrels),
    "quepid": (write_quepid, read_quepid),
    "opensearch": (write_opensearch, read_opensearch),
}
EXAMPLE = [
    Grade("", "who decided: rollback", "memory/notes/a b.md", 3),
    Grade("", "who decided: rollback", "memory/50%.md", 0),
    Grade("", "Zoë, again", "memory/100%20.md", 1),
]


def plain(grades: list[Grade]) -> list[tuple[str, str, int]]:
    return sorted((grade.query, grade.path, grade.grade) for grade in grades)


@pytest.mark.parametrize("name", FORMATS)
@given(grades=grades)
def test_what_is_written_is_read_again(name: str, grades: list[Grade]) -> None:
    write, read = FORMATS[name]
    if name == "quepid":  # a record of several lines is read, but not of any number
        grades = [grade for grade in grades if "\n" not in grade.path and "\r" not in grade.path]
    numbers_only = grades and all(grade.query.isdecimal() for grade in grades)
    if name == "qrels" and numbers_only:
        with pytest.raises(ConfigError, match="--topics"):
            read(write(grades).encode())
        return
    file = read(write(grades).encode())
    assert file.problems == []
    assert plain(file.grades) == plain(grades)


@pytest.mark.parametrize("name", FORMATS)
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(name: str) -> None:
    write, read = FORMATS[name]
    text = "\ufeff" + write(EXAMPLE).replace("\n", "\r\n")
    assert plain(read(text.encode()).grades) == plain(EXAMPLE)


@given(any_text)
def test_a_field_has_no_blank_and_comes_back(text: str) -> None:
    assert unquote(escape(text)) == text
    assert escape(text).split() == [escape(text)]


def test_runs_are_read_alike_by_ir_measures_which_sorts_by_score() -> None:
    ir = pytest.importorskip("ir_measures")
    ranked = {"rollback plan": ["memory/z.md", "memory/a b.md", "memory/m.md"], "lunch": []}
    text = write_run(ranked, "kbx flat")
    theirs = sorted(ir.read_trec_run(io.StringIO(text)), key=lambda row: -row.score)
    assert [unquote(row.doc_id) for row in theirs] == ranked["rollback plan"]
    assert read_run(text.encode()) == ({"rollback plan": ranked["rollback plan"]}, [])


def test_a_run_is_ordered_by_score_then_by_rank() -> None:
    lines = [
        "q1 Q0 b 1 0.5 x",
        "q1 Q0 a 2 0.5 x",
        "q1\tQ0\tc\t3\t1e1\tx",
        "q1 Q0 d",
        "q1 Q0 e 4 nan x",
    ]
    ranked, problems = read_run("\n".join(lines).encode())
    assert ranked == {"q1": ["c", "b", "a"]}
    assert [problem.partition(":")[0] for problem in problems] == ["line 4", "line 5"]


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "301", "text": "rollback plan"}\n{"qid": 302, "title": "lunch"}\n',
        "301\trollback plan\n302\tlunch\n",
        "<top>\n<num> Number: 301\n<title> rollback\n plan\n\n<desc> Description:\nx\n</top>\n"
        "<top><num>302</num><title>lunch</title></top>",
    ],
    ids=["json-lines", "tabs", "trec"],
)
def test_topics_of_other_tools_are_read(text: str) -> None:
    assert read_topics(text.encode()) == ({"301": "rollback plan", "302": "lunch"}, [])


def test_qrels_of_a_track_need_topics() -> None:
    qrels = b"301 0 FBIS3-10082 1\n301 Q0 FBIS3-10169 -2\n303 0 FBIS3-10243 2\n"
    with pytest.raises(ConfigError, match="--topics"):
        read_qrels(qrels)
    file = read_qrels(qrels, {"301": "rollback plan"})
    assert plain(file.grades) == [
        ("rollback plan", "FBIS3-10082", 1),
        ("rollback plan", "FBIS3-10169", 0),
    ]
    assert file.problems == ["line 3: no topic has the id '303'"]


def with_lines(text: str, lines: bytes) -> bytes:
    """Return a text with lines added after its first one."""
    return text.encode().replace(b"\n", b"\n" + lines, 1)


BROKEN = {
    "qrels": (
        with_lines(write_qrels(EXAMPLE), b"three fields 1\nq 0 d good\n\xff 0 d 1\n"),
        ["line 2", "line 3", "line 4"],
    ),
    "quepid": (
        with_lines(write_quepid(EXAMPLE), b'a,b\na,b,5\n"a,b,1\nx,y,\n\xff,b,1\n'),
        ["line 2", "line 3", "line 4", "line 6"],
    ),
    "opensearch": (
        json.dumps(
            {
                "judgmentRatings": [
                    "x",
                    {"query": "a"},
                    {"query": "a", "ratings": [{"docId": "b"}, {"rating": 1}]},
                    *json.loads(write_opensearch(EXAMPLE))["judgmentRatings"],
                ]
            }
        ).encode(),
        [
            "judgmentRatings[0]", "judgmentRatings[1]", "judgmentRatings[2].ratings[0]",
            "judgmentRatings[2].ratings[1]",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_is_named_and_nothing_else_is_lost(name: str) -> None:
    data, places = BROKEN[name]
    file = FORMATS[name][1](data)
    assert sorted(problem.partition(":")[0] for problem in file.problems) == sorted(places)
    assert plain(file.grades) == plain(EXAMPLE)


@pytest.mark.parametrize("name", ["qrels", "quepid"])
@given(grades=grades.filter(lambda grades: len(grades) > 1), junk=st.binary(max_size=20))
def test_any_broken_line_leaves_the_others_whole(
    name: str, grades: list[Grade], junk: bytes
) -> None:
    write, read = FORMATS[name]
    grades = [grade for grade in grades if "\n" not in grade.path and "\r" not in grade.path]
    lines = write(grades).encode().splitlines(keepends=True)
    at = len(lines) // 2 or 1
    junk = junk.replace(b"\n", b"").replace(b"\r", b"")
    try:
        file = read(b"".join([*lines[:at], junk, b"\n", *lines[at:]]))
    except ConfigError:
        return  # qrels whose queries are all numbers
    missing = set(plain(grades)) - set(plain(file.grades))
    assert not missing or junk.count(b'"') % 2


def test_what_is_not_json_is_named_with_its_line() -> None:
    with pytest.raises(ConfigError, match="line 2 is not JSON"):
        read_opensearch(b'{"judgmentRatings":\n nonsense}')
    with pytest.raises(ConfigError, match="line 2 is not UTF-8"):
        read_opensearch(b'{"a":\n"\xff"}')
    with pytest.raises(ConfigError, match="judgmentRatings"):
        read_opensearch(b"{}")
    with pytest.raises(ConfigError, match="query, docid and rating"):
        read_quepid(b"a,b\n1,2\n")


@pytest.mark.parametrize(
    "data",
    [b"1 0 a\rb.md 3", b"query\r,docid,rating\n", b"a\0b", b'"', b"x" * 200_000, b"\xff"],
    ids=["return", "quepid", "zero", "quotation mark", "long", "byte"],
)
def test_a_file_of_no_format_is_a_problem_or_an_error(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "judgments"
    file.write_bytes(data)
    with suppress(ConfigError):
        assert read_judgment_file(file, None, None, None).problems


def test_quepid_columns_may_have_any_order_and_others_beside_them() -> None:
    text = 'Rating,Query,Title,DocID\n2,"a ""b"", c",x,memory/a.md\n,d,x,memory/b.md\n'
    assert plain(read_quepid(text.encode()).grades) == [('a "b", c', "memory/a.md", 2)]


@pytest.mark.parametrize(
    ("rating", "scale", "grade"),
    [
        ("2", None, 2),
        ("3.000", None, 3),
        (-2, None, 0),
        ("0.4", 1.0, 1),
        (10, 10.0, 3),
        (5, 10.0, 2),
    ],
)
def test_ratings_become_grades(rating: object, scale: float | None, grade: int) -> None:
    assert grade_of(rating, scale) == grade


@pytest.mark.parametrize(
    ("rating", "scale"), [("4", None), ("0.5", None), ("good", None), ("nan", 1.0), ("2", 1.0)]
)
def test_ratings_outside_the_scale_are_refused(rating: object, scale: float | None) -> None:
    with pytest.raises(ValueError):
        grade_of(rating, scale)
