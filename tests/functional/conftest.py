"""Fixtures of the functional tests."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest

from kbx_tui.embedding.embedder import Vector
from kbx_tui.embedding.local import PooledModel
from tests.functional.vaults import index_vault


@pytest.fixture(scope="session", autouse=True)
def same_texts_are_embedded_once() -> Iterator[None]:
    """Remember what the bundled model made of the same texts: most tests index the same pages.

    What it makes of a text may differ in the last digits with those embedded beside it, therefore
    whole lists of texts are remembered.
    """
    known: dict[tuple[object, ...], list[Vector]] = {}
    plain = WeakSet[PooledModel]()
    load = PooledModel.__init__
    embed = PooledModel.passage_embed

    def loaded(model: PooledModel, *source: Any, as_int8: bool, **options: Any) -> None:
        load(model, *source, as_int8=as_int8, **options)
        if not as_int8:
            plain.add(model)

    def remembered(model: PooledModel, texts: Sequence[str], batch_size: int) -> Iterator[Vector]:
        if (key := (model in plain, *texts)) not in known:
            known[key] = list(embed(model, texts, batch_size))
        return iter(known[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PooledModel, "__init__", loaded)
        patch.setattr(PooledModel, "passage_embed", remembered)
        yield


@pytest.fixture(scope="session")
def indexed_vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an indexed base of `vaults.FILES`; tests change copies of it."""
    return index_vault(tmp_path_factory.mktemp("indexed") / "base")
