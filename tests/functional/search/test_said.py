"""What someone said is answered by their own turns; sixty questions over three bases.

`tests/functional/transcripts/*.txt` has a page a line, `path | text`, with `¶` for its line ends;
then `? question | right page | words of the right turn`, written before any was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.knowledge.turns import Turn, turns_of
from kbx_tui.search.query.typed_filters import read_filters, unfinished_filter
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.retrieval import speakers
from kbx_tui.search.retrieval.speakers import NAMES_KEPT
from tests.functional.vaults import index_vault, write_vault

FILES = sorted((Path(__file__).parents[1] / "transcripts").glob("*.txt"))
LEAST_OF_ALL, LEAST = 0.85, 0.8
"""Share of the questions, of all bases and of each, whose first result is the right turn."""

MEETING = """---
type: meeting
attendees: [Dana Kim, Marek Novak, Priya Shah]
---
# Prices

Date: 3 March
Present: Dana Kim, Marek Novak, Priya Shah

**Dana Kim:** The fee is too low. I would double it for large shops.

**Marek Novak:** The fee is hard to change in the ledger.

**Priya Shah:** What about the printers?

**Dana Kim:** Printers are Tom's business.

Note: the fee is decided in April.
"""
FILES_OF_BASE = {
    "people/dana-kim.md": "# Dana Kim\n",
    "people/marek-novak.md": "# Marek Novak\n",
    "meetings/2026-03-03-prices.md": MEETING,
    "meetings/2026-03-10-ledger.md": MEETING.replace("# Prices", "# Ledger").replace(
        "**Dana Kim:** The fee is too low. I would double it for large shops.",
        "**Priya Shah:** The fee, the fee, the fee: Dana must decide on the fee for large shops.",
    ),
    "notes/fee.md": "# Fee\n\nThe fee for large shops, and Dana Kim, who owns the fee.\n",
}
PRICES = "meetings/2026-03-03-prices.md"


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(index_vault(tmp_path, FILES_OF_BASE)) as base:
        yield base


@pytest.mark.slow
def test_questions_for_what_someone_said_are_answered_by_the_right_turn(tmp_path: Path) -> None:
    shares = {}
    missed = []
    for file in FILES:
        lines = file.read_text(encoding="utf-8").splitlines()
        pages = (line.split(" | ", 1) for line in lines if line[:2] != "? ")
        texts = {path: text.replace("¶", "\n") + "\n" for path, text in pages}
        with KnowledgeBase(write_vault(tmp_path / file.stem, texts)) as base:
            base.index()
            questions = [line[2:].split(" | ") for line in lines if line[:2] == "? "]
            found = [base.search(question, limit=1).results for question, _, _ in questions]
        right = [
            bool(first) and first[0].path == path and words in first[0].snippet
            for first, (_, path, words) in zip(found, questions, strict=True)
        ]
        shares[file.stem] = sum(right), len(right)
        missed += [each[0] for each, is_right in zip(questions, right, strict=True) if not is_right]
    assert sum(total for _, total in shares.values()) == 60
    assert all(right >= LEAST * total for right, total in shares.values()), missed
    assert sum(right for right, _ in shares.values()) >= LEAST_OF_ALL * 60, missed


@pytest.mark.parametrize(
    "question",
    [
        "what did Dana say about the fee",
        "why would Dana raise the fee",
        "Dana's view of the fee",
        "why is Dana unhappy about the fee",
        "what would Dana double",
        "the fee, according to Dana Kim",
        "fee said:@dana",
        'fee said:"Dana Kim"',
    ],
)
def test_the_turn_of_the_person_comes_first_and_says_who_speaks(
    kb: KnowledgeBase, question: str
) -> None:
    first, *others = kb.search(question, fast=True, explain=True).results
    assert first.path == PRICES
    assert first.snippet.startswith("Dana Kim: The fee is too low.")
    assert "Marek" not in first.snippet
    assert first.explain["lowered_reason"].startswith("Dana Kim speaks here: × ")
    assert all(
        "speaks here" in (each.explain["lowered_reason"] or "") or each.score < first.score
        for each in others
    )


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("what did Anna Kowalczyk say about the wall", "Anna K.: Windows take away"),
        ("why is Anna Bergström against the wall", "Anna B.: The wall costs light"),
        ("wall said:@kowalczyk", "Anna K.: Windows take away"),
        ("what did Marek Novak say about the wall", "M. Novak: The wall is wet"),
        ("what did Marek Novak say about the crane", "M. Novak: The crane comes"),
    ],
)
def test_a_label_with_an_initial_and_a_turn_late_in_a_long_meeting_are_read(
    tmp_path: Path, question: str, words: str
) -> None:
    small_talk = "".join(f"Olga: Of this and that, {n}.\n\n" for n in range(3_000))
    meeting = (
        "---\ntype: meeting\nattendees: [Anna Bergström, Anna Kowalczyk, Marek Novak]\n---\n"
        "# Site\n\nAnna B.: The wall costs light.\n\n"
        "Anna K.: Windows take away the brace of the wall.\n\nM. Novak: The wall is wet.\n\n"
        f"{small_talk}M. Novak: The crane comes on Tuesday.\n\nAnna B.: Fine.\n"
    )
    names = ("Anna Bergström", "Anna Kowalczyk", "Marek Novak", "Mona Novak-Hill")
    people = {f"people/{n}.md": f"# {name}\n" for n, name in enumerate(names)}
    files = people | {"meetings/site.md": meeting}
    with KnowledgeBase(index_vault(tmp_path, files, fast=True)) as base:
        first = base.search(question).results[0]
    assert first.path == "meetings/site.md"
    assert first.snippet.startswith(words)


def test_what_only_others_say_is_shown_where_they_say_it(kb: KnowledgeBase) -> None:
    passages = {
        each.path: each.snippet for each in kb.search("what did Dana say about the ledger").results
    }
    assert "ledger" in passages[PRICES]
    headed = kb.search("what did Marek say about prices", fast=True).results[0]
    assert headed.snippet.startswith("Marek Novak:")  # only the title says prices


def test_a_question_that_asks_nobody_is_ranked_as_before(kb: KnowledgeBase) -> None:
    asked = "fee for large shops|who decides the fee|Dana Kim fee|what did Dana decide on the fee"
    for question in asked.split("|"):
        results = kb.search(question, explain=True, fast=True).results
        assert all("speaks" not in (each.explain["lowered_reason"] or "") for each in results)


def test_meetings_in_which_someone_speaks_are_narrowed_to_by_any_surface(
    kb: KnowledgeBase,
) -> None:
    typed = {each.path for each in kb.search("fee said:@priya,@dana").results}
    given = {each.path for each in kb.search("fee", said=["Priya Shah", "@dana"]).results}
    assert typed == given == {PRICES, "meetings/2026-03-10-ledger.md"}
    assert {each.path for each in kb.search("said:@marek").results} == given
    assert [str(each) for each in read_filters('fee said:"Dana Kim"').filters] == [
        'said:@"Dana Kim"'
    ]
    unfinished = unfinished_filter("fee said:@pr")
    assert unfinished is not None
    assert kb.documents.complete_filter(unfinished).values == ("priya-shah",)
    assert (unfinished.completed("priya-shah"), unfinished.rest) == ("fee said:@priya-shah", "fee")


def test_meetings_in_which_someone_speaks_are_left_out_by_a_minus(kb: KnowledgeBase) -> None:
    response = kb.search("fee -said:@priya", explain=True)
    assert response.meta.typed_filters == ("-said:@priya",)
    paths = {each.path for each in response.results}
    assert {path for path in FILES_OF_BASE if path.startswith("meetings/")}.isdisjoint(paths)
    assert "notes/fee.md" in paths
    assert all(each.explain["lowered_reason"] is None for each in response.results)
    unfinished = unfinished_filter("fee -said:@pr")
    assert unfinished is not None
    assert (unfinished.completed("priya-shah"), unfinished.rest) == ("fee -said:@priya-shah", "fee")


def test_turns_of_a_meeting_are_read_once(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []

    def counted(body: str, attendees: Iterable[str]) -> list[Turn]:
        read.append(body)
        return turns_of(body, attendees)

    monkeypatch.setattr(speakers, "turns_of", counted)
    for question in ("what did Dana say about the fee", "what did Dana say about printers"):
        assert kb.search(question).results[0].path == PRICES
    assert len(read) == len(set(read)) == 2


def test_an_unknown_speaker_and_an_option_that_leaves_out_are_named(kb: KnowledgeBase) -> None:
    response = kb.search("fee said:@danna")
    assert not response.results
    assert "nobody speaks under the name danna; did you mean Dana Kim?" in response.meta.notes

    answer = kb.why_not(SearchRequest("fee", said=["Priya Shah"]), "notes/fee.md")
    assert [change.text for change in answer.changes] == ["whoever speaks"]


def test_names_asked_for_are_forgotten(kb: KnowledgeBase) -> None:
    speakers = kb._session.fresh_index().generation().speakers
    for number in range(2 * NAMES_KEPT):
        speakers.labels(f"Dana {number}")
    assert len(speakers._labels) == NAMES_KEPT


def test_what_is_redacted_of_a_turn_is_said_to_no_agent(tmp_path: Path) -> None:
    dana = "**Dana Kim:** The fee is too low. I would double it for large shops."
    secret = f"{dana} #redacted\n\nAnd the fee stays low."
    files = FILES_OF_BASE | {PRICES: MEETING.replace(dana, f"**Tom:** Hello.\n\n{secret}")}
    question = "what did Dana say about the fee"
    with KnowledgeBase(index_vault(tmp_path, files)) as base:
        assert "too low" in base.search(question, fast=True).results[0].snippet
        public = base.public.search(question, fast=True).results
        assert all("too low" not in each.snippet for each in public)
        said = base.public.search("fee stays low said:@tom", fast=True).results
        assert [each.snippet for each in said] == ["Tom: Hello."]


@pytest.mark.parametrize(
    "query", ["Dana", "dana's", "'s", "said:@", "said:", "to Dana", "by Dana", "🐝"]
)
def test_the_shortest_queries_are_read(kb: KnowledgeBase, query: str) -> None:
    kb.search(query, fast=True)


def test_notes_that_report_what_someone_said_come_before_turns_on_half_of_it(
    tmp_path: Path,
) -> None:
    notes = "---\nattendees: [Dana Kim]\n---\n# Yard\n\nDana said the crane rents for too little.\n"
    turns = "# Depot\n\n**Dana Kim:** The rents went up.\n\n**Marek Novak:** They did, twice.\n"
    files = {"people/dana-kim.md": "# Dana Kim\n", "meetings/2026-03-17-yard.md": notes}
    files |= {f"meetings/2026-03-1{n}-depot.md": turns for n in range(3)}
    with KnowledgeBase(index_vault(tmp_path, files)) as base:
        (first, *_) = base.search("what did Dana Kim say about the rents of the crane").results
    assert first.path == "meetings/2026-03-17-yard.md"
