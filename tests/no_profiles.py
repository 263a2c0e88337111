"""The profiles of a base without entities."""

from __future__ import annotations

import numpy as np

from kbx_tui.index.vectors.int8_codes import QuantizedVectors
from kbx_tui.index.vectors.vector_matrix import ProfileVectors

NO_PROFILES = ProfileVectors.of(np.empty((0, 1), np.float32), QuantizedVectors.empty(0, 1))
