"""Keys can be changed unless one would then have two meanings."""

from itertools import product

import pytest

from kbx_tui.errors import ConfigError
from kbx_tui.tui.commands.command_table import COMMANDS, FIELDS_AND_BOXES, Scope
from kbx_tui.tui.commands.keymap import (
    ACTIVE_TOGETHER,
    BROWSER_KEYS,
    MENU_OF,
    NOT_IN_A_BROWSER,
    SCOPE_TITLES,
    WRITES,
    Keymap,
    Offer,
    command_by_id,
    commands_in,
    display_key,
    offer_in_browser,
)
from kbx_tui.tui.shell.help_screen import everyday_first, help_lines
from kbx_tui.tui.shell.menu import group_of
from kbx_tui.tui.widgets.footer import ALWAYS_SHOWN, fitting_commands, key_line


@pytest.mark.parametrize(
    ("key", "display"),
    [
        ("left_square_bracket", "["),
        ("shift+left", "shift+←"),
        ("ctrl+p", "ctrl+p"),
        ("question_mark", "?"),
        ("G", "G"),
    ],
)
def test_keys_are_displayed_by_their_familiar_names(key: str, display: str) -> None:
    assert display_key(key) == display


def test_changed_keys_replace_those_of_the_table_by_any_of_their_names() -> None:
    keymap = Keymap({"edit": "ctrl+e, f9"})
    assert keymap.keys(command_by_id("edit")) == ("ctrl+e", "f9")
    assert keymap.display_keys(command_by_id("edit")) == "ctrl+e f9"
    assert keymap.keys(command_by_id("undo")) == ("z",)
    keymap = Keymap({"focus.path": "[", "alpha.less": "ctrl+left"})
    assert keymap.changes["focus.path"] == "left_square_bracket"
    keymap = Keymap({"edit": "p", "preview.toggle": "o"})
    assert keymap.keys(command_by_id("edit")) == ("p",)
    assert Keymap({"entities.mute": "n"}).keys(command_by_id("entities.mute")) == ("n",)


def test_a_key_in_use_and_an_unknown_command_are_refused_with_what_is_meant() -> None:
    with pytest.raises(ConfigError, match=r"'z' would be both edit .* and undo "):
        Keymap({"edit": "z"})
    with pytest.raises(ConfigError, match=r"'j' would be both edit .* and (list|text)\.down"):
        Keymap({"edit": "j"})
    with pytest.raises(ConfigError, match=r"no command 'alpha\.les'; did you mean alpha\.less"):
        Keymap({"alpha.les": "x"})


@pytest.mark.parametrize("keys", ["", "a,,b"])
def test_an_empty_key_is_refused(keys: str) -> None:
    with pytest.raises(ConfigError, match="names no key"):
        Keymap({"edit": keys})


READER = offer_in_browser(allow_writes=False, has_several_bases=False)
WRITER = offer_in_browser(allow_writes=True, has_several_bases=True)
OFFERS = pytest.mark.parametrize("offer", [READER, WRITER], ids=["reader", "writer"])

OFFERED_TO_A_READER = """
query.results query.leave query.clear query.complete query.history query.earlier path.results
path.complete path.down path.up path.folders path.leave path.clear results.read
copy.menu grade.menu view.menu app.jump
entities.card entities.mute entities.pin list.up list.previous list.down list.page_up
list.page_down list.first list.last preview.close preview.next_match preview.previous_match
preview.next_link preview.previous_link preview.follow preview.front card.close card.open
card.by_date card.as_of text.up text.down text.page_up text.page_down text.first text.last
slider.less slider.more slider.fine_less slider.fine_more slider.least slider.most focus.query
focus.path focus.entities entities.add alpha.less alpha.more threshold.less threshold.more mode.next
preset.next exact.toggle sort.next dates.off dates.only spelling.toggle history.open
facets.open links.open related.open filter.remove
undo preview.toggle copy.path copy.citation copy.snippet copy.command results.share why.toggle
result.mark
entities.toggle compare why_not screen.back judge.next settings.pin why_not.take why_not.read
why_not.up why_not.down why_not.page_up why_not.page_down why_not.close recall.take recall.up
recall.down recall.page_up recall.page_down recall.close facets.take facets.earlier
facets.later facets.longer facets.shorter links.take
links.undo links.close side_by_side.read side_by_side.left side_by_side.right
compare.alpha_less compare.alpha_more compare.threshold_less
compare.threshold_more compare.mode compare.preset compare.undo compare.close save.cancel
blind.close draft_line.complete draft_line.leave draft_line.down draft_line.example
draft.new
review.threshold_less review.threshold_more review.back topic.down topic.leave expert.open
expert.card topic.focus weight.next people.toggle half_life.less half_life.more experts.back
judged_query.open snapshot.use decision.accept decision.close
tune.alpha_less tune.alpha_more tune.threshold_less tune.threshold_more tune.knob tune.measure
tune.optimise tune.undo tune.back folders.toggle folders.take folders.unfold
folders.fold picker.close index.undo index.back together_line.leave
together_result.read together_base.open together.query
together.back screen.next screen.previous pane.zoom message.show app.help app.quit
welcome.take welcome.back welcome.help welcome.quit
mode.explore mode.dedup mode.experts mode.tune mode.index mode.together app.palette
overlay.close overlay.filter links.help picker.help
"""
"""Each changes nothing and acts on nothing but the app: decide so before you add one."""

