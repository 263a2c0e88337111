"""Every command a key can give, once: bindings, key bar, help and palette are made from this."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType

Scope = Literal["query", "list", "text", "preview", "slider", "screen", "app", "overlay"]
"""Where the keys of a command work."""

SCOPE_TITLES: dict[Scope, str] = {
    "query": "In the query line",
    "screen": "Outside the query line",
    "list": "In results and entities",
    "text": "In a document and in Why",
    "preview": "In a document",
    "slider": "On a slider",
    "app": "Everywhere",
    "overlay": "In this help",
}
"""In the order of the help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Something a person can ask for."""

    id: str
    scope: Scope
    keys: str
    """As Textual spells them, separated by commas."""
    shown: str
    """The keys as people know them."""
    action: str
    label: str
    """One or two words, for the key bar."""
    help: str
    """A sentence without a full stop, for help and palette."""
    bar: str = ""
    """How the key bar shows the keys; empty when it leaves the command out."""
    palette: bool = False


COMMANDS: tuple[Command, ...] = (
    Command(
        id="query.results",
        scope="query",
        keys="down,enter",
        shown="↓ enter",
        action="screen.leave_query",
        label="results",
        help="go to the results",
        bar="↓",
    ),
    Command(
        id="query.leave",
        scope="query",
        keys="escape",
        shown="esc",
        action="screen.leave_query",
        label="commands",
        help="leave the query line; letters are commands then",
        bar="esc",
    ),
    Command(
        id="list.up",
        scope="list",
        keys="up",
        shown="↑",
        action="move_or_leave",
        label="up",
        help="one up; from the first one back to the query",
    ),
    Command(
        id="list.up_only",
        scope="list",
        keys="k",
        shown="k",
        action="move(-1)",
        label="up",
        help="one up",
    ),
    Command(
        id="list.down",
        scope="list",
        keys="down,j",
        shown="↓ j",
        action="move(1)",
        label="down",
        help="one down",
    ),
    Command(
        id="list.page_up",
        scope="list",
        keys="pageup,ctrl+b",
        shown="pgup ^b",
        action="move_page(-1)",
        label="page up",
        help="a page up",
    ),
    Command(
        id="list.page_down",
        scope="list",
        keys="pagedown,ctrl+f",
        shown="pgdn ^f",
        action="move_page(1)",
        label="page down",
        help="a page down",
    ),
    Command(
        id="list.first",
        scope="list",
        keys="home,g",
        shown="home g",
        action="move_to_end(False)",
        label="first",
        help="to the first",
    ),
    Command(
        id="list.last",
        scope="list",
        keys="end,G",
        shown="end G",
        action="move_to_end(True)",
        label="last",
        help="to the last",
    ),
    Command(
        id="list.open",
        scope="list",
        keys="enter",
        shown="enter",
        action="open",
        label="read",
        help="read the document, or the page of the entity",
        bar="enter",
    ),
    Command(
        id="text.up",
        scope="text",
        keys="up,k",
        shown="↑ k",
        action="scroll_lines(-1)",
        label="up",
        help="a line up",
    ),
    Command(
        id="text.down",
        scope="text",
        keys="down,j",
        shown="↓ j",
        action="scroll_lines(1)",
        label="down",
        help="a line down",
    ),
    Command(
        id="text.page_up",
        scope="text",
        keys="pageup,ctrl+b,b",
        shown="pgup b",
        action="scroll_pages(-1)",
        label="page up",
        help="a page up",
    ),
    Command(
        id="text.page_down",
        scope="text",
        keys="pagedown,ctrl+f,space",
        shown="pgdn space",
        action="scroll_pages(1)",
        label="page down",
        help="a page down",
    ),
    Command(
        id="text.first",
        scope="text",
        keys="home,g",
        shown="home g",
        action="scroll_to_end(False)",
        label="top",
        help="to the top",
    ),
    Command(
        id="text.last",
        scope="text",
        keys="end,G",
        shown="end G",
        action="scroll_to_end(True)",
        label="bottom",
        help="to the bottom",
    ),
    Command(
        id="preview.close",
        scope="preview",
        keys="escape",
        shown="esc",
        action="close",
        label="back",
        help="close it, back to the results",
        bar="esc",
    ),
    Command(
        id="slider.less",
        scope="slider",
        keys="left,h",
        shown="← h",
        action="move(-5)",
        label="less",
        help="less, by .05",
    ),
    Command(
        id="slider.more",
        scope="slider",
        keys="right,l",
        shown="→ l",
        action="move(5)",
        label="more",
        help="more, by .05",
    ),
    Command(
        id="slider.fine_less",
        scope="slider",
        keys="shift+left,H",
        shown="shift+← H",
        action="move(-1)",
        label="a little less",
        help="less, by .01",
    ),
    Command(
        id="slider.fine_more",
        scope="slider",
        keys="shift+right,L",
        shown="shift+→ L",
        action="move(1)",
        label="a little more",
        help="more, by .01",
    ),
    Command(
        id="slider.least",
        scope="slider",
        keys="home",
        shown="home",
        action="move_to_end(False)",
        label="least",
        help="to the left end",
    ),
    Command(
        id="slider.most",
        scope="slider",
        keys="end",
        shown="end",
        action="move_to_end(True)",
        label="most",
        help="to the right end",
    ),
    Command(
        id="focus.query",
        scope="screen",
        keys="slash",
        shown="/",
        action="focus_query",
        label="query",
        help="type a query",
        bar="/",
        palette=True,
    ),
    Command(
        id="focus.entities",
        scope="screen",
        keys="e",
        shown="e",
        action="focus_entities",
        label="entities",
        help="go to the entities",
        bar="e",
        palette=True,
    ),
    Command(
        id="alpha.less",
        scope="screen",
        keys="left_square_bracket",
        shown="[",
        action="alpha(-5)",
        label="alpha",
        help="alpha down: more weight to the entities",
        bar="[ ]",
    ),
    Command(
        id="alpha.more",
        scope="screen",
        keys="right_square_bracket",
        shown="]",
        action="alpha(5)",
        label="alpha",
        help="alpha up: more weight to the document's own text",
    ),
    Command(
        id="threshold.less",
        scope="screen",
        keys="left_curly_bracket",
        shown="{",
        action="threshold(-5)",
        label="threshold",
        help="threshold down: weaker entities count too",
        bar="{ }",
    ),
    Command(
        id="threshold.more",
        scope="screen",
        keys="right_curly_bracket",
        shown="}",
        action="threshold(5)",
        label="threshold",
        help="threshold up: only strong entities count",
    ),
    Command(
        id="mode.toggle",
        scope="screen",
        keys="m",
        shown="m",
        action="toggle_mode",
        label="mode",
        help="switch between two-pass and flat search",
        bar="m",
        palette=True,
    ),
    Command(
        id="why.toggle",
        scope="screen",
        keys="x",
        shown="x",
        action="toggle_why",
        label="why",
        help="show or hide why a result is where it is",
        bar="x",
        palette=True,
    ),
    Command(
        id="screen.next",
        scope="screen",
        keys="tab",
        shown="tab",
        action="next_pane(1)",
        label="pane",
        help="to the next pane",
        bar="tab",
    ),
    Command(
        id="screen.previous",
        scope="screen",
        keys="shift+tab",
        shown="shift+tab",
        action="next_pane(-1)",
        label="previous pane",
        help="to the pane before",
    ),
    Command(
        id="screen.back",
        scope="screen",
        keys="escape",
        shown="esc",
        action="back",
        label="back",
        help="close the document, go back to the results",
    ),
    Command(
        id="app.help",
        scope="screen",
        keys="question_mark",
        shown="?",
        action="help",
        label="help",
        help="show all keys",
        bar="?",
        palette=True,
    ),
    Command(
        id="app.quit",
        scope="screen",
        keys="q",
        shown="q",
        action="leave",
        label="quit",
        help="leave the app",
        bar="q",
    ),
    Command(
        id="app.palette",
        scope="app",
        keys="ctrl+p",
        shown="ctrl+p",
        action="command_palette",
        label="palette",
        help="all commands and themes by name",
        bar="^p",
    ),
    Command(
        id="app.help_too",
        scope="app",
        keys="f1",
        shown="f1",
        action="help",
        label="help",
        help="show all keys, also from the query line",
        bar="f1",
    ),
    Command(
        id="app.leave",
        scope="app",
        keys="ctrl+q",
        shown="ctrl+q",
        action="quit",
        label="quit",
        help="leave the app, also from the query line",
        bar="^q",
    ),
    Command(
        id="overlay.close",
        scope="overlay",
        keys="escape,q,question_mark,f1",
        shown="esc",
        action="close",
        label="close",
        help="close the help",
    ),
)


def commands_in(*scopes: Scope) -> Iterator[Command]:
    """Yield the commands of `scopes`, in the order of the registry."""
    return (command for command in COMMANDS if command.scope in scopes)


def bindings(scope: Scope) -> list[BindingType]:
    """Return the bindings of one scope; their ids let a keymap change the keys.

    They have priority: they act before the next key is looked at. Otherwise a key that moves the
    focus would leave the keys typed right after it to the widget that had it before.
    """
    return [
        Binding(
            command.keys,
            command.action,
            command.label,
            show=bool(command.bar),
            key_display=command.shown,
            tooltip=command.help,
            priority=scope not in ("app", "overlay"),
            id=command.id,
        )
        for command in commands_in(scope)
    ]
