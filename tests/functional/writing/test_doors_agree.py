"""Every way to write a fact decides alike: what is known is refused, with the same matches."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kbx_tui import KnowledgeBase
from kbx_tui.drafting.deciding import decide, known_matches
from kbx_tui.drafting.drafts import DraftCheck, new_draft
from kbx_tui.knowledge.records import FactKind
from kbx_tui.similarity.pair_score import SimilarityMatch
from kbx_tui.tools.engine_worker import EngineWorker
from tests.command_line import CommandLine

NAME = "Dana Lund"
STATEMENTS = (
    "prefers async Slack over email",
    "favours asynchronous communication via Slack",
    "prefers written async updates",
    "prefers written async updates to synchronous meetings",
    "follow up on migration timeline",
    "check migration schedule status",
    "ships 5 releases a year",
    "ships 3 releases a year",
    "Director of Engineering",
    "Engineering Director",
    "does not review invoices",
    "reviews the invoices of the Oslo office every second Thursday before the ferry leaves at noon "
    "and signs them",
    "plays the cello",
)
SUBJECTS = ("", f"{NAME} ", "Dana ", "the ", f"{NAME}: ")

statements = st.builds(str.__add__, st.sampled_from(SUBJECTS), st.sampled_from(STATEMENTS))
stored = st.lists(st.tuples(statements, st.sampled_from(("-", "- [ ]", "- [x]"))), max_size=8)
fields = st.dictionaries(st.sampled_from(("role", "habit")), st.sampled_from(STATEMENTS))
drafts = st.lists(
    st.tuples(statements, st.sampled_from(("fact", "open_item"))), min_size=1, max_size=6
)

FILLER = "keeps two hens in the garden"


def write_page(
    root: Path, known: Sequence[tuple[str, str]], values: dict[str, str], settings: str = ""
) -> None:
    page = root / "memory/people/dana-lund.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{key}: {value}" for key, value in values.items()]
    facts = [f"{bullet} {text}" for text, bullet in known if bullet == "-"]
    items = [f"{bullet} {text}" for text, bullet in known if bullet != "-"]
    page.write_text(
        "\n".join(
            [
                *("---", "type: person", *lines, "---", f"# {NAME}", ""),
                *("## Recent Facts", f"- {FILLER}", *facts, "", "## Open Items", *items, ""),
            ]
        ),
        encoding="utf-8",
    )
    other = page.with_name("eli-moe.md")
    other.write_text("# Eli Moe\n\n## Facts\n" + "".join(f"- {text}\n" for text in STATEMENTS))
    (root / "kbx.toml").write_text(settings)


Found = set[tuple[str, str, int, float]]


def identities(matches: Sequence[SimilarityMatch]) -> Found:
    return {(m.text, m.match_type, m.line, round(m.score, 3)) for m in matches}


@settings(
    max_examples=4,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(known=stored, values=fields, texts=drafts, threshold=st.sampled_from(("", "0.85", "0.95")))
def test_all_doors_agree_on_what_is_known(
    tmp_path_factory: pytest.TempPathFactory,
    known: list[tuple[str, str]],
    values: dict[str, str],
    texts: list[tuple[str, FactKind]],
    threshold: str,
) -> None:
    root = tmp_path_factory.mktemp("doors")
    toml = f"[dedup]\ndefault_threshold = {threshold}\n" if threshold else ""
    write_page(root, known, values, toml)
    with KnowledgeBase(root) as kb:
        kb.index()
        (filler,) = (fact for fact in kb.entities.facts(entity=NAME) if fact.text == FILLER)
        batch = [new_draft(text, kind=kind, entity_name=NAME) for text, kind in texts]
        checks = kb.drafts.check(batch)
        for (text, kind), draft, check in zip(texts, batch, checks, strict=True):
            (check,) = kb.drafts.check([draft])  # beside other drafts, fewer facts are judged
            alone = decide(check)
            added = kb.memory_add(text, entity=NAME, kind=kind, dry_run=True)
            refused = identities(added.matches)
            assert (alone.state == "new") is not bool(refused)
            assert own_matches(check) == refused
            (similar,) = kb.similarity.check([text], entity=NAME, limit=50)
            assert similar.has_similar is kb.has_similar(text, entity=NAME)
            reworded = kb.pages.reword_fact(filler.fact_id, text, dry_run=True)
            assert identities(reworded.matches) == refused
        written = [kb.memory_add(text, entity=NAME, kind=kind).written for text, kind in texts[:1]]
        assert written == [decide(checks[0]).state == "new"]


def own_matches(check: DraftCheck) -> Found:
    return identities([match.known for match in known_matches(check)])


def test_fact_like_an_open_item_is_refused_by_every_door(kbx: CommandLine, tmp_path: Path) -> None:
    write_page(tmp_path, [("check the migration schedule status", "- [ ]")], {})
    text, page = "check the migration schedule status now", tmp_path / "memory/people/dana-lund.md"
    before = page.read_bytes()
    added = kbx("memory", "add", text, "--entity", NAME, "--json", "--kb", tmp_path)
    assert (added.code, added.json["written"]) == (3, False)
    assert added.json["matches"][0]["match_type"] == "open_item"
    drafts = tmp_path / "drafts.txt"
    drafts.write_text(f"# {NAME}\n- {NAME} {text}\n")
    reviewed = kbx("dedup", drafts, "--apply", "--json", "--kb", tmp_path).json
    (draft,) = reviewed["drafts"]
    assert (draft["state"], draft["proposal"]["is_sure"]) == ("near", False)
    assert draft["reason"].endswith("'check the migration schedule status' (an open item)")
    (filler,) = kbx("memory", "list", "--entity", NAME, "--json", "--kb", tmp_path).json[:1]
    edited = kbx("memory", "edit-fact", filler["fact_id"], text, "--json", "--kb", tmp_path)
    assert (edited.code, edited.json["written"]) in {(3, False), (0, False)}
    worker = EngineWorker(lambda: KnowledgeBase(tmp_path), allow_writes=True)
    try:
        answer = worker.answer("kbx.memory_add", {"text": text, "entity": NAME})
    finally:
        worker.close()
    assert json.loads(json.dumps(answer.json))["written"] is False
    assert page.read_bytes() == before
    forced = kbx("memory", "add", text, "--entity", NAME, "--force", "--kb", tmp_path)
    assert forced.code == 0


def test_repeated_drafts_are_quoted_as_written(kbx: CommandLine, tmp_path: Path) -> None:
    write_page(tmp_path, [], {})
    drafts = tmp_path / "drafts.txt"
    drafts.write_text(f"{NAME} collects harbour lanterns\n{NAME}: collects harbour lanterns.\n")
    reviewed = kbx("dedup", drafts, "--json", "--kb", tmp_path).json["drafts"]
    assert [draft["state"] for draft in reviewed] == ["new", "repeated"]
    assert f"'{NAME} collects harbour lanterns'" in reviewed[1]["reason"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Prefers caterer Green Fork over Oliva", "Prefers caterer Oliva over Green Fork"),
        ("Favourite colour is blue", "Favourite colour is green"),
        ("Erin covers for her", "She covers for Erin"),
        ("Moved from Kafka to Redis", "Moved from Redis to Kafka"),
    ],
)
def test_a_draft_that_only_resembles_an_earlier_one_is_not_dropped_unseen(
    kbx: CommandLine, tmp_path: Path, first: str, second: str
) -> None:
    write_page(tmp_path, [], {})
    drafts = tmp_path / "drafts.txt"
    drafts.write_text(f"# {NAME}\n{first}\n{second}\n{first.upper()}.\n")
    applied = kbx("dedup", drafts, "--apply", "--json", "--kb", tmp_path).json["applied"]
    assert applied["skipped"] == 1  # the one in capitals
    drafts.write_text(f"# {NAME}\n{first}\n{second}\n")
    reviewed = kbx("dedup", drafts, "--json", "--kb", tmp_path).json["drafts"]
    assert "repeated" not in [draft["state"] for draft in reviewed]
    owner = ("--entity", NAME, "--json", "--kb", tmp_path)
    assert kbx("memory", "add", first, *owner).code == 0
    drafts.write_text(f"# {NAME}\n{second}\n")
    (draft,) = kbx("dedup", drafts, "--json", "--kb", tmp_path).json["drafts"]
    added, similar = kbx("memory", "add", second, *owner), kbx("memory", "similar", second, *owner)
    assert draft["state"] == "conflict"
    assert [each.json["matches"][0]["relation"] for each in (added, similar)] == ["conflict"] * 2
