"""Retrieval: does all I/O of a search, returns Evidence and reads the best passages of results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding import has_unknown_length
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.index.lexical.postings import term_of_stem
from kbx_tui.index.path_filter import PathFilter
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.stored_records import lz4
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.knowledge.facts import facts_as_said
from kbx_tui.knowledge.folding import ENGLISH, folded_words
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import (
    PEOPLE,
    AskedKind,
    AskedSpeaker,
    DateMatch,
    EntityCandidate,
    Evidence,
    FeedbackDocument,
)
from kbx_tui.search.evidence.scores import (
    FEEDBACK_WEIGHT,
    PROPAGATION_SHARE,
    Flags,
    LinkedDocuments,
    Rows,
    Scores,
    Scoring,
    frozen,
    highest,
)
from kbx_tui.search.frecency import OpenedDocuments
from kbx_tui.search.open_index import IndexGeneration, OpenIndex
from kbx_tui.search.query.query_terms import NamedQuery, NameMatch, subject
from kbx_tui.search.query.query_words import MOST_WORDS, QueryWords, has_topic, topic_words_of
from kbx_tui.search.request import MAX_ENTITIES_LIMIT, SearchRequest
from kbx_tui.search.results.response import Snippet
from kbx_tui.search.results.snippets import (
    NO_CHUNKS,
    READ_AT_MOST,
    PassageSource,
    WantedWords,
    topic_stems,
    wanted_words,
)
from kbx_tui.search.results.text_words import OffsetsOf, offsets_in_body
from kbx_tui.search.retrieval.asked import (
    OPEN_ITEMS,
    DocumentKinds,
    age_factors,
    asked_kind,
    asks_for_people,
    corrected,
    details_asked_for,
    property_line,
    unheard_of,
)
from kbx_tui.search.retrieval.document_pass import (
    DocumentPass,
    FeedbackQuery,
    QueryVectors,
    TopKRequest,
    with_cosines,
)
from kbx_tui.search.retrieval.entity_pass import NOTHING_LINKED, with_pinned
from kbx_tui.search.retrieval.query_dates import QueryDates
from kbx_tui.search.retrieval.scope import ScopedDocuments, WideScope
from kbx_tui.search.retrieval.speakers import (
    HEARD_AT_MOST,
    TURNS_READ,
    UNSPOKEN,
    SpokenPassage,
    best_turn,
)

_KNOWN_BY: Mapping[str, str] = {"role": "role", "fuzzy": "similar name"}
"""What a query gives of an entity by which its page is found, if not its name."""


class Retriever:
    """Retrieves from one open index. Not thread-safe."""

    def __init__(
        self, index: OpenIndex, open_embedder: Callable[[], Embedder], opened: OpenedDocuments
    ) -> None:
        self._index, self._opened, self._open_embedder = index, opened, open_embedder
        self._query_vectors = QueryVectors(open_embedder)

    def warm(self) -> None:
        self._query_vectors.begin("")
        generation = self._index.generation()
        generation.words.is_held("")  # loads the stemmers
        _ = generation.facts, generation.bodies, lz4()
        generation.entity_pass.names.find("")
        self._vectors("")
        self._query_vectors.vector("")

    def begin(self, request: SearchRequest, top_k: TopKRequest | None = None) -> None:
        """Start embedding the query in the background, before the index is opened or refreshed.

        It is embedded without names, as far as those are found quickly, unless it is for a flat
        search, and as typed unless `top_k` does not need that. Raises EmbeddingError.
        """
        if request.fast:
            return
        self._query_vectors.begin_search()
        query, generation = request.searched, self._index.in_memory
        if generation is None or top_k is None or top_k.uses_query_as_typed:
            self._query_vectors.begin(query)
        if generation is not None and not (top_k is not None and top_k.is_flat):
            matches, entities = generation.likely_names(query), generation.snapshot.entities
            named = NamedQuery.of(query, matches, entities)
            self._query_vectors.begin(named.document_query)

    def retrieve(
        self, request: SearchRequest, path: PathFilter, top_k: TopKRequest | None = None
    ) -> Evidence:
        """Return everything `rank` needs to order the documents in scope.

        With `top_k` it may hold only what that one ranking needs (`Evidence.only_for`). Raises
        NotFound if an entity that is pinned or filtered by does not exist.
        """
        search = _Search(self._index.generation(), self._query_vectors, request, top_k)
        return search.evidence(path, self._vectors, self._opened)

    def _vectors(self, searched: str) -> VectorMatrix:
        embedder = self._open_embedder()
        if has_unknown_length(embedder.model):
            self._query_vectors.await_first(searched)
        return self._index.generation().vectors(model=embedder.model, dimension=embedder.dimension)

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> list[Snippet]:
        """Return the best passage of each of some documents of `evidence`, in the order of `rows`.

        Passages are also compared by meaning, unless the search was fast. A deleted document has an
        empty snippet.
        """
        return [source.snippet() for source in self._sources(evidence, rows)]

    def passages_to_rerank(self, evidence: Evidence, rows: Sequence[int]) -> list[str]:
        sources = zip(rows, self._sources(evidence, rows), strict=True)
        return [source.to_rerank(evidence.titles[row]) for row, source in sources]

    def _sources(self, evidence: Evidence, rows: Sequence[int]) -> Iterator[PassageSource]:
        """Yield from what the passages of some documents are chosen.

        Meaning counts unless the search was fast, or the query was never embedded.
        """
        generation, searched = self._index.generation(), evidence.as_searched.query
        vector = None if evidence.fast or not searched else self._query_vectors.known(searched)
        query, words, snapshot = evidence.document_query, generation.words, generation.snapshot

        @cache
        def wanted(language: str) -> WantedWords:
            def idf(stem: str) -> float:
                return words.idf(term_of_stem(stem, language))

            return wanted_words(query, evidence.query, idf, language)

        asked = evidence.asked_kind and evidence.asked_kind.speaker
        turns = AskedTurns(generation, asked) if asked else None
        base_rows = rows  # looking paths up takes longer than any other step
        if evidence.paths is not snapshot.paths:  # a part of the base, or another generation of it
            base_rows = [snapshot.row_of.get(evidence.paths[row], -1) for row in rows]
        details = [evidence.known_items.get(row, "") for row in rows]
        is_for_news = evidence.asked_kind is not None and evidence.asked_kind.is_for_news
        bodies, offsets = generation.bodies.of_rows(base_rows), words.offsets(base_rows)
        for row, (body, line), known, what in zip(base_rows, bodies, offsets, details, strict=True):
            language = ENGLISH if row < 0 else words.language_of(row)
            cosines, offsets_of = NO_CHUNKS, None
            if row >= 0 and vector is not None:
                cosines = generation.chunk_cosines(row, vector)
            if row >= 0 and language == ENGLISH:
                offsets_of = offsets_in_body(known, body, read_at_most=READ_AT_MOST)
            spoken = turns.best(row, body, offsets_of) if turns is not None else None
            properties = snapshot.properties[row] if what and row >= 0 else ()
            is_answer = bool(what) and row >= 0 and row in snapshot.entity_pages
            is_for_work = is_answer and is_for_news and snapshot.kinds[row] == "person"
            is_named = is_answer and not is_for_news and _is_named(evidence.query, row, snapshot)
            if is_named:
                what = "their role"
            yield PassageSource(
                body=body,
                body_line=line,
                query=query,
                as_said=facts_as_said(body) if is_answer else "",
                wanted=wanted(language),
                cosines=cosines,
                language=language,
                offsets_of=offsets_of,
                turn=spoken.turn if spoken is not None else None,
                is_for_news=is_for_news,
                is_for_open_items=what.endswith(f" {OPEN_ITEMS}") or is_for_work,
                is_named=is_named,
                property=property_line(properties, what) if what else "",
            )


def _is_named(query: str, row: int, snapshot: Snapshot) -> bool:
    """Return whether a query asks for a page by its name and says nothing else."""
    names = " ".join((snapshot.titles[row], *snapshot.aliases[row]))
    return set(folded_words(subject(query))) <= set(folded_words(names))


class _Search:
    """One search, stage by stage. Rows number the documents of the base, not of the scope."""

    def __init__(
        self,
        generation: IndexGeneration,
        query_vectors: QueryVectors,
        request: SearchRequest,
        top_k: TopKRequest | None,
    ) -> None:
        self._generation, self._query_vectors = generation, query_vectors
        self._request, self._top_k = request, top_k
        self._share = PROPAGATION_SHARE if request.parts is None else request.parts
        self._asks_for_people = asks_for_people(request.searched)
        self._laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def _lap(self, name: str) -> None:
        now = time.perf_counter()
        self._laps[name] = round((now - self._last) * 1000, 3)
        self._last = now

    def evidence(
        self, path: PathFilter, vectors: Callable[[str], VectorMatrix], opened: OpenedDocuments
    ) -> Evidence:
        request, generation, top_k = self._request, self._generation, self._top_k
        self._dates = QueryDates(request.searched, request.filters)
        self._dates = dates = QueryDates.of(request, generation, self._find_names)
        pinned = [generation.entity(entity_id) for entity_id in request.pinned]
        for entity_id in dates.filters.entities:
            generation.entity(entity_id)
        self._scoped = scoped = generation.scope(path, dates.filters)
        self._lap("open_ms")
        named, self._corrections = self._find_names(dates.text), tuple[tuple[str, str], ...]()
        if not request.as_typed:
            is_token = (lambda _: False) if request.fast else self._query_vectors.is_token
            self._corrections, text = corrected(named, generation, scoped.flags, is_token)
            named = self._find_names(text) if self._corrections else named
        self._named, self._words = named, QueryWords(named.text)
        self._unknown = (*scoped.scope.unknown_names, *unheard_of(named, self._words, generation))
        is_flat = top_k is not None and top_k.is_flat
        self._searched = named.text if is_flat else named.document_query
        if not request.fast:
            self._query_vectors.begin(self._searched)
        for_time, variants = bool(dates.read), list(dict.fromkeys((named.text, self._searched)))
        documents = DocumentPass(generation, named, variants, fast=request.fast, for_time=for_time)
        self._documents = documents
        self._lap("words_ms")
        for match in () if is_flat else named.matches:  # while the model is running
            if match.named:
                self._linked(generation.snapshot.entities[match.entity])
        self._vectors = None if request.fast else vectors(self._searched)
        self._topic = topic = documents.topic(scoped.flags)
        full_relevance = None if topic is None else topic.full_relevance
        self._preference = dates.preference(generation, scoped, full_relevance)
        self._spoken = self._find_spoken()
        self._known_items = self._find_known_items()
        wide = lists = share = None
        if self._vectors is not None and dates.text and not request.exact:
            lists, share = self._vectors.lists, self._vectors.share_of_wide_scope(scoped.flags)
            if lists is not None and share is not None and lists.is_worth(share):
                wide = WideScope(scoped, lists, self._vectors, share)
        if wide is None:
            scoring = documents.scoring(scoped, self._share)
            _ = scoring.lexical  # while the model is running: pass 1 waits for it
        self._entities = with_pinned(() if request.fast else self._candidates(), pinned)
        self._lap("pass1_ms")
        self._links = [
            self._linked(entity) if top_k is None or top_k.may_keep(entity) else NOTHING_LINKED
            for entity in self._entities
        ]
        self._lap("links_ms")
        row_of, counts_openings = generation.snapshot.row_of, True
        if top_k is not None:  # for one ranking, in which openings seldom count
            counts_openings = top_k.tuning.hotness_weight > 0.0
        self._frecency = opened.frecency(row_of) if counts_openings else np.zeros(len(row_of))
        if self._vectors is None or not dates.text:
            return self._within(scoped, scoring)
        feedback = FEEDBACK_WEIGHT if request.feedback is None else request.feedback
        query = documents.feedback_query(self._vectors, self._query_vectors.vector, feedback)
        if wide is not None:
            scoped = self._narrowed(wide, query)
            scoring = documents.scoring(scoped, self._share)
        evidence = self._within(scoped, scoring)
        evidence = with_cosines(evidence, scoring, self._vectors, query, top_k)
        paths, titles = generation.snapshot.paths, generation.snapshot.titles
        moved_towards = [FeedbackDocument(paths[row], titles[row]) for row in query.feedback_rows]
        self._lap("pass2_ms")
        return replace(
            evidence,
            feedback_documents=tuple(moved_towards),
            lists_missing=share is not None and lists is None,
        )

    def _within(self, scoped: ScopedDocuments, scoring: Scoring) -> Evidence:
        links, preference, vectors = self._links, self._preference, self._vectors
        if len(scoped.rows) < len(scoped.flags):
            in_scope = None if scoped is self._scoped else self._scoped.flags
            links = [linked.within(scoped.flags, scoped.rows, in_scope) for linked in links]
        if preference is not None and scoped is not self._scoped:
            matches = preference.matches[np.searchsorted(self._scoped.rows, scoped.rows)]
            preference = replace(preference, matches=frozen(matches))
        known_items = self._listed()
        for row, what in self._known_items.items():
            known_items[int(np.searchsorted(scoped.rows, row))] = what
        as_typed, as_searched = scoring.lexical
        fast, scope = self._request.fast, scoped.scope
        if len(self._unknown) > len(scope.unknown_names):
            scope = replace(scope, unknown_names=self._unknown)
        return Evidence(
            query=self._request.query,
            document_query=self._named.document_query,
            generation=self._generation.number,
            scope=scope,
            entities=self._entities,
            links=tuple(links),
            paths=scoped.paths,
            titles=scoped.titles,
            dates=scoped.dates,
            kinds=scoped.kinds,
            as_typed=as_typed,
            as_searched=as_searched,
            topic=None if fast else self._topic,
            known_items=MappingProxyType(known_items),
            frecency=frozen(self._frecency[scoped.rows]),
            fast=fast,
            vector_share=vectors.coverage.share if vectors else 0.0,
            without_vector=vectors.coverage.missing if vectors else 0,
            timings=MappingProxyType(self._laps),
            date_preference=preference,
            asked_kind=self._asked_kind(scoped.rows),
            age_factors=age_factors(
                scoped.dates, self._request.age_half_life or 0.0, self._request.today
            ),
            undated=self._dates.undated,
            listed=self._dates.note,
            corrections=self._corrections,
            misspelt=(
                *self._request.typed.unknown,
                *self._generation.properties.misspelt(self._request.query),
            ),
        )

    def _asked_kind(self, rows: Rows) -> AskedKind | None:
        if self._spoken is not None:
            return self._spoken.at(rows)
        kinds, for_time = self._generation.derived(DocumentKinds), bool(self._dates.read)
        query, named = self._request.searched, self._named
        return asked_kind(query, named, kinds, rows, for_time=for_time)

    def _find_spoken(self) -> AskedKind | None:
        """Return which documents hold what someone said, if the query asks for that."""
        generation, topic = self._generation, self._named.document_query
        asked: AskedSpeaker | None
        if names := self._dates.filters.values("said", negated=False):
            asked = AskedSpeaker(names, "", topic if self._dates.text else "", by_filter=True)
        else:
            asked = generation.speakers.asked(self._words, self._named.matches)
        if asked is None or not (names or has_topic(folded_words(asked.topic))):
            return None
        shown = " or ".join(map(generation.speakers.shown, asked.names))
        turns = AskedTurns(generation, replace(asked, shown=shown))
        counts = self._top_k is None or self._top_k.tuning.hierarchy  # else no text is read
        return turns.kind(self._scoped.flags & counts, self._documents.bm25[self._searched])

    def _narrowed(self, wide: WideScope, query: FeedbackQuery) -> ScopedDocuments:
        scoped, bm25, snapshot = self._scoped, self._documents.bm25, self._generation.snapshot
        preferred = np.zeros(len(scoped.flags), np.bool_)
        if self._preference is not None:
            preferred[scoped.rows[self._preference.matches > 0]] = True
        rows = [
            wide.by_words(bm25.values(), preferred),
            wide.by_links(self._links, bm25[self._searched]),
            np.array(list(self._known_items), np.int64),
        ]
        variants = list(bm25)
        if self._top_k is not None and len(variants) > 1:  # entities decide which is needed
            some = wide.candidates(snapshot, rows)
            evidence = self._within(some, self._documents.scoring(some, self._share))
            variants = [self._top_k.query_variant(evidence)]
        rows += [wide.by_meaning(query.vector(variant)) for variant in variants]
        return wide.candidates(snapshot, rows, self._request.also)

    def _find_names(self, query: str) -> NamedQuery:
        generation, names = self._generation, list[NameMatch]()
        if not self._request.fast:
            names = generation.names(self._dates.blanked(query)).all
        entities = generation.snapshot.entities
        named = NamedQuery.of(query, names, entities)
        if not named.spans or not named.things or named.asked_for:
            return named
        unlinked = {each for each in named.things if not self._is_linked(entities[each])}
        if not unlinked:
            return named
        names = [name.as_hint() if name.entity in unlinked else name for name in names]
        return NamedQuery.of(query, names, entities)

    def _is_linked(self, entity: Entity) -> bool:
        """Return whether any document except its own page is linked to an entity.

        If none is, its name beside that of a person or team is an ordinary topic: no link shows
        which documents concern it, and as an entity it would get half of the credit.
        """
        rows = self._generation.entity_documents.linked(entity.id).rows
        return any(row != self._generation.snapshot.row_of.get(entity.path, -1) for row in rows[:2])

    def _candidates(self) -> tuple[EntityCandidate, ...]:
        """Return the entities of pass 1, cached for recent queries.

        Profiles are compared with the query without names: names are matched separately, the rest
        may describe other entities, and pass 2 needs the same vector.
        """
        generation, named, nearest = self._generation, self._named, None
        undated = self._dates.blanked(named.text)
        key = undated, self._searched
        if (recent := generation.pass_one.get(key)) is not None:
            return recent
        facts = generation.facts.find(undated)
        if self._vectors is not None:
            nearest = partial(self._nearest_profiles, self._vectors)
        candidates = generation.entity_pass.find(undated, named.matches, facts, nearest)
        return generation.pass_one.put(key, candidates)

    def _nearest_profiles(
        self, vectors: VectorMatrix
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        query = self._query_vectors.vector(self._searched)
        return vectors.profiles.nearest(query, MAX_ENTITIES_LIMIT)

    def _linked(self, entity: Entity | EntityCandidate) -> LinkedDocuments:
        documents = self._generation.entity_documents
        if self._asks_for_people:
            return documents.with_people(entity.id, self._share)
        if self._named.names_only and entity.type in PEOPLE:
            return documents.about(entity.id)
        return documents.propagated(entity.id, self._share)

    def _find_known_items(self) -> dict[int, str]:
        """Return the documents that the query names in full: by row of the base, what it gives."""
        generation, named = self._generation, self._named
        row_of, entities = generation.snapshot.row_of, generation.snapshot.entities
        looks_for_roles = not (self._request.fast or named.spans)
        holders = (
            generation.entity_pass.roles.holders_asked_for(named.text) if looks_for_roles else ()
        )
        dated = bool(self._dates.read)  # then no page by its name alone: `Ada in October`
        texts = {self._request.searched, *(() if dated else (named.subject,))}  # usually equal
        how = {match.entity: _KNOWN_BY.get(match.signal.kind, "name") for match in named.matches}
        asked_for = () if dated else named.asked_for
        news_of = named.news_of if len(named.news_of) == 1 else ()
        items = [
            *(item for text in texts for item in generation.known_items.find(text)),
            *((row_of.get(entities[each].path, -1), how[each]) for each in asked_for),
            *((row_of.get(entities[each].path, -1), "own page") for each in news_of),
            *((row_of.get(entities[number].path, -1), "role") for number in holders),
            *((row, "title") for row in self._titles_in_query()),
            *(() if dated else details_asked_for(named, generation)),
        ]
        asks_who = asks_for_people(named.text) and not generation.known_items.find(named.text)
        known_items: dict[int, str] = {}
        for row, what in items:
            if row >= 0 and self._scoped.flags[row] and not (asks_who and self._names_nobody(row)):
                known_items.setdefault(row, what)
        return known_items

    def _names_nobody(self, row: int) -> bool:
        snapshot = self._generation.snapshot
        linked = snapshot.links.entities_of(row).tolist()
        return not any(snapshot.entities.types[number] == "person" for number in linked)

    def _titles_in_query(self) -> Iterator[int]:
        """Yield the pages whose whole title is a part of the query, of two telling words or more.

        Not where the title names who is asked about (`what did Customer Care decide`), or an
        entity, whose documents are found by their links.
        """
        query, pages = self._words, self._generation.snapshot.entity_pages
        if len(query.words) > MOST_WORDS or self._spoken is not None:
            return
        named = [(match.start, match.end) for match in self._named.matches if match.named]
        topic = {*topic_words_of(query.folded)}
        telling = [word in topic for word in query.folded]
        for start, end, row in self._generation.known_items.titles_in(query.folded, telling):
            first, last = query.words[start], query.words[end - 1]
            is_name = any(begin <= first.start and last.end <= end for begin, end in named)
            is_asked = is_name or query.is_asked_about(start, end - start)
            if not is_asked and row not in pages:
                yield row

    def _listed(self) -> dict[int, str]:
        """Return the documents listed by a query that asks for a time or the newest, or consists of
        typed filters, and nothing else: of meetings or people alone, if it says so.

        Maps the row in the evidence to the reason: `date`, `newest` or `filter`. Empty for other
        queries.
        """
        dates, rows = self._dates, self._scoped.rows
        if dates.text:
            return {}
        if self._preference is not None or dates.is_for_newest:
            why, dated = "newest", np.array([bool(day) for day in self._scoped.dates], np.bool_)
            if self._preference is not None:
                why, dated = (
                    "date",
                    (np.isin(self._preference.matches, (DateMatch.AROUND, DateMatch.DATED))),
                )
            if dates.of_kind:
                return dict.fromkeys(np.flatnonzero(np.isin(rows, dates.of_kind)).tolist(), why)
            of_kind = self._generation.derived(DocumentKinds).listed_for(self._request.searched)
            listed = dated if of_kind is None else dated & of_kind[rows]
            return dict.fromkeys(np.flatnonzero(listed if listed.any() else dated).tolist(), why)
        is_listed = bool(self._request.typed.filters) and not dates.undated
        return dict.fromkeys(range(len(rows)), "filter") if is_listed else {}


class AskedTurns:
    """The turns of the speaker that a query asks for."""

    def __init__(self, generation: IndexGeneration, asked: AskedSpeaker) -> None:
        self._generation, self._asked = generation, asked
        labels: dict[int, frozenset[str]] = {}
        for name in asked.names:
            for row, keys in generation.speakers.labels(name).items():
                labels[row] = labels.get(row, frozenset()) | keys
        self.labels = labels
        self._weights: dict[str, Mapping[str, float]] = {}

    def weights(self, language: str) -> Mapping[str, float]:
        """Return the weights of the stems asked for that documents hold."""
        if language not in self._weights:
            stems = {
                term_of_stem(each, language): each
                for each in topic_stems(self._asked.topic, language)
            }
            held: Mapping[Any, float] = self._generation.words.idf_of_held(stems)
            self._weights[language] = {stems[term]: idf for term, idf in held.items()}
        return self._weights[language]

    def best(self, row: int, body: str, offsets_of: OffsetsOf | None) -> SpokenPassage | None:
        if not (labels := self.labels.get(row)):
            return None
        generation, text = self._generation, body[:HEARD_AT_MOST]
        if len(text) > READ_AT_MOST:
            offsets_of = None
        language = generation.words.language_of(row)
        turns, words = generation.speakers.turns(row, text), self.weights(language)
        always = self._asked.by_filter
        return best_turn(text, turns, labels, words, language, offsets_of, always=always)

    def kind(self, flags: Flags, bm25: Scores) -> AskedKind:
        """Return how much each document of the base answers, those flagged in scope by a turn."""
        asked, generation, speaks = self._asked, self._generation, np.zeros(len(flags), np.bool_)
        speaks[list(self.labels)] = True
        factors = np.full(len(flags), UNSPOKEN)
        rows = highest(bm25, np.flatnonzero(speaks & flags & (bm25 > 0.0)), TURNS_READ).tolist()
        bodies = generation.bodies.of_rows(rows)
        offsets = generation.words.offsets(rows)
        for row, (body, _), known in zip(rows, bodies, offsets, strict=True):
            is_english = generation.words.language_of(row) == ENGLISH
            found = offsets_in_body(known, body, read_at_most=READ_AT_MOST) if is_english else None
            if (passage := self.best(row, body, found)) is not None:
                factors[row] += (1.0 - UNSPOKEN) * passage.answered
        return AskedKind(f"what {asked.shown} says", frozen(factors), asked, frozen(speaks))
