"""Similarity checks against facts, open items, passages and fields of a real base."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import Ambiguous, ConfigError, KnowledgeBase, NotFound, OutOfRange
from kbx_tui.embedding.cross_encoder import PairModel
from kbx_tui.embedding.local import LocalEmbedder
from kbx_tui.index.store import Store
from kbx_tui.similarity.judging import Probabilities
from tests.command_line import CommandLine
from tests.functional.vaults import FILES, index_vault, write_vault

OTHER_ALICE = """---
role: Nurse
tags: [ferry, '[[Migration]]']
location: Oslo
---
# Alice Wong

## Facts

- Works remotely every Friday
- ~~Prefers async Slack over email~~
- Ships 5 releases a year

## Open Items

- [x] book the ferry
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = FILES | {"memory/people/alice-wong.md": OTHER_ALICE}
    return index_vault(tmp_path_factory.mktemp("memory"), files)


@pytest.fixture
def kb(root: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(root) as opened:
        yield opened


def test_a_paraphrase_finds_the_fact_of_the_entity_or_of_anybody(kb: KnowledgeBase) -> None:
    (match,) = kb.memory_similar(
        "favours asynchronous communication via Slack", entity="Alice Chen"
    )
    assert match.text == "Prefers async Slack over email"
    assert match.source_path == "memory/people/alice-chen.md"
    assert (match.date, match.entity_name, match.match_type) == ("2026-02-15", "Alice Chen", "fact")
    assert match.fact_id == kb.entities.card("person:alice-chen").facts[1].fact_id
    assert match.score >= match.threshold == 0.9

    (match,) = kb.memory_similar("runs the on-call rota")
    assert (match.entity_name, match.relation, match.score) == ("Bob Okafor", "exact", 1.0)
    assert kb.memory_similar("runs the on-call rota", entity="Alice Chen") == []


def test_pages_are_not_read_again_for_the_next_text(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.memory_similar("runs the on-call rota", entity="Alice Chen")
    read, rows = list[str](), Store.rows

    def counting(store: Store, table: str, *arguments: Any) -> Any:
        read.append(table)
        return rows(store, table, *arguments)

    monkeypatch.setattr(Store, "rows", counting)
    kb.memory_similar("checks the rota", entity="Alice Chen")
    assert "documents" not in read


def test_open_items_have_their_own_threshold_and_superseded_facts_none(kb: KnowledgeBase) -> None:
    (match,) = kb.memory_similar("check migration schedule status", entity="Alice Chen")
    assert (match.match_type, match.threshold) == ("open_item", 0.8)
    assert match.text == "follow up on migration timeline"

    (match,) = kb.memory_similar("Book the ferry", entity="Alice Wong")
    assert match.done

    assert kb.memory_similar("Prefers async Slack over email", entity="Alice Wong") == []


def test_an_explicit_threshold_overrides_all_others(kb: KnowledgeBase) -> None:
    text = "favours asynchronous communication via Slack"
    assert kb.memory_similar(text, entity="Alice Chen", threshold=0.99) == []
    everything = kb.memory_similar(text, entity="Alice Chen", threshold=0.0)
    assert len(everything) == 5  # three facts and items, role and team
    assert {match.threshold for match in everything} == {0.0}


def test_thresholds_come_from_the_settings(root: Path, tmp_path: Path) -> None:
    folder = write_vault(tmp_path)
    (folder / "kbx.toml").write_text("[dedup]\nfact_threshold = 0.99\ndefault_threshold = 0.7\n")
    slack, item = "favours asynchronous communication via Slack", "look after the migration"
    with KnowledgeBase(folder) as kb:
        (found,) = kb.similarity.check([slack])
        assert (found.threshold, found.has_similar) == (0.99, False)  # the key of the type
        assert 0.9 < found.best_score == found.matches[0].score < found.matches[0].threshold
        (found,) = kb.similarity.check([item], entity="Alice Chen")  # `default_threshold`
        assert kb.settings.dedup.open_item_threshold == found.matches[0].threshold == 0.7
        assert (found.threshold, found.has_similar) == (0.7, True)
        (found,) = kb.similarity.check([slack], threshold=0.5)  # the argument
        assert (found.threshold, found.has_similar) == (0.5, True)


def dana(root: Path, *facts: str, intro: str = "") -> KnowledgeBase:
    """Return an indexed base with one page, of Dana Lund and these facts."""
    listed = "".join(f"- {fact}\n" for fact in facts)
    page = f"# Dana Lund\n\n{intro}## Facts\n\n{listed}"
    return KnowledgeBase(index_vault(root, {"memory/people/dana-lund.md": page}))


def test_what_is_somewhat_similar_is_listed_with_the_threshold_it_misses(tmp_path: Path) -> None:
    with dana(tmp_path, "Prefers written async updates to synchronous meetings") as kb:
        (found,) = kb.similarity.check(["Dana Lund prefers written async updates"])
        (match,) = found.matches
        assert 0.8 <= match.score < match.threshold == found.threshold == 0.9
        assert (match.is_similar, found.has_similar) == (False, False)
        assert found.best_score == match.score
        assert not kb.has_similar("prefers written async updates", entity="Dana Lund")
        added = kb.memory_add("prefers written async updates", entity="Dana Lund")
        assert (added.written, added.matches[0].relation) == (False, "refines")


def test_name_of_the_entity_is_stripped_on_both_sides(tmp_path: Path) -> None:
    with dana(tmp_path, "Dana Lund prefers tea", "walks to work daily") as kb:
        for text in ("prefers tea", "Dana Lund prefers tea", "Dana prefers tea"):
            (match,) = kb.memory_similar(text, entity="Dana Lund")
            assert (match.score, match.text) == (1.0, "Dana Lund prefers tea")
            assert kb.has_similar(text, entity="Dana Lund")
        (match,) = kb.memory_similar("Dana Lund walks to work daily")
        assert match.relation == "exact"


def test_fields_are_compared_like_facts(kb: KnowledgeBase) -> None:
    for scope in ({"entity": "Alice Chen"}, {}, {"path": "memory/people/alice-chen.md"}):
        (found,) = kb.similarity.check(["Engineering Director"], **scope)
        (match,) = [match for match in found.matches if match.match_type == "field"]
        assert (match.text, match.field) == ("Director of Engineering", "role")
        assert (match.entity_name, match.fact_id, match.threshold) == ("Alice Chen", None, 0.85)
        assert found.has_similar
    assert kb.memory_similar("Engineering Director", entity="Bob") == []
    assert kb.memory_similar("Engineering Director", path="memory/notes") == []


def test_without_matches_the_nearest_text_is_reported_with_its_threshold(kb: KnowledgeBase) -> None:
    (found,) = kb.similarity.check(
        ["uses asynchronous chat on Slack at times"], entity="Alice Chen"
    )
    assert (found.matches, found.has_similar) == ((), False)
    nearest = found.nearest[0]
    assert nearest.text == "Prefers async Slack over email"
    assert nearest.score == found.best_score < nearest.threshold == 0.9
    assert [text.score for text in found.nearest] == sorted(
        (text.score for text in found.nearest), reverse=True
    )


def test_a_conflict_is_listed_but_does_not_count_as_similar(kb: KnowledgeBase) -> None:
    (found,) = kb.similarity.check(["Ships 3 releases a year"], entity="Alice Wong")
    (match,) = found.matches
    assert (match.relation, found.has_similar) == ("conflict", False)
    assert [(conflict.left, conflict.right) for conflict in match.conflicts] == [("3", "5")]
    assert not kb.has_similar("Ships 3 releases a year", entity="Alice Wong")


def test_what_a_draft_would_contradict_is_listed_as_a_conflict(tmp_path: Path) -> None:
    with dana(tmp_path, "Prefers the ferry to the train") as kb:
        (found,) = kb.similarity.check(["Prefers the train to the ferry"], entity="Dana Lund")
    assert [match.relation for match in found.matches] == ["conflict"]
    assert not found.has_similar


def test_the_limit_shortens_the_list_but_not_the_best_score(kb: KnowledgeBase) -> None:
    (found,) = kb.similarity.check(["the migration"], threshold=0.0, limit=2)
    assert len(found.matches) == 2
    scores = [match.score for match in found.matches]
    assert scores == sorted(scores, reverse=True)
    assert found.best_score == scores[0]


def test_identical_text_is_found_without_the_model(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("no vector should be needed")

    active = (fact for fact in kb.entities.facts() if fact.status == "active")
    first = min(active, key=lambda fact: (fact.path, fact.line))
    monkeypatch.setattr(LocalEmbedder, "embed", refuse)
    assert kb.has_similar("prefers ASYNC slack over email.", entity="Alice Chen")
    assert kb.has_similar(first.text)


def test_a_batch_gives_the_same_results_as_single_checks(kb: KnowledgeBase) -> None:
    texts = ["favours asynchronous communication via Slack", "nothing of the kind", "the rota"] * 12
    together = kb.similarity.check(texts, threshold=0.3)
    alone = [kb.similarity.check([text], threshold=0.3)[0] for text in texts]
    for batched, single in zip(together, alone, strict=True):
        assert [m.fact_id for m in batched.matches] == [m.fact_id for m in single.matches]
        assert batched.best_score == pytest.approx(single.best_score, abs=1e-4)


def test_a_path_also_compares_passages_which_others_do_on_request_only(kb: KnowledgeBase) -> None:
    (match,) = kb.memory_similar(
        "Error code 5032 says that the rollback failed", path="memory/notes", threshold=0.6
    )
    assert match.match_type == "chunk"
    assert match.text == "Error code 5032 means that it failed."
    assert (match.source_path, match.line) == ("memory/notes/rollbacks.md", 6)
    assert match.fact_id is None

    text = "Soup on Monday, bread on Tuesday."
    assert kb.memory_similar(text) == []
    (match,) = kb.memory_similar(text, chunks=True)
    assert (match.match_type, match.score) == ("chunk", 1.0)

    found = kb.memory_similar("Prefers async Slack over email", path="memory/people/alice-chen.md")
    assert [match.match_type for match in found] == ["fact"]

    (found,) = kb.similarity.check(["anything at all"], path="memory/nowhere")
    assert found.nearest == ()
    assert found.notes == ("no document matches the path memory/nowhere",)


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_has_similar_does_not_depend_on_the_limit(tmp_path: Path, limit: int) -> None:
    intro = "In general she ships 5 new releases per year.\n\n"
    facts = [f"She ships {number} releases a year" for number in (3, 4, 7)]
    with dana(tmp_path, *facts, intro=intro) as kb:
        (found,) = kb.similarity.check(["She ships 5 releases a year"], limit=limit, chunks=True)
    assert found.has_similar


def test_passages_without_vectors_are_counted_in_a_note(tmp_path: Path) -> None:
    with KnowledgeBase(index_vault(tmp_path, fast=True)) as kb:
        (found,) = kb.similarity.check(["Soup on Monday"], path="memory/notes")
    assert found.matches == ()
    assert found.notes == ("meaning 0 %: 8 texts have no vector yet; `kbx index` adds them",)


def test_a_new_fact_is_found_after_fast_indexing(tmp_path: Path) -> None:
    folder = write_vault(tmp_path)
    page = folder / "memory/people/bob-okafor.md"
    with KnowledgeBase(folder) as kb:
        assert not kb.has_similar("Speaks fluent Norwegian", entity="Bob")
        page.write_text(page.read_text() + "- Speaks fluent Norwegian\n")
        kb.index(fast=True)
        assert kb.has_similar("Speaks fluent Norwegian", entity="Bob")
        assert kb.has_similar("speaks Norwegian fluently", entity="Bob")  # embedded by the check


@pytest.mark.parametrize("name", ["Alice Chen", "alice chen", "Ace", "person:alice-chen", "Ali Ch"])
def test_an_entity_is_found_by_name_alias_id_or_prefix(kb: KnowledgeBase, name: str) -> None:
    assert kb.entities.named(name).id == "person:alice-chen"


def test_invalid_input_raises_one_clear_sentence(kb: KnowledgeBase) -> None:
    with pytest.raises(NotFound, match="no entity is called 'Zoe'"):
        kb.memory_similar("x", entity="Zoe")
    with pytest.raises(ConfigError, match="name of the entity is empty"):
        kb.memory_similar("x", entity=" ")
    for threshold in (-0.1, 1.1, float("nan")):
        with pytest.raises(OutOfRange, match=r"within 0\.\.1"):
            kb.memory_similar("x", threshold=threshold)
    with pytest.raises(OutOfRange, match="limit must be 1 or more"):
        kb.memory_similar("x", limit=0)

    with pytest.raises(Ambiguous, match="Alice Chen") as caught:
        kb.memory_similar("x y", entity="Alice")
    assert set(caught.value.candidates) == {"person:alice-chen", "person:alice-wong"}
    with pytest.raises(NotFound, match="did you mean Alice Chen"):
        kb.memory_similar("x", entity="Alise Chen")

    with pytest.raises(ConfigError, match="empty"):
        kb.entity_similar_field("Bob", "role", " ")
    with pytest.raises(ConfigError, match="the field name is empty"):
        kb.entity_similar_field("Bob", " ", "x")


@pytest.mark.parametrize(
    ("field", "value", "current", "is_similar"),
    [
        ("role", "Engineering Director", "Director of Engineering", True),
        ("team", "Platform & Infrastructure", "Platform", False),
        ("team", "platform", "Platform", True),
        ("aliases", "ace", "Ace", True),
        ("facts", "favours asynchronous communication via Slack", None, True),
        ("open_items", "check migration schedule status", None, True),
        ("Open Items", "buy bread", None, False),
    ],
)
def test_a_field_is_compared_with_its_stored_value(
    kb: KnowledgeBase, field: str, value: str, current: str | None, is_similar: bool
) -> None:
    found = kb.entity_similar_field("Alice Chen", field, value)
    assert found.is_similar is is_similar
    assert current is None or found.current_value == current
    assert found.proposed_value == value


def test_any_frontmatter_key_can_be_compared(kb: KnowledgeBase) -> None:
    assert kb.entity_similar_field("Alice Wong", "location", "oslo").is_similar
    assert kb.entity_similar_field("Alice Wong", "Location", "Lisbon").similarity < 0.85
    assert kb.entity_similar_field("Alice Wong", "tags", "Migration").current_value == "Migration"


def test_a_scan_finds_duplicates_within_its_scope(tmp_path: Path) -> None:
    twice = FILES["memory/people/bob-okafor.md"] + "- leads the Migration project.\n"
    folder = write_vault(tmp_path, FILES | {"memory/people/bob-okafor.md": twice})
    with KnowledgeBase(folder) as kb:
        (cluster,) = kb.drafts.scan_duplicates().clusters
        assert {fact.entity_name for fact in cluster.facts} == {"Alice Chen", "Bob Okafor"}
        assert cluster.relation == "exact"
        assert kb.drafts.scan_duplicates(entity="Bob").clusters == ()
        assert kb.drafts.scan_duplicates(path="memory/people/bob-okafor.md").facts == 2


def test_duplicates_that_are_kept_are_left_out_of_later_scans(
    tmp_path: Path, kbx: CommandLine
) -> None:
    twice = FILES["memory/people/bob-okafor.md"] + "- leads the Migration project.\n"
    folder = write_vault(tmp_path, FILES | {"memory/people/bob-okafor.md": twice})
    with KnowledgeBase(folder) as kb:
        (check,) = kb.drafts.scan()
        kb.drafts.keep(check)
        kb.drafts.keep(check)  # again: nothing changes
    with KnowledgeBase(folder) as kb:
        assert (kb.drafts.scan_duplicates().clusters, kb.drafts.count_kept()) == ((), 1)
        (kept,) = kb.drafts.scan(kept=True)
        assert kept.draft.choice is not None and kept.draft.choice.action == "skip"
    ran = kbx("dedup", "--scan", "--kb", folder)
    assert "0 clusters" in ran.out and "1 pair that you decided to keep" in ran.err
    assert kbx("dedup", "--scan", "--kept", "--json", "--kb", folder).json["kept"] == 1
    with KnowledgeBase(folder) as kb:
        page = folder / "memory/people/bob-okafor.md"
        page.write_text(twice.replace("project.", "project!"), encoding="utf-8")
        kb.index()  # an edited line is another fact
        assert len(kb.drafts.scan_duplicates().clusters) == 1
        page.write_text(twice, encoding="utf-8")
        kb.index()
        kb.drafts.keep(kept, kept=False)
        assert len(kb.drafts.scan_duplicates().clusters) == 1


def test_long_texts_are_cut_or_refused_with_a_sentence(kb: KnowledgeBase) -> None:
    long_text, note = "prefers tea " * 90_000, "1,080,000 characters; only the first"
    (found,) = kb.similarity.check([long_text])
    assert any(note in text for text in found.notes)
    assert any(note in text for text in kb.search(long_text).meta.notes)
    assert any(note in text for text in kb.experts(long_text).notes)
    assert not kb.has_similar(long_text)
    with pytest.raises(ConfigError, match="at most 10,000"):
        kb.memory_add(long_text, entity="Alice Chen")


@pytest.fixture(scope="module")
def unindexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """A base without an index, which scoring a pair does not need."""
    with KnowledgeBase(tmp_path_factory.mktemp("empty")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("left", "right", "least"),
    [
        ("prefers async Slack over email", "favours asynchronous communication via Slack", 0.90),
        ("Engineering Director", "Director of Engineering", 0.85),
        ("check migration schedule status", "follow up on migration timeline", 0.80),
    ],
)
def test_paraphrases_reach_their_threshold(
    unindexed: KnowledgeBase, left: str, right: str, least: float
) -> None:
    (found,) = unindexed.similarity.pairs([(left, right)])
    assert found.score >= least
    assert found.relation != "conflict"


def test_scoring_a_pair_creates_no_index(unindexed: KnowledgeBase) -> None:
    assert not (Path(unindexed.root) / ".kbx").exists()


def test_what_is_similar_is_found_whatever_the_limit(tmp_path: Path) -> None:
    facts = ("Prefers calls over email", "Likes email better than calls")
    with dana(tmp_path, *facts) as kb:
        for limit in (1, 2):
            (found,) = kb.similarity.check(["Prefers email over calls"], limit=limit)
            assert found.has_similar
            assert facts[1] in [match.text for match in found.matches]
        assert kb.has_similar("Prefers email over calls")


def test_the_model_is_asked_about_the_four_nearest_in_two_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, probabilities = [], PairModel.probabilities

    def counted(model: PairModel, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        runs.append(len(pairs))
        return probabilities(model, pairs)

    monkeypatch.setattr(PairModel, "probabilities", counted)
    with dana(tmp_path, *(f"Ships {number} releases a year" for number in range(20, 50))) as kb:
        for limit in (1, 5, 20):
            (found,) = kb.similarity.check(["Ships 12 releases a year"], limit=limit)
            assert len(found.matches) == limit
    assert runs == [2, 2] * 3


FREQUENCIES = [
    ("Takes the pills daily", "Takes the pills weekly"),
    ("Physio once a week", "Physio twice a week"),
    ("Injection every other day", "Injection daily"),
    ("Watered daily", "Watered weekly"),
    ("The board meets weekly", "The board meets bi-weekly"),
    ("Insulin once daily", "Insulin twice daily"),
]


@pytest.mark.parametrize("judge", ["model", "rules"])
def test_another_frequency_is_a_conflict(tmp_path: Path, judge: str) -> None:
    (tmp_path / "kbx.toml").write_text(f'[dedup]\njudge = "{judge}"\n')
    pairs = [*FREQUENCIES, *((draft, known) for known, draft in FREQUENCIES)]
    with KnowledgeBase(tmp_path) as kb:
        judged = {(pair.left, pair.right): pair.relation for pair in kb.similarity.judge(pairs)}
    assert judged == dict.fromkeys(pairs, "conflict")
