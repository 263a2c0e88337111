"""A knowledge base of thousands of one-paragraph pages, with random vectors."""

import random
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kbx_tui.config import Settings
from kbx_tui.embedding.local import open_embedder
from kbx_tui.index.build.build_index import build

PAGES = 5_706
PEOPLE = 40
_SUBJECTS = (
    "harbour ticket release migration rehearsal ferry schedule login cable timetable budget"
    " incident rollback kiosk weather pricing audit deploy tide gangway"
)
WORDS = _SUBJECTS.split(" ")


class SeededEmbedder:
    """Returns random unit vectors seeded by the text, under the name of the bundled model."""

    def __init__(self) -> None:
        real = open_embedder("bundled")
        self.model, self.dimension = real.model, real.dimension
        self.max_tokens, self.count_tokens = real.max_tokens, real.count_tokens

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
        vector = np.random.default_rng(seed).standard_normal(self.dimension)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


def write_pages(root: Path, pages: int = PAGES) -> None:
    """Write pages of people, and of meetings they attend."""
    rng = random.Random(5706)
    people = [f"Person{number} Example" for number in range(PEOPLE)]
    for folder in ("people", "meetings"):
        (root / "memory" / folder).mkdir(parents=True, exist_ok=True)
    for name in people:
        page = root / "memory" / "people" / f"{name.lower().replace(' ', '-')}.md"
        page.write_text(f"# {name}\n\nRole: keeper of {rng.choice(WORDS)}.\n")
    for number in range(pages - PEOPLE):
        title = f"{rng.choice(WORDS)} {rng.choice(WORDS)} {number}"
        words = " ".join(rng.choices(WORDS, k=60))
        attendees = ", ".join(rng.sample(people, 3))
        page = root / "memory" / "meetings" / f"{number:05}.md"
        page.write_text(
            f"---\ndate: 2026-{number % 12 + 1:02}-{number % 28 + 1:02}\n"
            f"attendees: [{attendees}]\n---\n# {title}\n\n{words}.\n"
        )


def index_pages(root: Path) -> None:
    """Index the pages without running the model."""
    build(root, Settings(), SeededEmbedder())
