"""Drafts, checked against what is known before they are written."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size

from kbx_tui.drafting.drafts import Action, Choice
from kbx_tui.errors import ConfigError
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import ANY_MODE
from kbx_tui.tui.dedup import panes, rows
from kbx_tui.tui.dedup.model import READING
from kbx_tui.tui.shell.frame_screen import ModeScreen
from kbx_tui.tui.shell.overlay import Confirm
from kbx_tui.tui.terminal_app import Notice
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.lines_view import RowsView, dim_text
from kbx_tui.tui.widgets.number_slider import NumberSlider


class Dedup(ModeScreen):
    BINDINGS = bindings("review", *ANY_MODE)
    AUTO_FOCUS = "DraftLine"
    MODE = "dedup"
    MOST_KEYS = 7
    PANES: ClassVar = {"drafts": panes.DraftList, "known": panes.KnownList, "diff": panes.DiffPane}
    MAIN_LIST = panes.DraftList

    def __init__(self, session: BaseSession, app_state: AppState) -> None:
        super().__init__(session, app_state)
        self.model = session.review
        self.action_apply, self.action_undo = self.model.apply, self.model.undo

    def compose_panes(self) -> ComposeResult:
        drafts, known, diff = panes.DraftList(), panes.KnownList(), panes.DiffPane()
        drafts.border_title, known.border_title = "Drafts", "Known facts"
        known.empty_state = panes.no_draft_selected
        yield panes.DraftLine(self._add_line)
        with Horizontal(id="review"):
            with Vertical(id="drafts"):
                yield drafts
                yield diff
            yield known
        yield NumberSlider("threshold", 0.9, command="review.threshold_less")

    def on_mount(self) -> None:
        self.model.post, self.model.on_change = self.post_message, self.show_review
        self._show_example()
        self.query_one(NumberSlider).display = False  # until the user moves it
        self.model.open()

    def _show_example(self) -> None:
        summary = self.session.explore.summary
        busiest = () if summary is None else summary.busiest
        person = next((name for name, kind, _ in busiest if kind == "person"), "")
        example = f"{person} plays the cello" if person else ""
        self.line.show_example(example, self.app.keymap.key_of("draft_line.example"))

    @property
    def line(self) -> panes.DraftLine:
        return self.query_one(panes.DraftLine)

    @property
    def is_typing_draft(self) -> bool:
        """Whether what is typed, not the draft under the cursor, is compared and planned."""
        is_there = isinstance(self.focused, panes.DraftLine) or self.draft is None
        return bool(self.line.typed) and is_there

    @property
    def draft(self) -> rows.DraftRow | None:
        return self.query_one(panes.DraftList).current

    @property
    def known(self) -> rows.KnownRow | None:
        known = self.query_one(panes.KnownList)
        is_for_draft = self.draft is not None and known.subject == self.draft.id
        return known.current if is_for_draft else None

    # Focus, keys and size.

    def fit(self, size: Size) -> None:
        self.set_class(size.height < 20, "-short")

    def on_descendant_focus(self) -> None:
        drafts = self.query_one(panes.DraftList)
        summary = self.session.explore.summary
        has_file = summary is not None and Path(summary.root, panes.DRAFTS_FILE).is_file()
        none = panes.no_drafts(
            self.app.keymap,
            is_typing=self.is_typing,
            is_asked=self.line.use != "new",
            has_file=has_file,
        )
        reading = dim_text(READING)
        drafts.empty_state = lambda width: (reading if self.model.is_reading else none)(width)
        drafts.rebuild_lines()
        self.line.show_placeholder()
        if isinstance(self.focused, panes.DraftLine):
            self.query_one(StatusLine).clear_notice()  # the keys that it names are letters here
            self.check_typed()
        elif isinstance(self.focused, panes.DraftList):
            self._compare_draft()

    def first_keys(self) -> Collection[str]:
        undo = ("review.undo",) if self.model.can_undo else ()
        if self.draft is None:
            return ("draft.new", "drafts.load", "drafts.scan", *(undo or ("drafts.kept",)))
        if not isinstance(self.focused, panes.DraftList):
            return undo
        return ("drafts.apply", *rows.deciding(self.draft), "draft.skip", *undo)

    def meanings(self) -> Iterable[tuple[str, str]]:
        match self.focused:
            case NumberSlider() as slider:
                return rows.threshold_words(slider.value, slider.note)
            case panes.KnownList() if self.known is not None:
                return rows.known_words(self.known)
            case panes.DraftList() if self.draft is not None:
                return rows.draft_words(self.draft)
            case panes.DiffPane():
                return rows.DIFF_WORDS
        return ()

    def pane_names(self) -> list[str]:
        return [name for name in self.PANES if name != "diff" or not self.has_class("-idle")]

    def _show_idle(self) -> None:
        """Hide what would be written while there is nothing to write."""
        self.set_class(not self.model.drafts and not self.line.typed, "-idle")

    # What the model found.

    def show_review(self) -> None:
        if self not in self.app.screen_stack:
            return  # it has been closed
        shown, (threshold, note) = self.model.draft_rows, self.model.threshold
        self.show_tabs()
        drafts = self.query_one(panes.DraftList)
        drafts.border_title = f"Drafts ({len(shown)})" if shown else "Drafts"
        drafts.border_subtitle = rows.describe_drafts(shown, checking=self.model.is_checking)
        drafts.show(shown)
        self.show_keys()
        self.set_class(not shown, "-empty")
        self._show_idle()
        if self.draft is None:
            self._show_known("", ())
            self._show_plan("", ())
        elif not self.is_typing_draft:
            self._show_draft(self.draft)  # at once: the next key may decide about a fact of it
        slider = self.query_one(NumberSlider)
        slider.display = bool(note)
        slider.show(threshold)
        slider.annotate(note)

    def on_typed_text_checked(self, message: rows.TypedTextChecked) -> None:
        if self.is_typing_draft:
            self._show_known("", message.known)
            self._show_plan(message.reason, message.lines)
        elif self.draft is not None:
            self._show_draft(self.draft)

    def on_scan_ended(self, message: rows.ScanEnded) -> None:
        self.show_notice(rows.describe_scan(message, self.app.keymap.key_of))
        if message.added:
            self.action_leave_field()
            self.query_one(panes.DraftList).go_to(message.added[0])

    def on_drafts_loaded(self, message: rows.DraftsLoaded) -> None:
        if self.line.use in ("file", "named"):
            self.line.ask_for("new")
            self.action_leave_field()

    def on_write_proposed(self, message: rows.WriteProposed) -> None:
        def take(is_agreed: bool | None) -> None:
            if is_agreed:
                message.write()

        if self.is_current:  # another screen may have been opened since
            if isinstance(self.focused, panes.DraftLine):
                self.action_leave_field()  # the key that undoes the write is a letter
            question = Confirm(message.title, message.lines, message.sentences, message.does)
            self.app.push_screen(question, take)

    def on_draft_planned(self, message: rows.DraftPlanned) -> None:
        if not self.is_typing_draft:
            self.query_one(panes.DiffPane).show(message.lines)

    def on_notice(self, message: Notice) -> None:
        self.query_one(StatusLine).clear_error()

    # What the user does in the panes.

    @on(RowsView.Moved, "DraftList")
    def show_highlighted(self) -> None:
        self.show_keys()
        if not self.is_typing_draft:
            self._compare_draft()

    @on(RowsView.Opened, "DraftList")
    def change_draft(self, event: RowsView.Opened) -> None:
        if self._changeable_draft() is None:
            return
        if (draft := self.model.draft(event.row.id)) is not None:
            take = partial(self.model.rewrite, draft.id)
            self.line.ask_for("text", take, draft.text, draft=replace(draft, choice=None))

    @on(panes.DraftLine.Changed)
    def check_typed(self) -> None:
        self._show_idle()
        known = self.query_one(panes.KnownList)
        if self.is_typing_draft and (known.subject or not known.rows):
            self._show_known("", (), checked=False)
        if self.is_typing_draft:
            self._show_plan("", ())  # it was for another text
        self.model.check_typed(self.line.typed, self.line.draft)

    @on(panes.DraftLine.CompletionsFound)
    def show_files(self, event: panes.DraftLine.CompletionsFound) -> None:
        names = sorted(event.completions, key=lambda name: not panes.FILE_NAME.fullmatch(name))
        self.query_one(StatusLine).show_hint("   ".join(names))

    @on(panes.DraftLine.Submitted)
    def submit_line(self) -> None:
        if self.line.names_file and self.app.keymap.offers("drafts.load"):
            self.line.asked_about = name = self.line.value.strip()
            self.line.ask_for("named", self.model.load, name, self.model.complete_file)
        else:
            is_new = self.line.use == "new" and self.line.typed
            if missing := self.line.missing:
                self.show_notice(missing)
            elif self.line.submit() and not is_new:  # after a new draft, the next one is typed
                self.action_leave_field()

    def _add_line(self, text: str) -> None:
        self.model.add_line(text)
        self.query_one(panes.DraftList).go_to(self.model.drafts[-1].id)

    @on(panes.DraftLine.Pasted)
    def paste_lines(self, event: panes.DraftLine.Pasted) -> None:
        if self.line.use != "new":
            self.line.insert_text_at_cursor(" ".join(event.text.splitlines()))
            return
        if reason := self.app.keymap.refusal("draft_line.take"):
            self.show_notice(reason)
            return
        try:
            self.model.add(event.text)
        except ConfigError as error:
            self.query_one(StatusLine).show_error(str(error))
        self.action_leave_field()

    @on(NumberSlider.Changed)
    def change_threshold(self, event: NumberSlider.Changed) -> None:
        self.model.move_threshold(event.value)

    # Actions: moving around.

    def action_focus_line(self) -> None:
        self.set_focus(self.line)

    def action_leave_field(self) -> None:
        if self.line.use == "named" and self.line.value.strip() == self.line.asked_about:
            self.line.ask_for("new", text=self.line.asked_about)
            return
        if self.line.use != "new":
            self.line.ask_for("new")
        super().action_leave_field()

    # Actions: drafts.

    def action_load(self) -> None:
        self.line.ask_for("file", self.model.load, complete=self.model.complete_file)

    def action_assign(self) -> None:
        if (draft := self._changeable_draft()) is not None:
            self.pick_entity(partial(self.model.assign, draft.id), self.model.owners(draft.id))

    def action_turn_kind(self) -> None:
        if (draft := self._changeable_draft()) is not None:
            self.model.toggle_kind(draft.id)

    def action_make_page(self) -> None:
        draft = self._draft_or_notice()
        if draft is not None and not self.model.create_page(draft.id):
            create = partial(self.model.start_page, draft_id=draft.id)
            self.line.ask_for("person", create)

    def action_correct_name(self) -> None:
        self.line.ask_for("name", self._propose_correction)

    def _propose_correction(self, text: str) -> None:
        wrong, equals, right = (part.strip() for part in text.partition("="))
        if equals and wrong and right:
            self.model.propose_correction(wrong, right)
        else:
            self.show_notice(panes.BOTH_NAMES)

    def action_drop(self) -> None:
        if (draft := self._draft_or_notice()) is not None:
            self.model.drop(draft.id)

    def action_scan(self, kept: bool = False) -> None:
        self.model.scan(kept=kept)

    # Actions: deciding and writing.

    def action_choose(self, action: Action) -> None:
        """Decide about the draft under the cursor; the same key again withdraws the decision."""
        self.query_one(StatusLine).clear_notice()  # it is about an earlier decision
        self._compare_draft()
        draft, known = self._draft_or_notice(), self.known
        if draft is None:
            return
        asked = self.model.asked(draft.id)
        if draft.removes and asked is not None and action == "supersede":
            action = asked.action
        elif self.query_one(panes.KnownList).chosen or asked is None or action != asked.action:
            asked = None
        changes = known is not None and asked is None and action in ("merge", "supersede")
        owner_id = known.owner_id if changes and known is not None and draft.is_open else ""
        is_item = known is not None and known.is_open_item and draft.is_fact
        if action == "supersede" and is_item and asked is None:
            action = "tick"  # what is done stays readable as work
        if draft.is_decided and draft.action == action:
            self.model.choose(draft.id, None)
        elif action == "skip":
            self._decide(draft.id, Choice("skip"))
        elif draft.is_found and action == "create":
            self._refuse_found()
        elif draft.removes and asked is None:
            self._refuse_removal()
        elif not (draft.has_page or owner_id):
            self.show_notice(f"{draft.reason or 'it has no page yet'}: {self._page_keys}")
        elif action == "create":
            self._decide(draft.id, Choice("create"))
        elif asked is not None and action == "merge":
            self._edit_merged(draft.id, asked.fact_ids, draft.text)
        elif asked is not None:
            self._decide(draft.id, asked)
        elif known is None or known.fact_id is None:
            self.show_notice(f"nothing known resembles it: there is no fact to {action}")
        elif known.relation == "different" and not self.query_one(panes.KnownList).chosen:
            self.show_notice(f"no known fact states that: to {action} one anyway, go to it first")
        elif action == "merge":
            merged = self.model.merged_text(draft.id, known)
            self._edit_merged(draft.id, (known.fact_id,), merged, owner_id)
        else:
            self._decide(draft.id, Choice(action, (known.fact_id,)), owner_id)

    def _edit_merged(
        self, draft_id: str, fact_ids: tuple[int, ...], text: str, owner_id: str = ""
    ) -> None:
        def take(text: str) -> None:
            self.model.choose(draft_id, Choice("merge", fact_ids, text), owner_id)

        draft = self.model.draft(draft_id)
        merged = draft and replace(draft, choice=Choice("merge", fact_ids))
        self.line.ask_for("merge", take, text, draft=merged)

    @property
    def _page_keys(self) -> str:
        assign, page = map(self.app.keymap.key_of, ("draft.assign", "draft.page"))
        return f"{assign} says whose it is, {page} creates the page"

    def _changeable_draft(self) -> rows.DraftRow | None:
        """Return the draft under the cursor; None, with a notice, if its text is not to change."""
        draft = self._draft_or_notice()
        if draft is not None and draft.is_found:
            self._refuse_found()
        elif draft is not None and draft.removes:
            self._refuse_removal()
        else:
            return draft
        return None

    def _draft_or_notice(self) -> rows.DraftRow | None:
        if self.draft is None:
            self.show_notice(f"there is no draft: {self.app.keymap.key_of('draft.new')} types one")
        return self.draft

    def _refuse_found(self) -> None:
        skip, supersede, merge = (
            self.app.keymap.key_of(f"draft.{name}") for name in ("skip", "supersede", "merge")
        )
        what = f"{skip} keeps both, {supersede} strikes out the other, {merge} merges them"
        self.show_notice(f"it is on its page already: {what}")

    def _refuse_removal(self) -> None:
        remove, keep = map(self.app.keymap.key_of, ("draft.supersede", "draft.skip"))
        self.show_notice(f"it asks to remove a fact: {remove} removes it, {keep} keeps it")

    def _decide(self, draft_id: str, choice: Choice, owner_id: str = "") -> None:
        drafts = self.query_one(panes.DraftList)
        self.model.choose(draft_id, choice, owner_id)
        if drafts.has_focus:
            drafts.go_to_undecided()

    def action_label(self, same: bool) -> None:
        if self.draft is not None and self.known is not None:
            self.model.label(self.draft.id, self.known, same=same)
        else:
            keys = " and ".join(self.app.keymap.key_of("pair.same").split())
            self.show_notice(f"no pair to label: {keys} are for a draft and a known text")

    @on(RowsView.Opened, "KnownList")
    async def action_edit(self) -> None:
        known = self.known
        if known is None or not await self.edit_file(known.path, known.line):
            self.show_notice("no file is chosen: go to a known fact first")

    # Showing.

    def _compare_draft(self) -> None:
        if self.draft is not None and self.query_one(panes.KnownList).subject != self.draft.id:
            self._show_draft(self.draft)

    def _show_draft(self, draft: rows.DraftRow) -> None:
        self._show_known(draft.id, self.model.known(draft.id), checked=draft.is_checked)
        needs_page = draft.is_checked and not draft.has_page
        known, reason = self.query_one(panes.KnownList), draft.reason
        if known.display and known.rows and known.rows[0].is_first:
            reason = reason.removesuffix(f": {known.rows[0].why}")  # it is said there
        reasons = (reason, self._page_keys if needs_page else "")
        diff = self.query_one(panes.DiffPane)
        diff.explain("; ".join(filter(None, reasons)))
        diff.wait()
        self.model.plan(draft.id)

    def _show_plan(self, reason: str, lines: tuple[str, ...]) -> None:
        pane = self.query_one(panes.DiffPane)
        pane.explain(reason)
        pane.show(lines)

    def _show_known(
        self, draft_id: str, known: tuple[rows.KnownRow, ...], *, checked: bool = True
    ) -> None:
        pane = self.query_one(panes.KnownList)
        typed = safe_line(self.line.value.strip())
        subject = draft_id or typed
        pane.border_subtitle = "compared with what you type" if typed and not draft_id else ""
        if not checked:
            pane.empty_state = panes.still_compared
        else:
            pane.empty_state = panes.no_known_facts if subject else panes.no_draft_selected
        pane.show(draft_id, known)
