"""The page of a search: one HTML file that loads nothing and runs nothing. Pure.

Texts of documents get into it only through `element`, which escapes them. Should one come through
all the same, the policy of the page forbids scripts, requests, forms, and styles other than ours.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from kbx_tui import __version__
from kbx_tui.formatting import mode_name
from kbx_tui.search.results.meta_words import mode_details
from kbx_tui.search.results.response import SearchResponse
from kbx_tui.sharing.entity_section import entity_section
from kbx_tui.sharing.html_elements import Markup, element, joined
from kbx_tui.sharing.page_facts import base_facts
from kbx_tui.sharing.result_section import result_section
from kbx_tui.sharing.score_bar import patterns
from kbx_tui.sharing.shared_search import SharedSearch

_OPTION = re.compile(r"(--[a-z-]+)")
ABOUT = "This page runs no script and loads nothing. What documents mark as redacted is left out."


def search_page(shared: SharedSearch) -> str:
    """Return the page."""
    answer = shared.answer
    is_several = len(shared.bases) > 1
    is_fast = any(
        response.meta.search_mode_reason == "fast" for response in answer.responses.values()
    )
    return "<!doctype html>\n" + element(
        "html",
        _head(shared),
        element(
            "body",
            patterns(),
            _header(shared),
            element(
                "main",
                entity_section(answer.responses),
                result_section(answer.results, names_base=is_several, is_fast=is_fast),
                _asked(shared),
            ),
            element("footer", element("p", f"Made by kbx_tui {__version__}. {ABOUT}")),
        ),
        lang="en",
    )


def _head(shared: SharedSearch) -> Markup:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="robots", content="noindex"),
        element("title", f"{shared.answer.query} · {', '.join(shared.bases)}"),
        element("style", Markup(_style())),
    )


def _header(shared: SharedSearch) -> Markup:
    answer = shared.answer
    bases = joined((element("bdi", name) for name in shared.bases), ", ")
    when = f"{shared.when.day} {shared.when:%B %Y, %H:%M %Z}"
    summaries = [
        element("p", f"{name}: " if len(answer.responses) > 1 else "", _summary(response))
        for name, response in answer.responses.items()
    ]
    notes = [element("li", "Note: ", element("bdi", note)) for note in answer.notes]
    return element(
        "header",
        element(
            "p",
            "Search in ",
            bases,
            " · ",
            element("time", when, datetime=shared.when.isoformat(timespec="minutes")),
            class_="dim",
        ),
        element("h1", answer.query, dir="auto"),
        *summaries,
        element("ul", *notes, class_="notes") if notes else Markup(),
    )


def _summary(response: SearchResponse) -> Markup:
    meta = response.meta
    name = mode_name(meta.search_mode, meta.search_mode_reason)
    return joined(
        [element("b", name), " · ", element("bdi", " · ".join(mode_details(response, " results")))]
    )


def _asked(shared: SharedSearch) -> Markup:
    """Return the settings of each base and the command that gives these results."""
    parts = []
    for name, response in shared.answer.responses.items():
        if len(shared.bases) > 1:
            parts.append(element("h3", element("bdi", name)))
        facts = [
            element("div", element("dt", name), element("dd", element("bdi", value)))
            for name, value in base_facts(response, shared.hotness)
        ]
        parts.append(element("dl", *facts))
    return element(
        "section",
        element("h2", "How it was searched", id="asked"),
        *parts,
        element("h3", "The same on the command line"),
        element("pre", element("code", *_command(shared.command))),
        class_="asked",
        aria_labelledby="asked",
    )


def _command(line: str) -> list[str]:
    """Return the parts of a command line, such that no line ends within an option."""
    return [
        element("span", part, class_="option") if part.startswith("--") else part
        for part in _OPTION.split(line)
    ]


def _policy() -> str:
    digest = b64encode(sha256(_style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@cache
def _style() -> str:
    return files("kbx_tui.sharing").joinpath("page.css").read_text(encoding="utf-8")
