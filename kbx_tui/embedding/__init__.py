"""Models of text: the Embedder protocol, its implementations, the bundled model, cross-encoders.

Only this package imports onnxruntime, fastembed and huggingface_hub. They report on their use,
unless these variables are set before their first import; importing any module here sets them.
"""

from __future__ import annotations

import os

OPT_OUTS = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime: a device id and events in ~/.cache, uploaded
    "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub and hf_xet: the program that downloads
}
"""Variables of the environment that stop reports to the makers of libraries; docs/privacy.md."""

for _name, _value in OPT_OUTS.items():
    os.environ.setdefault(_name, _value)  # a value that the user set stays
