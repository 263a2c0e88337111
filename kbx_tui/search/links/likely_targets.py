"""The documents that a broken link may mean, by similar file names, titles and aliases. Pure."""

from __future__ import annotations

from functools import cached_property

from rapidfuzz import fuzz, process

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.parsing.kinds import stem_of

MOST = 3
"""Suggestions for one link."""
SIMILAR = 75.0
"""Similarity from which a name is suggested, 0..100: two typing errors in eight letters."""


class LikelyTargets:
    """Names of the documents of one generation."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._found: dict[str, tuple[str, ...]] = {}
        """By key: many links have the same target."""

    @cached_property
    def _names(self) -> tuple[list[str], list[str]]:
        """The key of each name, and the path of its document."""
        keys, paths = [], []
        snapshot = self._snapshot
        for path, title, aliases in zip(
            snapshot.paths, snapshot.titles, snapshot.aliases, strict=True
        ):
            for key in dict.fromkeys(map(name_key, (stem_of(path), title, *aliases))):
                if key:
                    keys.append(key)
                    paths.append(path)
        return keys, paths

    def find(self, page: str, source: str) -> tuple[str, ...]:
        """Return the paths of at most `MOST` documents, the likeliest first, never `source`."""
        key = target_key(page)
        if key not in self._found:
            self._found[key] = self._similar(key) if key else ()
        return tuple(path for path in self._found[key] if path != source)[:MOST]

    def _similar(self, key: str) -> tuple[str, ...]:
        keys, paths = self._names
        found = process.extract(
            key, keys, scorer=fuzz.ratio, limit=2 * MOST + 2, score_cutoff=SIMILAR, processor=None
        )
        return tuple(dict.fromkeys(paths[index] for _, _, index in found))


def target_key(page: str) -> str:
    """Return the key of the name that a link to `page` gives, without its folder."""
    return name_key(page.rpartition("/")[2].removesuffix(".md"))
