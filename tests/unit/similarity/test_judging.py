"""Judgements of pairs: what the words rule out, the costs, and the reason in one line."""

import numpy as np
import pytest

from kbx_tui.embedding.cross_encoder import JudgedRelation
from kbx_tui.similarity.compared_words import analyse_words, compare
from kbx_tui.similarity.conflict_guard import find_conflicts
from kbx_tui.similarity.judging import Judgement, KeyUse, Probabilities, judge, judge_by_rules
from tests.unit.similarity.building import make_pair

CERTAIN = {
    relation: np.eye(4, dtype=np.float32)[row] * 0.9 + 0.025
    for row, relation in enumerate(("same", "refines", "conflict", "different"))
}


def said_of(
    known: str,
    draft: str,
    probabilities: Probabilities,
    use: KeyUse = KeyUse(),  # noqa: B008
    *,
    cosine: float = 0.7,
) -> Judgement:
    signals = compare(analyse_words(draft), analyse_words(known), cosine)
    return judge(draft, known, probabilities, signals, lambda key: use)


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("manager: Bruno Brandt", "manager: Chen Castro"),
        ("owner: Liam", "owner: Nadia"),
        ("Reports to Dana", "Reports to Daniel"),
        ("SIG Docs chair: Jim Angel", "SIG Docs chair: Irvi Aini"),
        ("reports to Marta Lind", "reports to Maria Lind"),
        ("Lives in Kyoto", "Lives in Osaka, nine hours ahead of us"),
    ],
)
def test_names_that_differ_are_a_conflict(known: str, draft: str) -> None:
    assert [conflict.kind for conflict in find_conflicts(draft, known)] == ["name"]


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("deploy window opens 22:00", "deploy window opens at 10 p.m."),
        ("budget is 54k EUR", "budget is €54,000"),
        ("works in HR", "works in human resources"),
        ("on-call rota moves Friday 9:00", "on call rota moves on Friday at 9 a.m."),
        ("works for Acme Inc.", "works for Acme"),
        ("Petra has seven reports", "Petra has 7 reports"),
        ("Role - office manager", "role: office manager"),
        ("Away Monday, Wednesday", "Away on Mondays and Wednesdays"),
        ("Has a cat allergy", "allergic to cats"),
        ("Visiting is from 2 pm to 8 pm", "visiting hours: 14:00-20:00"),
        ("decided to adopt Kafka", "decision: adopt Kafka"),
        ("Away from 1 to 28 February", "Away in February"),
        ("Launches in fall 2025", "Launches in autumn 2025"),
        ("The API is deprecated", "The API has been deprecated"),
        ("About 50 servers", "around 50 servers"),
    ],
)
def test_another_format_is_the_same(known: str, draft: str) -> None:
    assert said_of(known, draft, CERTAIN["conflict"]).relation == "same"


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("budget is 54k EUR", "budget is 54k USD"),
        ("from 3 to 5 people", "from 5 to 3 people"),
        ("she covers for Erin", "Erin covers for her"),
        ("moved from Oslo", "moved to Oslo"),
        ("Away until Friday", "Away from Friday"),
        ("Contract runs to 2026-05-01", "Contract runs from 2026-05-01"),
        ("Report due by Friday", "Report due on Friday"),
        ("Starts after 10:00", "Starts at 10:00"),
        ("Away on Friday", "Away on Fridays"),
        ("moves 3 May to 2026-06-01", "moves 2026-06-01 to 3 May"),
        ("latency < 5 ms", "latency > 5 ms"),
        ("likes C", "likes C++"),
        ("Works from home", "Works away from home"),
        ("Moved away from Kafka", "Moved from Kafka"),
        ("Prefers still water", "Prefers water"),
        ("writes F#", "writes F"),
        ("backup ✅", "backup ❌"),
        ("5 people", "5+ people"),
        ("costs 5", "costs 5 kg"),
        ("rate is 0.4 percent", "rate is 0.44 %"),
        ("pays 5 USD, 6 EUR", "pays 5 EUR, 6 USD"),
        ("fee is ¥500", "fee is ₹500"),
        ("room 3-5", "room 3, 5"),
        ("Ann 5, Bob", "Ann, Bob 5"),
        ("owner: PM", "owner: Paul Mayer"),
        ("Team A", "Team"),
        ("A-level maths", "level maths"),
        ("works for Acme Ltd", "works for Acme Inc"),
        ("Ann resigned", "Ann re-signed"),
        ("Trains Erin", "Trainer: Erin"),
        ("Reports to Ann", "Reported to Ann"),
        ("allergic to latex", "has no latex allergy"),
        ("Dana applied for Erin", "Erin's application for Dana"),
        ("is now here", "is nowhere"),
        ("Is the release on Friday?", "Is the release on Friday"),
        ("14 staff", "16 employees"),
        ("Open from 2 pm", "Open 2 pm"),
        (f"{'word ' * 200}red", f"{'word ' * 200}blue"),
    ],
)
def test_other_values_and_another_order_are_not_the_same(known: str, draft: str) -> None:
    assert said_of(known, draft, CERTAIN["conflict"]).relation == "conflict"


