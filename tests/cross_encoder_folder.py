"""The cross-encoder of the tests: a folder with the model of `scripts/build_cross_encoder.py`.

Its score is the share of the query's tokens that a text holds.
"""

import shutil
from math import exp
from pathlib import Path

from kbx_tui.embedding.embedder import BUNDLED

STEEPNESS = 8.0
"""As in `scripts/build_cross_encoder.py`."""
MODEL = Path(__file__).parent / "cross_encoder" / "model.onnx"


def write_cross_encoder(folder: Path) -> Path:
    """Write the model with the tokenizer of the bundled model to `folder` and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(MODEL, folder / "model.onnx")
    shutil.copyfile(BUNDLED.folder / "tokenizer.json", folder / "tokenizer.json")
    return folder


def probability(share: float) -> float:
    """Return the score, 0..1, of a text with this share of the query's tokens."""
    return 1.0 / (1.0 + exp(-STEEPNESS * (share - 0.5)))
