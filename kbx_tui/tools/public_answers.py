"""Answers for agents: from what is public of a base, with the pages they are about as they are now.

Agents search an index of the pages without their redacted parts (`KnowledgeBase.public`), so
nothing needs to be kept from an answer, unless a page has changed since it was indexed: a part of
it may have been marked. Then it is indexed, and the call is answered again. Where it cannot be
indexed now, what is said about a page with redacted parts is withheld.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kbx_tui.api import KnowledgeBase
from kbx_tui.errors import EmbeddingError, IndexFault, KbxError, NotFound

Json = dict[str, Any]

ATTEMPTS = 4
"""Times that a call is answered: each answer may be about other pages that changed."""
MAX_NAME = 1000
"""Length above which a text is neither a path nor an id."""
NOTES = ("notes", "hints")
"""Keys of lists of sentences, which may name pages."""
WITHHELD: Any = object()
REASON_WITHHELD = "the reason names what is not to be passed on; its owner can see it"
UNVERIFIED = "it failed, for a reason that could not be checked for what is redacted; see the log"

log = logging.getLogger(__name__)


def answer_publicly(
    kb: KnowledgeBase,
    answer: Callable[[KnowledgeBase], Json],
    arguments: Any,
    *,
    writes: bool = False,
) -> Json:
    """Return what `answer` returns for the public part of `kb`, of pages as they are now.

    An answer that `writes` is not made twice. Raises as `answer`, and NotFound if nothing of it may
    be passed on.
    """
    public, left = kb.public, 1 if writes else ATTEMPTS
    while True:
        made, error = _attempt(answer, public)
        if isinstance(error, IndexFault | EmbeddingError):
            raise error  # about the index or the model, never about a page
        left -= 1
        try:
            changed = _changed(public, made, error, arguments)
            if not (changed and left and public.documents.index_changed(changed)):
                break
        except (IndexFault, EmbeddingError) as fault:
            log.warning("an answer could not be verified: %s", fault)
            raise _with_message(error or fault, UNVERIFIED) from fault
    withheld = {path for path in changed if _may_hide(public, path)}
    if error is not None:
        names = public.documents.named_in(_without_arguments(str(error), arguments))
        is_open = withheld.isdisjoint(path for path, *_ in names)
        raise error if is_open else _with_message(error, REASON_WITHHELD)
    return _without(public, made, withheld, writes=writes) if withheld else made


def _attempt(
    answer: Callable[[KnowledgeBase], Json], public: KnowledgeBase
) -> tuple[Json, KbxError | None]:
    try:
        return answer(public), None
    except KbxError as error:
        return {}, error


def _with_message(error: KbxError, message: str) -> KbxError:
    error.args = (message,)
    return error


def _changed(
    public: KnowledgeBase, answer: Json, error: KbxError | None, arguments: Any
) -> list[str]:
    """Return the paths of the pages that a call is about and that changed since the last run."""
    if not public.is_indexed():
        return []
    documents, texts = public.documents, {*_strings(answer)}
    sentences = [*_strings(arguments), *_notes(answer), "" if error is None else str(error)]
    paths = documents.paths_of(text for text in texts if len(text) <= MAX_NAME)
    paths |= {path for path, *_ in documents.named_in("\n".join(sentences)) if path}
    return sorted(path for path in paths if not documents.is_current(path))


def _may_hide(public: KnowledgeBase, path: str) -> bool:
    page = public.documents.public_page(path)
    return page is None or page.is_marked


def _without(public: KnowledgeBase, answer: Json, withheld: set[str], *, writes: bool) -> Json:
    """Return an answer without the objects about some pages; what was written stays."""
    documents = public.documents
    names = withheld.union(documents.ids(withheld).values())

    def checked(value: Any) -> Any:
        if isinstance(value, str):
            return WITHHELD if value in names else value
        if isinstance(value, Mapping):
            passed = {key: of_key(key, each) for key, each in value.items()}
            return WITHHELD if any(each is WITHHELD for each in passed.values()) else passed
        if isinstance(value, list | tuple):
            return [each for each in map(checked, value) if each is not WITHHELD]
        return value

    def of_key(key: str, value: Any) -> Any:
        if key not in NOTES:
            return checked(value)
        named = {note: {path for path, *_ in documents.named_in(note)} for note in value}
        return [note for note in value if withheld.isdisjoint(named[note])]

    passed = {key: of_key(key, value) for key, value in answer.items()}
    if writes:
        return {key: answer[key] if value is WITHHELD else value for key, value in passed.items()}
    if any(value is WITHHELD for value in passed.values()):
        raise NotFound("what was asked for is not to be passed on; its file marks it so")
    return passed


def _without_arguments(text: str, arguments: Any) -> str:
    for argument in sorted(_strings(arguments), key=len, reverse=True):
        text = text.replace(repr(argument), " ")
    return text


def _notes(answer: Any) -> Iterator[str]:
    if isinstance(answer, Mapping):
        for key, value in answer.items():
            yield from _strings(value) if key in NOTES else _notes(value)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)
