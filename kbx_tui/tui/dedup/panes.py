"""The panes of the dedup mode: the input line, the drafts, the known facts and the diff."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from textual import events, getters
from textual.content import Content
from textual.message import Message
from textual.timer import Timer

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.dedup.rows import DraftRow, KnownRow
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    Look,
    Span,
    diff_look,
    fit,
    key_lines,
    longest_fitting,
    looks,
    shorten,
    width_of,
    wrap,
    wrap_line,
)
from kbx_tui.tui.terminal_app import TerminalApp
from kbx_tui.tui.widgets.input_fields import CompletePath, PathInput
from kbx_tui.tui.widgets.lines_view import (
    EmptyState,
    RowsView,
    Slot,
    TextPane,
    dim_text,
    titled_text,
)

if TYPE_CHECKING:
    from kbx_tui.drafting.drafts import Draft
    from kbx_tui.drafting.texts import Piece


PLACEHOLDER = "a fact to remember; or paste several lines"
FILE_NAME = re.compile(r"(?i)\S+\.(?:md|markdown|txt|jsonl?)")
LineUse = Literal["new", "text", "merge", "person", "name", "file", "named"]
LINE_TITLES: dict[LineUse, str] = {
    "new": "",
    "text": "change this draft · {take} keeps it, {leave} leaves it",
    "merge": "merged text · {take} accepts, {leave} cancels",
    "person": "name of the person it is about · {take} creates the page, {leave} leaves it",
    "name": "misheard name = right name · {take} shows the places, {leave} leaves it",
    "file": "file of drafts, a line each · {complete} completes, {take} loads it",
    "named": "that names a file · {take} loads its drafts, {leave} keeps the words as they are",
}
"""Titles of the line by its use; the names in braces stand for the keys of its commands."""
BOTH_NAMES = "give both names, such as Karen Veal = Karin Wiel"
MISSING: Mapping[LineUse, str] = {
    "person": "type the name of a person",
    "name": BOTH_NAMES,
    "file": "type the path of a file of drafts",
}
"""What is missing where the line is empty, by its use."""


class DraftLine(PathInput):
    BINDINGS = bindings("draft_line")
    app = getters.app(TerminalApp)
    offers_help = True
    KEEPS_LINES = True
    """Whether pasted text keeps its line breaks."""

    @dataclass
    class Pasted(Message):
        text: str

    example = ""
    """A fact that a key puts into the empty line; empty if the base names nobody."""
    _key = asked_about = ""
    """The name of a file that was typed as a draft, which the user has been asked about."""
    draft: Draft | None = None
    """The draft that a new text is typed for, decided as a merge if its merged text is."""

    def __init__(self, add: Callable[[str], object]) -> None:
        super().__init__(PLACEHOLDER, select_on_focus=False)
        self._add = self._take = add
        self.use: LineUse = "new"

    @property
    def typed(self) -> str:
        return "" if self.use in ("person", "name", "file", "named") else self.value.strip()

    @property
    def missing(self) -> str:
        """What an empty line lacks, if it asks for something."""
        return "" if self.value.strip() else MISSING.get(self.use, "")

    @property
    def names_file(self) -> bool:
        text = self.value.strip()
        is_name = self.use == "new" and FILE_NAME.fullmatch(text) is not None
        return is_name and text != self.asked_about

    def ask_for(
        self,
        use: LineUse,
        take: Callable[[str], object] | None = None,
        text: str = "",
        complete: CompletePath | None = None,
        draft: Draft | None = None,
    ) -> None:
        self.use, self._take, self.draft = use, take or self._add, draft
        keymap = self.app.keymap
        names = ("take", "leave", "complete")
        keys = {name: keymap.key_of(f"draft_line.{name}") for name in names}
        self.border_title = LINE_TITLES[use].format(**keys)
        self.set_class(use != "new", "-asks")
        self.show_placeholder()
        self.show_text(text)
        self.complete_with(complete)
        if use != "new":
            self.screen.set_focus(self)

    def show_placeholder(self) -> None:
        """Say in the empty line what it is for; the key of the example works only in it."""
        example = f"such as: {self.example} · {self._key} takes it"
        words = example if self.example and self.has_focus else PLACEHOLDER
        self.placeholder = words if self.use == "new" else ""

    def show_example(self, example: str, key: str) -> None:
        """Offer an example, which `key` takes, in the empty line."""
        self.example, self._key = example, key
        self.show_placeholder()

    def action_take_example(self) -> None:
        if self.use == "new" and not self.value:
            self.show_text(self.example)
            self.select_all()  # typing replaces it

    async def on_key(self, event: events.Key) -> None:
        if event.key == "slash" and self.use == "new" and not self.value:
            event.stop()  # it leads to this line from everywhere else
            event.prevent_default()

    def submit(self) -> bool:
        text = self.value.strip()
        if text and self.use == "new":
            self.value = ""
        if text:
            self._take(text)
        # The name of a file or a person may be wrong, so it stays until it is found.
        return self.use not in ("file", "named", "name") or not text

    def show_text(self, text: str) -> None:
        self.value = text
        self.cursor_position = len(text)

    def on_paste(self, event: events.Paste) -> None:
        if "\n" in event.text:
            event.stop()
            event.prevent_default()
            self.post_message(self.Pasted(event.text))


STATE_LOOKS: dict[str, Look] = {"new": "entity", "near": "document", "conflict": "bad"}
OUTCOME_WIDTH = 23
LEAST_ABOUT = 14
ONE_LINE = 68
"""Width from which a draft has one line, except the one under the cursor."""


class DraftList(RowsView[DraftRow]):
    COMPONENT_CLASSES = looks("strong", "accent", "entity", "document", "bad", "cursor")
    BINDINGS = bindings("drafts")
    LEAVE_ACTION = "screen.focus_line"

    def show(self, rows: tuple[DraftRow, ...]) -> None:
        left = {row.id for row in rows}
        gone = sum(row.id not in left for row in self.rows[: self.cursor])
        self.show_rows(rows, key=lambda draft: draft.id, otherwise=self.cursor - gone)

    def go_to(self, draft_id: str) -> None:
        ids = [row.id for row in self.rows]
        if draft_id in ids:
            self.cursor = ids.index(draft_id)
            self.show_cursor()

    def go_to_undecided(self) -> None:
        """Go down to the next undecided draft, if there is one."""
        below = self.rows[self.cursor + 1 :]
        if row := next((row for row in below if not row.is_settled), None):
            self.go_to(row.id)

    def row_heights(self) -> list[int]:
        heights = [1 if self.line_width >= ONE_LINE else 2] * len(self.rows)
        if self.current is not None:
            heights[self.cursor] = len(self._texts(self.cursor, self.line_width)) + 1
        return heights

    def row_line(self, row: int, part: int, width: int) -> Line:
        draft, texts = self.rows[row], self._texts(row, width)
        beside = OUTCOME_WIDTH + 4 if width >= ONE_LINE else 0
        if part >= len(texts):  # more where a line became wider since the heights were measured
            return about_line(draft, width) if beside else outcome_line(draft, width)
        marker = self.marker(row) if part == 0 else ""
        line = draft_line(draft, texts[part], width - beside, marker)
        return (*line, *outcome_line(draft, beside)) if beside and part == 0 else line

    def _texts(self, row: int, width: int) -> list[str]:
        """Return the text of a draft, whole under the cursor, else as much as fits in a line."""
        beside = OUTCOME_WIDTH + 4 if width >= ONE_LINE else 0
        room, text = max(width - beside - 3, 1), self.rows[row].text
        return wrap(text, room) if row == self.cursor else [text]

    def cursor_moved(self) -> None:
        self.rebuild_lines()
        self.show_cursor()
        super().cursor_moved()


def draft_line(draft: DraftRow, text: str, width: int, marker: str = " ") -> Line:
    """Return `› ≈ Alice favours async Slack` in exactly `width` cells; without a marker, indented.

    `text` is that of the draft, or a line of it.
    """
    look: Look = "text" if draft.action == "skip" else "strong"
    shown = Span(fit(text, max(width - 3, 0)), look)
    if not marker:
        return (Span("   "), shown)
    return (Span(marker, "dim"), Span(f"{draft.sign} ", state_look(draft)), shown)


def outcome_line(draft: DraftRow, width: int) -> Line:
    """Return `near → merge?  Alice Chen · fact`, with `?` if the user has to decide."""
    outcome: Line = (Span(draft.state, state_look(draft)),)
    if draft.is_decided:
        outcome += (Span(" → ", "dim"), Span(f"{draft.action_words} ✓", "accent"))
    elif draft.action:
        outcome += (Span(f" → {draft.action_words}{'' if draft.is_sure else '?'}", "dim"),)
    outcome += _hint(draft)
    room = max(width - 3 - width_of(outcome), 0)
    about = ""
    if room >= LEAST_ABOUT:
        about = shorten(longest_fitting(about_wordings(draft), room - 2), room - 2)
    gap = max(min(OUTCOME_WIDTH - width_of(outcome), room - cell_len(about)), 2)
    return (Span("   "), *outcome, Span(" " * gap), Span(about, "dim"))


def about_line(draft: DraftRow, width: int) -> Line:
    """Return `Alice Chen · fact`, below the outcome of the draft under the cursor."""
    hint = _hint(draft)
    about = longest_fitting(about_wordings(draft), width - 3 - width_of(hint))
    return (Span("   "), Span(about, "dim"), *hint)


def _hint(draft: DraftRow) -> Line:
    return (Span("  "), Span(f"≠? {draft.hint}", "bad")) if draft.hint else BLANK


def about_wordings(draft: DraftRow) -> list[str]:
    """Return owner, kind and who proposes it: all, then less."""
    owner = draft.about.rpartition(" · ")[0]
    if not draft.by:
        return [draft.about]
    return [
        f"{draft.about} · from {draft.by}",
        f"{owner} · from {draft.by}",
        f"{owner} · {draft.by}",
    ]


def state_look(draft: DraftRow) -> Look:
    return STATE_LOOKS.get(draft.state, "dim")


DRAFTS_FILE = "drafts.md"
"""The file of drafts that the demo has."""


def no_drafts(
    keymap: Keymap, *, is_typing: bool, is_asked: bool = False, has_file: bool = False
) -> EmptyState:
    """Return the empty state; `is_asked` if the line asks for something else, as its title says."""
    about = titled_text(
        "No drafts.",
        "A draft is a fact you may want to keep. It is compared with the known facts as you"
        " type, and nothing is written until you say so.",
    )
    if is_asked:
        return about
    first, before = (keymap.key_of("draft.new"), "goes to the line for one"), ""
    if is_typing:  # letters are text
        first = (keymap.key_of("draft_line.take"), "makes what you type a draft")
        before = f"{keymap.key_of('draft_line.leave')} "
    if is_typing and not keymap.offers("draft_line.take"):
        first = ("", "type a fact to compare")
    here = f", such as {DRAFTS_FILE} here" if has_file else ""
    words = [
        first,
        *(
            (f"{before}{keymap.key_of(command_id)}", does)
            for command_id, does in (
                ("drafts.load", f"loads a file of drafts, one a line{here}"),
                ("drafts.scan", "finds what the knowledge base says twice"),
            )
            if keymap.offers(command_id)
        ),
    ]
    return lambda width: [*about(width), BLANK, *key_lines(words, width)]


BAR, BAR_FROM = 12, 80
ROOMY = 60
INDENT = 5
OTHERS = "  About others"
"""Title of the facts of other entities, which may score higher than those listed before."""
RELATION_LOOKS: dict[str, Look] = {
    "exact": "document", "duplicate": "document", "refines": "document", "similar": "document",
    "conflict": "bad",
}  # fmt: skip
MARK_LOOKS: dict[str, Look] = {"same": "text", "differs": "match", "conflict": "bad"}


class KnownList(RowsView[KnownRow]):
    COMPONENT_CLASSES = looks("strong", "document", "bad", "match", "rule", "cursor")
    BINDINGS = bindings("known")

    subject = ""

    def show(self, subject: str, known: tuple[KnownRow, ...]) -> None:
        if subject != self.subject:
            self.chosen = False
        self.subject = subject
        self.show_at(known, self.cursor if self.chosen else 0)

    def row_heights(self) -> list[int]:
        heights = [1 if self.line_width >= ONE_LINE else 2] * len(self.rows)
        if self.current is not None:
            heights[self.cursor] = 2 + len(detail_lines(self.current, self.line_width))
        return heights

    def slots(self) -> list[Slot | Line]:
        slots: list[Slot | Line] = []
        others = next((row for row, known in enumerate(self.rows) if not known.decides), -1)
        for row, part in self.row_slots():
            if part == 0 and slots:
                slots.append(BLANK)
            if part == 0 and row == others:
                slots.append((Span(shorten(OTHERS, self.line_width), "dim"),))
            slots.append((row, part))
        return slots

    def row_line(self, row: int, part: int, width: int) -> Line:
        known = self.rows[row]
        if part == 0:
            return known_line(known, width, self.marker(row))
        if part == 1:
            return (place_line if row != self.cursor else open_place_line)(known, width)
        lines = detail_lines(known, width)
        return lines[part - 2] if part - 2 < len(lines) else BLANK

    def is_cursor_line(self, y: int) -> bool:
        return self.has_focus and super().is_cursor_line(y) and self.slot_at(y)[1] < 2

    def cursor_moved(self) -> None:
        self.rebuild_lines()  # only the row under the cursor shows the difference
        self.show_cursor()


def known_line(known: KnownRow, width: int, marker: str = " ") -> Line:
    """Return `› .93 ━━━━━━━━━━  near       Prefers async Slack  2026-02-15`."""
    cells = BAR if width >= BAR_FROM else 0
    length = round(known.score * cells) if known.score_text else 0
    bar = fit("━" * length, cells) + " " if cells else ""
    relation = fit(known.word, 10)
    about = known.date if known.path else "draft"
    end = f" {about} " if about and width >= ROOMY else ""
    room = width - 1 - 5 - cell_len(bar) - 11 - cell_len(end)
    look: Look = "dim" if known.is_redacted else "strong" if known.decides else "text"
    text = Span(fit(known.text, max(room, 0)), look)
    relation_look = RELATION_LOOKS.get(known.relation, "dim") if known.decides else "dim"
    relation_look = "bad" if known.is_of_another else relation_look
    return (
        Span(marker, "dim"),
        Span(f"{known.score_text:>4} "),
        Span(bar, "document" if known.decides else "rule"),
        Span(f"{relation} ", relation_look),
        text,
        Span(end, "dim"),
    )


def detail_lines(known: KnownRow, width: int) -> list[Line]:
    """Return what the row under the cursor shows in addition: all of what decides, and both texts.

    What fits into the lines above is not repeated.
    """
    known, room = without_quotes(known), max(width - INDENT, 8)
    why = [] if has_whole_reason(known, width) else wrap(known.why, room)
    lines = [(Span(" " * INDENT), Span(line, "dim")) for line in why]
    return [*lines, *difference_lines(known, width)]


def without_quotes(known: KnownRow) -> KnownRow:
    """Return a row whose reason does not quote the words that are in brackets below it."""
    return replace(known, why=known.why.partition(": “")[0]) if known.difference else known


def has_whole_reason(known: KnownRow, width: int) -> bool:
    return known.why in place_line(known, width)[1].text


def place_line(known: KnownRow, width: int) -> Line:
    hint = "the same of another: can both be true?" if known.is_of_another else ""
    redacted = "redacted" if known.is_redacted else ""
    parts = (known.place, redacted, known.owner, hint, known.why)
    text = "   ".join(filter(None, parts))
    return (Span(" " * INDENT), Span(shorten(text, max(width - INDENT, 0)), "dim"))


def open_place_line(known: KnownRow, width: int) -> Line:
    """Return the line of the row under the cursor, without a reason that is shown below it."""
    known = without_quotes(known)
    return place_line(known if has_whole_reason(known, width) else replace(known, why=""), width)


def difference_lines(known: KnownRow, width: int) -> list[Line]:
    """Return both texts with what differs; without that, the known one if it was cut above."""
    if (difference := known.difference) is None:
        is_whole = known.text in (span.text.rstrip() for span in known_line(known, width))
        texts = [] if is_whole else wrap(known.text, max(width - INDENT, 8))
        return [(Span(f"{'':{INDENT}}{line}"),) for line in texts]
    room = max(width - INDENT - 2, 8)
    lines: list[Line] = []
    same: Look = "dim" if known.is_redacted else "text"
    for sign, pieces, look in (
        ("−", difference.right, same),
        ("+", difference.left, "text"),
    ):
        for number, line in enumerate(wrap_pieces(pieces, room, look)):
            head = f"{'':{INDENT}}{sign if number == 0 else ' '} "
            lines.append((Span(head, "dim"), *line))
    return lines


def wrap_pieces(pieces: Sequence[Piece], width: int, same: Look = "text") -> list[Line]:
    """Return wrapped lines with differences in brackets; `same` is the look of equal text."""
    spans = []
    for piece in pieces:
        is_plain = piece.mark == "same" or not piece.text.strip()
        text = piece.text if is_plain else f"[{piece.text}]"
        spans.append(Span(text, same if piece.mark == "same" else MARK_LOOKS[piece.mark]))
    return wrap_line(tuple(spans), width)


no_known_facts = dim_text("No known fact is similar. Other text of pages is not compared.")
no_draft_selected = dim_text("Facts similar to your draft appear here.")
still_compared = dim_text("Checking: your draft is being compared with what is known …")


WORKED_OUT = "… being worked out"


class DiffPane(TextPane):
    COMPONENT_CLASSES = looks("entity", "bad", "rule")

    OUTDATED_SECONDS = 0.1
    reason = ""
    lines: tuple[str, ...] = ()
    _outdates: Timer | None = None

    def wait(self) -> None:
        """Wait for lines to show; those shown are of another draft, and go if that takes long."""
        show = partial(self.show, (WORKED_OUT,))
        self._outdates = self._outdates or self.set_timer(self.OUTDATED_SECONDS, show)

    def explain(self, reason: str) -> None:
        self.reason = reason
        self.rebuild_lines()

    def show(self, lines: tuple[str, ...] = ()) -> None:
        if self._outdates is not None:
            self._outdates.stop()
            self._outdates = None
        paths = [line.removeprefix("+++ ") for line in lines if line.startswith("+++ ")]
        self.lines = changed_lines(lines, with_paths=len(paths) > 1)
        names = (path.removeprefix("memory/") for path in paths)
        self.border_title = Content(" · ".join(("What would be written", *names)))
        self.rebuild_lines()
        starts = [line[0].look if line else "text" for line in self._lines]
        changed = [row for row, look in enumerate(starts) if look in ("entity", "bad")]
        firsts = [row for row in changed if self._lines[row][0].text.startswith("  + ")]
        # What is written comes last: below what is struck out.
        last = max(changed, default=0)
        self.scroll_to_line(min([max(last - self.visible_height + 1, 0), *firsts[-1:]]))

    def build(self, width: int) -> list[Line]:
        room = max(width - 2, 8)
        rows: list[Line] = [
            (Span(f"  {row}", diff_look(line)),)
            for line in self.lines
            if not (line.startswith("✗ ") and line[2:] in self.reason)  # said below, with keys
            for row in diff_rows(line, room)
        ]
        if self.reason:
            rows += [BLANK] if rows else []
            rows += [(Span(f"  {row}", "dim"),) for row in wrap(self.reason, room)]
        return rows


def changed_lines(diff: Sequence[str], *, with_paths: bool) -> tuple[str, ...]:
    """Return the lines of a diff that change, below the line before the first of them.

    All of the diff is shown before it is written.
    """
    shown: list[str] = []
    for before, line, after in zip(("", *diff), diff, (*diff[1:], ""), strict=False):
        is_old_path = line.startswith("--- ") and after.startswith("+++ ")
        if is_old_path or line.startswith(("@@", "+++ ")):
            shown += [line] if with_paths and line.startswith("+++ ") else []
        elif line[:1] != " ":
            shown += [before, line] if not shown and before.strip() else [line]
    return tuple(shown)


def diff_rows(line: str, width: int) -> list[str]:
    """Return a line of a diff, wrapped, with its sign set apart: `-- old` becomes `- │ - old`."""
    if diff_look(line) == "rule" or line[:1] not in ("+", "-", " "):
        return wrap(line, width)
    if line[0] == " ":  # it only says where
        return [f"  │ {shorten(line[1:], width - 4)}"]
    first, *rest = wrap(line[1:], max(width - 4, 4)) or [""]
    return [f"{line[0]} │ {first}", *(f"  │ {row}" for row in rest)]
