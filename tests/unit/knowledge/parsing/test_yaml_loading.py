from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
import yaml

from kbx_tui.knowledge.public_page import PublicPage
from kbx_tui.knowledge.reading import UnreadableYaml, cut_yaml, load_yaml

BLOCKS = (
    "é: [é, ü, ö]\nz: 1\n",
    "a: &b [x, *b, y]\nz: 1\n",
    "a: [b: c, d, {e: f, g}, [h: [i]], j]\nz: 1\n",
    "a: {b: [c, {d: &e f}], ? g : h, i, !!str j: k}\nz: 1\n",
    "a:\n- b: c\n  d: e\n- - f\n  - !x g\n-\n  - h\nz: 1\n",
    "? a\n: b\n? c\n: - d\n  - e\nz: |\n  f\n  g\ny: >-\n  h\n",
    "a: b  # [c\nd: 'e [f'\ng: \"h ]\"\ni:\nj: ''\nz: 1\n",
)


@pytest.mark.parametrize("block", BLOCKS)
def test_block_cut_at_any_value_is_a_shorter_block(block: str) -> None:
    whole = _count(block)
    assert cut_yaml(block, whole) == block
    for kept in range(2, whole):
        cut = cut_yaml(block, kept)
        assert block.startswith(cut.rstrip("]}"))
        assert abs(_count(cut) - kept) <= 2  # a key without its value, or an empty last one
        assert list(load_yaml(cut).value)[:1] == list(load_yaml(block).value)[:1]


def test_nesting_too_deep_is_reported_before_anything_is_loaded() -> None:
    with pytest.raises(UnreadableYaml, match=r"^frontmatter is nested too deep$"):
        load_yaml("a: " + "[" * 60 + "]" * 60)


def test_frontmatter_is_loaded_once_for_a_file_and_what_is_public_of_it() -> None:
    tags = "".join(f"- [[t{n}]]\n" for n in range(40))
    page = f"---\ntags:\n{tags}---\n# A\n\n## Recent Facts\n- Public\n- Secret [redacted]\n"
    loads: list[str] = []

    def counted(source: str, Loader: Any) -> Any:  # noqa: N803  # the name of PyYAML
        loads.append(source)
        return load(source, Loader)

    load = yaml.load
    with mock.patch("yaml.load", counted):
        public = PublicPage("memory/people/a.md", page.encode(), frozenset())
        assert public.is_marked
        assert not public.is_hidden
        assert [fact.text for fact in public.facts] == ["Public"]
        assert public.redacted_lines
        assert len(public.document.tags) == 40
    assert len(loads) == 1


def _count(source: str) -> int:
    return sum(isinstance(event, yaml.NodeEvent) for event in yaml.parse(source))
