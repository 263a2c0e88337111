"""Archives are read within limits; one that no program exports is refused, and nothing is read."""

import io
import stat
import zipfile
from pathlib import Path

import pytest

from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.importing import import_formats
from kbx_tui.importing.import_formats import read_archive, read_documents, read_source
from kbx_tui.importing.imported_document import Imported, SourceFile


def archive(
    *entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as made:
        for name, content in entries:
            made.writestr(name, content)
    return data.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (archive(("../../etc/passwd.md", b"x")), "outside"),
        (archive(("/etc/passwd.md", b"x")), "outside"),
        (archive(("notes\\..\\..\\x.md", b"x")), "outside"),
        (archive(("C:/x.md", b"x")), "outside"),
        (archive((link("x.md"), b"/etc/passwd")), "is a link"),
        (archive(("bomb.md", b"0" * 20_000_000)), "expands to"),
        (b"PK\x03\x04 no archive", "not a readable zip"),
        (archive(("inner.zip", archive(("../x.md", b"x")))), "outside"),
    ],
    ids=["parent", "absolute", "backslash", "drive", "link", "bomb", "damaged", "nested"],
)
def test_a_hostile_archive_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        read_archive("export.zip", data, [])


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_an_archive_with_damaged_content_is_refused(method: int) -> None:
    data = bytearray(archive(("a.md", b"words of a page " * 40), method=method))
    data[34:40] = b"\xff" * 6  # the first packed bytes, behind 30 of the header and 4 of the name
    with pytest.raises(ConfigError, match="not a readable zip"):
        read_archive("export.zip", bytes(data), [])


def test_odd_names_and_days_of_an_archive_are_read() -> None:
    data = bytearray(archive(("./notes//a.md", b"x")))
    directory = data.index(b"PK\x01\x02")
    data[directory + 14 : directory + 16] = b"\0\0"
    (file,) = read_archive("export.zip", bytes(data), [])
    assert (file.path, file.modified) == ("notes/a.md", "")


def test_archives_in_an_archive_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = archive(("a.md", b"x" * 600))
    data = archive(("1.zip", inner), ("2.zip", inner), ("3.zip", inner))
    monkeypatch.setattr(import_formats, "TOTAL_LIMIT", 1_000)
    with pytest.raises(ConfigError, match="too large together"):
        read_archive("export.zip", data, [])


def test_too_many_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_formats, "COUNT_LIMIT", 2)
    with pytest.raises(ConfigError, match="more than 2 files"):
        read_archive("export.zip", archive(("a.md", b""), ("b.md", b""), ("c.md", b"")), [])
    inner = archive(("a.md", b""), ("b.md", b""))
    with pytest.raises(ConfigError, match="more than 2 files"):
        read_archive("export.zip", archive(("1.zip", inner), ("2.zip", inner)), [])


def test_files_of_an_archive_in_an_archive_are_read() -> None:
    inner = archive(("Export/Page.md", b"# Page\n"), ("Export/picture.png", b"..."))
    left_out: list[str] = []
    files = read_archive("export.zip", archive(("Part-1.zip", inner)), left_out)
    assert [file.path for file in files] == ["Export/Page.md"]
    assert left_out == ["Export/picture.png"]


def test_decomposed_names_are_composed(tmp_path: Path) -> None:
    (tmp_path / "Cafe\u0301.md").write_text("x")
    from_folder, _ = read_source(tmp_path)
    from_archive = read_archive("export.zip", archive(("Cafe\u0301.md", b"x")), [])
    assert [file.path for file in (*from_folder, *from_archive)] == ["Caf\u00e9.md"] * 2


def test_a_folder_is_read_without_links_and_hidden_files(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "x.md").write_text("x")
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "b.md").symlink_to(tmp_path / "a.md")
    files, problems = read_source(tmp_path)
    assert [file.path for file in files] == ["a.md"]
    assert problems == ()


def test_files_of_other_kinds_in_a_folder_are_counted(tmp_path: Path) -> None:
    for name in ("a.md", "b.png", "c.PNG", "d.doc", ".hidden.png"):
        (tmp_path / name).write_text("x")
    files, (problem,) = read_source(tmp_path)
    assert [file.path for file in files] == ["a.md"]
    assert (problem.path, problem.reason) == (tmp_path.name, "files left out: 1 .doc, 2 .png")


def test_a_file_of_a_folder_that_cannot_be_read_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "large.md").write_text("larger than the limit")
    monkeypatch.setattr(import_formats, "FILE_LIMIT", 10)
    files, (problem,) = read_source(tmp_path)
    assert [file.path for file in files] == ["a.md"]
    assert problem.path == "large.md"
    assert problem.reason.startswith("it cannot be read: ")


def test_printed_files_of_a_folder_are_read_only_where_its_format_takes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "logseq").mkdir()
    (tmp_path / "pages/hull.md").write_text("- hull\n")
    (tmp_path / "pages/call.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Ahoy\n")
    (tmp_path / "logseq/config.edn").write_text("{}")
    for name in ("a.pdf", "b.pdf", "c.docx"):
        (tmp_path / name).write_bytes(b"x" * 1_000)
    monkeypatch.setattr(import_formats, "TOTAL_LIMIT", 500)
    monkeypatch.setattr(import_formats, "read_printed", lambda file: pytest.fail("it is read"))
    files, problems = read_source(tmp_path)
    assert problems == ()
    graph = read_documents(files)
    assert len(graph.documents) == 1
    assert [each.reason for each in graph.problems] == ["files left out: 1 .docx, 2 .pdf, 1 .vtt"]
    captions = read_documents([file for file in files if file.suffix != ".md"], "vtt")
    reasons = [each.reason for each in captions.problems if each.path != "logseq/config.edn"]
    assert reasons == ["files left out: 1 .docx, 2 .pdf"]
    assert len(captions.documents) == 1


def test_a_printed_file_of_a_folder_is_read_in_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("a.pdf", 5), ("large.pdf", 50)):
        (tmp_path / name).write_bytes(b"x" * size)
    monkeypatch.setattr(import_formats, "FILE_LIMIT", 10)
    read = list[SourceFile]()

    def read_printed(file: SourceFile) -> Imported:
        read.append(file)
        return Imported()

    monkeypatch.setattr(import_formats, "read_printed", read_printed)
    found = read_documents(read_source(tmp_path)[0])
    assert [(file.path, file.data) for file in read] == [("a.pdf", b"xxxxx")]
    reasons = {each.path: each.reason for each in found.problems}
    assert reasons["large.pdf"].startswith("it cannot be read: ")


def test_a_source_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"nothing\.vtt does not exist"):
        read_source(tmp_path / "nothing.vtt")
