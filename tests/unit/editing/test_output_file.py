"""A file that the user named replaces another only on demand, and is never one of a base."""

from pathlib import Path

import pytest

from kbx_tui.editing.file_edits import write_output
from kbx_tui.errors import WriteFault


def test_a_file_is_replaced_only_if_asked(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    write_output(target, b"one", overwrite=False)
    with pytest.raises(WriteFault, match="exists and was left as it is; --force replaces it"):
        write_output(target, b"two", overwrite=False)
    assert target.read_text() == "one"
    write_output(target, b"two", overwrite=True)
    assert target.read_text() == "two"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_cannot_be_written_is_one_sentence(tmp_path: Path, overwrite: bool) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for target, reason in (
        (tmp_path / "none" / "page.html", "there is no folder"),
        (tmp_path, "is not a file"),
        (tmp_path / ("x" * 300), "name too long"),
        (tmp_path / "loop" / "page.html", "too many levels"),
    ):
        with pytest.raises(WriteFault, match=f"(?i){reason}"):
            write_output(target, b"page", overwrite=overwrite)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    "name",
    ["page.md", "PAGE.MD", "kbx.toml", "Kbx.Toml", ".kbx/judgments.jsonl", "state/judgments.jsonl"],
)
def test_a_file_of_a_base_is_never_written(tmp_path: Path, name: str, overwrite: bool) -> None:
    (tmp_path / ".kbx").mkdir()
    (tmp_path / "state").symlink_to(".kbx")
    target = tmp_path / name
    for before in (None, b"mine"):
        if before is not None:
            target.write_bytes(before)
        with pytest.raises(WriteFault, match=r"(of|to) a knowledge base"):
            write_output(target, b"theirs", overwrite=overwrite)
        assert (target.read_bytes() if target.exists() else None) == before


def test_a_link_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    page, link = tmp_path / "page.md", tmp_path / "results.html"
    page.write_bytes(b"mine")
    link.symlink_to(page)
    write_output(link, b"results", overwrite=True)
    assert (page.read_bytes(), link.read_bytes()) == (b"mine", b"results")
    assert not link.is_symlink()
