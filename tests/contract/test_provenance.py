"""Every text that leaves the program says where it comes from."""

from collections.abc import Iterator
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel

from kbx_tui.tools.answers import Answer, Passage, Provenance, ResourceList, ResourceText
from kbx_tui.tools.handlers import HANDLERS
from kbx_tui.tools.methods import METHODS


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
    """Give a new field a type of `tools/answers.py`: a plain `str` is withheld."""
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


def undeclared_texts(model: type[BaseModel], name: str = "") -> Iterator[str]:
    """Yield the fields of an answer, nested ones included, whose texts have no provenance."""
    hints = get_type_hints(model, include_extras=True)
    for key in model.model_fields:
        yield from _undeclared(hints[key], f"{name or model.__name__}.{key}")


def _undeclared(hint: Any, name: str) -> Iterator[str]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated and any(isinstance(mark, Provenance) for mark in arguments[1:]):
        return
    if origin is Literal or hint in (int, float, bool, NoneType):
        return
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        yield from undeclared_texts(hint, name)
    elif arguments:
        for argument in arguments[:1] if origin is Annotated else arguments:
            yield from _undeclared(argument, name)
    else:
        yield name
