"""What a scan for duplicates found, in words. Pure."""

from __future__ import annotations

from collections.abc import Callable

from kbx_tui.formatting import format_count
from kbx_tui.tui.dedup.messages import ScanEnded


def describe_scan(scan: ScanEnded, key_of: Callable[[str], str]) -> str:
    """Return the notice after a scan; `key_of` returns the key of a command."""
    if scan.kept:
        return _describe_kept(scan, key_of("draft.skip"))
    kept = f"{key_of('drafts.kept')} lists what you keep" if scan.has_kept else ""
    if scan.added:
        found = f"{format_count(len(scan.added), 'fact')} stated more than once"
    elif scan.found:
        found = "all facts stated more than once are in the list"
    else:
        found = f"the base states nothing {'else ' if kept else ''}more than once"
    return f"{found}; {kept}" if kept else found


def _describe_kept(scan: ScanEnded, key: str) -> str:
    if scan.added:
        count = format_count(len(scan.added), "fact")
        return f"you keep {count} stated more than once; {key} on one takes that back"
    return (
        "all duplicates that you keep are in the list" if scan.found else "you keep no duplicates"
    )