@pytest.mark.parametrize(
    ("known", "draft", "relation"),
    [
        ("Plays the violin", "She also plays the viola", "different"),
        ("Allergic to latex", "allergic to penicillin", "different"),
        ("Speaks only Welsh", "speaks English", "conflict"),
        ("Plays chess on Mondays", "plays chess on Tuesdays", "conflict"),
        ("Plays the violin", "No longer plays the violin", "conflict"),
    ],
)
def test_another_of_what_may_be_many_does_not_conflict(
    known: str, draft: str, relation: JudgedRelation
) -> None:
    assert said_of(known, draft, CERTAIN["conflict"]).relation == relation


@pytest.mark.parametrize(
    ("known", "draft", "cosine", "relation"),
    [
        ("Lives in Ledbury", "Eats cheese again", 0.1, "different"),
        ("Vegan", "Eats cheese again", 0.28, "conflict"),
        ("employer: Globex", "she joined Initech", 0.1, "conflict"),
        ("reports to Dana", "reports to Daniel", 0.1, "conflict"),
    ],
)
def test_texts_about_other_things_do_not_contradict(
    known: str, draft: str, cosine: float, relation: JudgedRelation
) -> None:
    assert said_of(known, draft, CERTAIN["conflict"], cosine=cosine).relation == relation


@pytest.mark.parametrize(
    ("known", "draft", "said", "relation", "reason"),
    [
        ("reports to Dana", "reports to Daniel", "conflict", "conflict",
         "same “reports to”, other name: Dana → Daniel"),
        ("prefers tea over coffee", "prefers coffee over tea", "conflict", "conflict",
         "the order is reversed"),
        ("favourite colour is blue", "favourite colour is green", "conflict", "conflict",
         "same “favourite colour is”, other value: blue → green"),
        ("prefers herb tea over coffee", "prefers coffee over tea", "conflict", "conflict",
         "the order is reversed"),
        ("Leads the Sales team since March 2025", "Team lead of Sales since May", "conflict",
         "conflict", "both cannot be true, it seems"),
        ("Works at Siemens", "Left Siemens in June", "conflict", "conflict",
         "both cannot be true, it seems"),
        ("The lift is broken", "The elevator runs well", "conflict", "conflict",
         "both cannot be true, it seems"),
        ("reports to Ann Lee", "reports to Bo Ray", "conflict", "conflict",
         "other name: Ann Lee → Bo Ray"),
        ("revenue was 5 million in 2023", "revenue was 7 million in 2024", "conflict",
         "different", "both can be true: 2023 and 2024"),
        ("speaks Polish", "speaks Polish and Czech", "refines", "refines",
         "only one says “and Czech”"),
    ],
)  # fmt: skip
def test_reason_says_in_one_line_what_decides(
    known: str, draft: str, said: JudgedRelation, relation: JudgedRelation, reason: str
) -> None:
    judgement = said_of(known, draft, CERTAIN[said])
    assert judgement.relation == relation
    assert reason in judgement.reason
    assert (judgement.conflicts != ()) is (relation == "conflict")


UNCERTAIN: dict[JudgedRelation, list[float]] = {
    "same": [0.7, 0.0, 0.2, 0.1], "conflict": [0.35, 0.0, 0.6, 0.05],
    "different": [0.0, 0.0, 0.3, 0.7],
}  # fmt: skip


