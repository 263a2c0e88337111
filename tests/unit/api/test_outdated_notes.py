"""When files that changed since they were indexed are counted again."""

import pytest

from kbx_tui.api.session import OUTDATED_SECONDS, OUTDATED_TIMES, OutdatedNotes

MODULE = OutdatedNotes.__module__


class Counting:
    """A count of newer files that takes a while, and the clock by which it does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, takes: float) -> None:
        self.now, self.count, self._takes = 1000.0, 0, takes
        self._notes = OutdatedNotes()
        monkeypatch.setattr(f"{MODULE}.time.monotonic", lambda: self.now)

    def _newer(self) -> list[str]:
        self.now += self._takes
        self.count += 1
        return [f"{number}.md" for number in range(self.count)]

    def after(self, seconds: float, generation: int = 1) -> tuple[str, ...]:
        self.now += seconds
        return self._notes.of(generation, self._newer, lambda: False)


@pytest.mark.parametrize(("takes", "pause"), [(0.0, OUTDATED_SECONDS), (2.0, 2.0 * OUTDATED_TIMES)])
def test_files_are_counted_again_after_a_pause_that_grows_with_the_time_it_takes(
    monkeypatch: pytest.MonkeyPatch, takes: float, pause: float
) -> None:
    counting = Counting(monkeypatch, takes)
    first = counting.after(0.0)
    assert "1 file" in first[0]
    assert counting.after(pause - 1.0) == first
    assert counting.after(2.0) != first
    assert counting.count == 2


def test_files_are_counted_again_for_another_generation(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch, 0.0)
    counting.after(0.0)
    counting.after(1.0, generation=2)
    assert counting.count == 2
