"""The commands: all that a key, the key bar and the palette can run, with keys and help. Pure."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Literal

# fmt: off
Scope = Literal[
    "query", "path", "results", "entities", "preview", "card", "screen",  # explore
    "why_not", "recall", "facets", "facet_box", "links",  # boxes above it
    "side_by_side", "compare", "blind",
    "draft_line", "drafts", "known", "review",  # dedup
    "topic", "expert_list", "experts",
    "judged_queries", "snapshots", "decision", "tune",
    "files", "folders", "picker", "indexing",
    "together_line", "together_results", "together_bases", "together",
    "list", "text", "slider", "judging", "saving", "mode",  # shared by modes
    "welcome", "question", "bases", "app", "overlay",
]
# fmt: on


@dataclass(frozen=True, slots=True)
class Command:
    id: str
    keys: str
    """In Textual's spelling, separated by commas."""
    action: str
    label: str
    """One or two words for the key bar."""
    help: str
    """A sentence without a full stop, for the help screen and the palette."""
    _: KW_ONLY
    scope: Scope
    bar: bool = False
    pair: str = ""
    """Id of the command for the opposite direction; the key bar shows both keys together."""
    palette: bool = False
    in_turn: bool = False
    """Whether it waits for the keys typed before it, because it acts on what they typed."""


_query = partial(Command, scope="query")
_path = partial(Command, scope="path")
_results = partial(Command, scope="results")
_entities = partial(Command, scope="entities")
_list = partial(Command, scope="list")
_preview = partial(Command, scope="preview")
_card = partial(Command, scope="card")
_text = partial(Command, scope="text")
_slider = partial(Command, scope="slider")
_welcome = partial(Command, scope="welcome")
_question = partial(Command, scope="question")
_bases = partial(Command, scope="bases")
_screen = partial(Command, scope="screen")
_why_not = partial(Command, scope="why_not")
_recall = partial(Command, scope="recall")
_facets = partial(Command, scope="facets")
_facet_box = partial(Command, scope="facet_box")
_links = partial(Command, scope="links")
_side_by_side = partial(Command, scope="side_by_side")
_compare = partial(Command, scope="compare")
_draft_line = partial(Command, scope="draft_line")
_drafts = partial(Command, scope="drafts")
_known = partial(Command, scope="known")
_review = partial(Command, scope="review")
_topic = partial(Command, scope="topic")
_expert_list = partial(Command, scope="expert_list")
_experts = partial(Command, scope="experts")
_blind = partial(Command, scope="blind")
_saving = partial(Command, scope="saving")
_judging = partial(Command, scope="judging")
_judged_queries = partial(Command, scope="judged_queries")
_snapshots = partial(Command, scope="snapshots")
_decision = partial(Command, scope="decision")
_tune = partial(Command, scope="tune")
_files = partial(Command, scope="files")
_folders = partial(Command, scope="folders")
_picker = partial(Command, scope="picker")
_indexing = partial(Command, scope="indexing")
_together_line = partial(Command, scope="together_line")
_together_results = partial(Command, scope="together_results")
_together_bases = partial(Command, scope="together_bases")
_together = partial(Command, scope="together")
_mode = partial(Command, scope="mode")
_app = partial(Command, scope="app")
_overlay = partial(Command, scope="overlay")

