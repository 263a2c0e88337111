"""Walks an answer as its contract declares it: numbers pass, each text is checked by provenance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from kbx_tui.tools.contracts.answers import Answer
from kbx_tui.tools.contracts.provenance import OF_THE_PAGE, UNCHECKED, Provenance

UNNAMED = "[redacted]"
"""In place of a withheld name, line or quotation."""


class _Withheld:
    """The outcome of a check that failed."""


WITHHELD = _Withheld()

MAPPING = (dict, Mapping)
"""To test by `isinstance`, which takes longer for an abstract class."""

Check = Callable[[Any, Any, Any], Any]
"""From the redaction filter, a value and what its object is about to the value, or WITHHELD."""


def undeclared_texts(model: type[BaseModel], name: str = "") -> Iterator[str]:
    """Yield the fields of an answer, nested ones included, whose texts have no provenance."""
    for key, hint in _hints(model).items():
        yield from _undeclared(hint, f"{name or model.__name__}.{key}")


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


def field_check(hint: Any, texts: Mapping[Provenance, Check]) -> Check:
    """Return the check of a type; texts without provenance and unknown types are withheld.

    A call has some hundred fields, so a check decides the usual case at once.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        marks = [mark for mark in arguments[1:] if isinstance(mark, Provenance)]
        return _text_check(marks[0], texts) if marks else field_check(arguments[0], texts)
    if origin is Literal:
        return lambda answer_filter, value, source: value if value in arguments else WITHHELD
    if hint in (int, float, bool, NoneType):
        kinds = (int, float) if hint is float else hint
        return lambda answer_filter, value, source: value if isinstance(value, kinds) else WITHHELD
    if origin in (Union, UnionType):
        return _first_of([field_check(one, texts) for one in arguments if one is not NoneType])
    if origin is list:
        return _each(field_check(arguments[0], texts))
    if origin is tuple:
        return _each(field_check(arguments[0], texts))
    if origin is dict:
        return _entries(field_check(arguments[0], texts), field_check(arguments[1], texts))
    if isinstance(hint, type) and issubclass(hint, Answer):
        return _object(hint, texts)
    return lambda answer_filter, value, source: WITHHELD


def _text_check(provenance: Provenance, texts: Mapping[Provenance, Check]) -> Check:
    if provenance in UNCHECKED:
        return lambda answer_filter, value, source: value if isinstance(value, str) else WITHHELD
    check = texts[provenance]
    if provenance in OF_THE_PAGE:
        return lambda answer_filter, value, source: (
            WITHHELD
            if not isinstance(value, str)
            else value
            if source.is_open
            else check(answer_filter, value, source)
        )
    return lambda answer_filter, value, source: (
        check(answer_filter, value, source) if isinstance(value, str) else WITHHELD
    )


def _first_of(checks: list[Check]) -> Check:
    if len(checks) == 1:
        (only,) = checks
        return lambda answer_filter, value, source: (
            None if value is None else only(answer_filter, value, source)
        )

    def check(answer_filter: Any, value: Any, source: Any) -> Any:
        if value is None:
            return None
        passed = (one(answer_filter, value, source) for one in checks)
        return next((text for text in passed if text is not WITHHELD), WITHHELD)

    return check


def _each(one: Check) -> Check:
    def check(answer_filter: Any, value: Any, source: Any) -> Any:
        if not isinstance(value, list | tuple):
            return WITHHELD
        passed = (one(answer_filter, element, source) for element in value)
        return [element for element in passed if element is not WITHHELD]

    return check


def _entries(key: Check, one: Check) -> Check:
    def check(answer_filter: Any, value: Any, source: Any) -> Any:
        if not isinstance(value, MAPPING):
            return WITHHELD
        passed = {name: one(answer_filter, entry, source) for name, entry in value.items()}
        return {
            name: entry
            for name, entry in passed.items()
            if entry is not WITHHELD and key(answer_filter, name, source) is not WITHHELD
        }

    return check


def _object(model: type[Answer], texts: Mapping[Provenance, Check]) -> Check:
    hints = _hints(model)
    checks = {key: field_check(hint, texts) for key, hint in hints.items()}
    passing = {key: _passing(hint, UNCHECKED) for key, hint in hints.items()}
    passing_if_open = {key: _passing(hint, UNCHECKED | OF_THE_PAGE) for key, hint in hints.items()}
    optional = {key for key, hint in hints.items() if NoneType in get_args(hint)}
    about_keys = model.about.split(".") if model.about else []

    def check(answer_filter: Any, value: Any, source: Any) -> Any:
        if not isinstance(value, MAPPING):
            return WITHHELD
        about = answer_filter.source(about_keys, value, source)
        if about is None and not model.stays_unnamed:
            return WITHHELD
        about = about or answer_filter.nothing(value)
        passed = {}
        simple = passing_if_open if about.is_open else passing
        for key, entry in value.items():
            if key not in checks:
                continue
            if type(entry) in simple[key]:
                passed[key] = entry
                continue
            public = checks[key](answer_filter, entry, about)
            if public is not WITHHELD:
                passed[key] = public
            elif key in optional:
                passed[key] = None
            elif model.stays_unnamed:
                passed[key] = UNNAMED
            else:
                return WITHHELD
        return passed

    return check


def _passing(hint: Any, unchecked: Collection[Provenance]) -> frozenset[type]:
    """Return the types of values of a field that its check passes on without looking them up.

    A field is mostly of such a type, and telling so takes a fraction of the time of its check.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        marks = [mark for mark in arguments[1:] if isinstance(mark, Provenance)]
        if not marks:
            return _passing(arguments[0], unchecked)
        return frozenset({str}) if marks[0] in unchecked else frozenset()
    if origin in (Union, UnionType):
        return frozenset().union(*(_passing(one, unchecked) for one in arguments))
    if hint is float:
        return frozenset({int, float})
    return frozenset({hint}) if hint in (int, bool, NoneType) else frozenset()


def _hints(model: type[BaseModel]) -> dict[str, Any]:
    """Return the annotated types of the fields of a model, by their names in JSON."""
    hints = get_type_hints(model, include_extras=True)
    return {info.alias or name: hints[name] for name, info in model.model_fields.items()}
