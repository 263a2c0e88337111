"""Bases in the habits of real ones: right answers, no false report of a link, entities.

`habits/*.txt` has a page a line, `path | text` with `¶` for the end of a line; then questions,
`? question | right pages`; then entities by kind, `! kind: names`. The questions were written
before any was asked.
"""

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.functional.vaults import write_vault

pytestmark = pytest.mark.slow

FILES = sorted((Path(__file__).parents[1] / "habits").glob("*.txt"))
FIRST, LEAST = 3, 0.9
"""Results among which a right page counts, and the share of questions that must have one."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_base_in_the_habits_of_a_real_one_is_understood(file: Path, tmp_path: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    marked = {mark: [line[2:] for line in lines if line[:2] == mark] for mark in ("? ", "! ")}
    pages = (line.split(" | ", 1) for line in lines if line[:2] not in marked)
    base = write_vault(tmp_path, {path: text.replace("¶", "\n") + "\n" for path, text in pages})
    with KnowledgeBase(base) as kb:
        kb.index()
        assert [(link.path, link.target) for link in kb.links.check()] == []

        proposal = kb.entities.proposal()
        names = {(entity.type, entity.name) for entity in kb.entities.find("")}
        proposed = {
            name.lstrip("#") for examples in proposal.examples.values() for name, _ in examples
        }
        expected = [line.partition(": ") for line in marked["! "]]
        kinds = {(kind, name) for kind, _, listed in expected for name in listed.split(", ")}
        assert {name for _, name in names} | proposed == {name for _, name in kinds}
        assert names <= kinds

        missed = []
        for question, right in (line.split(" | ") for line in marked["? "]):
            found = [result.path for result in kb.search(question, limit=FIRST).results]
            if not any(path in right for path in found):
                missed.append((question, found))
        assert len(marked["? "]) - len(missed) >= LEAST * len(marked["? "]), missed
