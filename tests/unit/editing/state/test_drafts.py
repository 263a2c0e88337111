"""Drafts from text, and kept in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui.editing.state.drafts import (
    DRAFTS,
    Choice,
    Draft,
    drafts_from_text,
    merged,
    new_draft,
    read_drafts,
    write_drafts,
)
from kbx_tui.editing.state.labels import LABELS, Label, read_labels, write_labels
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


def test_every_line_that_says_something_is_a_draft() -> None:
    found = drafts_from_text(PASTED)
    assert [(one.text, one.kind, one.date, one.entity_name, one.source) for one in found] == [
        ("Prefers **async** [[Slack]] (source: Kickoff)", "fact", "2026-03-10", "", ""),
        ("Speaks Catalan", "fact", "", "", ""),
        ("send the plan", "open_item", "", "", ""),
        ("Plays chess", "fact", "", "Alice Chen", ""),
        ("likes tea", "open_item", "2026-01-02", "Bob", "x"),
    ]
    assert len({one.id for one in found}) == len(found)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 1 is not valid JSON"),
        ('{"text":' + "[" * 100_000, "line 1 is nested too deeply"),
        ('{"txt": "x"}', "txt is no field; valid: text"),
        ('{"text": " "}', "line 1 has no text"),
        ('{"text": "x", "kind": "idea"}', "kind must be fact or open_item, got idea"),
    ],
)
def test_json_that_is_no_draft_is_said(line: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        drafts_from_text(line)


def test_drafts_come_back_as_they_were_kept(tmp_path: Path) -> None:
    kept = (
        replace(new_draft("one\u2028 [[x]]"), choice=Choice("merge", (1, 2), "joined")),
        new_draft("zwei", kind="open_item", entity_id="person:a", is_guessed=False, stands_for=9),
    )
    write_drafts(tmp_path, kept)
    assert read_drafts(tmp_path) == kept
    assert (tmp_path / ".kbx" / ".gitignore").read_text() == "*\n"


def test_a_line_that_cannot_be_read_harms_no_other(tmp_path: Path) -> None:
    write_drafts(tmp_path, [new_draft("one")])
    file = tmp_path / DRAFTS
    file.write_text('{"id": "x"}\nnonsense\n' + file.read_text() + "[]\n", encoding="utf-8")
    assert [draft.text for draft in read_drafts(tmp_path)] == ["one"]


def test_what_another_process_added_is_kept_and_what_we_settled_is_gone() -> None:
    ours, settled, theirs = new_draft("ours"), new_draft("settled"), new_draft("theirs")
    known = {one.id: one for one in (ours, settled)}
    assert merged([ours], known, [ours, settled, theirs]) == [ours, theirs]


def test_what_another_process_settled_stays_gone_unless_it_was_changed_here() -> None:
    settled, changed = new_draft("settled there"), new_draft("before")
    known = {one.id: one for one in (settled, changed)}
    now = replace(changed, text="after")
    assert merged([settled, now], known, []) == [now]


def test_of_two_versions_of_a_draft_the_changed_one_is_kept() -> None:
    ours, theirs = new_draft("ours"), new_draft("theirs")
    known = {one.id: one for one in (ours, theirs)}
    changed = [replace(ours, text="ours now"), theirs]
    there = [ours, replace(theirs, choice=Choice("skip"))]
    assert merged(changed, known, there) == [changed[0], there[1]]


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
def test_a_line_that_is_no_draft_is_kept_as_it_is(tmp_path: Path, line: bytes) -> None:
    write_drafts(tmp_path, [Draft("a", "first")])
    file = tmp_path / DRAFTS
    file.write_bytes(file.read_bytes() + line + b"\n")
    assert [draft.text for draft in read_drafts(tmp_path)] == ["first"]
    write_drafts(tmp_path, [*read_drafts(tmp_path), Draft("z", "new")])
    assert line in file.read_bytes().split(b"\n")
    assert [draft.text for draft in read_drafts(tmp_path)] == ["first", "new"]


def test_a_broken_sign_harms_only_itself(tmp_path: Path) -> None:
    write_drafts(tmp_path, [])
    (tmp_path / DRAFTS).write_bytes(b'{"id":"c","text":"caf\xe9 at noon"}\n')
    assert [draft.text for draft in read_drafts(tmp_path)] == ["caf\ufffd at noon"]


def test_labels_that_cannot_be_read_are_kept(tmp_path: Path) -> None:
    write_labels(tmp_path, [Label("a", "b", True)])
    with (tmp_path / LABELS).open("ab") as file:
        file.write(b'\xff\n{"left":1,"right":"b","same":"no"}\n')
    write_labels(tmp_path, [*read_labels(tmp_path), Label("c", "d", False)])
    assert read_labels(tmp_path) == (Label("a", "b", True), Label("c", "d", False))
    assert b"\xff\n" in (tmp_path / LABELS).read_bytes()


def test_the_newest_label_on_a_pair_rules(tmp_path: Path) -> None:
    labels = [Label("a", "b", True), Label("c", "d", True), Label("b", "a", False)]
    write_labels(tmp_path, labels)
    with (tmp_path / LABELS).open("a", encoding="utf-8") as file:
        file.write("nonsense\n")
    assert read_labels(tmp_path) == (Label("b", "a", False), Label("c", "d", True))
