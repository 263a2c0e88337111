"""A link graph that is updated after edits equals one made from all documents."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.link_graph import Destinations, LinkGraph, LinkRow, make_link_graph, updated
from tests.unit.search.snapshots import snapshot_of

PATHS = ("Garden/Bed.md", "Garden/Pond.md", "House/Bed.md", "House/Shed.md", "Index.md")
TARGETS = ("Bed", "Pond", "Shed", "House/Bed", "../Index", "Index#Part", "#Part", "Nothing", "Plan")
SNAPSHOT = snapshot_of(
    PATHS,
    titles=("Bed", "Pond", "Bed of straw", "Shed", "Index"),
    aliases=((), ("Plan",), (), (), ()),
    is_vault=True,
)
DESTINATIONS = Destinations(SNAPSHOT)

targets = st.lists(st.sampled_from(TARGETS), max_size=4)
rows_of_all = st.fixed_dictionaries({path: st.tuples(targets, targets) for path in PATHS})
edits = st.lists(st.dictionaries(st.sampled_from(PATHS), st.tuples(targets, targets)), max_size=4)

Links = dict[str, tuple[list[str], list[str]]]


def rows(links: Links) -> list[LinkRow]:
    return [(path, *of) for path, of in links.items()]


def contents(graph: LinkGraph) -> object:
    return dict(graph.targets), dict(graph.sources), list(graph.broken())


@given(rows_of_all, edits)
def test_updates_after_any_edits_equal_a_graph_of_all_documents(
    links: Links, changes: list[Links]
) -> None:
    graph = make_link_graph(SNAPSHOT, DESTINATIONS, rows(links))
    for change in changes:
        links = links | change
        graph = updated(graph, SNAPSHOT, rows(change))
        assert contents(graph) == contents(make_link_graph(SNAPSHOT, DESTINATIONS, rows(links)))


def test_destinations_hold_while_no_name_changes() -> None:
    assert DESTINATIONS.hold_for(replace(SNAPSHOT, versions=np.full(len(PATHS), b"2")))
    assert not DESTINATIONS.hold_for(replace(SNAPSHOT, titles=("Beds", *SNAPSHOT.titles[1:])))
    assert not DESTINATIONS.hold_for(replace(SNAPSHOT, paths=PATHS[1:]))
