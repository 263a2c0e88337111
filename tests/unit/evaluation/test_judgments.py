"""The file of the user's judgments: whatever happens to it, the last readable line counts."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError, NotFound, WriteFault
from kbx_tui.evaluation.judgments import (
    Judgment,
    JudgmentLog,
    judged_queries,
    knobs_of,
    read_judgments,
)
from kbx_tui.search.request import Tuning


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return folder


QUERY = '{"id": "q1", "text": "who decided?", "kind": "person", "form": "person-only"}\n'


def test_labelled_folder_is_read_in_query_order(tmp_path: Path) -> None:
    write(
        tmp_path,
        queries_jsonl='{"id": "q2", "text": "roll\u2028backs", "kind": "topic"}\r\n\n' + QUERY,
        qrels_tsv="q1\tmemory/a.md\t2\r\nq1\tmemory/b.md\t0\nq9\tmemory/b.md\t1\n",
        entities_tsv="q1\tmemory/people/alice.md\t1\n",
    )
    topic, person = read_judgments(tmp_path)
    assert (topic.id, topic.group, topic.grades, topic.entities) == ("q2", "topic", {}, frozenset())
    assert person.group == "person-only"
    assert person.grades == {"memory/a.md": 2, "memory/b.md": 0}
    assert person.entities == {"memory/people/alice.md"}


def test_queries_and_grades_are_required_but_entities_optional(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"qrels\.tsv"):
        read_judgments(tmp_path)
    write(tmp_path, qrels_tsv="q1\tmemory/a.md\t1\n")
    with pytest.raises(NotFound, match=r"queries\.jsonl"):
        read_judgments(tmp_path)
    write(tmp_path, queries_jsonl=QUERY)
    assert len(read_judgments(tmp_path)) == 1


@pytest.mark.parametrize(
    ("queries", "qrels", "message"),
    [
        ("{", "", r"queries\.jsonl:1 is not a JSON object"),
        ("[1]", "", "is not a JSON object: Expected `object`, got `array`"),
        ('{"id": "q1"}', "", "needs a text under 'text'"),
        ('{"text": "a"}', "", "needs a text under 'id'"),
        (QUERY, "q1 memory/a.md 1", r"qrels\.tsv:1 must be query, path and grade"),
        (QUERY, "q1\ta\t1\nq1\tb\tgood", r"qrels\.tsv:2 needs a grade"),
        (QUERY, "q1\ta\t-1", "needs a grade"),
    ],
)
def test_invalid_line_is_reported_with_file_and_line_number(
    tmp_path: Path, queries: str, qrels: str, message: str
) -> None:
    write(tmp_path, queries_jsonl=queries, qrels_tsv=qrels)
    with pytest.raises(ConfigError, match=message):
        read_judgments(tmp_path)


FILE = Path(".kbx", "judgments.jsonl")

QUERIES, PATHS = ("lunch", "rollback plan"), ("memory/a.md", "memory/b c.md")
GRADES = (0, 1, 2, 3, None)

pairs = st.tuples(st.sampled_from(QUERIES), st.sampled_from(PATHS))
grades = st.sampled_from(GRADES)
steps = st.lists(st.tuples(pairs, grades) | st.just("undo"), max_size=20)
texts = st.text(min_size=1).filter(str.strip)


class Notices(list[str]):
    def __call__(self, text: str) -> None:
        self.append(text)


@pytest.fixture
def log(tmp_path: Path) -> JudgmentLog:
    return JudgmentLog(tmp_path, Notices())


def write_lines(root: Path, *lines: str) -> None:
    (root / FILE).parent.mkdir(exist_ok=True)
    (root / FILE).write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))


def current(log: JudgmentLog) -> dict[tuple[str, str], int | None]:
    return {judgment.pair: judgment.grade for judgment in log.read()}


@given(steps)
def test_judging_and_undoing_agree_with_a_list_of_grades(
    tmp_path_factory: pytest.TempPathFactory, steps: list[object]
) -> None:
    root = tmp_path_factory.mktemp("base")
    log, expected = JudgmentLog(root, Notices()), list[tuple[tuple[str, str], int | None]]()
    for step in steps:
        match step:
            case ((str(query), str(path)), (int() | None) as grade):
                log.add([Judgment(query, path, grade)])
                expected.append(((query, path), grade))
            case _ if expected:
                undone = log.undo()
                assert (undone.undone.pair, undone.undone.grade) == expected.pop()
                restored = dict(expected).get(undone.undone.pair, "none")
                assert restored == (undone.restored.grade if undone.restored else "none")
            case _:
                with pytest.raises(WriteFault, match="no judgment to undo"):
                    log.undo()
        assert current(log) == dict(expected)
    again = JudgmentLog(root, Notices())
    assert current(again) == dict(expected)
    assert current(again) == last_lines(root)


def last_lines(root: Path) -> dict[tuple[str, str], int | None]:
    """Read the file as a script would: the last line of a query and path counts."""
    last = {}
    if (root / FILE).exists():
        for line in (root / FILE).read_text(encoding="utf-8").split("\n"):
            if line:
                fields = json.loads(line)
                last[fields["query"], fields["path"]] = fields["grade"]
    return {
        pair: None if grade == "unsure" else grade
        for pair, grade in last.items()
        if grade is not None
    }


@given(st.lists(st.tuples(texts, texts, grades), min_size=1, max_size=5), st.data())
def test_a_file_cut_off_anywhere_loses_only_the_cut_line(
    tmp_path_factory: pytest.TempPathFactory,
    judged: list[tuple[str, str, int | None]],
    data: st.DataObject,
) -> None:
    root, notices = tmp_path_factory.mktemp("base"), Notices()
    judgments = [Judgment(*fields) for fields in judged]
    JudgmentLog(root, notices).add(judgments)
    whole = (root / FILE).read_bytes()
    kept = data.draw(st.integers(1, len(whole)))
    (root / FILE).write_bytes(whole[:kept])
    intact = whole[:kept].count(b"\n")
    is_torn = not whole[:kept].endswith(b"\n") and whole[kept : kept + 1] != b"\n"
    intact += not whole[:kept].endswith(b"\n") and not is_torn
    log = JudgmentLog(root, notices)
    assert current(log) == {one.pair: one.grade for one in judgments[:intact]}
    assert len(notices) == is_torn
    log.add([Judgment("another", "memory/z.md", 1)])
    assert current(log)["another", "memory/z.md"] == 1
    assert (
        current(log).items()
        >= {one.pair: current(log)[one.pair] for one in judgments[:intact]}.items()
    )


@given(texts, texts, grades)
def test_any_text_comes_back_normalised(
    tmp_path_factory: pytest.TempPathFactory, query: str, path: str, grade: int | None
) -> None:
    root, notices = tmp_path_factory.mktemp("base"), Notices()
    judgment = Judgment(query, path, grade, "2026-03-17T09:41:05Z", knobs_of(Tuning()), 7)
    JudgmentLog(root, notices).add([judgment])
    assert list(JudgmentLog(root, notices).read()) == [judgment]
    assert not notices


def test_other_blanks_make_no_other_query_and_unsure_is_kept_apart(log: JudgmentLog) -> None:
    log.add([Judgment("rollback  plan ", "memory/a.md", 1), Judgment("rollback plan", "m/b.md", 2)])
    (query,) = judged_queries(log.read())
    assert (query.text, query.grades) == ("rollback plan", {"memory/a.md": 1, "m/b.md": 2})

    log.add([Judgment("lunch", "memory/a.md", 3), Judgment("lunch", "memory/b.md", None)])
    _, query = judged_queries(log.read())
    assert query.grades == {"memory/a.md": 3}
    assert query.unsure == {"memory/b.md"}


def test_lines_by_hand_need_only_query_path_and_grade(tmp_path: Path) -> None:
    write_lines(tmp_path, '{"query": "lunch", "path": "memory/a.md", "grade": 1}')
    (judgment,) = JudgmentLog(tmp_path, Notices()).read()
    assert judgment == Judgment("lunch", "memory/a.md", 1)


def test_undoing_counts_although_the_grade_before_cannot_be_read(tmp_path: Path) -> None:
    line = '{"query": "a", "path": "b", "grade": %s}'
    write_lines(
        tmp_path,
        line % "1",
        "{damaged",
        '{"query": "a", "path": "b", "grade": 2, "undo": true}',
        "",
    )
    log = JudgmentLog(tmp_path, Notices())
    assert current(log) == {("a", "b"): 2}
    write_lines(
        tmp_path, line % "1", line % "2", '{"query": "a", "path": "b", "grade": null, "undo": true}'
    )
    assert current(log) == {}


def test_a_judgment_is_undone_only_while_it_counts(log: JudgmentLog) -> None:
    ours, theirs = Judgment("lunch", "memory/a.md", 1), Judgment("lunch", "memory/a.md", 3)
    log.add([ours, Judgment("lunch", "memory/b.md", 2), theirs])
    with pytest.raises(WriteFault, match="judged again"):
        log.undo(ours)
    assert log.undo(theirs).restored == ours
    assert log.undo(ours).restored is None
    assert current(log) == {("lunch", "memory/b.md"): 2}


def test_another_process_that_holds_the_lock_is_named_in_the_error(
    log: JudgmentLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbx_tui.editing.state_files.LOCK_SECONDS", 0.05)
    with (
        JudgmentLog(tmp_path, Notices()).locked(),
        pytest.raises(WriteFault, match="another process"),
    ):
        log.add([Judgment("lunch", "memory/a.md", 1)])
