import os
from pathlib import Path

import pytest

from kbx_tui.base_trust import requests_of
from kbx_tui.config import EmbeddingSettings, IndexSettings, Settings, WriteSettings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "base"
    (root / "own").mkdir(parents=True)
    (root / "way-out").symlink_to(tmp_path)
    return root


def wishes(root: Path, settings: Settings) -> list[str]:
    return [request.wish for request in requests_of(root, settings)]


def test_default_settings_ask_for_nothing_and_commits_close_no_base(root: Path) -> None:
    assert requests_of(root, Settings()) == ()
    (request,) = requests_of(root, Settings(writes=WriteSettings(auto_commit=True)))
    assert request.wish == "[writes] auto_commit = true"
    assert not request.blocks


@pytest.mark.parametrize("uri", ["own/index", "./own", ".kbx/elsewhere", "way-out/base/own"])
def test_an_index_inside_the_base_needs_no_trust(root: Path, uri: str) -> None:
    assert requests_of(root, Settings(index=IndexSettings(uri=uri))) == ()


@pytest.mark.parametrize(
    "uri",
    [
        "/srv/index",
        "../index",
        "own/../../index",
        "~/index",
        "way-out/index",
        "s3://notes",
        "file:///srv",
    ],
)
def test_an_index_outside_the_base_needs_trust(root: Path, uri: str) -> None:
    assert wishes(root, Settings(index=IndexSettings(uri=uri))) == [f'[index] uri = "{uri}"']


@pytest.mark.parametrize(
    "link", [".kbx", ".kbx/index", ".kbx/usage.jsonl", ".kbx/edit.lock", ".kbx/index/BUILD"]
)
def test_a_link_out_of_the_base_where_it_is_written_needs_trust(
    root: Path, tmp_path: Path, link: str
) -> None:
    target = tmp_path / "target"
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(target)
    (request,) = requests_of(root, Settings())
    assert request.value == str(target)
    assert request.wish == f"a link from {link} to {target}"
    assert request.blocks


@pytest.mark.parametrize(("link", "asks"), [("usage.jsonl", False), ("writer.lock", True)])
def test_a_link_to_a_device_needs_trust_only_where_it_would_be_opened(
    root: Path, link: str, asks: bool
) -> None:
    (root / ".kbx").mkdir()
    (root / ".kbx" / link).symlink_to(os.devnull)
    assert bool(requests_of(root, Settings())) is asks


def test_links_within_the_base_and_circles_need_no_trust(root: Path) -> None:
    (root / ".kbx").mkdir()
    (root / ".kbx" / "index").symlink_to(root / "own")
    (root / ".kbx" / "journal").symlink_to(root / ".kbx" / "journal")
    assert requests_of(root, Settings()) == ()
    (root / "circle").symlink_to(root / "circle")
    assert requests_of(root, Settings(index=IndexSettings(uri="circle"))) == ()


@pytest.mark.parametrize(
    ("model", "effect"),
    [
        ("./own", "runs the model in ./own"),
        ("/srv/model", "runs the model in /srv/model"),
        ("own", "runs the model own, downloaded"),
        ("BAAI/bge-small-en-v1.5", "runs the model BAAI/bge-small-en-v1.5, downloaded"),
    ],
)
def test_every_model_but_the_bundled_one_needs_trust(root: Path, model: str, effect: str) -> None:
    (request,) = requests_of(root, Settings(embedding=EmbeddingSettings(model=model)))
    assert (request.key, request.value, request.blocks) == ("embedding.model", model, True)
    assert effect in request.effect


@pytest.mark.parametrize(
    ("model", "address", "effect"),
    [
        ("gemini", "", "to https://generativelanguage.googleapis.com/v1"),
        ("openai/x", "", "to https://api.openai.com/v1"),
        ("ollama/x", "", "to http://localhost:11434/v1, a program on this machine"),
        ("openai/x", "http://10.0.0.7:8000/v1/", "to http://10.0.0.7:8000/v1, unencrypted"),
        ("openai/x", "http://localhost.example:1/v1", ":1/v1, unencrypted"),
        ("openai/x", "http://[::1]:1234/v1", "a program on this machine"),
        ("openai/x", "http://127.0.0.2:1/v1", "a program on this machine"),
        ("openai/x", "http://127.evil.com/v1", "evil.com/v1, unencrypted"),
        ("openai/x", "http://127.0.0.1.evil.com/v1", "evil.com/v1, unencrypted"),
        ("openai/x", "http://127.0.0.1@evil.com/v1", "evil.com/v1, unencrypted"),
        ("openai/x", "http://127.1/v1", "to http://127.1/v1, unencrypted"),
        ("openai/x", "http://2130706433/v1", "to http://2130706433/v1, unencrypted"),
        ("openai/x", "http://localhost./v1", "to http://localhost./v1, unencrypted"),
    ],
)
def test_a_server_needs_trust_for_its_address(
    root: Path, model: str, address: str, effect: str
) -> None:
    embedding = EmbeddingSettings(model=model, address=address)
    (request,) = requests_of(root, Settings(embedding=embedding))
    assert request.blocks
    assert request.effect.endswith(effect)
    sent_to = effect.partition(",")[0].removeprefix("to ")
    assert request.value.startswith(f"{model} at http")
    assert sent_to in request.value or not sent_to.startswith("http")


def test_a_model_cannot_pass_for_one_at_another_address(root: Path) -> None:
    granted = EmbeddingSettings(model="openai/x", address="http://localhost:1/v1")
    (wanted,) = requests_of(root, Settings(embedding=granted))
    (other,) = requests_of(root, Settings(embedding=EmbeddingSettings(model=wanted.value)))
    assert other.value != wanted.value
