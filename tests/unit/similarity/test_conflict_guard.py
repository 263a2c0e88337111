"""Contradictions between similar texts are found, and nothing else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.similarity.conflict_guard import find_conflicts

CONFLICTS = [
    ("ships 5 releases a year", "ships 3 releases a year", "number", "5", "3"),
    ("Two dogs run", "three dogs run", "number", "Two", "three"),
    ("raised $3M in May", "raised $5M in May", "number", "$3M", "$5M"),
    ("Weighs 5 kg", "Weighs 5 g", "unit", "5 kg", "5 g"),
    ("takes 2 weeks", "takes 2 days", "unit", "2 weeks", "2 days"),
    ("costs 5 million dollars", "costs 5m €", "unit", "5 million dollars", "5m €"),
    ("due 2026-03-01", "due 2026-04-01", "date", "2026-03-01", "2026-04-01"),
    ("on March 17", "on 18 March", "date", "March 17", "18 March"),
    ("every Monday", "every Tuesday", "date", "Monday", "Tuesday"),
    ("joined in 2021", "joined in 2022", "date", "2021", "2022"),
    ("planned for Q3", "planned for Q4", "date", "Q3", "Q4"),
    ("call at 10:30", "call at 2 pm", "date", "10:30", "2 pm"),
    ("Reports to Grace", "Reports to Alice", "name", "Grace", "Alice"),
    ("Alice prefers tea", "Bob prefers tea", "name", "Alice", "Bob"),
    ("works with Team A", "works with Team B", "name", "A", "B"),
    ("runs on v2", "runs on v3", "name", "v2", "v3"),
    ("A cow is eating grass", "A cow is not eating grass", "negation", "eating", "not eating"),
    ("it was approved", "it wasn't approved", "negation", "approved", "wasn't approved"),
    ("still leads it", "no longer leads it", "negation", "leads", "no longer leads"),
    ("Friday five ferries sailed", "Friday six ferries sailed", "number", "five", "six"),
    ("the firſt of two letters", "the firſt of five letters", "number", "two", "five"),
    ("Migration is done", "Migration is blocked", "opposite", "done", "blocked"),
    ("budget approved", "budget rejected", "opposite", "approved", "rejected"),
    (
        "takes it every other day",
        "takes it twice a week",
        "value",
        "every other day",
        "twice a week",
    ),
    ("meets weekly", "meets bi-weekly", "value", "weekly", "bi-weekly"),
    ("one pill once daily", "one pill twice daily", "value", "once daily", "twice daily"),
    ("gym 3x a week", "gym every day", "value", "3x a week", "every day"),
    ("off every Friday", "off every second Friday", "value", "every Friday", "every second Friday"),
    ("smokes a pipe", "quit smoking", "negation", "smokes", "quit smoking"),
    ("can attend", "is unable to attend", "negation", "attend", "unable to attend"),
    ("tolerates lactose", "lactose intolerant", "opposite", "tolerates", "intolerant"),
    ("rent is 81 000 SEK", "rent is 82 000 SEK", "number", "81 000", "82 000"),
    ("the pond is shallow", "the pond is deep", "opposite", "shallow", "deep"),
    ("it is encrypted", "it is unencrypted", "opposite", "encrypted", "unencrypted"),
    ("alerts: on", "alerts: off", "opposite", "on", "off"),
    ("it is on hold", "it is in progress", "opposite", "on-hold", "in-progress"),
    ("a grant of 3 million GBP", "a grant of 3m EUR", "unit", "3 million GBP", "3m EUR"),
    ("closed till 9 June", "closed from the 9 June", "date", "till 9 June", "from the 9 June"),
    ("bis 2021 in Kiel", "seit 2021 in Kiel", "date", "bis 2021", "seit 2021"),
    ("only eats trout", "eats all but trout", "negation", "trout", "all but trout"),
    ("isst kein Brot", "isst Brot", "negation", "kein Brot", "Brot"),
    (
        "Prefers email to Slack for anything that can wait",
        "Prefers Slack to email",
        "order",
        "email, Slack",
        "Slack, email",
    ),
    ("Would rather have tea than milk", "Prefers milk to tea", "order", "tea, milk", "milk, tea"),
    ("uses oats instead of rye", "rye instead of oats", "order", "oats, rye", "rye, oats"),
    ("Ann reports to Bo now", "Bo reports to Ann", "order", "Ann, Bo", "Bo, Ann"),
    ("Ann replaced Bo", "Ann was replaced by Bo", "order", "Ann, Bo", "Bo, Ann"),
    (
        "the lab is older than the inn",
        "the inn is older than the lab",
        "order",
        "lab, inn",
        "inn, lab",
    ),
    ("wants to keep the van", "plans to scrap the van", "opposite", "keep", "scrap"),
    ("Lives in Ghent", "Based in Oslo since May", "name", "Ghent", "Oslo"),
    ("Hope leads Search", "Grace leads Search", "name", "Hope", "Grace"),
    ("Summer leads Search", "Paul leads Search", "name", "Summer", "Paul"),
    ("Storage uses Redis", "Cache uses Redis", "name", "Storage", "Cache"),
    (
        "translates Dutch to Thai",
        "now translates Thai to Dutch",
        "order",
        "Dutch, Thai",
        "Thai, Dutch",
    ),
    ("flight from Bonn to Rome", "a flight from Rome to Bonn", "order", "Bonn, Rome", "Rome, Bonn"),
    ("Drift depends on Ember", "Ember depends on Drift", "order", "Drift, Ember", "Ember, Drift"),
    ("Away June 3", "Away June 5-15", "date", "June 3", "June 5-15"),
    ("Away until 28 February", "Back on 2 March", "date", "28 February", "2 March"),
    (
        "Away until 31 December 2025",
        "Back on 1 January 2025",
        "date",
        "31 December 2025",
        "1 January 2025",
    ),
    (
        "at least two reviewers",
        "up to two reviewers",
        "number",
        "at least two",
        "up to two",
    ),
    ("more than 100 users", "100 users", "number", "more than 100", "100"),
    (
        "takes less than 10 minutes",
        "takes 10 minutes",
        "number",
        "less than 10 minutes",
        "10 minutes",
    ),
    ("hosts 4 guests", "hosts fewer than 4 guests", "number", "4", "fewer than 4"),
    ("runs over 2 days", "runs 3 days", "number", "2 days", "3 days"),
    ("sits above 2 shops", "sits above 3 shops", "number", "2", "3"),
    ("closed in Q2", "closed in September", "date", "Q2", "September"),
    ("due in early June", "due on 28 June", "date", "early June", "28 June"),
    ("due in mid-March", "due on 28 March", "date", "mid-March", "28 March"),
    (
        "opened in early 2023",
        "opened in November 2023",
        "date",
        "early 2023",
        "November 2023",
    ),
    ("due in early May", "due at the end of May", "date", "early May", "the end of May"),
    ("carries 1.5 tonnes", "carries 750 kg", "number", "1.5 tonnes", "750 kg"),
]

NO_CONFLICTS = [
    ("a grant of 3m GBP", "a grant of £3 million"),
    ("holds 2 litres", "holds 2000 ml"),
    ("Ann works with Bo", "Bo works with Ann"),
    ("In Oslo Ann met Bo", "Ann met Bo in Oslo"),
    ("Ann leads sales and Bo leads support", "Bo leads support and Ann leads sales"),
    ("On Tuesdays Bo is trained by Ann", "Ann trains Bo on Tuesdays"),
    ("A man is pouring oil into a pan", "Oil is being poured into a pan by a man"),
    ("Ann speaks before Bo", "Bo leaves before Ann"),
    ("The van is faster than the lorry", "The lorry is older than the van"),
    ("secondary school department head", "head of department in secondary school"),
    ("The meal comes before the speech", "The speech comes after the meal"),
    ("Likes trains better than planes", "Prefers trains to planes"),
    ("Away from 1 June to 31 August", "Away through August"),
    ("lived in Oslo from 2012 to 2016", "lives in Bonn"),
    ("Likes trains from Oslo", "Prefers trains from Oslo"),
    ("Ann is married to Bo", "Bo is married to Ann"),
    ("Ann is next to Bo", "Bo is next to Ann"),
    ("Ann is close to Bo", "Bo is close to Ann"),
    ("Ann lives near Bo", "Bo lives near Ann"),
    ("The lab connects to the shed", "The shed connects to the lab"),
    ("Merge request needs review from Ann", "Ann needs merge request review"),
    ("Launch in fall 2025", "Launch in autumn 2025"),
    ("Away 2 May", "Away 1 to 3 May"),
    ("Away June 3", "Away June 1-15"),
    ("Call on June 3 - 5 pm", "Call on 3 June at 5 pm"),
    ("Away June 3 to 5 July", "Away 3 June until July 5"),
    ("Away until 28 February", "Back on 1 March"),
    ("Away until 31 December", "Back on 1 January"),
    ("open from 2 June", "open from 2 June until 9 June"),
    ("everyone except Ruth", "all but Ruth"),
    ("3 people were hired", "people were hired"),
    ("takes 72 hours", "takes 3 days"),
    ("grew by 0.44 percent", "grew by 0.4 %"),
    ("has two children", "has 2 children"),
    ("a two-week workshop", "a 2-week workshop"),
    ("a 6-year-old project", "a project, 6"),
    ("1.1 million users", "1.1 millions users"),
    ("weighs 260 pounds", "weighs 118 kg"),
    ("on 17 March 2026", "on March 17"),
    ("at 2:30 pm", "at 14:30"),
    ("Reports to Grace", "reports to grace"),
    ("Talks with Hezbollah", "Talks with Hizbullah"),
    ("Troops from Spain", "Spanish troops"),
    ("reports to Dan", "reports to Daniel"),
    ("Software Engineer", "Software Developer"),
    ("Head of Product", "Product Lead"),
    ("Engineering Director", "Director of Engineering"),
    ("She will not stop", "She will continue"),
    ("not eating", "not eating grass"),
    ("watered every day", "watered daily"),
    ("watered 3 times a week", "watered three times per week"),
    ("paid every two weeks", "paid bi-weekly"),
    ("in the office every Monday and Friday", "in the office twice a week"),
    ("meets every first Monday of the month", "meets monthly"),
    ("stopped smoking", "no longer smokes"),
    ("cannot attend", "is unable to attend"),
    ("about 300 guests", "297 guests"),
    ("more than 300 guests", "412 guests"),
    ("leads up to 8 people", "leads 5 people"),
    ("budget of 300 EUR", "budget of up to 500 EUR"),
    ("more than 100 users", "over 100 users"),
    ("less than 10 minutes", "up to 10 minutes"),
    ("launches in mid-March", "launches on 10 March"),
    ("launches in mid-March", "launches on 21 March"),
    ("launches in early June", "launches on 11 June"),
    ("launched in early 2023", "launched in May 2023"),
    ("due in late Q2", "due in May"),
    ("due in early March", "due in mid-March"),
    ("back in spring", "back in April"),
    ("no meetings on Wednesdays", "Wednesdays are free of meetings"),
    ("rent is 81 000 SEK", "rent is 81k SEK"),
    ("It cost 10 000.", "It cost 10,000."),
    ("World No. 2", "World number 2"),
    ("Tel: 070-555 01 44", "Reachable at 070 555 0144"),
    ("not at work on Mondays", "Monday is a day off"),
    ("The shop is not open", "The shop is closed"),
    ("the disk is not encrypted", "the disk is unencrypted"),
    ("prefers async Slack over email", "favours asynchronous communication via Slack"),
]


@pytest.mark.parametrize(("left", "right", "kind", "said", "contradicted"), CONFLICTS)
def test_a_conflict_quotes_the_words_of_both_texts(
    left: str, right: str, kind: str, said: str, contradicted: str
) -> None:
    (conflict,) = find_conflicts(left, right)
    assert (conflict.kind, conflict.left, conflict.right) == (kind, said, contradicted)


@pytest.mark.parametrize(("left", "right"), NO_CONFLICTS)
def test_a_paraphrase_or_an_omission_is_not_a_conflict(left: str, right: str) -> None:
    assert find_conflicts(left, right) == ()


def test_a_word_that_begins_a_text_does_not_count_as_a_name() -> None:
    conflicts = find_conflicts("Based in Oslo, works there on Fridays", "Never works on Fridays")
    assert [conflict.kind for conflict in conflicts] == ["negation"]


def test_a_long_text_is_read_in_little_time() -> None:
    started = time.process_time()
    assert find_conflicts("5 " * 20_000, "x") == ()
    for form in ("{} kg", "Name{:x}", "undo{:x}"):
        one, other = (
            " ".join(form.format(number) for number in range(first, 9_000, 2)) for first in (1, 2)
        )
        find_conflicts(one, other)
    assert time.process_time() - started < 5


words = st.sampled_from(
    [
        "Alice",
        "Bob",
        "Berlin",
        "3",
        "5",
        "kg",
        "March",
        "Monday",
        "not",
        "no",
        "done",
        "blocked",
        "leads",
        "the",
        "Team",
        "A",
        "B",
        "v2",
    ]
)


@given(st.lists(words, max_size=8).map(" ".join), st.lists(words, max_size=8).map(" ".join))
def test_swapping_the_texts_finds_the_same_kinds_of_conflict(left: str, right: str) -> None:
    forward = {
        (conflict.kind, conflict.left, conflict.right) for conflict in find_conflicts(left, right)
    }
    backward = {
        (conflict.kind, conflict.right, conflict.left) for conflict in find_conflicts(right, left)
    }
    assert {kind for kind, *_ in forward} == {kind for kind, *_ in backward}
    assert len(forward) == len(backward)


@given(st.text(max_size=80))
def test_a_text_never_contradicts_itself(text: str) -> None:
    assert find_conflicts(text, text) == ()
