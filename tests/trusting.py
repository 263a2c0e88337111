"""Trusts bases of tests, as `kbx trust` does."""

from pathlib import Path

from kbx_tui.base_trust import grant, requests_of
from kbx_tui.settings_file import load_settings


def configure_trusted(root: Path, text: str) -> None:
    """Write the kbx.toml of a base and allow what it asks for."""
    (root / "kbx.toml").write_text(text, encoding="utf-8")
    grant(root, requests_of(root, load_settings(root)))
