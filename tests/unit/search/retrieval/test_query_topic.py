"""The topic of a query: how relevant a full answer is, and what share of it names things."""

import numpy as np
import pytest

from kbx_tui.index.lexical.bm25 import Bm25Index, PostingsSegment
from kbx_tui.index.lexical.postings import make_postings
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import Topic
from kbx_tui.search.evidence.scores import Flags
from kbx_tui.search.query.name_matching import NameMatcher
from kbx_tui.search.query.query_terms import NamedQuery, searched_terms
from kbx_tui.search.retrieval.document_pass import query_topic

ENTITIES = (
    Entity("person:ada-stone", "Ada Stone", "person", "memory/people/ada-stone.md"),
    Entity("project:ferry", "Night Ferry", "project", "memory/projects/ferry.md"),
)
NAMES = NameMatcher.of(ENTITIES)
TEXTS = ["the tide is high", "the night ferry", "a tide table", "lamps", "the ferry lamps"]
POSTINGS = make_postings(("", text) for text in TEXTS)
WORDS = Bm25Index([PostingsSegment(POSTINGS, np.arange(len(TEXTS)))], len(TEXTS))
WEIGHT = 0.6
ALL = np.ones(len(TEXTS), np.bool_)


def topic_of(query: str, in_scope: Flags = ALL) -> Topic | None:
    named = NamedQuery.of(query, NAMES.find(query), ENTITIES)
    terms = searched_terms(named.document_query)
    return query_topic(named, terms, WORDS, WEIGHT, in_scope)


def share_of_things(query: str) -> float:
    topic = topic_of(query)
    assert topic is not None
    return topic.thing_share


def full_relevance(query: str) -> float:
    topic = topic_of(query)
    assert topic is not None
    return topic.full_relevance


def test_query_that_names_someone_and_asks_nothing_else_has_no_topic() -> None:
    assert topic_of("what did Ada Stone say?") is None
    assert topic_of("what did Ada Stone present?") is None
    assert topic_of("what did Ada Stone say about the tide") is not None
    assert topic_of("tide") is not None


def test_a_full_answer_has_one_and_a_half_times_the_idf_of_each_word_in_a_document() -> None:
    idf = WORDS.idf("tide")
    bm25 = 1.5 * idf
    expected = WEIGHT * bm25 / (bm25 + 15.0) + (1.0 - WEIGHT) * (0.5 - 0.3) / 0.7
    assert full_relevance("what did Ada Stone say about the tide") > 0.0
    assert full_relevance("tide") == pytest.approx(expected, abs=0.1)
    assert full_relevance("tide lamps") > full_relevance("tide")
    assert full_relevance("tide zebra") == pytest.approx(full_relevance("tide"))


def test_share_of_things_is_that_of_their_rarity() -> None:
    assert share_of_things("Ada Stone on the tide") == 0.0
    assert share_of_things("Night Ferry") == pytest.approx(1.0)
    assert 0.3 < share_of_things("Ada Stone on Night Ferry and the tide") < 0.9


def test_the_documents_of_a_topic_are_those_in_scope_with_its_rarest_word_beside_names() -> None:
    def documents(query: str, in_scope: Flags = ALL) -> int:
        topic = topic_of(query, in_scope)
        assert topic is not None
        return topic.documents

    assert documents("Ada Stone on the tide") == 2
    assert documents("Ada Stone on the tide", np.array([True, *[False] * 4])) == 1
    assert documents("Ada Stone on the high tide") == 1
    assert documents("Ada Stone on Night Ferry lamps") == 2
    assert documents("Ada Stone on Night Ferry") == 0  # the links of the ferry tell
    assert documents("the tide") == documents("Ada Stone on zebra") == 0


def test_topic_is_common_if_documents_hold_some_of_its_words_and_english_has_all() -> None:
    queries = ("night time", "zorblatt night", "time", "会議", "zebra")
    topics = [topic_of(f"what did Ada Stone say about {query}") for query in queries]
    assert [topic is not None and topic.is_common for topic in topics] == [True, *[False] * 4]
