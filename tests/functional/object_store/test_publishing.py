"""An index that one machine publishes, and others search."""

import os
import shutil
from pathlib import Path

import pytest

from kbx_tui.errors import IndexElsewhere, IndexFault, IndexForeign, NotFound, StoreFault
from kbx_tui.object_store.mirror import MirrorFolder
from kbx_tui.object_store.published_version import HEAD
from kbx_tui.object_store.store_uri import OFFLINE
from kbx_tui.tui.indexing.screen import FileList, RunPane
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.web.app_process import app_environment
from tests.command_line import CommandLine
from tests.damage import one_bad_byte
from tests.functional.object_store.machines import Machine, client_of, writer_machine
from tests.functional.object_store.s3_server import ACCESS_KEY, SECRET_KEY
from tests.functional.object_store.slow_network import slow_network
from tests.functional.tui.driving import WIDE, running
from tests.trusting import configure_trusted
from tests.waiting import wait_until

QUERY = "what has Grace been working on?"


@pytest.fixture
def writer(tmp_path: Path, store_uri: str, demo_kb_path: Path) -> Machine:
    return writer_machine(tmp_path / "writer", store_uri, demo_kb_path)


@pytest.fixture
def reader(tmp_path: Path, store_uri: str) -> Machine:
    return Machine(tmp_path / "reader", store_uri)


def write_quasar(machine: Machine, text: str = "# Quasar\n") -> None:
    (machine.root / "memory" / "notes" / "quasar.md").write_text(text, "utf-8")


def test_reader_without_files_finds_what_was_published(writer: Machine, reader: Machine) -> None:
    report = writer.publish()
    assert report.version == 1
    assert 20 < report.uploaded <= report.files
    assert reader.paths(QUERY) == writer.paths(QUERY) != []


def test_another_run_uploads_only_what_changed(writer: Machine, reader: Machine) -> None:
    first = writer.publish()
    unchanged = writer.publish()
    assert (unchanged.version, unchanged.uploaded) == (1, 0)
    reader.paths(QUERY)
    write_quasar(writer, "# Quasar\n\nThe quasar calibration is done.\n")
    second = writer.publish()
    assert second.version == 2
    assert 0 < second.uploaded < first.uploaded
    assert second.uploaded_bytes < first.uploaded_bytes / 2
    assert reader.paths("quasar calibration")[0] == "memory/notes/quasar.md"


def test_session_keeps_its_version_until_the_new_one_is_whole(
    writer: Machine, reader: Machine
) -> None:
    writer.publish()
    with reader.open() as kb:
        assert kb.search(QUERY).results
        write_quasar(writer)
        writer.publish()
        assert not kb.search("quasar").results
        reader.paths(QUERY)  # another process of the machine fetches it
        kb.refresh()
        assert [result.path for result in kb.search("quasar").results]