KEPT_BY_BROWSERS = frozenset(
    [f"f{number}" for number in (1, 3, 5, 6, 7, 9, 10, 11, 12)]
    + [f"ctrl+{letter}" for letter in "defghjklnopqrstuw"]
    + ["ctrl+tab", "ctrl+pageup", "ctrl+pagedown", "alt+left", "alt+right", "alt+home"]
)
"""Keys with a meaning in some browser, which does not pass all of them on."""


def test_readers_are_offered_what_was_decided_on_and_nothing_of_the_machine() -> None:
    offer = offer_in_browser(allow_writes=False, has_several_bases=True)
    offered = {command.id for command in Keymap(offer=offer).commands_in(*SCOPE_TITLES)}
    assert offered == set(OFFERED_TO_A_READER.split())

    for offer in (READER, WRITER):
        assert NOT_IN_A_BROWSER.items() <= offer.refused.items()
    assert {"mode.together", *WRITES} <= READER.refused.keys()
    assert not {"mode.together", *WRITES} & WRITER.refused.keys()


@OFFERS
def test_refused_commands_are_nowhere_shown(offer: Offer) -> None:
    keymap = Keymap(offer=offer)
    offered = {command.id for command in keymap.commands_in(*SCOPE_TITLES)}
    assert offered == {command.id for command in COMMANDS} - offer.refused.keys()
    shown = "\n".join(
        "".join(span.text for span in line) for line in help_lines(("screen",), keymap, 200, " ")
    )
    for command_id, reason in offer.refused.items():
        assert keymap.refusal(command_id) == reason
        assert command_by_id(command_id).help not in shown


@OFFERS
def test_first_key_of_every_command_is_one_that_browsers_leave(offer: Offer) -> None:
    keymap = Keymap(offer=offer)
    first_keys = {
        command.id: (*keymap.keys(command), command.keys)[0]
        for command in keymap.commands_in(*SCOPE_TITLES)
    }
    assert not {name for name, key in first_keys.items() if key in KEPT_BY_BROWSERS}


@pytest.mark.parametrize("scopes", ACTIVE_TOGETHER, ids="+".join)
def test_no_key_of_a_browser_has_two_meanings_at_once(scopes: tuple[str, ...]) -> None:
    keymap = Keymap(offer=WRITER)
    for command_id in BROWSER_KEYS:
        command = command_by_id(command_id)
        if command.scope in scopes:
            others = [other for other in COMMANDS if other.scope in scopes and other is not command]
            taken = {key for other in others for key in keymap.keys(other)}
            assert not taken & set(keymap.keys(command))


def test_keys_of_kbx_toml_go_before_those_of_a_browser() -> None:
    keymap = Keymap({"mode.explore": "ctrl+e"}, WRITER)
    assert keymap.keys(command_by_id("mode.explore")) == ("ctrl+e",)
    assert keymap.key_of("mode.index") == "9"


INNER_SCOPE_WINS = {
    ("preview", "escape"): "closes what the screen's escape would close",
    ("card", "escape"): "closes what the screen's escape would close",
    ("decision", "escape"): "closes what the screen's escape would close",
    ("overlay", "question_mark"): "closes what it opened",
}
"""Keys that two active scopes share because both commands mean the same to the user."""

MODES: dict[str, tuple[Scope, ...]] = {
    "explore": (
        *("results", "entities", "preview", "card", "screen", "judging"),
        *("list", "slider", "mode"),
    ),
    "dedup": ("drafts", "known", "review", "list", "slider", "mode"),
    "experts": ("expert_list", "experts", "list", "slider", "mode"),
    "tune": (
        *("judged_queries", "snapshots", "decision", "tune", "judging"),
        *("list", "slider", "mode"),
    ),
}
"""The scopes of each mode outside fields and texts, where letters are commands."""
KEYS_OF_ALL_MODES = (*"zgOxpdwvK", "f4", "ctrl+l")
"""Keys that mean the same in all modes in which they work."""
OTHER_IN_ANOTHER_MODE = {
    *("e", "f", "m", "n", "y", "minus", "slash", "enter"),
    *("left", "right", "h", "l", "left_square_bracket", "right_square_bracket"),
}
"""Keys from before that rule, such as `e`, which goes to the entities or assigns one."""


@pytest.mark.parametrize("scopes", ACTIVE_TOGETHER, ids="+".join)
def test_no_key_has_two_meanings_at_once(scopes: tuple[Scope, ...]) -> None:
    keymap, seen = Keymap(), set[str]()
    for scope in scopes:
        inner = scopes[: scopes.index(scope)]
        for command in commands_in(scope):
            for key in keymap.keys(command):
                assert key not in seen or any((near, key) in INNER_SCOPE_WINS for near in inner), (
                    key
                )
                seen.add(key)


