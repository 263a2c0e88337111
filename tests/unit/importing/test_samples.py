"""Samples of every format that lists people are read, and their attendees are recognised."""

from __future__ import annotations

import pytest

from kbx_tui.importing.import_formats import read_documents
from kbx_tui.importing.import_planning import AttendeeMatcher
from kbx_tui.importing.imported_document import Format, ImportedDocument
from tests.unit.importing.samples import WRITERS, Sample, people, samples


def read(sample: Sample, form: Format) -> ImportedDocument:
    imported = read_documents([sample.file], form if form in ("notion", "logseq") else None)
    assert not imported.problems
    (document,) = imported.documents
    assert isinstance(document, ImportedDocument)
    return document


@pytest.mark.parametrize("form", WRITERS)
def test_attendees_of_twenty_samples_are_recognised(form: Format) -> None:
    expected = recognised = 0
    for sample in samples(form):
        matcher = AttendeeMatcher(people())
        document = read(sample, form)
        names = {matcher.match(who, document.title).name for who in document.attendees}
        expected += len(sample.people)
        recognised += len(names & set(sample.people))
    assert len(samples(form)) >= 20
    assert recognised / expected >= 0.95


@pytest.mark.parametrize("form", WRITERS)
def test_title_date_and_words_are_read_from_every_sample(form: Format) -> None:
    for sample in samples(form):
        document = read(sample, form)
        assert document.title == "Fare review"
        assert "We agree." in document.body
        if form != "logseq":
            assert document.date == "2026-03-17"


@pytest.mark.parametrize("form", WRITERS)
def test_the_same_file_has_the_same_id_again(form: Format) -> None:
    for sample in samples(form):
        assert read(sample, form).import_id == read(sample, form).import_id