def test_open_session_looks_for_newer_versions_by_itself(
    writer: Machine, reader: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.publish()
    with reader.open() as kb:
        assert not kb.search("quasar").results
        write_quasar(writer)
        writer.publish()
        monkeypatch.setenv("KBX_CACHE_DIR", str(reader.cache))
        monkeypatch.setattr("kbx_tui.object_store.mirror.CHECK_SECONDS", 0.0)
        wait_until(kb.refresh)
        assert [result.path for result in kb.search("quasar").results]


def test_session_says_which_version_answered(
    writer: Machine, reader: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.publish()
    with reader.open() as kb:
        assert kb.search(QUERY).results
        for number in (2, 3):
            write_quasar(writer, f"# Quasar {number}\n")
            writer.publish()
            reader.paths(QUERY)  # another process of the machine fetches it
            assert ", version 1 of 20" in kb.status().published
        monkeypatch.setattr("kbx_tui.object_store.mirror.KEPT_SECONDS", -1.0)
        MirrorFolder(next(reader.cache.glob("stores/*"))).sweep()
        assert kb.check().faults == ()  # its version is gone by now
        assert ", version 3 of 20" in kb.status().published


def test_index_of_another_version_of_the_program_is_not_rebuilt_by_a_reader(
    writer: Machine, reader: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.publish()
    monkeypatch.setattr("kbx_tui.index.store.SCHEMA_VERSION", 99)
    with pytest.raises(IndexForeign, match="program needs 99: publish it again with this version"):
        reader.paths(QUERY)


def test_reader_does_not_index(writer: Machine, reader: Machine) -> None:
    writer.publish()
    with reader.open() as kb, pytest.raises(IndexElsewhere, match="published to s3://kbx-test"):
        kb.index()
    assert not (reader.root / ".kbx" / "index").exists()


def test_version_stays_readable_when_the_store_is_emptied(
    writer: Machine, reader: Machine, store_uri: str
) -> None:
    writer.publish()
    found = reader.paths(QUERY)
    client_of(store_uri).delete([HEAD])
    with reader.open() as kb:
        response = kb.search(QUERY)
    assert [result.path for result in response.results] == found
    assert any("nothing is published at s3://" in note for note in response.meta.notes)


def test_nothing_published_is_one_sentence(reader: Machine) -> None:
    with pytest.raises(NotFound, match=r"nothing is published at s3://kbx-test/.* yet: run `kbx"):
        reader.paths(QUERY)


def test_redactions_are_those_of_the_published_version(writer: Machine, reader: Machine) -> None:
    hidden = "team: Andromeda # redacted"
    write_quasar(writer, f"---\n{hidden}\n---\n# Quasar\n\n- Open #redacted\n\nDone.\n")
    writer.publish()
    (reader.root / "README.md").write_text("# How to search\n", "utf-8")  # of no published page
    path = "memory/notes/quasar.md"
    with writer.open() as ours, reader.open() as theirs:
        original, published = ours.documents.public_page(path), theirs.documents.public_page(path)
        assert original is not None
        assert published is not None
        assert published.redacted_lines == original.redacted_lines == {2, 6, 7}
        assert published.body == original.body
        notes = theirs.search("quasar").meta.notes
        assert any("redactions are those published 20" in note for note in notes)
        assert theirs.documents.view("memory/people/alice-chen.md").title == "Alice Chen"


def test_page_that_changed_since_it_was_indexed_is_withheld(
    writer: Machine, reader: Machine
) -> None:
    path = "memory/people/alice-chen.md"
    with writer.open() as kb, kb.publishing() as publication:
        assert publication is not None
        kb.index()
        page = writer.root / path
        page.write_text(page.read_text("utf-8") + "\nSecret #redacted\n", "utf-8")
        publication.publish()
    with reader.open() as kb:
        assert kb.documents.public_page(path) is None


def test_reader_starts_without_network(
    writer: Machine, reader: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.publish()
    with slow_network(os.environ["AWS_ENDPOINT_URL"]) as endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        found = reader.paths(QUERY)
    with reader.open() as kb:
        response = kb.search(QUERY)
    assert [result.path for result in response.results] == found
    note = next(note for note in response.meta.notes if "cannot be reached" in note)
    assert "this is the version published 20" in note


def test_session_in_a_browser_reads_the_copy_without_credentials(
    writer: Machine, reader: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.publish()
    found = reader.paths(QUERY)
    kept = app_environment(os.environ, 80, 24)
    for name in os.environ.keys() - kept.keys():
        monkeypatch.delenv(name)
    monkeypatch.setenv(OFFLINE, kept[OFFLINE])
    assert ACCESS_KEY not in os.environ.values()
    with reader.open() as kb:
        response = kb.search(QUERY)
    assert [result.path for result in response.results] == found
    assert not any("cannot" in note for note in response.meta.notes)
    shutil.rmtree(reader.cache)
    with pytest.raises(NotFound, match=r"no copy of s3://kbx-test/.* on this machine yet"):
        reader.paths(QUERY)


def test_damaged_object_is_refused(writer: Machine, reader: Machine, store_uri: str) -> None:
    writer.publish()
    client = client_of(store_uri)
    largest = max(client.list("files"), key=lambda found: found.size)
    client.delete([largest.key])
    client.create(largest.key, bytes(largest.size))
    with pytest.raises(StoreFault, match="is not what was published: delete it there"):
        reader.paths(QUERY)
    assert not list(reader.cache.glob("stores/*/files/*.*"))
    client.delete([largest.key])
    with pytest.raises(StoreFault, match="lacks files of its newest version"):
        reader.paths(QUERY)
    assert writer.publish().uploaded == 1
    assert reader.paths(QUERY)


@pytest.mark.parametrize("file", ["documents.lance/data/*", "words.bin"])
def test_damaged_copy_is_fetched_again(writer: Machine, reader: Machine, file: str) -> None:
    writer.publish()
    found = reader.paths(QUERY)
    one_bad_byte(max(reader.cache.glob(f"stores/*/versions/*/{file}")))
    notices: list[str] = []
    with reader.open(notices) as kb:
        assert [result.path for result in kb.search(QUERY).results] == found
    assert any("is damaged: fetching it again" in notice for notice in notices)


def test_copies_stay_within_their_limit(
    writer: Machine, reader: Machine, tmp_path: Path, demo_kb_path: Path
) -> None:
    writer.publish()
    reader.paths(QUERY)
    other = writer_machine(tmp_path / "other", f"{writer.uri}-other", demo_kb_path)
    other.publish()
    second = Machine(tmp_path / "second", other.uri)
    second.cache = reader.cache
    configure_trusted(second.root, f'[index]\nuri = "{other.uri}"\ncache_mb = 2\n')
    assert second.paths(QUERY)
    sizes = [mirror.size() for mirror in map(MirrorFolder, (reader.cache / "stores").iterdir())]
    assert sorted(sizes)[0] == 0  # the one that was not used for longest
    assert sum(sizes) <= 2_000_000
    configure_trusted(second.root, f'[index]\nuri = "{reader.uri}"\ncache_mb = 1\n')
    with pytest.raises(StoreFault, match=r"copies may take 1\.0 MB: raise \[index\] cache_mb"):
        second.paths(QUERY)


def test_command_line_publishes_and_searches(
    kbx: CommandLine, writer: Machine, reader: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBX_CACHE_DIR", str(writer.cache))
    published = kbx("index", "--kb", writer.root)
    assert published.code == 0, published.err
    assert f"published as version 1 of {writer.uri}: " in published.out
    monkeypatch.setenv("KBX_CACHE_DIR", str(reader.cache))
    searched = kbx("search", QUERY, "--json", "--kb", reader.root)
    assert searched.code == 0, searched.err
    shown = kbx("status", "--kb", reader.root)
    assert f"published {writer.uri}, version 1 of 20" in shown.out
    outputs = (published, searched, shown, kbx("config", "--kb", reader.root))
    text = "".join(output.out + output.err for output in outputs)
    assert ACCESS_KEY not in text
    assert SECRET_KEY not in text


def test_credentials_in_the_settings_are_refused(kbx: CommandLine, reader: Machine) -> None:
    (reader.root / "kbx.toml").write_text('[index]\nuri = "s3://me:hidden@bucket/base"\n', "utf-8")
    for arguments in (("search", "x"), ("config",), ("status",), ("trust",)):
        shown = kbx(*arguments, "--kb", reader.root)
        assert shown.code == 2
        assert shown.err.count("\n") == 1
        assert "may hold no user, key or signature" in shown.err
        assert "hidden" not in shown.out + shown.err


def test_base_from_elsewhere_opens_no_store_untrusted(
    kbx: CommandLine, tmp_path: Path, store_uri: str
) -> None:
    (tmp_path / "kbx.toml").write_text(f'[index]\nuri = "{store_uri}"\n', "utf-8")
    shown = kbx("search", "x", "--kb", tmp_path)
    assert shown.code == 8
    assert "is not trusted with [index] uri" in shown.err


def test_machine_that_takes_over_begins_with_what_is_published(
    writer: Machine, tmp_path: Path, store_uri: str, demo_kb_path: Path
) -> None:
    writer.publish()
    heir = writer_machine(tmp_path / "heir", store_uri, demo_kb_path)
    shutil.rmtree(heir.root / ".kbx")
    with heir.open() as kb, kb.publishing() as publication:
        assert publication is not None
        report = kb.index()
        assert (report.added, report.embedded) == (0, 0)


def test_pages_are_not_taken_out_by_a_machine_without_them(
    writer: Machine, reader: Machine, store_uri: str
) -> None:
    writer.publish()
    page = reader.root / "memory" / "people" / "alice-chen.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Alice Chen\n", "utf-8")
    configure_trusted(reader.root, "")
    with reader.open() as kb:
        kb.index(fast=True)  # as it was before the index was published
    configure_trusted(reader.root, f'[index]\nuri = "{store_uri}"\n')
    with pytest.raises(IndexElsewhere, match="lacks most of the pages that are published"):
        reader.publish()
    assert not (reader.root / ".kbx" / "published.json").exists()
    shutil.rmtree(writer.root / "memory")  # as if a disk were not there
    (writer.root / "memory").mkdir()
    with pytest.raises(IndexFault, match="no page is indexed, so nothing was published"):
        writer.publish()
    assert reader.paths("migration")


def test_page_whose_file_is_elsewhere_is_not_created_again(
    writer: Machine, reader: Machine
) -> None:
    writer.publish()
    with reader.open() as kb:
        with pytest.raises(IndexElsewhere, match=r"alice-chen\.md is not on this machine"):
            kb.memory_add("Likes green tea", entity="Alice Chen")
        assert not (reader.root / "memory").exists()
        assert kb.pages.create("Zora Quill", "person", {}).written
        notes = kb.search("migration").meta.notes
    assert any("the files are not here" in note for note in notes)


async def test_app_searches_a_published_index_and_says_where_it_is_from(
    writer: Machine, reader: Machine, store_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.publish()
    monkeypatch.setenv("KBX_CACHE_DIR", str(reader.cache))
    async with running(reader.root, WIDE) as driver:
        await driver.ask("migration")
        assert driver.view.matched
        await driver.press("f5")
        await driver.until_shown(RunPane, f"read from {store_uri}, version 1 of 20")
        await driver.until_shown(FileList, "Another machine indexes the files and publishes")
        await driver.press("R")
        await driver.until_shown(StatusLine, "`kbx index` makes this one index the files")
        await driver.press("W")
        await driver.until_shown(StatusLine, "no files are watched here")
        await driver.until_shown(RunPane, "read from")
    assert not (reader.root / ".kbx" / "index").exists()
