"""Every text that leaves the program says where it comes from."""

from __future__ import annotations

from typing import Any

import pytest

from kbx_tui.tools.answers import Answer, Passage, ResourceList, ResourceText
from kbx_tui.tools.handlers import HANDLERS
from kbx_tui.tools.methods import METHODS
from kbx_tui.tools.redaction_filter import undeclared_texts


class Inner(Answer):
    plain: str
    declared: Passage
    anything: dict[str, Any]


class Outer(Answer):
    rows: list[Inner]
    optional: str | None


@pytest.mark.parametrize(
    "model", [*(method.answer for method in METHODS.values()), ResourceList, ResourceText]
)
def test_every_text_of_an_answer_declares_its_provenance(model: type[Answer]) -> None:
    """Give a new field a type of `contracts/provenance.py`: a plain `str` is withheld."""
    assert list(undeclared_texts(model)) == []


def test_texts_without_provenance_are_found() -> None:
    assert [name.rpartition(".")[2] for name in undeclared_texts(Outer)] == [
        "plain",
        "anything",
        "anything",
        "optional",
    ]


def test_every_method_has_one_handler() -> None:
    assert set(HANDLERS) == set(METHODS)
