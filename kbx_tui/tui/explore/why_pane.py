"""The pane that explains a score, and what the numbers and signs of explore mean.

`?` shows the meanings for the focused pane; `docs/scores.md` lists those that need no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from rich.cells import cell_len
from textual import getters
from textual.widget import Widget

from kbx_tui.formatting import FLAT_REASONS, format_count, format_score, listed, rounded_parts
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.results.response import Snippet, exact_words
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    Look,
    Span,
    fit,
    fit_line,
    longest_fitting,
    looks,
    shorten,
    width_of,
    wrap,
)
from kbx_tui.tui.explore.entities import EntityList
from kbx_tui.tui.explore.inputs import NO_THRESHOLD, threshold_note
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.view import (
    Addend,
    EntityRow,
    ExploreView,
    Reranking,
    ResultRow,
    Section,
    Term,
    Why,
)
from kbx_tui.tui.terminal_app import TerminalApp
from kbx_tui.tui.widgets.lines_view import LineWidget, TextPane
from kbx_tui.tui.widgets.number_slider import NumberSlider

FEW_LINES = 14
"""A pane with fewer lines shows only the formula and its sections, side by side."""
REASON_LINES = 2
RERANKER_BAR = 10
TWO_COLUMNS = 64
WHY = " why "
MOST_WORDS = 4
FEW_RESULTS = 3
"""A move below so many results is probably out of view."""


class WhyPane(TextPane):
    """A sentence and the sum; beside results, with details only while it has the focus."""

    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "reranker")
    app = getters.app(TerminalApp)

    why: Why | None = None
    snippet: Snippet | None = None
    difference = ""

    def show(self, why: Why | None, snippet: Snippet | None, difference: str = "") -> None:
        """Show an explanation; `difference` says why a marked result is before or behind it."""
        same = why is not None and self.why is not None and why.row == self.why.row
        self.why, self.snippet, self.difference = why, snippet, difference
        self.rebuild_lines()
        if not same:
            self.scroll_to_line(0)

    def build(self, width: int) -> list[Line]:
        if self.why is None:
            return self.empty_lines()
        pair = _wrapped(self.difference, width, "accent") if self.difference else []
        if self.screen.has_class("-small"):  # the result is not beside it
            pair = [*_wrapped(self.why.title, width, "strong"), *pair]
        if self.visible_height < FEW_LINES and width >= TWO_COLUMNS:
            return [*pair, *why_side_by_side(self.why, self.snippet, width)]
        above = [*pair, *([BLANK] if pair else [])]
        if self.screen.has_class("-narrow"):  # the line above it has the sentence
            after = len(_wrapped(why_sentence(self.why, self.snippet), width)) + 1
            return [*above, *why_lines(self.why, self.snippet, width)[after:]]
        if self.has_focus or not self.screen.has_class("-wide"):
            return [*above, *why_lines(self.why, self.snippet, width)]
        keymap = self.app.keymap
        more: Line = (Span(keymap.key_of("screen.next"), "accent"), Span(" shows details", "dim"))
        if keymap.offers("grade.1"):
            more += (Span(f"   {keymap.key_of('grade.menu')}", "accent"), Span(" grades", "dim"))
        return [*above, *why_lines(self.why, self.snippet, width, in_full=False), BLANK, more]

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self.rebuild_lines()


class WhyLine(LineWidget):
    """Why in one sentence, where the numbers have no room until they are asked for."""

    COMPONENT_CLASSES = looks("accent")

    def show(self, wordings: Sequence[str], key: str, *, is_open: bool) -> None:
        """Show the first of `wordings` that fits; `key` opens the numbers, or closes them."""

        def line(width: int) -> Line:
            more = f" {'less' if is_open else 'more'}"
            room = width - cell_len(f"{WHY}{key}{more}") - 2
            return (
                Span(WHY, "dim"),
                Span(fit(longest_fitting(wordings, room), room)),
                Span(f" {key}", "accent"),
                Span(more, "dim"),
            )

        self.show_line(line)

    def clear(self) -> None:
        self.show_line(lambda width: BLANK)

    async def on_click(self) -> None:
        await self.run_action("screen.toggle_why")


def why_sentence(why: Why, snippet: Snippet | None, most: int = MOST_WORDS) -> str:
    """Return why a result is among them: `says “decide” and “migration”; Alice attended`.

    Of the words that it says, it names the `most` frequent ones, as the document writes them, and
    none of a page that the query asks for.
    """
    counts = words_said(snippet) if snippet is not None else {}
    words = [*counts][:most]
    speaks, elsewhere = "", list[str]()
    if snippet is not None and snippet.speaker:
        speaks = f"{snippet.speaker} speaks here"
        shown = {fold(snippet.text[start:end]) for start, end in snippet.matches}
        elsewhere = [word for word in words if fold(word) not in shown]
    said = [word for word in words if word not in elsewhere]
    says = f"says {_quoted(said)}" if said else ""
    if len(said) == len(counts) == 1 and (times := counts[said[0]]) > 1:
        says += f" {times} times"  # many may say that word
    beside = f"{_quoted(elsewhere)} elsewhere in the document" if elsewhere else ""
    answers = (speaks, says or beside or why.likeness, says and beside)
    reasons = (*((why.known_as,) if why.known_as else answers), *why.links)
    sentence = "; ".join(filter(None, reasons)) or "little in it is what you ask"
    is_nothing = format_score(why.score) == ".00" and not why.known_item
    start = "hardly related: " if is_nothing else "far below the best: " if why.is_weak else ""
    return start + sentence


def _quoted(words: Sequence[str]) -> str:
    return listed([f"“{word}”" for word in words])


def words_said(snippet: Snippet) -> dict[str, int]:
    """Return the words asked for that a document has, and how often, the most frequent first.

    Forms of `say` are left out, and beside others words for documents of any kind, such as `team`.
    """
    from kbx_tui.search.query.query_words import (  # not needed by the first screen
        DOCUMENT_WORDS,
        SAYING,
    )

    terms = sorted(zip_longest(snippet.terms, snippet.forms), key=lambda term: -term[0][1])
    terms = [term for term in terms if fold(term[0][0]) not in SAYING]
    topics = [term for term in terms if fold(term[0][0]) not in DOCUMENT_WORDS]
    return {
        (form.lower() if word.islower() else form) if form else word: count
        for (word, count), form in topics or terms
    }


def why_lines(why: Why, snippet: Snippet | None, width: int, *, in_full: bool = True) -> list[Line]:
    lines = [*_wrapped(why_sentence(why, snippet), width), BLANK, *formula_lines(why)]
    for section in why.sections:
        lines += [BLANK, *section_lines(section, width, in_full=in_full)]
    if why.reranking is not None:
        lines += [BLANK, *reranking_lines(why.reranking, width)]
    if snippet is not None and in_full:
        lines += [BLANK, *location_lines(snippet, width)]
    return [*lines, BLANK, *_wrapped(why.path, width, "dim")]


def why_side_by_side(why: Why, snippet: Snippet | None, width: int) -> list[Line]:
    left = formula_lines(why)
    left_width = max(width_of(line) for line in left) + 3
    if snippet is not None:
        left += [BLANK, *location_lines(snippet, left_width - 2)]
    right: list[Line] = []
    for section in why.sections:
        right += section_lines(section, width - left_width)
    if why.reranking is not None:
        right += reranking_lines(why.reranking, width - left_width)
    return [
        (*(cut := fit_line(line, left_width - 1)), Span(" " * (left_width - width_of(cut))), *rest)
        for line, rest in zip_longest(left, right, fillvalue=BLANK)
    ]


def formula_lines(why: Why) -> list[Line]:
    lines: list[Line] = []
    score = Span(f"{format_score(why.score):>4}", "text")
    if (reranking := why.reranking) is not None:
        plain, added = (
            Span(format_score(value), "text") for value in (reranking.plain, reranking.added)
        )
        lines = [(score, Span(" = "), plain, Span(" + "), added, Span(" reranker", "reranker"))]
        score = Span(f"{plain.text:>4}", "text")
    if why.known_item:
        lines = [(Span(f"1.00 {exact_words(why.known_item)}: shown first", "accent"),)]
        if not why.sections:
            return lines
        lines.append((Span("without that", "dim"),))
    if len(why.terms) == 1 and why.frecency is None:
        return [*lines, (score, Span(" = the document alone"))]
    hot = why.frecency
    opening = "" if hot is None else f"{weight_text(1.0 - hot.weight)} × ( "
    for index, term in enumerate(why.terms):
        start = (score, Span(f" = {opening}"))
        more = (Span(" " * (4 + cell_len(opening))), Span(" + "))
        lines.append((*(more if index else start), *_term(term)))
    if hot is not None:
        lines[-1] = (*lines[-1], Span(" )"))
        lines.append((Span("     + "), *_term(hot)))
    return lines


def section_lines(section: Section, width: int, *, in_full: bool = True) -> list[Line]:
    """Return a number and its addends, with notes and reasons if `in_full`."""
    if not in_full:
        addends = (replace(addend, reason="", maximum=None) for addend in section.addends)
        section = replace(section, notes=(), addends=tuple(addends))
    sign = "━" if section.name == "document" else "─"
    head: Line = (
        Span(f"{sign} {section.name} ", _look(section.name)),
        Span(format_score(section.total), "text"),
    )
    lines: list[Line] = [(*head, Span(f"  {note}", "dim")) for note in section.notes[:1]] or [head]
    if width_of(lines[0]) > width:
        lines = [head, *((Span(f"  {line}", "dim"),) for line in wrap(section.notes[0], width - 2))]
    lines += [(Span(f"  {shorten(note, width - 2)}", "dim"),) for note in section.notes[1:]]
    name_width = max([cell_len(addend.name) for addend in section.addends], default=0)
    for addend in section.addends:
        start = _addend_start(addend, name_width)
        if width_of(line := (*start, Span(f"  {addend.reason}", "dim"))) <= width:
            lines.append(line)
            continue
        lines.append(fit_line(start, width))
        reason = wrap(addend.reason, max(width - 8, 1))[:REASON_LINES]
        lines += ((Span(" " * 8), Span(line, "dim")) for line in reason)
    return lines


def reranking_lines(reranking: Reranking, width: int) -> list[Line]:
    score, added = format_score(reranking.score), format_score(reranking.added)
    bar = Span("  " + "┄" * round(reranking.score * RERANKER_BAR), "reranker")
    most = Span(f" of {format_score(reranking.maximum)}", "dim")
    return [
        fit_line((Span("┄ reranker ", "reranker"), Span(score), bar), width),
        fit_line((Span(f"{added:>6}"), most, Span("  added")), width),
    ]


def location_lines(snippet: Snippet, width: int) -> list[Line]:
    lines: list[Line] = []
    if snippet.terms:
        lines += _wrapped(", ".join(f"{term} ×{count}" for term, count in snippet.terms), width)
    if snippet.line_start:
        place = f"line {snippet.line_start}" + (f" · {snippet.heading}" if snippet.heading else "")
        lines += _wrapped(place, width, "dim")
    return lines


def weight_text(weight: float) -> str:
    """Return a weight in full: `.50`, `.125`."""
    if round(weight, 2) == round(weight, 6):
        return format_score(weight)
    return f"{weight:.6f}".strip("0")


def _term(term: Term) -> Line:
    value = Span(format_score(term.value), "text")
    return (Span(f"{weight_text(term.weight)} × ", "dim"), value, Span(f" {term.name}", "dim"))


def _addend_start(addend: Addend, name_width: int) -> Line:
    maximum = "" if addend.maximum is None else f" of {format_score(addend.maximum)}"
    name = Span(f"  {fit(addend.name, name_width)}")
    return (Span(f"{format_score(addend.value):>6}", "text"), Span(maximum, "dim"), name)


def _look(name: str) -> Look:
    return "document" if name == "document" else "entity" if name == "entity" else "text"


def _wrapped(text: str, width: int, look: Look = "text") -> list[Line]:
    return [(Span(line, look),) for line in wrap(text, width)]


QUOTED = re.compile("“[^”]*”")
"""What an entity matched with, which may hold any words."""

Words = tuple[str, str]

MEANINGS: Mapping[str, str] = {
    "score": "how well the result answers, 0 to 1; results are in this order.",
    "document": "how fully the document itself answers what you ask besides names of people: 1 is"
    " a full answer, and less counts for ever less.",
    "entity": "how strongly the document is linked to what you named, such as people and projects.",
    "words": "words of your question that occur here; rare ones count more than frequent ones.",
    "meaning": "how near the meaning of its best passage is to that of your question.",
    "date": "whether the document is of the time you asked for.",
    "propagated": "what the part before or after it adds, since they are parts of one document.",
    "relevance": "words and meaning together, and how much of a full answer that is; above it, more"
    " adds nothing.",
    "compared": "the search moved a little towards these documents, whose text alone fits best.",
    "hotness": "how often and how recently you opened the document.",
    "reranker": "how well the reranking model finds that the passage answers.",
    "asked for": "you gave its title, path, id, date or name, or only filters that it matches, or"
    " asked what is new with what its page is about, so it comes first.",
    "alpha": "how much the document's own text counts against its entities: 1 ranks by the text"
    " alone, 0 by the entities alone.",
    "threshold": "the score from which an entity counts; below it, its documents get nothing.",
    "two-pass": "the entities you named were found first, then documents, those linked to them"
    " ahead.",
    "flat": "documents are ranked by their own text; no entity counts.",
    "fast": "documents are ranked by their words alone, without meaning and entities.",
    "seed": "the formula of the first proposal ranks, for comparison.",
    "●": "this entity counts: it reaches the threshold.",
    "○": "this entity does not count.",
    "✕": "you muted this entity: it is ignored in this query.",
    "pinned": "you said that the query is about it, so it counts with score 1.",
    "━": "the document's part of the score: alpha × how fully its own text answers.",
    "─": "the entities' part of the score: (1 - alpha) × how strongly the document is linked to"
    " what you named.",
    "┄": "the reranker's part of the score.",
    "! changed": "its file has changed since it was indexed; it ranks by its text of then.",
    "! gone": "its file is no longer there; the next index run drops it.",
    "! no vector": "it is found by its words only: its meaning has not been embedded yet.",
    "gate": "documents that match, but are linked to none of the entities that count.",
    "▲": "the result rose since the list last settled, by so many ranks; ▼: it fell.",
}

CANDIDATES = (
    "so many documents were scored: those that words, links or the index of vectors find. In a"
    " folder of fewer than a million chunks all are; = compares all here."
)

REASONS: Mapping[str, str] = {
    "disabled": "you switched entities off.",
    "fast": "a fast search looks for no entities.",
    "no_entities": "the question names nobody and nothing that the base knows.",
    "below_threshold": "entities were found, but none reaches the threshold; a lower one keeps"
    " some.",
    "too_broad": "many entities fit equally well, so none can lead.",
    "nothing_linked": "no document in scope is linked to the entities that were found.",
}

SIGNALS: Mapping[str, str] = {
    "name": "its full name is in the question",
    "alias": "another of its names is in the question",
    "first name": "its first name is in the question",
    "surname": "its surname is in the question",
    "like": "a word of the question is spelt much like its name",
    "role": "the question names its role",
    "team": "it belongs to a team in the question",
    "fact": "a fact about it has words of the question",
    "meaning": "its page is about something similar",
}
"""Why an entity was found, by the word that the list shows."""


def meanings(focused: Widget | None, view: ExploreView | None, alpha: float) -> Iterable[Words]:
    """Return what the focused pane shows of a ranking, and what each of it means."""
    match focused:
        case NumberSlider():
            note = slider_note(focused, view) if view is not None else ""
            words = f"{focused.label} {format_score(focused.value)}", MEANINGS[focused.label]
            return (words, ("now", note)) if note else (words,)
        case WhyPane(why=Why() as why) if view is not None:
            return why_words(why, alpha)
        case EntityList(current=EntityRow() as entity) if view is not None:
            return entity_words(entity, view.threshold)
        case ResultList(current=ResultRow() as result) if view is not None:
            return (*result_words(result, focused.badge_of(result)), *mode_words(view))
    return ()


def why_words(why: Why, alpha: float) -> Iterator[Words]:
    if why.known_item:
        yield exact_words(why.known_item), MEANINGS["asked for"]
    yield f"score {format_score(why.score)}", MEANINGS["score"]
    if len(why.terms) > 1:
        yield f"alpha {format_score(alpha)}", alpha_sentence(alpha)
    for section in why.sections:
        yield f"{section.name} {format_score(section.total)}", MEANINGS[section.name]
        for addend in section.addends:
            meaning = addend.sentence or MEANINGS.get(addend.name, "")
            yield f"{addend.name} {format_score(addend.value)}", meaning
        for note in section.notes:
            if key := next((key for key in ("relevance", "compared") if key in note), ""):
                yield note, MEANINGS[key]
    if why.frecency is not None:
        yield f"hotness {format_score(why.frecency.value)}", MEANINGS["hotness"]
    if why.reranking is not None:
        yield f"reranker {format_score(why.reranking.score)}", MEANINGS["reranker"]


def alpha_sentence(alpha: float) -> str:
    if alpha in (0.0, 1.0):
        return f"only the {'document' if alpha else 'entity'} part counts"
    document, entity = round(alpha * 100), round((1.0 - alpha) * 100)
    return f"the document part weighs {document} %, the entity part {entity} %"


def slider_note(slider: NumberSlider, view: ExploreView) -> str:
    """Return what a slider does where it stands."""
    if slider.label != "alpha":
        return threshold_note(view)
    if view.alpha_note.startswith("alpha has no effect"):
        return view.alpha_note
    return "; ".join(filter(None, (alpha_sentence(slider.value), view.alpha_note)))


def moved_words(
    slider: NumberSlider, before: Iterable[ResultRow], after: ExploreView, *, is_back: bool = False
) -> str:
    """Return what moving a slider has changed; `before` are those that the arrows count from.

    `is_back` says that the slider is where its first move began.
    """
    ranks = {row.path: (row.rank, format_score(row.score)) for row in before}
    now = {row.path: (row.rank, format_score(row.score)) for row in after.results}
    moved = [rank for path, (rank, _) in now.items() if ranks.get(path, (0, ""))[0] != rank]
    stays = "no score changed" if ranks == now else "the order stays"
    if is_back and ranks == now:
        stays = "all is as it was"
    changed = f"{format_count(len(moved), 'result')} moved{' back' * is_back}" if moved else stays
    if moved and min(moved) > FEW_RESULTS:
        changed += f", none of the first {min(moved) - 1}"
    note = after.alpha_note if slider.label == "alpha" else threshold_note(after)
    if note.startswith(NO_THRESHOLD) and ranks == now and not is_back:
        return note.replace("threshold", f"threshold {format_score(slider.value)}", 1)
    words = ", ".join(filter(None, (changed, note)))
    return f"{slider.label} {format_score(slider.value)}{' again' * is_back}: {words}"


def mode_words(view: ExploreView) -> Iterator[Words]:
    mode = view.mode
    yield mode.name, MEANINGS[mode.name]
    key = next((key for key, text in FLAT_REASONS.items() if text and text == mode.reason), "")
    if key:
        yield mode.reason, REASONS[key]
    elif mode.name == "two-pass":
        yield mode.reason, "the entities that count."
    if view.gated:
        yield f"{view.gated:,} left out by the gate", MEANINGS["gate"]
    if mode.preset == "seed":
        yield "seed", MEANINGS["seed"]
    if mode.vector_share < 1.0 and mode.name != "fast":
        yield "meaning incomplete", "some texts have no vector yet: only their words find them."
    if mode.candidates is not None:
        yield "… candidates", CANDIDATES


def entity_words(entity: EntityRow, threshold: float) -> Iterator[Words]:
    yield entity.sign, MEANINGS[entity.sign]
    if entity.pinned and not entity.muted:
        yield "pinned", MEANINGS["pinned"]
    elif not entity.kept and not entity.muted:
        below = f"its score is below the threshold of {format_score(threshold)}"
        above = f"it reaches the threshold, but {entity.left_out or 'the search is flat'}"
        yield "why ○", below if entity.score < threshold else above
    yield format_score(entity.score), "how sure it is that the question means it, 0 to 1."
    shown = [part.strip() for part in QUOTED.sub("", entity.signals).split(",")]
    found = [
        meaning
        for word, meaning in SIGNALS.items()
        if any(part.lstrip("0123456789 ").startswith(word) for part in shown)
    ]
    yield entity.signals or "meaning", "; ".join(found or [SIGNALS["meaning"]]) + "."


def result_words(result: ResultRow, badge: str = "") -> Iterator[Words]:
    """Yield the signs of a result's row with their meanings; `badge` is its warning, if any.

    The parts of the score are rounded so that they add up.
    """
    parts = (result.document_part, result.entity_part, result.reranker_part)
    document, entity, reranker = rounded_parts(sum(parts), parts)
    yield format_score(result.score), MEANINGS["score"]
    if result.known_item:
        yield exact_words(result.known_item), MEANINGS["asked for"]
    yield f"━ {format_score(document)}", MEANINGS["━"]
    yield f"─ {format_score(entity)}", MEANINGS["─"]
    if result.reranker_part:
        yield f"┄ {format_score(reranker)}", MEANINGS["┄"]
    if badge:
        yield f"! {badge}", MEANINGS[f"! {badge}"]
    yield "▲2 ▼1", MEANINGS["▲"]
