"""Labels stored in a file."""

from pathlib import Path

from kbx_tui.drafting.decided_pairs import Label, read_labels, write_labels


def test_unreadable_labels_are_preserved(tmp_path: Path) -> None:
    write_labels(tmp_path, [Label("a", "b", True)])
    with (tmp_path / ".kbx" / "labels.jsonl").open("ab") as file:
        file.write(b'\xff\n{"left":1,"right":"b","same":"no"}\n')
    write_labels(tmp_path, [*read_labels(tmp_path), Label("c", "d", False)])
    assert read_labels(tmp_path) == (Label("a", "b", True), Label("c", "d", False))
    assert b"\xff\n" in (tmp_path / ".kbx" / "labels.jsonl").read_bytes()


def test_newest_label_of_a_pair_wins(tmp_path: Path) -> None:
    labels = [Label("a", "b", True), Label("c", "d", True), Label("b", "a", False)]
    write_labels(tmp_path, labels)
    assert read_labels(tmp_path) == (Label("b", "a", False), Label("c", "d", True))
