"""A base whose texts a server embeds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import EmbeddingError, EmbeddingUnavailable, KnowledgeBase
from kbx_tui.embedding import OTHER_KEY
from kbx_tui.tui.widgets.footer import StatusLine
from tests.command_line import CommandLine
from tests.embedding_server import EmbeddingServer, Reply, embedding_server, vectors_of
from tests.functional.tui.driving import NARROW, running
from tests.functional.vaults import write_vault

KEY = "a-key-3f9"
PAGES = {
    f"memory/notes/page-{number}.md": f"# Page {number}\n\nKiln number {number} is hot.\n"
    for number in range(50)
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setenv(OTHER_KEY, KEY)
    with embedding_server() as running:
        yield running


@pytest.fixture
def base(tmp_path: Path, server: EmbeddingServer) -> Path:
    """A base that may come from elsewhere."""
    base = write_vault(tmp_path / "base", PAGES)
    configure(base, server.address)
    return base


def configure(base: Path, address: str) -> None:
    text = f'[embedding]\nmodel = "openai/bge-m3"\naddress = "{address}"\n'
    (base / "kbx.toml").write_text(text, encoding="utf-8")


def test_nothing_is_sent_before_the_address_is_trusted(
    kbx: CommandLine, base: Path, server: EmbeddingServer
) -> None:
    for command in (("index",), ("search", "kiln"), ("status",), ("doctor",), ("config",)):
        kbx("--kb", base, *command)
    assert kbx("--kb", base, "index").code == 8
    assert server.requests == []
    shown = kbx("trust", base).out
    assert f"to {server.address}, a program on this machine" in shown
    assert kbx("--kb", base, "index").code == 0
    with embedding_server() as other:
        configure(base, other.address)
        assert kbx("--kb", base, "search", "kiln").code == 8
        assert other.requests == []


def test_texts_are_sent_once_and_queries_are_compared_with_them(
    kbx: CommandLine, base: Path, server: EmbeddingServer
) -> None:
    kbx("trust", base)
    assert kbx("--kb", base, "index").code == 0
    assert len(set(server.texts)) == len(server.texts)
    server.requests.clear()
    assert kbx("--kb", base, "index").code == 0
    assert server.texts in ([], ["dimension"])
    found = kbx("--kb", base, "search", "hot kiln", "--json").json
    assert found["results"]
    assert "hot kiln" in server.texts
    status = kbx("--kb", base, "status").out
    assert "openai/bge-m3" in status
    assert "embedded by the model of a server" in kbx("--kb", base, "doctor").out
    assert KEY not in status + kbx("--kb", base, "config").out


def test_a_run_goes_on_where_the_server_stopped_answering(
    kbx: CommandLine, base: Path, server: EmbeddingServer
) -> None:
    kbx("trust", base)

    def reply_twice(body: object) -> Reply:
        return vectors_of(4)(body) if len(server.requests) < 3 else Reply(404, {})

    server.reply = reply_twice
    ran = kbx("--kb", base, "index")
    assert ran.code == 6
    assert ran.err.splitlines()[-1].count(f"{server.address} has no model bge-m3") == 1
    assert kbx("--kb", base, "search", "kiln", "--fast", "--json").json["results"]
    server.reply = vectors_of(4)
    embedded, server.requests[:] = server.requests[:2], []
    assert kbx("--kb", base, "index").code == 0
    again = {text for text in server.texts if text != "dimension"}
    assert again.isdisjoint(text for body in embedded for text in body["input"])
    with KnowledgeBase(base) as kb:
        assert kb.status().vector_share == 1.0


def test_a_model_whose_vectors_have_another_length_is_said(
    kbx: CommandLine, base: Path, server: EmbeddingServer
) -> None:
    kbx("trust", base)
    assert kbx("--kb", base, "index").code == 0
    server.reply = vectors_of(5)
    (base / "memory/notes/page-3.md").write_text("# Three\n\nGlaze.\n", encoding="utf-8")
    for command in (("index",), ("search", "kiln")):
        ran = kbx("--kb", base, *command)
        assert ran.code != 0
        assert "vectors of 4 dimensions, the model makes 5: run `kbx index --full`" in ran.err
    assert kbx("--kb", base, "index", "--full").code == 0
    assert kbx("--kb", base, "search", "kiln").code == 0


def test_a_query_is_answered_as_soon_as_its_server_takes_the_texts(
    kbx: CommandLine, base: Path, server: EmbeddingServer
) -> None:
    kbx("trust", base)
    assert kbx("--kb", base, "index").code == 0
    server.reply = lambda body: Reply(401, {})
    with KnowledgeBase(base) as kb:
        for _ in range(2):
            before = len(server.requests)
            with pytest.raises(EmbeddingError, match="rejected KBX_EMBEDDING_KEY"):
                kb.search("hot kiln")
            assert len(server.requests) == before + 1
        server.reply = vectors_of(4)
        assert kb.search("hot kiln").results


async def test_the_app_finds_by_words_what_its_server_refuses_to_embed(
    kbx: CommandLine, base: Path, server: EmbeddingServer
) -> None:
    kbx("trust", base)
    assert kbx("--kb", base, "index").code == 0
    server.reply = lambda body: Reply(401, {})
    async with running(base, NARROW, asked="kiln 7") as driver:
        await driver.until_shown(StatusLine, "found by words alone", "rejected KBX_EMBEDDING_KEY")
        assert driver.titles[0] == "Page 7"


def test_without_its_server_a_base_is_searched_by_words(
    kbx: CommandLine, base: Path, server: EmbeddingServer
) -> None:
    kbx("trust", base)
    assert kbx("--kb", base, "index").code == 0
    server.server.shutdown()
    server.server.server_close()
    ran = kbx("--kb", base, "search", "kiln")
    assert (ran.code, ran.err.count("\n")) == (6, 1)
    assert f"no answer from {server.address} (Connection refused)" in ran.err
    assert "--fast searches by words alone" in ran.err
    assert kbx("--kb", base, "search", "kiln", "--fast").code == 0
    related = kbx("--kb", base, "related", "memory/notes/page-1.md")
    assert (related.code, related.err) == (0, "")  # compared by the vectors that are stored
    with KnowledgeBase(base) as kb:
        with pytest.raises(EmbeddingUnavailable):
            kb.search("kiln")
        assert kb.status().vector_share == 1.0