def test_key_that_several_modes_share_means_the_same_in_all() -> None:
    labels: dict[str, dict[str, set[str]]] = {}
    for mode, scopes in MODES.items():
        for command in commands_in(*scopes):
            for key in Keymap().keys(command):
                labels.setdefault(key, {}).setdefault(mode, set()).add(command.label)
    differing = {
        key
        for key, by_mode in labels.items()
        if len({frozenset(meanings) for meanings in by_mode.values()}) > 1
    }
    assert differing == OTHER_IN_ANOTHER_MODE
    assert OTHER_IN_ANOTHER_MODE.isdisjoint(KEYS_OF_ALL_MODES)


def test_at_most_42_keys_are_live_in_the_results() -> None:
    keymap = Keymap()
    active = next(scopes for scopes in ACTIVE_TOGETHER if scopes[0] == "results")
    live = {key for command in commands_in(*active) for key in keymap.keys(command)}
    print(len(live), "keys:", " ".join(sorted(map(display_key, live))))
    assert len(live) <= 42


def test_the_palette_lists_every_action_of_modes_and_panes() -> None:
    left_out = {
        command.id
        for command in COMMANDS
        if command.scope not in FIELDS_AND_BOXES and not command.in_palette
        if command.label not in ("back", "quit") and ".menu" not in command.id
    }
    assert not any(command.in_palette for command in COMMANDS if command.label == "back")
    for scopes in ACTIVE_TOGETHER:
        listed = [each for each in commands_in(*scopes) if each.in_palette]
        titles = [(group_of(each), each.title or each.label) for each in listed]
        assert len(set(titles)) == len(titles), scopes
    ways = ("screen.next", "screen.previous", "app.palette", "app.suspend", "mode.together")
    assert left_out == set(ways)


def test_no_menu_has_two_commands_on_one_key() -> None:
    for menu in set(MENU_OF.values()):
        scopes = [scope for scope, opener in MENU_OF.items() if opener == menu]
        keys = [command.keys for command in commands_in(*scopes)]
        assert len(set(keys)) == len(keys)


def test_a_command_of_a_menu_may_be_given_a_key_of_its_own() -> None:
    command = command_by_id("copy.citation")
    assert Keymap().display_keys(command) == "y c"
    assert Keymap({"copy.citation": "ctrl+y"}).display_keys(command) == "ctrl+y"
    with pytest.raises(ConfigError, match="'m' would be both"):
        Keymap({"copy.citation": "m"})


def test_commands_scopes_and_tables_fit_together() -> None:
    ids = {command.id for command in COMMANDS}
    assert len(ids) == len(COMMANDS)
    assert {command.pair for command in COMMANDS if command.pair} <= ids
    assert {*NOT_IN_A_BROWSER, *WRITES, *BROWSER_KEYS} <= ids
    assert len(set(WRITES)) == len(WRITES)
    scopes = {command.scope for command in COMMANDS}
    assert scopes == set(SCOPE_TITLES) == {scope for group in ACTIVE_TOGETHER for scope in group}


@pytest.mark.parametrize("scopes", ACTIVE_TOGETHER, ids="+".join)
def test_help_shows_every_active_command_and_its_filter_all_others(
    scopes: tuple[Scope, ...],
) -> None:
    keymap = Keymap()

    def text_of(wanted: str) -> str:
        lines = help_lines(scopes, keymap, 200, wanted)
        return "\n".join("".join(span.text for span in line) for line in lines)

    here, everywhere = text_of(""), text_of(" ")
    for command in COMMANDS:
        if command.scope in scopes or command.scope != "overlay":
            shown = f" {keymap.display_keys(command)} "
            assert shown in everywhere and command.help in everywhere
            assert command.scope not in scopes or (shown in here and command.help in here)
    offsets = [here.index(SCOPE_TITLES[scope]) for scope in everyday_first(scopes)]
    assert offsets == sorted(offsets)
    for scope in set(SCOPE_TITLES) - set(scopes):
        assert f" {SCOPE_TITLES[scope]}\n" not in here


def test_help_of_the_results_begins_with_everyday_keys() -> None:
    scopes = next(scopes for scopes in ACTIVE_TOGETHER if scopes[0] == "results")
    lines = help_lines(scopes, Keymap(), 90)
    text = "\n".join("".join(span.text for span in line) for line in lines)
    assert text.index("type a query") < text.index("move up") < text.index("S ") < text.index("g 2")
    assert "-word" in text and "a draft" not in text


@pytest.mark.parametrize(("width", "scopes"), product([30, 50, 80, 140], ACTIVE_TOGETHER[:8]))
def test_key_bar_keeps_help_and_quit_at_any_width(width: int, scopes: tuple[Scope, ...]) -> None:
    commands = [command for scope in scopes for command in commands_in(scope)]
    text = "".join(span.text for span in key_line(commands, Keymap(), width))
    assert len(text) <= width
    assert len(fitting_commands(commands, Keymap(), width)) <= 6
    for command in commands:
        if command.label in ALWAYS_SHOWN and command.bar:
            assert command.label in text
