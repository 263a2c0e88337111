"""The one redaction filter that every answer passes on its way out.

It copies an answer field by field as its contract declares it. A text from a page is compared with
the file as it is now, and what cannot be verified is withheld: the text, or the object around it.
What the contract does not declare is not passed on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from kbx_tui.api import KnowledgeBase
from kbx_tui.errors import KbxError, NotFound, WriteFault
from kbx_tui.knowledge.fields import link_target, texts_of
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.public_page import PublicPage
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.request import MAX_QUERY, read_filters
from kbx_tui.tools import answers
from kbx_tui.tools.answers import OF_THE_PAGE, UNCHECKED, Answer, Provenance
from kbx_tui.tools.visible_pages import VisiblePages, visible_pages

_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_MAPPING = (dict, Mapping)
"""For `isinstance`: testing for `dict` first spares the slower abstract class."""
UNNAMED = "[redacted]"
"""In place of a withheld name, line or quotation."""
WITHHELD: Any = object()


@dataclass(slots=True)
class Source:
    """What the object that holds a text is about. Never changed; not frozen, which is slower."""

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
        passed: dict[str, Any] = self._object(model, answer, Source())
        if passed is WITHHELD:
            raise NotFound("what was asked for is not to be passed on; its file marks it so")
        return passed

    def message(self, text: str, *, quotes_pages: bool = False) -> str:
        """Return an error without what is redacted; with `quotes_pages`, it may quote lines."""
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

    def _object(self, model: type[Answer], values: Any, outer: Source) -> Any:
        """Return what may be passed on of an object; `outer` is what the enclosing one is about."""
        if not isinstance(values, _MAPPING):
            return WITHHELD
        source = self._source(model.about, values, outer)
        if source is None:
            if not model.stays_unnamed:
                return WITHHELD
            source = Source(values)
        passed, hints = {}, _hints(model)
        for key, value in values.items():
            if key not in hints:
                continue
            hint = hints[key]
            public = self._checked(hint, value, source)
            if public is WITHHELD:
                if NoneType in get_args(hint):
                    public = None
                elif model.stays_unnamed:
                    public = UNNAMED
                else:
                    return WITHHELD
            passed[key] = public
        return passed

    def _checked(self, hint: Any, value: Any, source: Source) -> Any:
        """Return as much of a value as its type lets pass; WITHHELD for text without provenance."""
        if isinstance(hint, type):
            if issubclass(hint, Answer):
                return self._object(hint, value, source)
            is_plain = hint in (int, float, bool, NoneType)
            kinds = (int, float) if hint is float else hint
            return value if is_plain and isinstance(value, kinds) else WITHHELD
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            marks = [mark for mark in arguments[1:] if isinstance(mark, Provenance)]
            if marks:
                return self._text(marks[0], value, source)
            return self._checked(arguments[0], value, source)
        if origin is Literal:
            return value if value in arguments else WITHHELD
        if origin in (Union, UnionType):
            if value is None:
                return None
            passed = (self._checked(one, value, source) for one in arguments if one is not NoneType)
            return next((public for public in passed if public is not WITHHELD), WITHHELD)
        if origin in (list, tuple):
            if not isinstance(value, list | tuple):
                return WITHHELD
            passed = (self._checked(arguments[0], each, source) for each in value)
            return [public for public in passed if public is not WITHHELD]
        if origin is dict:
            if not isinstance(value, _MAPPING):
                return WITHHELD
            public = {
                name: self._checked(arguments[1], each, source)
                for name, each in value.items()
                if self._checked(arguments[0], name, source) is not WITHHELD
            }
            return {name: each for name, each in public.items() if each is not WITHHELD}
        return WITHHELD

    def _text(self, provenance: Provenance, text: Any, source: Source) -> Any:
        """Return a text as it may be passed on; the check of a provenance is named after it."""
        if not isinstance(text, str):
            return WITHHELD
        if provenance in UNCHECKED or (source.is_open and provenance in OF_THE_PAGE):
            return text
        return getattr(self, f"_{provenance.name.lower()}")(text, source)

    def _source(self, about: str, values: Mapping[str, Any], outer: Source) -> Source | None:
        """Return what an object is about: what the key `about` names, else what `outer` is about.

        None if that may not be known.
        """
        name: Any = values if about else None
        for key in about.split("."):
            name = name.get(key) if isinstance(name, _MAPPING) else None
        if not isinstance(name, str) or not name:
            return Source(values, outer.page, outer.entity, outer.is_open)
        if name not in self._named:
            self._named[name] = self._about(name)
        known = self._named[name]
        return known and Source(values, known.page, known.entity, known.is_open)

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

    # The checks by provenance: each returns the text as it may be passed on, or WITHHELD.

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
        return source.page.document.title if source.entity is None else source.entity.name

    def _kind(self, text: str, source: Source) -> Any:
        if source.page is not None:
            return source.page.document.kind
        return text if source.entity is not None or self._pages.has_kind(text) else WITHHELD

    def _date(self, text: str, source: Source) -> Any:
        page = source.page
        dates = (
            {page.document.date, *(fact.date for fact in page.facts)} if page is not None else ()
        )
        return text if text in dates else WITHHELD

    def _passage(self, text: str, source: Source) -> Any:
        page, kind = source.page, source.values.get("match_type")
        if page is None:
            return WITHHELD
        if kind == "field":
            return self._field(text, source)
        is_fact = kind in ("fact", "open_item")
        is_public = text in {fact.text for fact in page.facts} if is_fact else page.says(text)
        return text if is_public else WITHHELD

    def _content(self, text: str, source: Source) -> Any:
        if not text or (source.page is None and source.is_open):
            return text  # a group without a page, named openly elsewhere
        page = source.page
        is_public = page is not None and (
            text in page.body or text in {fact.text for fact in page.facts}
        )
        return text if is_public else WITHHELD

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


def _sent_in(text: str) -> Iterator[str]:
    """Yield an argument, and the values of filters typed in it, which notes may repeat."""
    if text:
        yield text
    for typed in read_filters(text[:MAX_QUERY]).filters:
        yield from typed.values


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


@cache
def _hints(model: type[Answer]) -> dict[str, Any]:
    """Return the annotated types of the fields of a model, by their names in JSON."""
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

    If it meets a page that was marked after it was indexed, `answer` is called again, unless it
    `writes`, so that other results take the place of that page. Raises as `answer`, and NotFound if
    nothing may be passed on.
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
    if model is answers.KbxMemorySimilarAnswer and any(
        len(raw[key]) != len(passed[key]) for key in ("matches", "nearest")
    ):
        scores = [text["score"] for text in (*passed["matches"], *passed["nearest"])]
        similar = [match for match in passed["matches"] if match["relation"] != "conflict"]
        passed |= {"has_similar": bool(similar), "best_score": max(scores, default=0.0)}
    elif model is answers.KbxEntitySimilarFieldAnswer and (
        raw["current_value"] is not None and passed["current_value"] is None
    ):
        nothing = dict.fromkeys(("relation", "cosine", "signals"))
        passed |= {"similarity": 0.0, "is_similar": False, "conflicts": [], **nothing}
    elif model is answers.KbSearchAnswer:
        data = passed["data"]
        data["total_found"] = len(data["results"])
    return passed
