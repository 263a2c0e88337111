"""Patterns take time in proportion to a line: these would not end if it grew with the square."""

import re
from collections.abc import Callable

import pytest

from kbx_tui.editing import page_edits
from kbx_tui.evaluation import exchange
from kbx_tui.evaluation.judgments import query_key
from kbx_tui.experts import expert_engine
from kbx_tui.importing import conversations, note_exports, transcripts
from kbx_tui.knowledge import fields
from kbx_tui.knowledge.entity_names import NameUseCounter
from kbx_tui.knowledge.folding import fold, slug
from kbx_tui.knowledge.linking import MentionFinder, NameVariant, NormalizedText
from kbx_tui.knowledge.records import Entity
from kbx_tui.knowledge.redaction import has_redaction_mark, public_text
from kbx_tui.knowledge.topics import tag_and_above
from kbx_tui.knowledge.written_links import local_address, split_target

SIZE = 300_000
SPACES = " " * SIZE


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (page_edits._SCALAR, f"a{SPACES}b" * 2),
        (page_edits._KEY, f"a{SPACES}b" * 2),
        (exchange._NUMBER, f"<num>{SPACES}"),
        (exchange._TITLE, f"<title>{SPACES}<"),
        (expert_engine._CONFIRMED, f"a{SPACES}b"),
        (conversations._CITATION, f"a{SPACES}b"),
        (note_exports._PAGE_EMBED, "{{embed [[a" * SIZE),
        (transcripts._VOICE, f"<v{SPACES}"),
        (fields._CONJUNCTION, f"a{SPACES}b"),
    ],
)
def test_no_pattern_hangs_on_a_long_line(pattern: re.Pattern[str], text: str) -> None:
    assert len(pattern.findall(text)) <= 1


def test_no_name_mark_or_tag_hangs_however_long() -> None:
    name = "a " * SIZE
    NameUseCounter([Entity("person:a", " ".join(map(str, range(SIZE))), "person", "a.md")])
    finder = MentionFinder([NameVariant(0, name, case_sensitive=False, is_name=True)])
    assert finder.find(NormalizedText(name)) == []

    text = public_text("---\n" + "# redacted\n" * SIZE + "---\nopen\n")
    assert text == "---\n# [redacted]" + "\n" * SIZE + "---\nopen\n"

    tag = "/".join(["ab"] * SIZE)
    assert tag_and_above(tag)[0] == tag
    assert tag_and_above(tag)[-1] == "ab"


@pytest.mark.parametrize(
    "read", [fold, slug, split_target, local_address, has_redaction_mark, query_key]
)
def test_no_text_hangs_however_many_marks_are_on_a_letter(read: Callable[[str], object]) -> None:
    assert read("a" + "\u0301\u0316" * SIZE) is not None
