"""Models of text: the Embedder protocol, its implementations, the bundled model, cross-encoders.

Only this package imports onnxruntime, fastembed and huggingface_hub. They send usage reports unless
these variables are set before they are first imported; importing any module here sets them.
"""

from __future__ import annotations

import os

BUNDLED_MODEL = "bundled/all-MiniLM-L6-v2-int8"

OPT_OUTS = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime: uploads a device id and events kept in ~/.cache
    "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub and hf_xet: report which program downloads
}
"""Environment variables that stop reports to the makers of libraries; see docs/privacy.md."""

for _name, _value in OPT_OUTS.items():
    os.environ.setdefault(_name, _value)  # keeps a value that the user set
