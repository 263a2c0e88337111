"""The one redaction filter that every answer passes on its way out.

It copies an answer field by field as its contract declares it. A text from a page is compared with
the file as it is now, and what cannot be verified is withheld: the text, or the object around it.
What the contract does not declare is not passed on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from kbx_tui.api import KnowledgeBase
from kbx_tui.errors import KbxError, NotFound, WriteFault
from kbx_tui.knowledge.fields import link_target, texts_of
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.public_page import PublicPage
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.filters import read_filters
from kbx_tui.search.request import MAX_QUERY
from kbx_tui.tools import answers
from kbx_tui.tools.answers import OF_THE_PAGE, UNCHECKED, Answer, Provenance
from kbx_tui.tools.visible_pages import VisiblePages, visible_pages

_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")


@dataclass(slots=True)
class Source:
    """What the object that holds a text is about. Not changed; to freeze it takes longer."""

    values: Mapping[str, Any] = field(default_factory=dict)
    page: PublicPage | None = None
    entity: Entity | None = None
    is_open: bool = False
    """Whether all that the index knows of the page is public."""


class RedactionFilter:
    """Checks the answers to one call. `arguments` are those of the caller, who knows them."""

    def __init__(self, pages: VisiblePages, arguments: Any) -> None:
        self._pages = pages
        self._arguments = [part for text in _strings(arguments) for part in _sent_in(text)]
        self._seen: list[PublicPage] = []
        self._named: dict[str, Source | None] = {}
        """What a path or id is about, without the object that names it; None if hidden."""

    @cached_property
    def _sent(self) -> frozenset[str]:
        return frozenset(_words(" ".join(self._arguments)))

    def remember_pages(self) -> None:
        """Remember the pages looked at so far: a diff or an error may quote them as they were."""
        self._seen += self._pages.looked_at()

    def pass_on(self, model: type[Answer], answer: Mapping[str, Any]) -> dict[str, Any]:
        """Return an answer without what is redacted. Raises NotFound if nothing may be left."""
        passed = object_check(model)(self, answer, Source())
        if passed is WITHHELD:
            raise NotFound("what was asked for is not to be passed on; its file marks it so")
        public: dict[str, Any] = passed
        return public

    def message(self, text: str, *, quotes_pages: bool = False) -> str:
        """Return the message of an error without names and quotations that are redacted.

        With `quotes_pages`, it may quote lines of the page that was to be written.
        """
        if not self._names_only_visible(text):
            return "the reason names what is not to be passed on; its owner can see it"
        return _QUOTED.sub(self._quotation, text) if quotes_pages else text

    def _quotation(self, quoted: re.Match[str]) -> str:
        text = quoted[0][1:-1]
        is_known = any(text in argument for argument in self._arguments)
        is_public = is_known or any(page.says(text) for page in self._seen)
        return quoted[0] if is_public else repr(UNNAMED)

    def _names_only_visible(self, text: str) -> bool:
        for argument in sorted(self._arguments, key=len, reverse=True):
            text = text.replace(repr(argument), " ")
            text = re.sub(rf"(?<!\w){re.escape(argument)}(?!\w)", " ", text)
        return self._pages.names_only_visible(text)

    def source(
        self, keys: Sequence[str], values: Mapping[str, Any], outer: Source
    ) -> Source | None:
        """Return what an object is about, None if that may not be known.

        `keys` lead to the path or id in `values`; without any, it is about what `outer` is about.
        """
        name: Any = values
        for key in keys:
            name = name.get(key) if isinstance(name, MAPPING) else None
        if not isinstance(name, str) or not name:
            return Source(values, outer.page, outer.entity, outer.is_open)
        if name not in self._named:
            self._named[name] = self._about(name)
        about = self._named[name]
        return about and Source(values, about.page, about.entity, about.is_open)

    def _about(self, name: str) -> Source | None:
        try:
            path, entity = self._pages.identify(name)
        except NotFound:
            return None
        if not path:
            return Source({}, None, entity, is_open=True)
        page = self._pages.page(path)
        if page is None:
            return None
        if page not in self._seen:
            self._seen.append(page)
        return Source({}, page, entity, self._pages.is_open(page))

    def nothing(self, values: Mapping[str, Any]) -> Source:
        """Return the source of an object that may not say what it is about."""
        return Source(values)

    # One check per provenance: the text as it may be passed on, or WITHHELD. Those of texts
    # `OF_THE_PAGE` are not asked where the source is open.

    def _call(self, text: str, source: Source) -> Any:
        if text in self._arguments or self._sent.issuperset(_words(text)):
            return text
        return self._sentence(text, source)

    def _sentence(self, text: str, source: Source) -> Any:
        return text if self._names_only_visible(text) else WITHHELD

    def _path(self, text: str, source: Source) -> Any:
        return text if not text or self._pages.page(text) is not None else WITHHELD

    def _id(self, text: str, source: Source) -> Any:
        if text in self._arguments:  # the id of a fact, as the caller sent it
            return text
        is_own = source.page is not None and self._pages.id_of(source.page) == text
        return text if is_own or self._pages.is_visible_id(text) else WITHHELD

    def _title(self, text: str, source: Source) -> Any:
        if source.page is None:
            return WITHHELD
        if source.entity is not None:
            return source.entity.name
        return source.page.document.title

    def _kind(self, text: str, source: Source) -> Any:
        if source.page is None and source.entity is None:
            return text if self._pages.has_kind(text) else WITHHELD
        return text if source.page is None else source.page.document.kind

    def _date(self, text: str, source: Source) -> Any:
        page = source.page
        if page is None:
            return WITHHELD
        dates = {page.document.date, *(fact.date for fact in page.facts)}
        return text if text in dates else WITHHELD

    def _passage(self, text: str, source: Source) -> Any:
        page, values = source.page, source.values
        if page is None:
            return WITHHELD
        if values.get("match_type") == "field":
            return self._field(text, source)
        if values.get("match_type") in ("fact", "open_item"):
            return text if any(fact.text == text for fact in page.facts) else WITHHELD
        return text if page.says(text) else WITHHELD

    def _content(self, text: str, source: Source) -> Any:
        if not text or (source.page is None and source.is_open):
            return text  # a group without a page, named openly elsewhere
        page = source.page
        if page is None or not (text in page.body or text in {fact.text for fact in page.facts}):
            return WITHHELD
        return text

    def _field(self, text: str, source: Source) -> Any:
        return text if text in _field_values(source) else WITHHELD

    def _diff(self, text: str, source: Source) -> Any:
        lines = text.splitlines(keepends=True)
        head = 2 if text.startswith("--- ") and len(lines) > 2 and lines[2].startswith("@@") else 0
        return "".join([*lines[:head], *map(self._diff_line, lines[head:])])

    def _diff_line(self, line: str) -> str:
        if line.startswith("@@") or not line[1:].strip():
            return line
        words = [word for word in _words(line[1:]) if not word.isdigit()]
        known = self._sent.union(*(page.vocabulary for page in self._seen))
        if line.startswith("+"):
            is_public = known.issuperset(words)
        else:
            is_public = any(line[1:].strip() in page.texts[1] for page in self._seen)
        return line if is_public else f"{line[0]}{UNNAMED}\n"


CHECKS: Mapping[Provenance, Check] = {
    Provenance.CALL: RedactionFilter._call,
    Provenance.SENTENCE: RedactionFilter._sentence,
    Provenance.PATH: RedactionFilter._path,
    Provenance.ID: RedactionFilter._id,
    Provenance.TITLE: RedactionFilter._title,
    Provenance.KIND: RedactionFilter._kind,
    Provenance.DATE: RedactionFilter._date,
    Provenance.PASSAGE: RedactionFilter._passage,
    Provenance.CONTENT: RedactionFilter._content,
    Provenance.FIELD: RedactionFilter._field,
    Provenance.DIFF: RedactionFilter._diff,
}


def _sent_in(text: str) -> Iterator[str]:
    """Yield an argument, and the values of filters typed in it, which notes may repeat."""
    if text:
        yield text
    for typed in read_filters(text[:MAX_QUERY]).filters:
        yield from typed.values


@lru_cache(maxsize=64)
def object_check(model: type[Answer]) -> Check:
    """Return the check of an answer; making it takes longer than using it."""
    return field_check(model, CHECKS)


def _field_values(source: Source) -> set[str]:
    entity, page = source.entity, source.page
    values = {entity.name, entity.role, entity.team, *entity.aliases} if entity else set()
    if page is None:
        return values
    values |= {fact.text for fact in page.facts}
    for value in page.document.frontmatter.values():
        values |= {text for entry in texts_of(value) for text in (entry, link_target(entry))}
        if isinstance(value, Mapping):
            values.add(json.dumps(value, ensure_ascii=False))
    return values


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str | int):
        yield str(value)
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _strings(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _strings(entry)


def _words(text: str) -> list[str]:
    return _WORD.findall(fold(text))


UNNAMED = "[redacted]"
"""In place of a withheld name, line or quotation."""


class _Withheld:
    pass


WITHHELD = _Withheld()

MAPPING = (dict, Mapping)
"""To test by `isinstance`, which takes longer for an abstract class."""

Check = Callable[[Any, Any, Any], Any]
"""From the redaction filter, a value and what its object is about to the value, or WITHHELD."""


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
    hints = get_type_hints(model, include_extras=True)
    return {info.alias or name: hints[name] for name, info in model.model_fields.items()}


ATTEMPTS = 3
"""Times that a call is answered again, without pages just found to be redacted or gone."""

Json = dict[str, Any]


def pass_on(
    kb: KnowledgeBase,
    model: type[answers.Answer],
    answer: Callable[[], Mapping[str, Any]],
    arguments: Any,
    *,
    writes: bool = False,
) -> Json:
    """Return what `answer` returns without what is redacted, as `model` declares it.

    An answer that met a page which was marked since it was indexed is made again, unless it
    `writes`, so that other results take its place. Raises as `answer`, and NotFound if nothing may
    be passed on.
    """
    pages = visible_pages(kb)
    for left in reversed(range(1 if writes else ATTEMPTS)):
        pages.look_again()
        answer_filter, known = RedactionFilter(pages, arguments), pages.learned
        raw = answer()
        if writes:
            answer_filter.remember_pages()
            pages.look_again()
        passed = answer_filter.pass_on(model, raw)
        if pages.learned <= known or not left:
            break
    return _settled(model, raw, passed)


def public_message(kb: KnowledgeBase, error: KbxError, arguments: Any) -> str:
    pages = visible_pages(kb)
    answer_filter = RedactionFilter(pages, arguments)
    answer_filter.remember_pages()
    pages.look_again()
    return answer_filter.message(str(error), quotes_pages=isinstance(error, WriteFault))


def _settled(model: type[answers.Answer], raw: Mapping[str, Any], passed: Json) -> Json:
    """Return an answer whose conclusions follow from what is left of it."""
    if model is answers.KbxMemorySimilarAnswer and _lost(raw, passed, "matches", "nearest"):
        scores = [text["score"] for text in (*passed["matches"], *passed["nearest"])]
        similar = [match for match in passed["matches"] if match["relation"] != "conflict"]
        passed |= {"has_similar": bool(similar), "best_score": max(scores, default=0.0)}
    elif model is answers.KbxEntitySimilarFieldAnswer and _lost(raw, passed, "current_value"):
        nothing = dict.fromkeys(("relation", "cosine", "signals"))
        passed |= {"similarity": 0.0, "is_similar": False, "conflicts": [], **nothing}
    elif model is answers.KbSearchAnswer:
        data = passed["data"]
        data["total_found"] = len(data["results"])
    return passed


def _lost(raw: Mapping[str, Any], passed: Json, *keys: str) -> bool:
    return any(_size(raw[key]) != _size(passed[key]) for key in keys)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, list) else int(value is not None)
