"""The page that `kbx search --html` writes: self-contained, complete, and safe to open."""

import re
from base64 import b64encode
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.search.request import SearchRequest
from kbx_tui.sharing.search_page import search_page
from kbx_tui.sharing.shared_search import share_search
from tests.functional.vaults import write_vault
from tests.hostile_base import ACTS, controls_in
from tests.parsed_page import ParsedPage

QUESTION = "what did Alice Chen decide about the Migration"
ATTACK = (
    "<script>alert(1)</script> \"'><img src=x onerror=alert(2)> [a](javascript:alert(3)) </title>"
    "</style></details><svg/onload=alert(4)> <!-- <base href=//x> {{7*7}} &lt;b&gt; ]]> "
)
ACTIVE = {"script", "a", "img", "iframe", "object", "embed", "link", "base", "form", "input", "use"}
"""Elements that run, load or lead somewhere."""
SHAPE_OF_ATTRIBUTES = re.compile(r"(on.*|href|src|style|action|.*:href|srcdoc|ping|background)")


def page_of(root: Path, query: str, **options: object) -> str:
    with KnowledgeBase(root) as kb:
        return search_page(share_search(kb, SearchRequest(query, **options)))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def demo_page(demo_kb_path: Path) -> str:
    return page_of(demo_kb_path, QUESTION)


@pytest.fixture(scope="module")
def hostile_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base whose name, paths and texts try to get out of a page and into a terminal."""
    attack = f"{ATTACK}{ACTS}".replace("\x00", "").replace("\n", " ")
    person = f'---\naliases: ["mal <i>"]\nrole: "<u>"\n---\n# Mallory <b onclick="x()">\n\n{attack}'
    return write_vault(
        tmp_path_factory.mktemp("hostile") / "<b>\"'&",
        {
            "memory/people/mal.md": f"{person}\n\nquokka\n",
            'memory/notes/a"><b onmouseover=x>.md': f"# Note {attack}\n\nMallory quokka {attack}\n",
            "memory/notes/it's & \u202e.md": f"# שלום {attack}\n\nquokka مرحبا {attack}\n",
        },
    )


def test_the_page_has_the_question_the_answer_and_how_to_get_it(demo_page: str) -> None:
    text = ParsedPage(demo_page).text
    for part in (
        QUESTION,
        "Search in larkwater",
        "two-pass · Alice Chen + Migration · 10 of 21 results",
        "Counts: at or above the threshold of .50",
        "Migration go/no-go",
        "memory/meetings/2026/03/17/migration-go-no-go.transcript.md:54",
        ".50: document 50 %, entities 50 %",
        f"kbx search '{QUESTION}'",
    ):
        assert part in text, part
    assert "<mark>Migration</mark>" in demo_page


def test_explanations_are_the_sums_of_the_listing_and_the_first_three_are_open(
    demo_kb_path: Path, demo_page: str
) -> None:
    parsed = ParsedPage(demo_page)
    results = demo_page.partition('id="results"')[2].partition('id="asked"')[0]
    folded = re.findall(r"<details( open=\"\")?>", results)
    assert folded == [' open=""'] * 3 + [""] * 7
    with KnowledgeBase(demo_kb_path) as kb:
        first = kb.search(QUESTION, explain=True).results[0]
    assert first.explain is not None
    for share in first.explain["entities"]:
        assert f"{share['name']} (.{share['weight'] * 100:.0f} × {share['reason']})" in parsed.text


def test_the_page_loads_and_runs_nothing(demo_page: str) -> None:
    parsed = ParsedPage(demo_page)
    assert ACTIVE.isdisjoint(tag for tag, _ in parsed.elements)
    assert not [name for _, name in parsed.shape() if SHAPE_OF_ATTRIBUTES.fullmatch(name)]
    assert "@import" not in demo_page
    assert set(re.findall(r"url\((.*?)\)", demo_page)) == {"#entity-pattern", "#reranker-pattern"}
    assert parsed.others == ["doctype html"]


def test_the_policy_allows_the_style_of_the_page_and_nothing_else(demo_page: str) -> None:
    policies = [
        attributes["content"]
        for tag, attributes in ParsedPage(demo_page).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    (style,) = re.findall(r"<style>(.*?)</style>", demo_page, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert policies == [
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    ]


def test_the_page_is_structured_for_those_who_cannot_see_it(demo_page: str) -> None:
    elements = ParsedPage(demo_page).elements
    tags = [tag for tag, _ in elements]
    assert tags.count("h1") == tags.count("main") == tags.count("title") == 1
    assert ("html", {"lang": "en"}) in elements
    assert all("scope" in attributes for tag, attributes in elements if tag == "th")
    assert all(attributes.get("aria-hidden") for tag, attributes in elements if tag == "svg")
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = {attributes["id"] for _, attributes in elements if "id" in attributes}
    assert {a["aria-labelledby"] for _, a in elements if "aria-labelledby" in a} <= ids


@pytest.mark.parametrize("query", ["Mallory quokka", f"Mallory {ATTACK} quokka"])
def test_a_hostile_base_adds_no_element_attribute_or_control(
    hostile_base: Path, demo_page: str, query: str
) -> None:
    page = page_of(hostile_base, query)
    parsed, usual = ParsedPage(page), ParsedPage(demo_page)
    assert parsed.shape() - usual.shape() <= {("ul", "class")}  # notes
    assert parsed.others == usual.others
    assert controls_in(page.partition("</style>")[2]) == set()
    assert "<img src=x onerror=alert(2)>" in parsed.text  # as text
    assert 'memory/notes/a"><b onmouseover=x>.md:' in parsed.text


def test_a_search_without_results_says_why(demo_kb_path: Path) -> None:
    text = ParsedPage(page_of(demo_kb_path, "xyzzy", path="memory/nowhere")).text
    assert "No document was found." in text
    assert "Note: there are no documents in memory/nowhere" in text
    assert "kbx search --path memory/nowhere xyzzy" in text


def test_settings_that_differ_are_named(demo_kb_path: Path) -> None:
    page = page_of(
        demo_kb_path,
        "migration type:note in March 2026",
        alpha=0.3,
        gate="hard",
        hotness=0.1,
        pinned=["Grace Tully"],
        muted=["Alice Chen"],
        limit=3,
        sort="date",
    )
    text = ParsedPage(page).text
    for part in (
        "alpha.30: document 30 %, entities 70 %",
        "gatehard",
        "hotness.10",
        "pinnedGrace Tully",
        "muted",
        "typed filterstype:note",
        "time asked forprefers March 2026",
        "Counts: pinned",
        "newest first",
        "--pin 'Grace Tully' --mute 'Alice Chen' --hierarchy-alpha 0.3 --gate hard --sort date",
    ):
        assert part in text, part


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_a_contrast_of_at_least_4_5(demo_page: str, scheme: str) -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", demo_page, re.DOTALL)
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    block = blocks[0 if scheme == "light" else 1]
    colors = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))
    pairs = [(text, under) for text in ("text", "dim") for under in ("page", "surface")]
    pairs += [(word, "page") for word in ("document", "entity", "reranker")]
    for text, under in [*pairs, ("mark-text", "mark")]:
        assert _contrast(colors[text], colors[under]) >= 4.5, (text, under)


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted(map(_luminance, (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