# fmt: off
COMMANDS: tuple[Command, ...] = (
    _query("query.results", "down,enter", "screen.leave_field", "results",
           "go to the results", bar=True),
    _query("query.leave", "escape", "screen.leave_field", "commands",
           "leave the query line; letters are then commands", bar=True),
    _query("query.complete", "tab", "complete", "complete",
           "accept the completion of a word or filter; without one, go to the next pane"),
    _query("query.history", "ctrl+r", "screen.recall_from_line", "history",
           "search the queries asked before"),
    _query("query.earlier", "up", "screen.earlier_query", "previous", "recall the previous query"),

    _path("path.results", "down,enter", "screen.leave_field", "results",
          "apply this path, completed as shown, and go to the results", bar=True),
    _path("path.complete", "tab", "complete", "complete",
          "accept the completion; without one, go to the next pane", bar=True),
    _path("path.folders", "ctrl+t", "screen.pick_folders", "folders",
          "choose folders in a tree, with the hits in each", bar=True),
    _path("path.clear", "escape", "clear_or_leave", "clear",
          "clear the path; press again to leave the field", bar=True),

    _results("results.read", "enter", "open", "read", "read the document", bar=True),
    _results("results.next_to_judge", "space", "screen.next_to_judge", "next to judge",
             "go to the next result to judge"),
    _results("results.up", "up", "move_or_leave", "up",
             "move up; from the first result, back to the query"),

    _entities("entities.card", "enter", "open", "card",
              "show everything known about the entity", bar=True),
    _entities("entities.mute", "minus", "screen.mute_entity", "mute",
              "exclude the entity from this query, or include it again", bar=True),
    _entities("entities.pin", "plus", "screen.pin_entity", "pin",
              "use the entity whatever its score, or unpin it", bar=True),
    _entities("entities.up", "up", "move_or_leave", "up", "move up"),

    _list("list.up", "k", "move(-1)", "up", "move up"),
    _list("list.down", "down,j", "move(1)", "down", "move down"),
    _list("list.page_up", "pageup,ctrl+b", "move_page(-1)", "page up", "page up"),
    _list("list.page_down", "pagedown,ctrl+f", "move_page(1)", "page down", "page down"),
    _list("list.first", "home,g", "move_to_end(False)", "first", "go to the first row"),
    _list("list.last", "end,G", "move_to_end(True)", "last", "go to the last row"),

    _preview("preview.close", "escape", "close", "back", "close it and go back", bar=True),
    _preview("preview.next_match", "n", "step_match(1)", "match",
             "go to the next match", bar=True, pair="preview.previous_match"),
    _preview("preview.previous_match", "N", "step_match(-1)", "match", "go to the previous match"),
    _preview("preview.next_link", "l,right", "step_link(1)", "link",
             "go to the next link", bar=True, pair="preview.previous_link"),
    _preview("preview.previous_link", "h,left", "step_link(-1)", "link", "go to the previous link"),
    _preview("preview.follow", "enter", "follow", "follow",
             "follow the link, to an entity card or a document", bar=True),

    _preview("preview.front", "U", "toggle_front", "frontmatter",
             "show all of the frontmatter, or fold it to one line"),

    _card("card.close", "escape", "close", "back", "close it and go back", bar=True),
    _card("card.open", "enter", "open", "read", "read the document", bar=True),
    _card("card.up", "up", "move(-1)", "up", "move up"),

    _text("text.up", "up,k", "scroll_lines(-1)", "up", "scroll up one line"),
    _text("text.down", "down,j", "scroll_lines(1)", "down", "scroll down one line"),
    _text("text.page_up", "pageup,ctrl+b", "scroll_pages(-1)", "page up", "page up"),
    _text("text.page_down", "pagedown,ctrl+f,space", "scroll_pages(1)", "page down", "page down"),
    _text("text.first", "home,g", "scroll_to_end(False)", "top", "go to the top"),
    _text("text.last", "end,G", "scroll_to_end(True)", "bottom", "go to the bottom"),

    _slider("slider.less", "left,h", "move(-5)", "less",
            "decrease by .05", bar=True, pair="slider.more"),
    _slider("slider.more", "right,l", "move(5)", "more", "increase by .05"),
    _slider("slider.fine_less", "shift+left,H", "move(-1)", "a little less", "decrease by .01"),
    _slider("slider.fine_more", "shift+right,L", "move(1)", "a little more", "increase by .01"),
    _slider("slider.least", "home", "move_to_end(False)", "least", "go to the left end"),
    _slider("slider.most", "end", "move_to_end(True)", "most", "go to the right end"),

    _screen("focus.query", "slash", "focus_query", "query", "type a query", bar=True, palette=True),
    _screen("focus.path", "f", "focus_path", "path",
            "search in one folder only", bar=True, palette=True),
    _screen("focus.entities", "e", "focus_entities", "entities",
            "go to the entities", bar=True, palette=True),
    _screen("entities.add", "a", "add_entity", "add entity",
            "choose an entity this query is about", palette=True),
    _screen("alpha.less", "left_square_bracket", "alpha(-5)", "alpha",
            "lower alpha: entities weigh more", bar=True, pair="alpha.more"),
    _screen("alpha.more", "right_square_bracket", "alpha(5)", "alpha",
            "raise alpha: the document's own text weighs more"),
    _screen("threshold.less", "left_curly_bracket", "threshold(-5)", "threshold",
            "lower the threshold: weaker entities count too", bar=True, pair="threshold.more"),
    _screen("threshold.more", "right_curly_bracket", "threshold(5)", "threshold",
            "raise the threshold: only strong entities count"),
    _screen("mode.next", "m", "next_mode", "mode",
            "switch between two-pass, flat and fast search", bar=True, palette=True),
    _screen("preset.next", "M", "next_preset", "ranking",
            "switch between the default ranking and that of the seed", palette=True),
    _screen("exact.toggle", "equals_sign", "toggle_exact", "compare all",
            "compare every chunk in meaning, even in a scope of more than a million, or candidates",
            palette=True),
    _screen("sort.next", "s", "next_sort", "sort",
            "sort by score or by date", bar=True, palette=True),
    _screen("dates.off", "t", "dates('off')", "remove date",
            "ignore the date words of the query, or read them again", palette=True),
    _screen("dates.only", "T", "dates('filter')", "only that time",
            "show only documents of the time that the query asks for, or prefer them",
            palette=True),
    _screen("history.open", "ctrl+r", "recall", "history",
            "search the queries asked before, and run one with its settings", palette=True),
    _screen("query.save", "asterisk", "save_query", "save query",
            "save the query and its settings by name", palette=True),
    _screen("facets.open", "D", "facets", "facets",
            "count types, tags, people, folders and dates of the results, and narrow to one",
            palette=True),
    _screen("links.open", "X", "links", "links",
            "list what links to the document and from it, mentions of it and broken links",
            palette=True),
    _screen("filter.remove", "backspace,delete", "remove_filter", "drop",
            "remove the last filter typed in the query", palette=True),
    _screen("undo", "z", "undo", "undo",
            "undo the last change of sliders, path, dates, mode or entities, or the last grade",
            bar=True, palette=True),
    _screen("preview.toggle", "p", "toggle_preview", "preview",
            "preview the document under the cursor as you move", bar=True, palette=True),
    _screen("edit", "o", "edit", "edit",
            "open the document in your editor at this line", bar=True, palette=True),
    _screen("copy.path", "y", "copy('path')", "copy path",
            "copy path and line number", palette=True),
    _screen("copy.citation", "Y", "copy('citation')", "copy citation",
            "copy title, date and path as a Markdown link", palette=True),
    _screen("copy.snippet", "c", "copy('snippet')", "copy snippet",
            "copy the passage that best matches the query", palette=True),
    _screen("copy.command", "C", "copy('command')", "copy command",
            "copy the command line that gives these results", palette=True),
    _screen("results.share", "greater_than_sign", "share", "share page",
            "write the results and their explanations to a page to share", palette=True),
    _screen("why.toggle", "x", "toggle_why", "why",
            "show or hide how a result gets its score", bar=True, palette=True),
    _screen("result.mark", "v", "mark", "mark",
            "mark the result, to see what it has more or less of than others; again: no mark",
            palette=True),
    _screen("entities.toggle", "E", "toggle_entities", "hide entities",
            "show or hide the entities", palette=True),
    _screen("compare", "d", "compare", "compare",
            "show the results under the settings A beside the current ones", bar=True,
            palette=True),
    _screen("why_not", "w", "why_not", "why not",
            "find a document by title, and why it is not among the results", bar=True,
            palette=True),
    _screen("screen.back", "escape", "back", "back",
            "remove the mark; close the document and return to the results"),
    _screen("index.refresh", "R", "refresh_index", "refresh",
            "index changed files now", palette=True),

    _judging("grade.0", "0", "grade(0)", "grade",
             "grade the result or open document as not relevant", bar=True, pair="grade.3",
             palette=True),
    _judging("grade.1", "1", "grade(1)", "slightly", "grade it as slightly relevant",
             palette=True),
    _judging("grade.2", "2", "grade(2)", "relevant", "grade it as relevant", palette=True),
    _judging("grade.3", "3", "grade(3)", "just that", "grade it as just what was wanted",
             palette=True),
    _judging("grade.unsure", "full_stop", "grade(None)", "not sure",
             "say that you are not sure of it; that counts as not judged", palette=True),
    _judging("judge.next", "J", "next_to_judge", "next to judge",
             "go to the result on which A and the current settings disagree most", palette=True),
    _judging("judge.blind", "B", "ask_blind", "blind",
             "choose between the results of A and of the current settings, without their names",
             palette=True),
    _judging("settings.pin", "A", "pin_settings", "pin as A",
             "pin the current settings as A, with which others are compared", palette=True),

    _why_not("why_not.take", "enter", "screen.take", "choose",
             "ask about the document; then do what is chosen", bar=True, in_turn=True),
    _why_not("why_not.read", "ctrl+o", "screen.read", "read", "read the document", bar=True),
    _why_not("why_not.up", "up", "screen.move(-1)", "up", "move up"),
    _why_not("why_not.down", "down", "screen.move(1)", "down", "move down"),
    _why_not("why_not.page_up", "pageup", "screen.move_page(-1)", "page up", "page up"),
    _why_not("why_not.page_down", "pagedown", "screen.move_page(1)", "page down", "page down"),
    _why_not("why_not.close", "escape", "screen.close", "close", "close it and change nothing",
             bar=True),

    _recall("recall.take", "enter", "screen.take", "choose",
            "run the query with its settings, save it, or go to the document", bar=True,
            in_turn=True),
    _recall("recall.drop", "ctrl+x", "screen.drop", "remove",
            "remove the saved query under the cursor", bar=True),
    _recall("recall.up", "up", "screen.move(-1)", "up", "move up"),
    _recall("recall.down", "down,ctrl+r", "screen.move(1)", "down", "move down"),
    _recall("recall.page_up", "pageup", "screen.move_page(-1)", "page up", "page up"),
    _recall("recall.page_down", "pagedown", "screen.move_page(1)", "page down", "page down"),
    _recall("recall.close", "escape", "screen.close", "close", "close it", bar=True),

    _facets("facets.take", "enter,space", "open", "narrow",
            "narrow the results to this, or take that back; read a document", bar=True),
    _facets("facets.earlier", "left,h", "span(-1)", "earlier",
            "go to the time before, in the strip of dates", bar=True, pair="facets.later"),
    _facets("facets.later", "right,l", "span(1)", "later", "go to the time after"),
    _facets("facets.longer", "shift+right,L", "extend(1)", "longer",
            "extend the span of dates by one more time", bar=True, pair="facets.shorter"),
    _facets("facets.shorter", "shift+left,H", "extend(-1)", "shorter", "shorten the span"),
    _facets("facets.up", "up", "move_or_leave", "up", "move up"),

    _facet_box("facets.undo", "z", "undo", "undo", "undo the last change", bar=True),
    _facet_box("facets.help", "question_mark", "app.help", "help", "show the keys"),
    _facet_box("facets.close", "escape,q,D", "close", "close", "close the facets", bar=True),

    _links("links.take", "enter", "open", "read", "read the document there", bar=True),
    _links("links.make", "l", "screen.make", "link", "make the mention under the cursor a link",
           bar=True),
    _links("links.undo", "z", "screen.undo", "undo", "undo the last change", bar=True),
    _links("links.up", "up", "move(-1)", "up", "move up"),
    _links("links.help", "question_mark", "app.help", "help", "show the keys"),
    _links("links.close", "escape,q,X", "screen.close", "close", "close the links", bar=True),

    _side_by_side("side_by_side.read", "enter", "open", "read", "read the document", bar=True),
    _side_by_side("side_by_side.left", "left,h", "side(True)", "A or B",
                  "go to the results of A", bar=True, pair="side_by_side.right"),
    _side_by_side("side_by_side.right", "right,l", "side(False)", "A or B",
                  "go to the results of B"),
    _side_by_side("side_by_side.up", "up", "move(-1)", "up", "move up"),

    _side_by_side("side_by_side.mark", "v", "screen.mark", "mark",
                  "mark the result, to see why it is before or behind others; again: no mark",
                  bar=True, palette=True),

    _compare("compare.alpha_less", "left_square_bracket", "alpha(-5)", "alpha",
             "lower alpha of B", bar=True, pair="compare.alpha_more"),
    _compare("compare.alpha_more", "right_square_bracket", "alpha(5)", "alpha",
             "raise alpha of B"),
    _compare("compare.threshold_less", "left_curly_bracket", "threshold(-5)", "threshold",
             "lower the threshold of B", bar=True, pair="compare.threshold_more"),
    _compare("compare.threshold_more", "right_curly_bracket", "threshold(5)", "threshold",
             "raise the threshold of B"),
    _compare("compare.mode", "m", "next_mode", "mode",
             "switch B between two-pass, flat and fast search", bar=True, palette=True),
    _compare("compare.preset", "M", "next_preset", "ranking",
             "switch B between the default ranking and that of the seed", palette=True),
    _compare("compare.undo", "z", "undo", "undo",
             "undo the last change of B, or the last grade", bar=True, palette=True),
    _compare("compare.close", "escape,d", "back", "back",
             "back to the results, then to explore with the settings B", bar=True),

    _judging("settings.save", "S", "save_settings", "save settings",
             "save the current settings to kbx.toml, after a look at the change", palette=True),

    _saving("save.write", "enter", "write", "save", "write the change to kbx.toml"),
    _saving("save.cancel", "escape,q", "cancel", "cancel", "leave kbx.toml unchanged"),

    _blind("blind.first", "1,left,h", "prefer('first')", "list 1", "list 1 answers better"),
    _blind("blind.second", "2,right,l", "prefer('second')", "list 2", "list 2 answers better"),
    _blind("blind.neither", "0,equals_sign", "prefer('neither')", "neither",
           "neither is better than the other"),
    _blind("blind.later", "n", "later", "later", "go on without an answer"),
    _blind("blind.undo", "z", "undo", "undo", "take back the last answer, and ask again"),
    _blind("blind.close", "escape,q", "close", "close", "close it; answers stay"),

    _draft_line("draft_line.take", "enter", "submit", "accept",
                "accept the line, as its title says", bar=True, in_turn=True),
    _draft_line("draft_line.complete", "tab", "complete", "complete",
                "complete a file name; without a completion, go to the next pane"),
    _draft_line("draft_line.leave", "escape", "screen.leave_field", "drafts",
                "leave the line; letters are then commands", bar=True),
    _draft_line("draft_line.down", "down", "screen.leave_field", "drafts", "go to the drafts"),

    _drafts("drafts.rewrite", "enter", "open", "change", "change the text of the draft", bar=True),
    _drafts("drafts.up", "up", "move_or_leave", "up",
            "move up; from the first draft, to the draft line"),

    _known("known.edit", "enter", "open", "edit",
           "open the file in your editor at this fact", bar=True),
    _known("known.up", "up", "move(-1)", "up", "move up"),

    _review("drafts.apply", "a", "apply", "apply all",
            "write every draft that is decided or needs no decision", bar=True, palette=True),
    _review("draft.create", "c", "choose('create')", "create",
            "write it unchanged; on a draft decided so, leave it undecided",
            bar=True, palette=True),
    _review("draft.merge", "m", "choose('merge')", "merge",
            "merge it with the known fact: edit the combined text", bar=True, palette=True),
    _review("draft.supersede", "u", "choose('supersede')", "supersede",
            "write it and strike out the known fact", bar=True, palette=True),
    _review("draft.skip", "minus", "choose('skip')", "skip",
            "do not write the draft; of known facts, keep both", bar=True, palette=True),
    _review("pair.same", "y", "label(True)", "same",
            "label draft and known text as saying the same", bar=True, pair="pair.different"),
    _review("pair.different", "n", "label(False)", "different",
            "label them as saying something different"),
    _review("review.undo", "z", "undo", "undo",
            "undo the last change, or the last write", bar=True, palette=True),
    _review("draft.new", "slash", "focus_line", "new", "type a draft", bar=True, palette=True),
    _review("draft.assign", "e", "assign", "assign",
            "choose the entity the fact belongs to", bar=True, palette=True),
    _review("draft.kind", "K", "turn_kind", "kind",
            "turn a fact into an open item, or back", palette=True),
    _review("draft.page", "P", "make_page", "create page",
            "create the page its entity lacks, or of a person you name", palette=True),
    _review("draft.drop", "delete,backspace", "drop", "drop",
            "remove the draft from the list without writing it", palette=True),
    _review("drafts.load", "f", "load", "load file",
            "load drafts from a file, one per line", bar=True, palette=True),
    _review("drafts.scan", "F", "scan", "scan",
            "find what the knowledge base says more than once", bar=True, palette=True),
    _review("drafts.kept", "V", "scan(True)", "kept",
            "list what it says more than once and you decided to keep", palette=True),
    _review("review.threshold_less", "left_curly_bracket", "threshold(-5)", "threshold",
            "lower the threshold: less similar facts count as the same", bar=True,
            pair="review.threshold_more"),
    _review("review.threshold_more", "right_curly_bracket", "threshold(5)", "threshold",
            "raise the threshold: only very similar facts count as the same"),
    _review("review.back", "escape", "back", "back", "back to the drafts"),

    _topic("topic.leave", "escape,down,enter", "screen.leave_field", "experts",
           "go to the experts; letters are then commands", bar=True),

    _expert_list("expert.open", "enter", "open", "claims",
                 "show or hide the claims behind the score", bar=True),
    _expert_list("expert.up", "up", "move_or_leave", "up",
                 "move up; from the first expert, to the topic"),

    _experts("topic.focus", "slash", "focus_topic", "topic",
             "type a topic", bar=True, palette=True),
    _experts("weight.next", "s", "next_weight", "sort",
             "sort by count, recency, citation or relevance", bar=True, palette=True),
    _experts("people.toggle", "K", "toggle_people", "kind",
             "rank only people, or all other entities too", palette=True),
    _experts("half_life.less", "left_square_bracket", "half_life(-5)", "half-life",
             "shorten the half-life: only recent claims count", bar=True, pair="half_life.more"),
    _experts("half_life.more", "right_square_bracket", "half_life(5)", "half-life",
             "lengthen the half-life: older claims count more"),
    _experts("claim.edit", "o", "edit", "edit",
             "open the claim in your editor at this line", bar=True, palette=True),
    _experts("experts.back", "escape", "back", "back", "back to the experts"),

    _judged_queries("judged_query.open", "enter", "open", "open",
                    "open the query in explore, where its results are graded", bar=True),
    _judged_queries("judged_query.up", "up", "move(-1)", "up", "move up"),

    _snapshots("snapshot.use", "enter", "screen.take_row", "use",
               "make the settings of the snapshot the current ones", bar=True),
    _snapshots("snapshot.drop", "delete,backspace", "screen.drop", "drop",
               "remove the snapshot from the list", bar=True),
    _snapshots("snapshot.up", "up", "move(-1)", "up", "move up"),

    _decision("decision.accept", "enter", "screen.accept_decision", "accept",
              "do what is offered", bar=True),
    _decision("decision.close", "escape", "screen.close_decision", "back",
              "stop optimising, or leave things as they are", bar=True),

    _tune("tune.alpha_less", "left_square_bracket", "alpha(-5)", "alpha",
          "lower alpha: entities weigh more", bar=True, pair="tune.alpha_more"),
    _tune("tune.alpha_more", "right_square_bracket", "alpha(5)", "alpha",
          "raise alpha: the document's own text weighs more"),
    _tune("tune.threshold_less", "left_curly_bracket", "threshold(-5)", "threshold",
          "lower the threshold: weaker entities count too", bar=True, pair="tune.threshold_more"),
    _tune("tune.threshold_more", "right_curly_bracket", "threshold(5)", "threshold",
          "raise the threshold: only strong entities count"),
    _tune("tune.knob", "i", "next_knob", "knob",
          "show the curve over the next knob", bar=True, palette=True),
    _tune("tune.measure", "I", "next_measure", "measure",
          "show the curve of the next measure", palette=True),
    _tune("tune.optimise", "O", "optimise", "optimise",
          "look for better settings; they are offered only if they win on other queries",
          bar=True, palette=True),
    _tune("snapshot.take", "r", "take_snapshot", "keep",
          "keep the current settings as a snapshot", bar=True, palette=True),
    _tune("tune.undo", "z", "undo", "undo",
          "undo the last change of settings, the last grade, or a dropped snapshot",
          bar=True, palette=True),
    _tune("tune.back", "escape", "back", "back", "back to the queries"),

    _files("files.mend", "enter", "open", "mend",
           "open the file in your editor at this line", bar=True),
    _files("files.up", "up", "move(-1)", "up", "move up"),

    _folders("folders.toggle", "space", "toggle_folder", "in or out",
             "take the folder into the scope of the search, or out of it", bar=True),
    _folders("folders.take", "enter", "open", "only here",
             "search in this folder only", bar=True),
    _folders("folders.unfold", "right,l", "unfold", "unfold",
             "show the folders in it, or go to the first of them"),
    _folders("folders.fold", "left,h", "fold", "fold",
             "hide the folders in it, or go to the folder that it is in"),
    _folders("folders.up", "up", "move(-1)", "up", "move up"),

    _picker("picker.help", "question_mark", "app.help", "help", "show the keys"),
    _picker("picker.close", "escape,ctrl+t,q", "close", "close", "close the tree", bar=True),

    _indexing("index.run", "R", "run", "index now",
              "index what has changed, or go on after a stop", bar=True, palette=True),
    _indexing("index.pause", "p", "pause", "pause",
              "pause indexing, or let it go on", bar=True, palette=True),
    _indexing("index.stop", "s", "stop", "stop",
              "stop indexing; what is indexed stays, and the next run continues", bar=True,
              palette=True),
    _indexing("index.watch", "W", "watch", "watch",
              "index files as soon as they change on disk, or not", bar=True, palette=True),
    _indexing("index.edit", "o", "edit", "mend",
              "open the file in your editor at this line", bar=True, palette=True),
    _files("files.mute", "minus", "screen.mute", "mute",
           "leave the document out of every search, or leave it in again", bar=True),
    _indexing("index.undo", "z", "undo", "undo",
              "undo the last change of folders in scope, muted documents or settings", bar=True,
              palette=True),
    _indexing("index.back", "escape", "back", "back", "back to the files"),

    _together_line("together_line.leave", "escape,down,enter", "screen.leave_field", "results",
                   "go to the results; letters are then commands", bar=True),
    _together_results("together_result.read", "enter", "open", "read",
                      "open its base with the same query, and read the document there", bar=True),
    _together_results("together_result.up", "up", "move_or_leave", "up",
                      "move up; from the first result, back to the query"),
    _together_bases("together_base.open", "enter", "open", "only this",
                    "open this base alone, with the same query", bar=True),
    _together_bases("together_base.up", "up", "move_or_leave", "up",
                    "move up; from the first base, back to the query"),
    _together("together.query", "slash", "focus_query", "query",
              "type a query for all bases", bar=True, palette=True),
    _together("together.refresh", "R", "refresh", "refresh",
              "index what has changed in any of the bases", palette=True),
    _together("together.back", "escape", "back", "back", "back to the results"),

    _mode("screen.next", "tab", "next_pane(1)", "pane", "go to the next pane", bar=True),
    _mode("screen.previous", "shift+tab", "next_pane(-1)", "previous pane",
          "go to the previous pane"),
    _mode("pane.zoom", "Z", "zoom", "zoom",
          "let the pane fill the screen, or show all panes again", palette=True),
    _mode("message.show", "exclamation_mark", "show_message", "message",
          "show the last message again, all of it", palette=True),
    _mode("base.switch", "b", "switch_base", "other base",
          "open another knowledge base", palette=True),
    _mode("app.help", "question_mark", "help", "help", "show the keys", bar=True, palette=True),
    _mode("app.quit", "q", "leave", "quit", "quit the app", bar=True),

    _welcome("welcome.take", "enter", "open", "choose", "open the selected choice", bar=True),
    _welcome("welcome.up", "up", "move(-1)", "up", "move up"),
    _welcome("welcome.back", "escape", "screen.back", "back",
             "go back to the previous screen, if any"),
    _welcome("welcome.help", "question_mark", "app.help", "tour",
             "take a tour in six steps", bar=True),
    _question("question.yes", "y", "answer(True)", "yes", "say yes", bar=True),
    _question("question.no", "n", "answer(False)", "no", "say no", bar=True),
    _bases("base.forget", "delete,backspace", "forget", "forget",
           "remove a recent knowledge base from this list; its files stay", bar=True),
    _bases("base.recall", "z", "recall", "undo",
           "put the knowledge base that was removed last back into the list", bar=True),
    _welcome("welcome.quit", "q", "app.quit", "quit", "quit the app", bar=True),

    _app("mode.explore", "f1", "go_to('explore')", "explore", "search and read", palette=True),
    _app("mode.dedup", "f2", "go_to('dedup')", "drafts",
         "check drafted facts before they are written", palette=True),
    _app("mode.experts", "f3", "go_to('experts')", "experts",
         "rank people and other entities on a topic", palette=True),
    _app("mode.tune", "f4", "go_to('tune')", "tune",
         "compare and choose settings by judged queries", palette=True),
    _app("mode.index", "f5", "go_to('index')", "index",
         "see indexing, files that need attention, and folders", palette=True),
    _app("mode.together", "f6", "search_together", "all bases",
         "search all bases that were opened together"),
    _app("app.palette", "ctrl+p", "command_palette", "palette",
         "find a command or a theme by name", bar=True),
    _app("app.leave", "ctrl+q", "quit", "quit", "quit the app, even while typing", bar=True),
    _app("app.suspend", "ctrl+z", "suspend_process", "suspend", "suspend the app; `fg` resumes it"),

    _overlay("overlay.close", "escape,q,question_mark", "close", "close", "close the help"),
)
# fmt: on
