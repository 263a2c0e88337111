from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui.base_trust import (
    TrustRequest,
    decline,
    grant,
    is_declined,
    revoke,
    trust_file,
    trust_made_here,
    trusted_bases,
    ungranted,
)
from kbx_tui.demo import FOLDER_VARIABLE, install_demo
from kbx_tui.errors import KbxError

INDEX = TrustRequest("index.uri", "s3://notes", "[index] uri", "keeps the index", blocks=True)
MODEL = TrustRequest("embedding.model", "gemini", "[embedding] model", "sends", blocks=True)
BOTH = (INDEX, MODEL)


def test_nothing_is_granted_at_first_and_nothing_is_written(tmp_path: Path) -> None:
    assert ungranted(tmp_path, BOTH) == BOTH
    assert not trust_file().exists()


def test_a_grant_is_for_one_base_and_these_values(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    grant(tmp_path, [INDEX])
    assert ungranted(tmp_path, BOTH) == (MODEL,)
    assert ungranted(tmp_path / "inside", BOTH) == BOTH
    moved = replace(INDEX, value="s3://notes-of-another")
    assert ungranted(tmp_path, [moved]) == (moved,)


def test_a_base_is_known_by_its_resolved_path(tmp_path: Path) -> None:
    root, link = tmp_path / "root", tmp_path / "link"
    root.mkdir()
    link.symlink_to(root)
    grant(link, BOTH)
    assert ungranted(root, BOTH) == ()
    link.unlink()
    link.mkdir()
    assert ungranted(link, BOTH) == BOTH


def test_a_base_made_here_may_do_everything_until_that_is_revoked(tmp_path: Path) -> None:
    trust_made_here(tmp_path)
    assert ungranted(tmp_path, BOTH) == ()
    assert revoke(tmp_path)
    assert ungranted(tmp_path, BOTH) == BOTH
    assert not revoke(tmp_path)


def test_the_demo_may_do_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "demo"))
    (tmp_path / "demo").mkdir()
    assert ungranted(tmp_path / "demo", BOTH) == BOTH  # not a copy of the demo
    assert ungranted(install_demo(), BOTH) == ()


def test_what_was_declined_is_remembered_until_it_is_granted(tmp_path: Path) -> None:
    decline(tmp_path, BOTH)
    assert is_declined(tmp_path, BOTH)
    assert not is_declined(tmp_path, [replace(INDEX, value="other")])
    assert ungranted(tmp_path, BOTH) == BOTH
    grant(tmp_path, [INDEX])
    assert not is_declined(tmp_path, BOTH)


def test_grants_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    roots = [tmp_path / str(number) for number in range(16)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda root: grant(root, BOTH), roots))
    assert all(ungranted(root, BOTH) == () for root in roots)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"bases": []}', b"[" * 100_000])
def test_a_damaged_file_trusts_nothing_and_is_not_overwritten(
    tmp_path: Path, content: bytes
) -> None:
    trust_file().parent.mkdir(parents=True, exist_ok=True)
    trust_file().write_bytes(content)
    for action in (lambda: ungranted(tmp_path, BOTH), lambda: grant(tmp_path, BOTH)):
        with pytest.raises(KbxError, match=r"trust\.json cannot be read") as raised:
            action()
        assert "\n" not in str(raised.value)
    assert trust_file().read_bytes() == content


def test_a_state_folder_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("KBX_STATE_DIR", str(tmp_path / "file"))
    with pytest.raises(KbxError, match="cannot be"):
        grant(tmp_path, BOTH)
    monkeypatch.setenv("KBX_STATE_DIR", str(tmp_path / "file" / "below"))
    with pytest.raises(KbxError, match="cannot be"):
        grant(tmp_path, BOTH)


def test_the_list_holds_what_was_granted(tmp_path: Path) -> None:
    grant(tmp_path, BOTH)
    (known,) = trusted_bases().items()
    assert known[0] == str(tmp_path.resolve())
    assert known[1].granted == {"index.uri": "s3://notes", "embedding.model": "gemini"}