@pytest.mark.parametrize(
    ("known", "draft", "said", "relation"),
    [
        ("the vault is below the chapel", "the vault is above the chapel", "same", "conflict"),
        ("the thief betrayed the wizard", "the wizard betrayed the thief", "same", "conflict"),
        ("the thief and the wizard", "the wizard and the thief", "same", "same"),
        ("in 2011 moved to Ghent", "moved to Ghent in 2011", "same", "same"),
        ("only Ann has the key", "only Bob has the key", "different", "conflict"),
        ("side effect: itch", "side effect: headache", "same", "conflict"),
        ("open 9am-5pm", "open 09:00 to 17:00", "conflict", "same"),
        ("paid at a rate and a half", "paid at a double rate", "same", "conflict"),
        ("the lift is out of order", "the lift works again", "same", "conflict"),
        ("on leave", "back from leave", "same", "conflict"),
        ("the pool is closed", "the pool reopened", "same", "conflict"),
        ("on sick leave", "returned to work on Monday", "same", "conflict"),
        ("Has pain in her back", "Has back pain", "same", "same"),
        ("Wrote the CV template", "wrote the resume template", "same", "same"),
        ("Meets Bo once more in May", "meets Bo again in May", "same", "same"),
        ("Phones Bo on Mondays", "phones Bo back on Mondays", "same", "same"),
        ("Maintains the backend", "maintains the back end", "same", "same"),
        ("Restarts the server nightly", "returns the server to life nightly", "same", "same"),
        ("Sits behind the kiln", "sits at the back behind the kiln", "same", "same"),
        ("at work", "not at work", "conflict", "conflict"),
    ],
)
def test_words_decide_where_the_model_is_in_doubt(
    known: str, draft: str, said: JudgedRelation, relation: JudgedRelation
) -> None:
    assert said_of(known, draft, np.array(UNCERTAIN[said], np.float32)).relation == relation


@pytest.mark.parametrize(
    ("known", "draft", "relation"),
    [
        ("Joined in 2023", "Joined in May 2023", "refines"),
        ("Due in Q3 2026", "Due in August 2026", "refines"),
        ("Away from 1 June to 31 August 2026", "Away June through August", "refines"),
        ("Closed in January", "Closed from 4 to 31 January", "refines"),
        ("Closed from 4 to 31 January", "Closed in January", "conflict"),  # on other days, too
        ("On leave on 5 June", "On leave in June", "conflict"),
        ("Born in 1990", "Born in May", "conflict"),
        ("Born in May", "Born in 1990", "conflict"),
        ("Closed the shop in 2024", "Closed the shop in June", "conflict"),
        ("Away June 1-15", "Away June 3", "refines"),
        ("Away from 22 December to 2 January", "Away 22 December until 2 January", "same"),
        ("Due in Q4 2025", "Due in the fourth quarter of 2025", "same"),
        ("Due in Q3 2026", "Due in November 2026", "conflict"),
        ("Joined in 2023: 5", "Joined in May 2023: 5", "conflict"),  # a figure of a month
        ("Away 3 to 7 August", "Away 21 to 25 August", "conflict"),
        ("Away from 1 June to 31 August", "Away until 30 September", "conflict"),
        ("Joined in spring 2023", "Joined in May 2023", "refines"),
        ("Back in late March", "Back on 28 March", "refines"),
        ("Due at the end of June", "Due on 30 June", "refines"),
        ("Kick-off in early October", "Kick-off on 28 October", "conflict"),
        ("Launched in Q2 2024", "Launched in September 2024", "conflict"),
        ("Joined in May 2023", "Joined in 2023", "refines"),  # an event lasts no time
        ("About 50 servers", "48 servers", "refines"),
        ("48 servers", "About 50 servers", "refines"),
        ("More than 100 users", "90 users", "conflict"),
        ("Away in mid-March", "Away from 11 to 20 March", "refines"),
        ("Away from 11 to 20 March", "Away in mid-March", "conflict"),
    ],
)
def test_a_date_within_a_period_or_a_number_near_a_rough_one_is_more_exact(
    known: str, draft: str, relation: JudgedRelation
) -> None:
    assert said_of(known, draft, CERTAIN["conflict"]).relation == relation


@pytest.mark.parametrize("relation", ["conflict", "refines"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("More than 100 users", "137 users"),
        ("Leads up to 8 people", "leads 5 people"),
        ("Has a travel budget of 300 EUR", "Has a travel budget of up to 500 EUR"),
        ("Approves at most 3 leaves", "Approves 2 leaves"),
        ("Launches in mid-March", "Launches on 10 March"),
        ("Launched in early 2023", "Launched in May 2023"),
    ],
)
def test_the_model_judges_numbers_within_limits_and_dates_near_vague_ones(
    one: str, other: str, relation: JudgedRelation
) -> None:
    for known, draft in ((one, other), (other, one)):
        assert said_of(known, draft, CERTAIN[relation]).relation == relation


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("Prefers Slack, dislikes email", "Prefers email, dislikes Slack"),
        ("Mentors Dana, reports to Bo", "mentors Bo, reports to Dana"),
        ("Backend: Ann, frontend: Bo", "Backend: Bo, frontend: Ann"),
        ("Prefers tea and hates coffee", "Prefers coffee and hates tea"),
        ("The manager of Ann is Bo", "The manager of Bo is Ann"),
    ],
)
def test_parts_of_two_clauses_that_change_places_contradict(known: str, draft: str) -> None:
    doubtful = np.array([0.5, 0.1, 0.25, 0.15], np.float32)
    assert said_of(known, draft, doubtful, cosine=0.98).relation == "conflict"


