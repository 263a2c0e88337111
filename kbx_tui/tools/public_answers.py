"""Answers for agents: from what is public of a base, with the pages they are about as they are now.

Agents search an index of the pages without their redacted parts (`KnowledgeBase.public`), so
nothing needs to be kept from an answer, unless a page has changed since it was indexed: a part of
it may have been marked. Then it is indexed, and the call is answered again. Where it cannot be
indexed now, a call about a page with redacted parts is refused.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from itertools import chain
from typing import Any

from kbx_tui.api import KnowledgeBase
from kbx_tui.errors import EmbeddingError, IndexFault, IndexLocked, KbxError, NotFound
from kbx_tui.tools.answers import notes_of

Json = dict[str, Any]

ATTEMPTS = 4
"""Times that a call is answered: each answer may be about other pages that changed."""
NOT_INDEXED_SINCE = (
    "a page that this is about has changed since it was indexed and may have redacted parts now, "
    "and the index cannot be updated; try again later"
)
UNVERIFIED = "it failed, for a reason that could not be checked for what is redacted; see the log"

log = logging.getLogger(__name__)


def answer_publicly(
    kb: KnowledgeBase, answer: Callable[[KnowledgeBase], Json], arguments: Json
) -> Json:
    """Return what `answer` returns for the public part of `kb`, of pages as they are now.

    An answer that wrote something is not made twice. Raises as `answer`, and IndexLocked if it is
    about a page that has redacted parts and cannot be indexed now.
    """
    public = kb.public
    for left in reversed(range(ATTEMPTS)):
        made, error, read = _attempt(answer, public)
        if isinstance(error, IndexFault | EmbeddingError):
            raise error  # about the index or the model, never about a page
        is_written = made.get("written", False)
        try:
            changed = _changed(public, made, error, arguments, read)
            if is_written or not (changed and left):
                break
            # an answer that may have to be refused is worth waiting for
            may_hide = any(map(public.documents.may_hide, changed))
            if not public.documents.index_changed(changed, wait=may_hide):
                break
        except (IndexFault, EmbeddingError) as fault:
            log.warning("an answer could not be verified: %s", fault)
            error = error or fault
            error.args = (UNVERIFIED,)
            raise error from fault
    if any(map(public.documents.may_hide, changed)):
        if not is_written:
            raise IndexLocked(NOT_INDEXED_SINCE)
        made["matches"] = []  # the rest is read from the file
    if error is not None:
        raise error
    return made


def _attempt(
    answer: Callable[[KnowledgeBase], Json], public: KnowledgeBase
) -> tuple[Json, KbxError | None, Collection[str]]:
    with public.reading() as read:
        try:
            return answer(public), None, read
        except KbxError as error:
            return {}, error, read


def _changed(
    public: KnowledgeBase,
    answer: Json,
    error: KbxError | None,
    arguments: Json,
    read: Collection[str],
) -> list[str]:
    """Return the paths of the pages that a call is about and that changed since the last run.

    These are the pages that the answer was read from, and those that the call and its answer name.
    """
    documents = public.documents
    try:
        paths = documents.paths_of(_texts_of(answer)).union(read)
    except NotFound:  # there is no index
        return []
    sentences = [*_texts_of(arguments), *chain(*notes_of(answer))]
    sentences += [] if error is None else [str(error)]
    paths.update(path for path, *_ in documents.named_in("\n".join(sentences)))
    return documents.changed(paths - {""})


def _texts_of(answer: Json) -> set[str]:
    texts, parts = set[str](), list[Any]([answer])
    for part in parts:  # which grows: an answer has hundreds, and recursion takes longer
        for value in part.values() if type(part) is dict else part:
            if (kind := type(value)) is str:  # half the time of `isinstance`
                texts.add(value)
            elif kind is dict or kind is list or kind is tuple:
                parts.append(value)
    return texts
