"""Property test: an edit of any page changes only what it should, and no other byte."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kbx_tui.editing.fact_edits import AddFact, ChangeFact, DeleteFact, StrikeFact
from kbx_tui.editing.file_change import smallest_change
from kbx_tui.editing.page_edits import PageEdit, SetFields, apply_edits
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.fact_sections import read_facts
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Fact
from tests.unit.editing.odd_pages import odd_page

PATH, OWNER = "memory/people/ada.md", "person:ada"
MAX_SPLICE = 400
"""Bytes that one edit may insert and remove: a line or two, in UTF-16."""


def facts_of(data: bytes) -> list[Fact]:
    return list(read_facts(parse_document(PATH, data), OWNER))


def contents(facts: list[Fact]) -> list[tuple[str, str, str, str, bool]]:
    return sorted((f.kind, f.text, f.date, f.status, f.done) for f in facts)


def random_edit(rng: random.Random, data: bytes) -> PageEdit:
    facts = facts_of(data)
    kind = rng.choice(("add", "add", "item", "change", "strike", "drop", "field"))
    if kind == "field":
        value = rng.choice(("Director", "a: b", "", None, ("x", "y z")))
        return SetFields(((rng.choice(("role", "team", "aliases", "note", "odd key")), value),))
    if kind == "item":
        return AddFact(OWNER, "open_item", "send the plan", "", "Kickoff")
    if kind == "add" or not facts:
        return AddFact(OWNER, "fact", "Speaks Catalan", "2026-04-05", "Kickoff")
    fact = rng.choice(facts)
    if kind == "change":
        return ChangeFact(fact, "Says something new")
    if kind == "strike":
        return StrikeFact(fact)
    return DeleteFact(fact)


@pytest.mark.parametrize("block", range(10))
def test_random_edits_of_odd_pages_change_only_the_spliced_bytes(block: int) -> None:
    refused = 0
    for seed in range(block * 100, block * 100 + 100):
        rng = random.Random(seed)
        before = odd_page(rng)
        edit = random_edit(rng, before)
        try:
            after = apply_edits(PATH, before, [edit])
        except WriteFault:
            refused += 1
            continue
        spliced = smallest_change(PATH, before, after)
        assert spliced.apply(before) == after
        assert spliced.inverse().apply(after) == before
        assert len(spliced.removed) + len(spliced.inserted) < MAX_SPLICE, (seed, edit)
        old, new = contents(facts_of(before)), contents(facts_of(after))
        if isinstance(edit, SetFields):
            assert old == new or edit.fields[0][0] == "status", (seed, edit)
        elif isinstance(edit, AddFact):
            assert len(new) == len(old) + 1, (seed, edit)
        else:
            assert len(new) == len(old) - isinstance(edit, DeleteFact), (seed, edit)
        lost = Counter(old) - Counter(new)
        assert lost.total() <= (not isinstance(edit, AddFact | SetFields)), (seed, edit)
    assert refused < 40  # most odd pages can be edited
