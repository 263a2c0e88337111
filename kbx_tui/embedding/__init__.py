"""Models of text: the Embedder protocol, its implementations, the bundled model, cross-encoders.

Only this package imports onnxruntime, fastembed and huggingface_hub. They send usage reports unless
these variables are set before they are first imported; importing any module here sets them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

BUNDLED_MODEL = "bundled/all-MiniLM-L6-v2-int8"

OPT_OUTS = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime: uploads a device id and events kept in ~/.cache
    "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub and hf_xet: report which program downloads
}
"""Environment variables that stop reports to the makers of libraries; see docs/privacy.md."""

for _name, _value in OPT_OUTS.items():
    os.environ.setdefault(_name, _value)  # keeps a value that the user set

SERVERS: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "ollama": "http://localhost:11434/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1",
}
"""Addresses of servers, by the first part of `[embedding] model`."""

KEY_VARIABLES: Mapping[str, str] = {"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}
OTHER_KEY = "KBX_EMBEDDING_KEY"
"""Environment variable with the key for an address other than those of these services."""


def is_remote(model: str) -> bool:
    """Return whether a server embeds the texts, for the setting `[embedding] model`."""
    return model.partition("/")[0] in SERVERS


def has_unknown_length(model: str) -> bool:
    """Return whether only the first answer of a server shows how long its vectors are."""
    return is_remote(model) and not model.startswith("gemini")


def server_address(model: str, address: str) -> str:
    """Return where the texts are sent, for the settings of a remote model."""
    return (address or SERVERS[model.partition("/")[0]]).rstrip("/")


def is_loopback(address: str) -> bool:
    """Return whether requests to an address stay on this machine: a name may lead elsewhere."""
    host = urlsplit(address).hostname
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False
