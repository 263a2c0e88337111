"""Names of a document are found as whole words outside links, code and addresses."""

import pytest

from kbx_tui.search.document_links import MentionSearch


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("The rollback plan, Rollback Plan.", ["rollback plan", "Rollback Plan"]),
        ("rollback  plan\nrollback\nplan", ["rollback  plan"]),
        ("[[Rollback plan]] [Rollback plan](x.md) [[x|Rollback plan]] `Rollback plan`", []),
        ("```\nRollback plan\n```\n<a title='Rollback plan'> https://x.org/#rollback-plan", []),
        ("rollback planning, a rollback plan_b, @Rollback plan", []),
        ("Ops and ops, OPS", ["Ops"]),
        ("#Ops #area/Ops, #Über-Plan; # Ops", ["Ops"]),
        ("[^Ops] [Ops][1] is it ^Ops\n\n[Ops]: x.md", []),
        ("今日の会議録を見る", ["会議録"]),
        ("(Ops) *Ops* Über-Plan über-plan", ["Ops", "Ops", "Über-Plan", "über-plan"]),
    ],
)
def test_names_are_whole_words_in_text(body: str, found: list[str]) -> None:
    search = MentionSearch(["Rollback plan", "Ops", "Über-Plan", "会議録", " ", "?"])
    assert [body[start:end] for start, end in search.find(body)] == found


@pytest.mark.parametrize("names", [["Risk list"], ["Risk list", "Über-Plan"]])
def test_letter_case_does_not_count_in_any_script(names: list[str]) -> None:
    body = "RISK LIST, r\u0131\u017f\u212a \t list, R\u0130SK list"
    assert len(list(MentionSearch(names).find(body))) == 3