@pytest.mark.parametrize(
    ("known", "draft", "is_conflict"),
    [
        ("On leave from 1 June to 31 August", "Back from leave on 1 September", False),
        ("The pool is closed until 31 January", "The pool reopens on 1 February", False),
        ("The pool is closed until 31 January", "The pool reopens on 15 January", True),
        ("The pool is closed until 31 January", "The pool is closed until 1 February", True),
    ],
)
def test_what_ends_on_a_day_agrees_with_a_return_on_the_next(
    known: str, draft: str, is_conflict: bool
) -> None:
    doubtful = np.array([0.2, 0.2, 0.5, 0.1], np.float32)
    assert (said_of(known, draft, doubtful).relation == "conflict") is is_conflict


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("The meal is before the speech", "The speech comes after the meal"),
        ("Dana replaced Yusuf", "Yusuf was replaced by Dana"),
        ("Dana is married to Yusuf", "Yusuf is married to Dana"),
        ("On leave", "Away on leave"),
        ("Prefers async Slack over email", "Prefers Slack to email"),
        ("No meetings on Fridays", "Fridays are free of meetings"),
    ],
)
def test_what_is_said_the_other_way_round_does_not_contradict(known: str, draft: str) -> None:
    doubtful = np.array([0.3, 0.0, 0.6, 0.1], np.float32)
    assert said_of(known, draft, doubtful, cosine=0.9).relation == "same"


@pytest.mark.parametrize(
    ("use", "relation", "reason"),
    [
        (KeyUse(), "conflict", "same “perk”, other value: lunch → gym"),
        (KeyUse(several=1), "conflict", ""),
        (KeyUse(several=2), "different", "perk may have several values, as on 2 pages"),
        (KeyUse(several=2, replaced=3), "conflict", ""),
        (KeyUse(replaced=4), "conflict", "gym (one value at a time on 4 pages)"),
    ],
)
def test_a_base_teaches_how_many_values_a_key_has(
    use: KeyUse, relation: JudgedRelation, reason: str
) -> None:
    judgement = said_of("perk: lunch", "perk: gym", CERTAIN["conflict"], use)
    assert judgement.relation == relation
    assert reason in judgement.reason
    spouses = said_of("spouse: Eve", "spouse: Ann", CERTAIN["conflict"], KeyUse(several=9))
    assert spouses.relation == "conflict"


@pytest.mark.parametrize(
    ("known", "draft", "cosine", "relation"),
    [
        ("Has a rabbit allergy", "Allergic to rabbits", 0.9, "same"),
        ("Has a rabbit allergy", "Works in the garden", 0.1, "different"),
        ("Dogs are welcome", "Cash is accepted here", 0.1, "different"),
    ],
)
def test_vectors_decide_where_the_model_is_in_doubt(
    known: str, draft: str, cosine: float, relation: JudgedRelation
) -> None:
    doubtful = np.array([0.3, 0.05, 0.35, 0.3], np.float32)
    assert said_of(known, draft, doubtful, cosine=cosine).relation == relation


@pytest.mark.parametrize(
    ("draft", "relation"), [("Notice is 2 weeks", "different"), ("The trial is 2 weeks", "same")]
)
def test_values_alone_do_not_make_texts_alike(draft: str, relation: JudgedRelation) -> None:
    judgement = said_of("Trial takes 2 weeks", draft, CERTAIN["same"], cosine=0.3)
    assert judgement.relation == relation


def test_doubt_between_the_same_and_a_change_is_a_conflict() -> None:
    doubtful = np.array([0.5, 0.0, 0.5, 0.0], np.float32)
    assert said_of("plays chess", "now plays chess", doubtful).relation == "conflict"


def test_conflict_counts_from_the_same_topic_whatever_the_threshold() -> None:
    moved = judge_by_rules("review is on Thursdays", "review is on Mondays", 0.65)
    assert (moved.relation, [conflict.kind for conflict in moved.conflicts]) == (
        "conflict", ["date"],
    )  # fmt: skip
    assert judge_by_rules("review is on Thursdays", "review is on Mondays", 0.55).conflicts == ()


@pytest.mark.parametrize(("score", "known"), [(0.95, True), (0.85, False)])
def test_without_the_model_the_threshold_decides(score: float, known: bool) -> None:
    assert make_pair(score).is_known(0.9) is known
