"""The film that the README begins with: small, by itself, and made from the app."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scripts.make_film import STEPS, STILL, record
from tests.command_line import CHECKOUT

FILM = CHECKOUT / "screenshots" / "film.svg"
SVG = "{http://www.w3.org/2000/svg}"


def test_the_readme_begins_with_a_film_of_20_seconds_that_loads_nothing() -> None:
    readme = (CHECKOUT / "README.md").read_text("utf-8")
    assert re.findall(r"!\[[^]]+\]\(([^)]+)\)", readme)[0] == "screenshots/film.svg"
    film = FILM.read_text("utf-8")
    assert len(film.encode()) < 400_000
    assert not re.search(r"://|@import|<script|<image", film.replace(SVG[1:-1], "", 1))
    assert ElementTree.fromstring(film).tag == f"{SVG}svg"
    assert 18 <= sum(step.seconds for step in STEPS) <= 22
    (seconds,) = set(re.findall(r"animation:k\d+ ([\d.]+)s", film))
    assert float(seconds) == pytest.approx(sum(step.seconds for step in STEPS))
    assert film.count("visibility:visible}\n") == STILL


@pytest.mark.slow
async def test_a_film_is_made_of_the_app(demo_copy: Path, own_collector: None) -> None:
    film = ElementTree.fromstring(await record(demo_copy, STEPS[:3]))
    frames = film.findall(f"{SVG}g")
    rows = {row.get("id"): "".join(row.itertext()) for row in film.iterfind(f"{SVG}defs/{SVG}g")}
    shown = ["\n".join(rows[use.attrib["href"][1:]] for use in frame) for frame in frames]
    assert len(shown) == 3
    assert "Type to search." in shown[0]
    assert "Platform" in shown[1]
    assert "what did the platform team" in shown[2]
    assert STEPS[0].caption not in shown[2], "a row that did not change is drawn again"
