import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.reading import Frontmatter, read_frontmatter


def test_values_and_body_are_separated() -> None:
    front = read_frontmatter("---\ntitle: A\ntags: [x, y]\n---\nBody\n")
    assert front == Frontmatter({"title": "A", "tags": ["x", "y"]}, "Body\n", 5)


@pytest.mark.parametrize(
    "text",
    ["", "Body", "\n---\na: 1\n---\n", "--- \n", "----\na: 1\n---\n"],
    ids=["empty", "none", "not-on-top", "alone", "four-dashes"],
)
def test_without_frontmatter_the_whole_text_is_the_body(text: str) -> None:
    assert read_frontmatter(text) == Frontmatter({}, text, 1)


def test_unclosed_frontmatter_is_body_and_a_fault() -> None:
    front = read_frontmatter("---\ntitle: A\n\nText\n")
    assert front.body == "---\ntitle: A\n\nText\n"
    assert (front.fault, front.fault_line) == ("frontmatter has no closing ---", 1)


def test_horizontal_rule_at_the_top_is_not_a_fault() -> None:
    assert read_frontmatter("---\n\nText\n").fault == ""


def test_empty_block_is_not_a_fault() -> None:
    assert read_frontmatter("---\n# nothing\n---\nText") == Frontmatter({}, "Text", 4)


@pytest.mark.parametrize("block", ["- a\n- b\n", "just words\n", "42\n"])
def test_block_that_is_not_a_mapping_stays_in_the_body(block: str) -> None:
    text = f"---\n{block}---\nText"
    front = read_frontmatter(text)
    assert (front.values, front.body, front.body_line) == ({}, text, 1)
    assert front.fault == "frontmatter is not a mapping of keys to values"


def test_dates_times_versions_and_no_are_text() -> None:
    front = read_frontmatter(
        "---\nd: 2026-03-17\nbad: 2026-13-45\nt: 12:30\nv: 1.10\nn: no\nz: 007\ni: .inf\n---\n"
    )
    assert front.values == {
        "d": "2026-03-17", "bad": "2026-13-45", "t": "12:30", "v": "1.10", "n": "no",
        "z": "007", "i": ".inf",
    }  # fmt: skip


def test_numbers_booleans_and_null_keep_their_type() -> None:
    front = read_frontmatter("---\na: 5\nb: 0.5\nc: true\nd:\ne: -3\nf: ~\n---\n")
    assert front.values == {"a": 5, "b": 0.5, "c": True, "d": None, "e": -3, "f": None}


def test_invalid_yaml_reports_its_line_and_keeps_valid_entries() -> None:
    front = read_frontmatter(
        "---\ntitle: Decision: use LanceDB\ndate: 2026-03-17\ntags: [a, b]\nbad: [x\n---\nBody"
    )
    assert front.fault.startswith("frontmatter is not valid YAML")
    assert front.fault_line == 2
    assert front.values == {
        "title": "Decision: use LanceDB", "date": "2026-03-17", "tags": ["a", "b"],
    }  # fmt: skip
    assert (front.body, front.body_line) == ("Body", 7)


@pytest.mark.parametrize(
    "block",
    ["a: &x [*x]\n", "? [1, 2]\n: v\n", "a: !!python/object:os.system x\n", "a: !thing {b: 1}\n",
     "a: !!binary zz==\n", "a: !!set {x, y}\n", "a: !!timestamp 2026-03-17\n", "a: !!int x\n",
     "a: !!float nan\n", "a: \"\\ud800\"\n", "a: b\x07\n", "\ta: b\n", "a: *nowhere\n", "<<: [1]\n",
     "a: !!int " + "9" * 5000 + "\n", "1: 2\nnull: 3\n[4]: 5\n", "a: !!null x\n", "a: !!bool x\n"],
)  # fmt: skip
def test_odd_yaml_is_read_as_json_values(block: str) -> None:
    front = read_frontmatter(f"---\n{block}---\nBody")
    json.dumps(front.values, allow_nan=False).encode()
    assert front.body == "Body"


def test_exponential_yaml_aliases_are_bounded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    front = read_frontmatter("---\n" + "\n".join(lines) + "\n---\nBody")
    assert len(json.dumps(front.values)) < 1_000_000
    assert "repeats itself" in front.fault
    assert front.body == "Body"


def test_the_entries_of_invalid_yaml_are_bounded_together() -> None:
    entries = "".join(f"k{n}: &a [*a, *a]\n" for n in range(100))
    front = read_frontmatter(f"---\ntitle: One\n{entries}bad: [\n---\nBody")
    assert front.values["title"] == "One"
    assert len(front.values) < 5  # the first that contains itself takes the number allowed


@pytest.mark.parametrize("mark", ["[", "{a: ", "- ", "? "])
def test_extreme_nesting_does_not_crash_the_process(mark: str) -> None:
    front = read_frontmatter("---\n" + mark * 200_000 + "\n---\nBody")
    assert (front.values, front.body) == ({}, "Body")
    assert front.fault


def test_huge_frontmatter_is_skipped_quickly() -> None:
    block = "".join(f"key{n}: value {n}\n" for n in range(200_000))
    started = time.process_time()
    front = read_frontmatter(f"---\n{block}---\nBody")
    assert time.process_time() - started < 5
    assert front.body == "Body"
    assert front.fault == "frontmatter is larger than 1 MiB"


def test_long_list_is_read_up_to_a_number_of_values() -> None:
    items = "".join(f"- é{n}\n" for n in range(60_000))
    front = read_frontmatter(f"---\ntitle: A page\ntags:\n{items}---\nBody")
    assert front.fault == "frontmatter has more than 50,000 values: those after them are not read"
    assert front.values["title"] == "A page"
    assert 49_990 < len(front.values["tags"]) < 50_000
    assert front.values["tags"][-1] == f"é{len(front.values['tags']) - 1}"
    assert front.body == "Body"


_YAML = st.text(
    st.sampled_from("ab1 \n\t-:[]{}#&*!|>'\"%@`,?~<.é\x00") | st.characters(), max_size=80
)


@given(_YAML)
def test_any_frontmatter_is_read_without_raising(block: str) -> None:
    front = read_frontmatter(f"---\n{block}\n---\nBody")
    json.dumps(front.values, allow_nan=False).encode()


def test_placeholder_of_a_template_is_text() -> None:
    front = read_frontmatter(
        "---\ntitle: {{title}}\ndate: {{date:YYYY}} at\ntags: [a]\n---\nText\n"
    )
    assert front.values == {"title": "{{title}}", "date": "{{date:YYYY}} at", "tags": ["a"]}
    assert (front.fault, front.body) == ("", "Text\n")


def test_other_faults_beside_a_placeholder_are_reported() -> None:
    front = read_frontmatter("---\ndate: {{date}}\ntags: [a\n---\nText\n")
    assert front.fault.startswith("frontmatter is not valid YAML")
