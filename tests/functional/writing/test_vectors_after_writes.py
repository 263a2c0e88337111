"""What is written is found by meaning at once, or its missing vectors are counted and said."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbx_tui import EmbeddingError, KnowledgeBase
from kbx_tui.embedding.local import LocalEmbedder
from tests.command_line import CommandLine
from tests.functional.vaults import write_vault
from tests.trusting import configure_trusted

FACT = "Keeps the porcelain ledger in the attic"
QUERY = "porcelain ledger attic"
PAGE = "memory/people/alice-chen.md"


@pytest.fixture(autouse=True)
def no_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let writes embed all they wrote, however busy the machine is."""
    monkeypatch.setattr("kbx_tui.api.file_writer.EMBEDDING_SECONDS", 600.0)


def cosine_of_page(kb: KnowledgeBase) -> float | None:
    response = kb.search(QUERY, path=PAGE, explain=True)
    (result,) = response.results
    assert result.explain is not None
    cosine: float | None = result.explain["cosine"]
    return cosine


def assert_all_agree_on_the_share(kb: KnowledgeBase) -> float:
    """Return the share, which status and search must give alike, with a note unless it is 1."""
    status, meta = kb.status(), kb.search(QUERY).meta
    assert meta.vector_share == pytest.approx(status.vector_share, abs=1e-4)
    said = [note for note in meta.notes if "no vector yet" in note]
    assert len(said) == (status.without_vector > 0) == (status.vector_share < 1.0)
    assert all(f" {status.without_vector:,} text" in note for note in said)
    return float(status.vector_share)


@pytest.fixture
def broken_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the model embed queries and no texts to be indexed."""

    def fail(*_: Any, **options: Any) -> Any:
        raise EmbeddingError("the model is out of order")

    monkeypatch.setattr("kbx_tui.index.build.build_index.write_vectors", fail)


def test_a_written_page_is_found_by_meaning_at_once(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.memory_add(FACT, entity="Alice Chen")
        assert cosine_of_page(kb) is not None
        assert assert_all_agree_on_the_share(kb) == 1.0
    with KnowledgeBase(demo_copy) as other_process:
        assert cosine_of_page(other_process) is not None


def test_every_kind_of_write_leaves_nothing_without_a_vector(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.pages.create("Blue Lagoon", "project", {"lead": "Alice Chen"})
        assert assert_all_agree_on_the_share(kb) == 1.0
        kb.pages.edit("Alice Chen", {"role": "Keeper of the kiln"})
        assert assert_all_agree_on_the_share(kb) == 1.0
        written = kb.memory_add(FACT, entity="Alice Chen")
        assert written.fact_id is not None
        kb.pages.supersede_fact(written.fact_id, text="Sold the porcelain ledger")
        assert assert_all_agree_on_the_share(kb) == 1.0
        for _ in range(4):
            kb.undo()
            assert assert_all_agree_on_the_share(kb) == 1.0


@pytest.mark.usefixtures("broken_model")
def test_a_model_that_fails_fails_no_write(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        assert kb.memory_add(FACT, entity="Alice Chen").written
        assert FACT in (demo_copy / PAGE).read_text(encoding="utf-8")
        assert assert_all_agree_on_the_share(kb) < 1.0


def test_a_slow_model_delays_a_write_by_one_step_at_most(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbx_tui.api.file_writer.EMBEDDING_SECONDS", 0.0)
    with KnowledgeBase(demo_copy) as kb:
        kb.pages.create("Blue Lagoon", "project")
        assert 0.0 < assert_all_agree_on_the_share(kb) < 1.0
        assert kb.index().finished
        assert assert_all_agree_on_the_share(kb) == 1.0


def test_a_remote_model_is_not_asked_by_a_write(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch, kbx: CommandLine
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    configure_trusted(demo_copy, '[embedding]\nmodel = "gemini"\n')
    shutil.rmtree(demo_copy / ".kbx" / "index")
    with KnowledgeBase(demo_copy) as kb:
        kb.index(fast=True)
        assert kb.pages.create("Blue Lagoon", "project").written
        assert kb.search("lagoon", fast=True).results
        assert kb.status().vector_share == 0.0


def test_a_model_that_does_not_open_fails_no_write(
    demo_copy: Path, kbx: CommandLine, tmp_path: Path
) -> None:
    configure_trusted(demo_copy, f'[embedding]\nmodel = "{tmp_path}/no-model"\n')
    ran = kbx("undo", "--kb", demo_copy)
    assert ran.code == 7  # there is nothing to undo
    with KnowledgeBase(demo_copy) as kb:
        assert kb.pages.create("Blue Lagoon", "project").written


def test_texts_without_vectors_are_made_up_later_a_few_at_a_time(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    embed = LocalEmbedder.embed

    def counting(self: LocalEmbedder, texts: Any) -> Any:
        sizes.append(len(texts))
        return embed(self, texts)

    with KnowledgeBase(demo_copy) as kb:
        (demo_copy / "memory/notes/china.md").write_text(
            "# China\n\n" + "\n\n".join(f"## Cup {n}\n\nThe cup {n}." for n in range(40)), "utf-8"
        )
        kb.index(fast=True)
        missing = kb.status().without_vector
        monkeypatch.setattr(LocalEmbedder, "embed", counting)
        assert kb.add_vectors(cancelled=lambda: bool(sizes)) == sizes[0] <= 4
        assert kb.add_vectors() >= missing - 4
        assert max(sizes) <= 4
        assert kb.add_vectors() == 0
        assert assert_all_agree_on_the_share(kb) == 1.0


def test_vectors_added_later_equal_those_of_a_full_run(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.pages.create("Blue Lagoon", "project", {"lead": "Alice Chen"})
        added = kb.retrieve(QUERY).as_typed.cosine
        kb.index(full=True)
        np.testing.assert_allclose(kb.retrieve(QUERY).as_typed.cosine, added, atol=1e-6)


@pytest.mark.parametrize(
    ("pages", "share"),
    [
        ({"plain.md": "Only words.\n"}, 0.0),
        ({"blank.md": "\n  \n", "plain.md": "Only words.\n"}, 0.0),
        ({"blank.md": "\n  \n"}, 1.0),
    ],
    ids=["plain-note", "blank-and-plain", "blank"],
)
def test_a_fast_index_of_plain_notes_has_no_meaning_yet(
    tmp_path: Path, pages: dict[str, str], share: float
) -> None:
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
        assert assert_all_agree_on_the_share(kb) == share
        kb.index()
        assert assert_all_agree_on_the_share(kb) == 1.0


@pytest.mark.parametrize("others", [{}, {"memory/notes/lunch.md": "# Lunch\n\nSoup.\n"}], ids=len)
def test_a_write_after_a_fast_run_leaves_an_index_that_check_calls_sound(
    tmp_path: Path, others: dict[str, str]
) -> None:
    with KnowledgeBase(write_vault(tmp_path, {PAGE: "# Alice Chen\n", **others})) as kb:
        kb.index(fast=True)
        kb.memory_add(FACT, entity="Alice Chen")
        assert kb.check().faults == ()
        kb.index()
        file = tmp_path / ".kbx/index/vectors.bin"
        file.unlink()
        (fault,) = kb.check().faults
        assert fault.what == "is missing; searches take longer"
