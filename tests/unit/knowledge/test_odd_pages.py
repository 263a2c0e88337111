"""Whatever a page looks like, an edit changes what it says it changes and no other byte."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kbx_tui.editing.fact_edits import AddFact, ChangeFact, DropFact, StrikeFact
from kbx_tui.editing.field_edits import SetFields
from kbx_tui.editing.journal import change
from kbx_tui.editing.page_edits import PageEdit, edited
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.facts.fact_sections import read_facts
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.knowledge.records import Fact
from tests.unit.knowledge.odd_pages import odd_page

PATH, OWNER = "memory/people/ada.md", "person:ada"
LONGEST = 400
"""Bytes an edit may at most put in or take out here: a line or two, in UTF-16."""


def facts_of(data: bytes) -> list[Fact]:
    return list(read_facts(parse_document(PATH, data), OWNER))


def said(facts: list[Fact]) -> list[tuple[str, str, str, str, bool]]:
    return sorted((f.kind, f.text, f.date, f.status, f.done) for f in facts)


def random_edit(chance: random.Random, data: bytes) -> PageEdit:
    facts = facts_of(data)
    kind = chance.choice(("add", "add", "item", "change", "strike", "drop", "field"))
    if kind == "field":
        value = chance.choice(("Director", "a: b", "", None, ("x", "y z")))
        return SetFields(((chance.choice(("role", "team", "aliases", "note", "odd key")), value),))
    if kind == "item":
        return AddFact(OWNER, "open_item", "send the plan", "", "Kickoff")
    if kind == "add" or not facts:
        return AddFact(OWNER, "fact", "Speaks Catalan", "2026-04-05", "Kickoff")
    fact = chance.choice(facts)
    if kind == "change":
        return ChangeFact(OWNER, fact.fact_id, "Says something new")
    if kind == "strike":
        return StrikeFact(OWNER, fact.fact_id)
    return DropFact(OWNER, fact.fact_id)


@pytest.mark.parametrize("block", range(10))
def test_a_thousand_edits_change_only_the_bytes_they_splice(block: int) -> None:
    refused = 0
    for seed in range(block * 100, block * 100 + 100):
        chance = random.Random(seed)
        before = odd_page(chance)
        edit = random_edit(chance, before)
        try:
            after = edited(PATH, before, [edit])
        except WriteFault:
            refused += 1
            continue
        spliced = change(PATH, before, after)
        assert spliced.applied(before) == after
        assert spliced.reversed().applied(after) == before
        assert len(spliced.removed) + len(spliced.inserted) < LONGEST, (seed, edit)
        old, new = said(facts_of(before)), said(facts_of(after))
        if isinstance(edit, SetFields):
            assert old == new or edit.fields[0][0] == "status", (seed, edit)
        elif isinstance(edit, AddFact):
            assert len(new) == len(old) + 1, (seed, edit)
        else:
            assert len(new) == len(old) - isinstance(edit, DropFact), (seed, edit)
        lost = Counter(old) - Counter(new)
        assert lost.total() <= (not isinstance(edit, AddFact | SetFields)), (seed, edit)
    assert refused < 40  # odd as they are, most pages can be edited
