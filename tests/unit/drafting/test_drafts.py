"""Drafts parsed from text and stored in a file."""

from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui.drafting.drafts import (
    MAX_DRAFTS,
    Choice,
    Draft,
    complete_file,
    drafts_from_text,
    merge_drafts,
    new_draft,
    read_drafts,
    write_drafts,
)
from kbx_tui.errors import ConfigError

PASTED = """
- [2026-03-10] Prefers **async** [[Slack]] (source: Kickoff)
• Speaks Catalan

3. [ ] send the plan
# Alice Chen
* Plays chess
---
{"text": "likes tea", "entity": "Bob", "kind": "open-item", "date": "2026-01-02", "source": "x"}
"""


def test_every_line_with_text_becomes_a_draft() -> None:
    drafts = drafts_from_text(PASTED)
    assert [(d.text, d.kind, d.date, d.entity_name, d.source) for d in drafts] == [
        ("Prefers **async** [[Slack]] (source: Kickoff)", "fact", "2026-03-10", "", ""),
        ("Speaks Catalan", "fact", "", "", ""),
        ("send the plan", "open_item", "", "", ""),
        ("Plays chess", "fact", "", "Alice Chen", ""),
        ("likes tea", "open_item", "2026-01-02", "Bob", "x"),
    ]
    assert len({draft.id for draft in drafts}) == len(drafts)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1 is not valid JSON"),
        ('{"text":' + "[" * 100_000, "line 1 is nested too deeply"),
        ('{"txt": "x"}', "unknown field txt; valid: text"),
        ('{"text": " "}', "line 1 has no text"),
        ('{"text": "x", "kind": "idea"}', "kind must be fact or open_item, got idea"),
        ("- Likes tea\n" * (MAX_DRAFTS + 1), "more than 5,000 drafts"),
    ],
    ids=["no-json", "nested", "field", "blank", "kind", "too-many"],
)
def test_an_invalid_draft_is_reported_with_its_line(line: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        drafts_from_text(line)


def test_drafts_survive_a_round_trip_through_the_file(tmp_path: Path) -> None:
    kept = (
        replace(new_draft("one\u2028 [[x]]"), choice=Choice("merge", (1, 2), "joined")),
        new_draft("zwei", kind="open_item", entity_id="person:a", is_guessed=False, stands_for=9),
    )
    write_drafts(tmp_path, kept)
    assert read_drafts(tmp_path) == kept
    assert (tmp_path / ".kbx" / ".gitignore").read_text() == "*\n"


def test_of_many_stored_drafts_the_others_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three, four = map(new_draft, ("one", "two", "three", "four"))
    write_drafts(tmp_path, [one, two, three, four])
    monkeypatch.setattr("kbx_tui.drafting.drafts.MAX_DRAFTS", 2)
    notices = list[str]()
    assert read_drafts(tmp_path, notices.append) == (one, two)
    assert notices == ["only 2 drafts are shown; the others follow once these are settled"]
    write_drafts(tmp_path, [two])
    assert read_drafts(tmp_path) == (two, three)


def test_merge_keeps_what_changed_or_came_and_drops_what_was_settled() -> None:
    ours, settled, theirs = new_draft("ours"), new_draft("settled"), new_draft("theirs")
    known = {one.id: one for one in (ours, settled)}
    assert merge_drafts([ours], known, [ours, settled, theirs]) == [ours, theirs]

    settled, changed = new_draft("settled there"), new_draft("before")
    known = {one.id: one for one in (settled, changed)}
    edited = replace(changed, text="after")
    assert merge_drafts([settled, edited], known, []) == [edited]

    ours, theirs = new_draft("ours"), new_draft("theirs")
    known = {one.id: one for one in (ours, theirs)}
    edited, decided = replace(ours, text="ours now"), replace(theirs, choice=Choice("skip"))
    assert merge_drafts([edited, theirs], known, [ours, decided]) == [edited, decided]


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":"c","text":"odd","kind":"weird"}',
        b'{"id":5,"text":null}',
        b'{"id":"e","text":"ee","choice":{"action":"zap"}}',
        b'{"id":"a","text":"not the first of its id"}',
        b'{"id":"b","text":"cut off',
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
)
def test_line_that_is_not_a_draft_is_preserved(tmp_path: Path, line: bytes) -> None:
    write_drafts(tmp_path, [Draft("a", "first")])
    file = tmp_path / ".kbx" / "drafts.jsonl"
    file.write_bytes(file.read_bytes() + line + b"\n")
    assert [draft.text for draft in read_drafts(tmp_path)] == ["first"]
    write_drafts(tmp_path, [*read_drafts(tmp_path), Draft("z", "new")])
    assert line in file.read_bytes().split(b"\n")
    assert [draft.text for draft in read_drafts(tmp_path)] == ["first", "new"]


def test_invalid_utf8_byte_becomes_one_replacement_character(tmp_path: Path) -> None:
    write_drafts(tmp_path, [])
    (tmp_path / ".kbx" / "drafts.jsonl").write_bytes(b'{"id":"c","text":"caf\xe9 at noon"}\n')
    assert [draft.text for draft in read_drafts(tmp_path)] == ["caf\ufffd at noon"]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A knowledge base with files, next to the current folder."""
    root, current = tmp_path / "base", tmp_path / "here"
    for file in ("drafts.md", "drafts/more.md", "drafts/.old.md", "memory/a.md", ".kbx/x"):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()
    current.mkdir()
    (current / "my drafts.txt").touch()
    (current / "drafts.md").touch()
    monkeypatch.chdir(current)
    monkeypatch.setenv("HOME", str(root))
    return root


@pytest.mark.parametrize(
    ("text", "completions"),
    [
        ("", ("drafts/", "memory/", "drafts.md", "my drafts.txt")),
        ("d", ("drafts/", "drafts.md")),
        ("my", ("my drafts.txt",)),
        ("drafts/", ("drafts/more.md",)),
        ("drafts/.", ("drafts/.old.md",)),
        ("./m", ("./memory/", "./my drafts.txt")),
        ("../b", ("../base/",)),
        (".", (".kbx/",)),
        ("~", ("~/",)),
        ("~/mem", ("~/memory/",)),
        ("~nobody-of-that-name/", ()),
        ("drafts.md/", ()),
        ("nowhere/", ()),
        ("a\0b/", ()),
    ],
)
def test_completes_from_the_current_folder_and_the_root(
    root: Path, text: str, completions: tuple[str, ...]
) -> None:
    assert complete_file(text, root) == completions


def test_completions_keep_the_typed_prefix_and_respect_the_limit(root: Path) -> None:
    assert complete_file(f"{root}/dra", root) == (f"{root}/drafts/", f"{root}/drafts.md")
    assert complete_file("", root, limit=2) == ("drafts/", "memory/")
