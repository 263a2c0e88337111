"""The commands, as a table of data."""

from __future__ import annotations

from functools import partial

from kbx_tui.tui.commands import Command

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
_screen = partial(Command, scope="screen")
_draft_line = partial(Command, scope="draft_line")
_drafts = partial(Command, scope="drafts")
_known = partial(Command, scope="known")
_review = partial(Command, scope="review")
_topic = partial(Command, scope="topic")
_expert_list = partial(Command, scope="expert_list")
_experts = partial(Command, scope="experts")
_mode = partial(Command, scope="mode")
_app = partial(Command, scope="app")
_overlay = partial(Command, scope="overlay")

# fmt: off
COMMANDS: tuple[Command, ...] = (
    _query(id="query.results", keys="down,enter", action="screen.leave_field", label="results",
           help="go to the results", bar=True),
    _query(id="query.leave", keys="escape", action="screen.leave_field", label="commands",
           help="leave the query line; letters are commands then", bar=True),
    _query(id="query.earlier", keys="up", action="screen.earlier_query", label="earlier",
           help="the query before this one"),

    _path(id="path.results", keys="down,enter", action="screen.leave_field", label="results",
          help="take this path and go to the results", bar=True),
    _path(id="path.complete", keys="tab", action="complete", label="complete",
          help="take the completion; without one, tab goes to the next pane", bar=True),
    _path(id="path.clear", keys="escape", action="clear_or_leave", label="clear",
          help="search everywhere again; a second time, leave the field", bar=True),

    _results(id="results.read", keys="enter", action="open", label="read",
             help="read the document", bar=True),
    _results(id="results.up", keys="up", action="move_or_leave", label="up",
             help="one up; from the first one back to the query"),

    _entities(id="entities.card", keys="enter", action="open", label="card",
              help="show all that is known about it", bar=True),
    _entities(id="entities.mute", keys="minus", action="mute", label="mute",
              help="leave it out of this query, or take it in again", bar=True),
    _entities(id="entities.pin", keys="plus", action="pin", label="pin",
              help="let this query be about it whatever the threshold, or no longer", bar=True),
    _entities(id="entities.up", keys="up", action="move_or_leave", label="up", help="one up"),

    _list(id="list.up", keys="k", action="move(-1)", label="up", help="one up"),
    _list(id="list.down", keys="down,j", action="move(1)", label="down", help="one down"),
    _list(id="list.page_up", keys="pageup,ctrl+b", action="move_page(-1)", label="page up",
          help="a page up"),
    _list(id="list.page_down", keys="pagedown,ctrl+f", action="move_page(1)", label="page down",
          help="a page down"),
    _list(id="list.first", keys="home,g", action="move_to_end(False)", label="first",
          help="to the first"),
    _list(id="list.last", keys="end,G", action="move_to_end(True)", label="last",
          help="to the last"),

    _preview(id="preview.close", keys="escape", action="close", label="back",
             help="close it, back to where you came from", bar=True),
    _preview(id="preview.next_match", keys="n", action="step_match(1)", label="match",
             help="to the next word of the query", bar=True, pair="preview.previous_match"),
    _preview(id="preview.previous_match", keys="N", action="step_match(-1)", label="match",
             help="to the word of the query before"),
    _preview(id="preview.next_link", keys="l,right", action="step_link(1)", label="link",
             help="to the next link", bar=True, pair="preview.previous_link"),
    _preview(id="preview.previous_link", keys="h,left", action="step_link(-1)", label="link",
             help="to the link before"),
    _preview(id="preview.follow", keys="enter", action="follow", label="follow",
             help="follow the link: a card for an entity, else the document", bar=True),

    _card(id="card.close", keys="escape", action="close", label="back",
          help="close it, back to where you came from", bar=True),
    _card(id="card.open", keys="enter", action="open", label="read",
          help="read the document", bar=True),
    _card(id="card.up", keys="up", action="move(-1)", label="up", help="one up"),

    _text(id="text.up", keys="up,k", action="scroll_lines(-1)", label="up", help="a line up"),
    _text(id="text.down", keys="down,j", action="scroll_lines(1)", label="down",
          help="a line down"),
    _text(id="text.page_up", keys="pageup,ctrl+b", action="scroll_pages(-1)", label="page up",
          help="a page up"),
    _text(id="text.page_down", keys="pagedown,ctrl+f,space", action="scroll_pages(1)",
          label="page down", help="a page down"),
    _text(id="text.first", keys="home,g", action="scroll_to_end(False)", label="top",
          help="to the top"),
    _text(id="text.last", keys="end,G", action="scroll_to_end(True)", label="bottom",
          help="to the bottom"),

    _slider(id="slider.less", keys="left,h", action="move(-5)", label="less",
            help="less, by .05", bar=True, pair="slider.more"),
    _slider(id="slider.more", keys="right,l", action="move(5)", label="more",
            help="more, by .05"),
    _slider(id="slider.fine_less", keys="shift+left,H", action="move(-1)", label="a little less",
            help="less, by .01"),
    _slider(id="slider.fine_more", keys="shift+right,L", action="move(1)", label="a little more",
            help="more, by .01"),
    _slider(id="slider.least", keys="home", action="move_to_end(False)", label="least",
            help="to the left end"),
    _slider(id="slider.most", keys="end", action="move_to_end(True)", label="most",
            help="to the right end"),

    _screen(id="focus.query", keys="slash", action="focus_query", label="query",
            help="type a query", bar=True, palette=True),
    _screen(id="focus.path", keys="f", action="focus_path", label="path",
            help="search in one folder only", bar=True, palette=True),
    _screen(id="focus.entities", keys="e", action="focus_entities", label="entities",
            help="go to the entities", bar=True, palette=True),
    _screen(id="entities.add", keys="a", action="add_entity", label="add entity",
            help="let this query be about an entity you name", palette=True),
    _screen(id="alpha.less", keys="left_square_bracket", action="alpha(-5)", label="alpha",
            help="alpha down: more weight to the entities", bar=True, pair="alpha.more"),
    _screen(id="alpha.more", keys="right_square_bracket", action="alpha(5)", label="alpha",
            help="alpha up: more weight to the document's own text"),
    _screen(id="threshold.less", keys="left_curly_bracket", action="threshold(-5)",
            label="threshold", help="threshold down: weaker entities count too", bar=True,
            pair="threshold.more"),
    _screen(id="threshold.more", keys="right_curly_bracket", action="threshold(5)",
            label="threshold", help="threshold up: only strong entities count"),
    _screen(id="mode.next", keys="m", action="next_mode", label="mode",
            help="go round two-pass, flat and fast search", bar=True, palette=True),
    _screen(id="sort.next", keys="s", action="next_sort", label="sort",
            help="sort by score or by date", bar=True, palette=True),
    _screen(id="undo", keys="z", action="undo", label="undo",
            help="take back the last change of knobs, path, mode or entities", bar=True,
            palette=True),
    _screen(id="preview.toggle", keys="p", action="toggle_preview", label="preview",
            help="show the document under the cursor while you move", bar=True, palette=True),
    _screen(id="edit", keys="o", action="edit", label="edit",
            help="open the document in your editor, at the line", bar=True, palette=True),
    _screen(id="copy.path", keys="y", action="copy('path')", label="copy path",
            help="copy path and line", palette=True),
    _screen(id="copy.citation", keys="Y", action="copy('citation')", label="copy citation",
            help="copy title, date and path as a markdown link", palette=True),
    _screen(id="copy.snippet", keys="c", action="copy('snippet')", label="copy snippet",
            help="copy the passage that fits the query", palette=True),
    _screen(id="copy.command", keys="C", action="copy('command')", label="copy command",
            help="copy the command line that gives these results", palette=True),
    _screen(id="why.toggle", keys="x", action="toggle_why", label="why",
            help="show or hide why a result is where it is", bar=True, palette=True),
    _screen(id="entities.toggle", keys="E", action="toggle_entities", label="hide entities",
            help="show or hide the entities", palette=True),
    _screen(id="screen.back", keys="escape", action="back", label="back",
            help="close the document, go back to the results"),
    _screen(id="index.refresh", keys="R", action="refresh_index", label="refresh",
            help="index the files that changed, now", palette=True),

    _draft_line(id="draft_line.take", keys="enter", action="submit", label="take",
                help="take the line as a draft, or as what its title says", bar=True,
                in_turn=True),
    _draft_line(id="draft_line.leave", keys="escape", action="screen.leave_line", label="drafts",
                help="leave the line; letters are commands then", bar=True),
    _draft_line(id="draft_line.down", keys="down", action="screen.leave_line", label="drafts",
                help="go to the drafts"),

    _drafts(id="drafts.rewrite", keys="enter", action="open", label="change",
            help="change the text of the draft", bar=True),
    _drafts(id="drafts.up", keys="up", action="move_or_leave", label="up",
            help="one up; from the first one to the line"),

    _known(id="known.edit", keys="enter", action="open", label="edit",
           help="open the file in your editor, at the fact", bar=True),
    _known(id="known.up", keys="up", action="move(-1)", label="up", help="one up"),

    _review(id="draft.create", keys="c", action="choose('create')", label="create",
            help="write the draft as it is; a second time, leave it open", bar=True, palette=True),
    _review(id="draft.merge", keys="m", action="choose('merge')", label="merge",
            help="join it with the known fact: edit the text of both", bar=True, palette=True),
    _review(id="draft.supersede", keys="u", action="choose('supersede')", label="supersede",
            help="write it, and strike the known fact out", bar=True, palette=True),
    _review(id="draft.skip", keys="x", action="choose('skip')", label="skip",
            help="do not write it", bar=True, palette=True),
    _review(id="pair.same", keys="y", action="label(True)", label="same",
            help="keep that draft and known text say the same", bar=True, pair="pair.different"),
    _review(id="pair.different", keys="n", action="label(False)", label="different",
            help="keep that they do not"),
    _review(id="drafts.apply", keys="a", action="apply", label="apply all",
            help="write all that is decided or needs no decision", bar=True, palette=True),
    _review(id="review.undo", keys="z", action="undo", label="undo",
            help="take back the last change, or all that was written last", bar=True,
            palette=True),
    _review(id="draft.new", keys="slash", action="focus_line", label="new",
            help="type a draft", bar=True, palette=True),
    _review(id="draft.assign", keys="e", action="assign", label="whose",
            help="say whose fact it is", bar=True, palette=True),
    _review(id="draft.kind", keys="t", action="turn_kind", label="kind",
            help="make an open item of a fact, and a fact of an open item", palette=True),
    _review(id="draft.page", keys="P", action="make_page", label="make page",
            help="make the page of its entity, which has none", palette=True),
    _review(id="draft.drop", keys="d,delete", action="drop", label="drop",
            help="take the draft off the list, unwritten", palette=True),
    _review(id="drafts.load", keys="f", action="load", label="load file",
            help="add the drafts of a file, a line each", bar=True, palette=True),
    _review(id="drafts.scan", keys="S", action="scan", label="scan",
            help="add what the base says more than once", bar=True, palette=True),
    _review(id="review.threshold_less", keys="left_curly_bracket", action="threshold(-5)",
            label="threshold", help="threshold down: less alike counts as the same", bar=True,
            pair="review.threshold_more"),
    _review(id="review.threshold_more", keys="right_curly_bracket", action="threshold(5)",
            label="threshold", help="threshold up: only what is very alike counts as the same"),
    _review(id="review.back", keys="escape", action="back", label="back",
            help="back to the drafts, and from there to explore"),

    _topic(id="topic.leave", keys="escape,down,enter", action="screen.focus_experts",
           label="experts", help="go to the experts; letters are commands then", bar=True),

    _expert_list(id="expert.open", keys="enter", action="open", label="claims",
                 help="show the facts its score is made of, or hide them", bar=True),
    _expert_list(id="expert.up", keys="up", action="move_or_leave", label="up",
                 help="one up; from the first one to the line"),

    _experts(id="topic.focus", keys="slash", action="focus_topic", label="topic",
             help="type a topic", bar=True, palette=True),
    _experts(id="weight.next", keys="w", action="next_weight", label="weight",
             help="go round count, recency, citation and relevance", bar=True, palette=True),
    _experts(id="half_life.less", keys="left_square_bracket", action="half_life(-5)",
             label="half-life", help="half-life down: only what is new counts", bar=True,
             pair="half_life.more"),
    _experts(id="half_life.more", keys="right_square_bracket", action="half_life(5)",
             label="half-life", help="half-life up: older facts count more"),
    _experts(id="claim.edit", keys="o", action="edit", label="edit",
             help="open the claim in your editor, at the line", bar=True, palette=True),
    _experts(id="experts.back", keys="escape", action="back", label="back",
             help="back to the experts, and from there to explore"),

    _mode(id="screen.next", keys="tab", action="next_pane(1)", label="pane",
          help="to the next pane", bar=True),
    _mode(id="screen.previous", keys="shift+tab", action="next_pane(-1)",
          label="previous pane", help="to the pane before"),
    _mode(id="base.switch", keys="b", action="switch_base", label="other base",
          help="open another knowledge base", palette=True),
    _mode(id="app.help", keys="question_mark", action="help", label="help",
          help="show the keys", bar=True, palette=True),
    _mode(id="app.quit", keys="q", action="leave", label="quit", help="leave the app", bar=True),

    _welcome(id="welcome.take", keys="enter", action="open", label="take",
             help="take this choice", bar=True),
    _welcome(id="welcome.up", keys="up", action="move(-1)", label="up", help="one up"),
    _welcome(id="welcome.back", keys="escape", action="screen.back", label="back",
             help="back to where you came from, if you came from anywhere"),
    _welcome(id="welcome.help", keys="question_mark", action="screen.help", label="tour",
             help="a tour in six steps", bar=True),
    _welcome(id="welcome.quit", keys="q", action="screen.leave", label="quit",
             help="leave the app", bar=True),

    _app(id="mode.explore", keys="f1", action="go_to('explore')", label="explore",
         help="search and read", bar=True),
    _app(id="mode.dedup", keys="f2", action="go_to('dedup')", label="dedup",
         help="check drafted facts before they are saved", bar=True),
    _app(id="mode.experts", keys="f3", action="go_to('experts')", label="experts",
         help="who or what is known best on a topic", bar=True),
    _app(id="app.palette", keys="ctrl+p", action="command_palette", label="palette",
         help="all commands and themes by name", bar=True),
    _app(id="app.leave", keys="ctrl+q", action="quit", label="quit",
         help="leave the app, also from query and path", bar=True),
    _app(id="app.suspend", keys="ctrl+z", action="suspend_process", label="suspend",
         help="put the app aside; `fg` brings it back"),

    _overlay(id="overlay.close", keys="escape,q,question_mark", action="close", label="close",
             help="close the help"),
)
# fmt: on
