"""KnowledgeBase: the one door to everything, for the app, the command line and programs."""

from __future__ import annotations

from kbx_tui.api.asking_experts import AskingExperts
from kbx_tui.api.browsing import Browsing, DocumentView
from kbx_tui.api.describing import Describing
from kbx_tui.api.drafting import Drafting
from kbx_tui.api.evaluating import Evaluating

__all__ = ["DocumentView", "KnowledgeBase"]


class KnowledgeBase(Drafting, AskingExperts, Describing, Evaluating, Browsing):
    """One knowledge base. Cheap to open; the engine loads with the first search.

    For one thread at a time. `notice` hears, in one sentence, what happens on the way: that an
    index is made, that another process is waited for.
    """
