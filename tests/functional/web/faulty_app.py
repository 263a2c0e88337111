"""A fork server of an app with a fault: the query `raise!` raises an error on its event loop."""

from kbx_tui.tui.visitor.fork_server import main
from kbx_tui.tui.visitor.visitor_app import VisitorApp

show_query = VisitorApp.show_query


def raise_or_show(app: VisitorApp, query: str) -> None:
    if query == "raise!":
        raise RuntimeError("raised as asked")
    show_query(app, query)


VisitorApp.show_query = raise_or_show  # type: ignore[assignment, method-assign]
main()
