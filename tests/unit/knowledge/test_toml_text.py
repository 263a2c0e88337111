import time
from contextlib import suppress
from typing import Any

import pytest

from kbx_tui.knowledge.toml_text import KEY_PARTS, load_toml

LONG = "and.so.on." * 500


@pytest.mark.parametrize("part", ["a", '"b c"', "'d'", '"\\"."', "é-1 "])
@pytest.mark.parametrize("form", ["{} = 1", "[{}]", "x = {{ {} = 1 }}", "x = 1 # 'a\n{} = 1"])
def test_a_key_of_very_many_parts_is_refused_before_it_is_read(part: str, form: str) -> None:
    with pytest.raises(ValueError, match="a key has more than 100 parts"):
        load_toml(form.format(".".join([part] * 5_000)))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.b.c = 1", {"a": {"b": {"c": 1}}}),
        (f'title = "{"A sentence. " * 500}"', {"title": "A sentence. " * 500}),
        ("x = [1.5, 2.5]\n" + "# www.example.org\n" * 500, {"x": [1.5, 2.5]}),
        (f"x = 1 # {LONG}", {"x": 1}),
        (f"x = '{LONG}'\ny = 1", {"x": LONG, "y": 1}),
        (f'x = """\n\'{LONG}"""""', {"x": f'\'{LONG}""'}),
        (f"'{LONG}'.b = 1", {LONG: {"b": 1}}),
    ],
    ids=["key", "title", "comments", "comment", "literal", "long string", "part of a key"],
)
def test_other_keys_and_texts_are_read(text: str, values: dict[str, Any]) -> None:
    assert load_toml(text) == values


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "x = " + "9" * 5_000, "x"])
def test_what_cannot_be_read_is_one_kind_of_error(text: str) -> None:
    with pytest.raises(ValueError):
        load_toml(text)


def test_the_limit_is_above_what_people_write() -> None:
    assert load_toml(".".join("a" * KEY_PARTS) + " = 1")


@pytest.mark.parametrize("text", ['x = "{}"', 'x = """\n{}"""', 'x = "{}', 'x = """\n{}'])
def test_a_string_of_very_many_escaped_quotation_marks_is_read_at_once(text: str) -> None:
    began = time.process_time()
    with suppress(ValueError):  # without its end
        load_toml(text.format('\\"' * 200_000))
    assert time.process_time() - began < 10.0  # minutes where a scan begins at each of them
