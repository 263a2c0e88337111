import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.facts import FactLine, read_confidence, read_fact_line


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Speaks Catalan", FactLine("Speaks Catalan")),
        ("**Owner:** Bob", FactLine("Owner: Bob")),
        ("2026-01-02: did it", FactLine("did it", "2026-01-02")),
        ("(2026-01-02) did it", FactLine("did it", "2026-01-02")),
        ("[2026-02-30] no day", FactLine("[2026-02-30] no day")),
        ("2026-01-02 is a date", FactLine("2026-01-02 is a date")),
        ("[x] [2026-01-02] done", FactLine("done", "2026-01-02", done=True)),
        ("~~[2026-01-02] gone~~", FactLine("gone", "2026-01-02", "superseded")),
        ("[2026-01-02] ~~gone~~", FactLine("gone", "2026-01-02", "superseded")),
        ("in ~~Paris~~ Rome", FactLine("in Rome")),
        ("old #archived", FactLine("old", status="archived")),
        ("[redacted] x", FactLine("x", status="redacted")),
        ("pay is [redacted]", FactLine("pay is [redacted]")),
        ("x (superseded)", FactLine("x", status="superseded")),
        ("x status: redacted", FactLine("x", status="redacted")),
        ("status: green", FactLine("status: green")),
        ("x (status: green)", FactLine("x (status: green)")),
        ("uses [[Helix|it]]", FactLine("uses it", sources=("Helix",))),
        ("see [lab](../x.md)", FactLine("see lab", sources=("../x.md",))),
        ("see https://a.b/c.", FactLine("see https://a.b/c.", sources=("https://a.b/c",))),
        ("x (from: Kickoff, the first)", FactLine("x", sources=("Kickoff, the first",))),
        ("x (source: a.md, b.md)", FactLine("x", sources=("a.md", "b.md"))),
        ("x (sources: One; Two)", FactLine("x", sources=("One", "Two"))),
        ("x [source: [[A]] and [[B]]]", FactLine("x", sources=("A", "B"))),
        ("x. Source: [[A]]", FactLine("x.", sources=("A",))),
        ("x — from: A", FactLine("x", sources=("A",))),
        ("data source: Postgres", FactLine("data source: Postgres")),
        ("x (confidence: high)", FactLine("x", confidence=0.9)),
        ("x confidence: 0.45.", FactLine("x", confidence=0.45)),
        ("[[A]]", FactLine("A", sources=("A",), is_note=True)),
        ("from: A", FactLine("", sources=("A",), is_note=True)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_line_is_parsed_into_its_parts(line: str, expected: FactLine) -> None:
    assert read_fact_line(line) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.9", 0.9), ("90%", 0.9), ("90", 0.9), ("1", 1.0), ("0", 0.0), ("nan", None), ("-1", None),
     ("500", None), ("inf", None), ("Low", 0.4), ("", None)],
)  # fmt: skip
def test_confidence_is_parsed_or_rejected(text: str, expected: float | None) -> None:
    assert read_confidence(text) == expected


@given(st.text())
def test_any_line_is_parsed_with_valid_confidence(line: str) -> None:
    entry = read_fact_line(line)
    assert entry.confidence is None or 0 <= entry.confidence <= 1


@pytest.mark.parametrize(
    "line",
    ["(from: " * 20_000, "~~a " * 30_000, "[[" * 50_000, "x" * 100_000, "[a](" * 30_000,
     "source: " * 20_000, "`" * 99_999, " " * 99_999],
    ids=lambda line: repr(line[:6]),
)  # fmt: skip
def test_extreme_lines_are_parsed(line: str) -> None:
    read_fact_line("x" + line)
