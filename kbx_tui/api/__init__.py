"""The programming interface; everything else in kbx goes through `KnowledgeBase`."""

from __future__ import annotations

from kbx_tui.api.knowledge_base import KnowledgeBase

__all__ = ["KnowledgeBase"]
