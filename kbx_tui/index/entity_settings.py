"""What `[entities]` of kbx.toml makes an entity, as the index notes it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from kbx_tui.config import Settings
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.store import Store
from kbx_tui.knowledge.parsing.kinds import CORE_ENTITY_TYPES


def entity_types(settings: Settings) -> frozenset[str]:
    """Return the kinds whose pages are entities."""
    return CORE_ENTITY_TYPES | frozenset(settings.entities.types)


def noted_settings(settings: Settings) -> dict[str, Any]:
    """Return what the index notes of `[entities]`, as JSON values."""
    topics = msgspec.json.decode(msgspec.json.encode(settings.entities))
    del topics["types"]
    return {"entity_types": sorted(entity_types(settings)), "entity_topics": topics}


def are_outdated(meta: Mapping[str, Any], settings: Settings) -> bool:
    """Return whether an index with these notes was made under other settings.

    False for one that was made before they were noted.
    """
    return any(meta.get(key, value) != value for key, value in noted_settings(settings).items())


def entities_outdated(root: Path, settings: Settings) -> bool:
    """Return whether `[entities]` changed since the last run; False without an index."""
    store = Store(index_uri(root, settings))
    return store.exists() and are_outdated(store.meta(), settings)
