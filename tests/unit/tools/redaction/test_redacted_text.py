from __future__ import annotations

import pytest

from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.tools.redaction.redacted_text import redact


def read(text: str) -> str:
    return redact(parse_document("memory/people/ada.md", text.encode()))


@pytest.mark.parametrize(
    ("hidden", "kept"),
    [
        ("## Facts\n- secret (status: redacted)\n- open\n", "open"),
        ("## Facts\n- secret #redacted\n- open\n", "open"),
        ("## Facts\n1. [redacted] secret\n2. open\n", "open"),
        ("## Facts\n- secret (status: redacted)\n  and more secret\n- open\n", "open"),
        ("## Facts\n- said\n  - status: redacted\n  - secret\n- open\n", "open"),
        ("## Facts\n- one (status: redacted)\n  - nested secret\n\n- open\n", "open"),
        ("## Open Items\n- [ ] secret #redacted\n- [x] open\n", "open"),
        ("## Notes\n- secret (status: redacted)\n\nopen\n", "open"),
        ("## Facts\n- (STATUS: Redacted) secret\n- open\n", "open"),
        ("A paragraph of secret\nlines, secret ones #redacted\n\nopen\n", "open"),
        ("#redacted secret paragraph\n\nopen\n", "open"),
        ("> secret quoted #redacted\n\nopen\n", "open"),
        ("| open | 1 |\n|---|---|\n| secret | 2 #redacted |\n| open | 3 |\n", "open | 3"),
        ("## Plan #redacted\n\nsecret plan\n\n## Else\nopen\n", "open"),
        ("open\n- secret #redacted\n", "open"),
    ],
)
def test_marked_lines_are_blanked_and_the_others_stay(hidden: str, kept: str) -> None:
    shown = read(f"# Ada\n\n{hidden}")
    assert "secret" not in shown
    assert kept in shown
    assert shown.count("\n") == f"# Ada\n\n{hidden}".count("\n")


def test_marked_page_is_blanked_completely() -> None:
    shown = read("---\nstatus: redacted\n---\n# Ada\n\n## Facts\n- secret one\n- secret two\n")
    assert "secret" not in shown
    assert "secret" not in read("# Ada (redacted)\n\nsecret prose\n\n# More\n\nsecret as well\n")
    assert "secret" not in read("---\nStatus: Redacted\n---\n# Ada\n\nsecret prose\n\n| secret |\n")


def test_the_word_redacted_in_a_sentence_is_not_a_mark() -> None:
    text = "# Ada\n\n## Facts\n- Redacted the report\n- superseded (status: superseded)\n"
    assert read(text) == text
