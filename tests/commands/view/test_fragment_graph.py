"""Tests how the links between fragments are laid out: rows, lanes, circles, many of them."""

from collections.abc import Sequence
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.view.fragments.collection import collection_of
from commands.view.fragments.graph import MOST_EDGES, MOST_LANES, MOST_NODES, Graph, graph_of
from commands.view.fragments.graph_lines import graph_lines
from core.messages import Language
from rooms.fragments.fragment import Fragment
from rooms.fragments.kinds import RELATIONS, Relation
from tests.support.fragment_pages import Ends, found_of
from tests.support.shown_pages import LANGUAGES


def graph(links: Sequence[Ends], count: int = 0) -> Graph:
    """The graph of these links between as many fragments as they name, or more."""
    most = max((max(one, other) + 1 for one, other, _ in links), default=0)
    fragments = [
        Fragment(number=at + 1, id=f"n{at}", content=f"text {at}") for at in range(max(count, most))
    ]
    return graph_of(collection_of(found_of(fragments, links)).items)


def names(graph: Graph) -> list[list[str]]:
    return [[node.item.name for node in cluster.nodes] for cluster in graph.clusters]


def test_without_links_there_is_no_graph() -> None:
    assert graph([], 5).clusters == ()
    assert graph_lines(graph([], 5), "en") == []


def test_what_hangs_together_is_one_cluster_and_the_rest_is_left_out() -> None:
    told = graph([(0, 1, "related"), (3, 4, "related"), (4, 5, "part_of")], 7)
    assert names(told) == [["n0", "n1"], ["n3", "n4", "n5"]]
    assert (told.nodes, told.edges, told.of_nodes, told.of_edges) == (5, 3, 5, 3)


def test_each_link_has_a_row_and_leads_from_above() -> None:
    [cluster] = graph([(2, 0, "caused_by"), (2, 1, "resolved_by"), (1, 0, "related")]).clusters
    assert [(it.item.name, it.row) for it in cluster.nodes] == [("n2", 0), ("n1", 3), ("n0", 5)]
    assert [(it.relation, it.row, it.to_row) for it in cluster.nodes[0].edges] == [
        ("caused_by", 1, 5),
        ("resolved_by", 2, 3),
    ]
    assert cluster.rows == 6


def test_a_circle_is_drawn_once() -> None:
    [cluster] = graph([(0, 1, "related"), (1, 2, "related"), (2, 0, "related")]).clusters
    assert [it.item.name for it in cluster.nodes] == ["n0", "n1", "n2"]
    [back] = cluster.nodes[2].edges
    assert back.to_row < back.row


def test_of_very_many_those_near_the_middle_are_drawn_and_the_others_are_counted() -> None:
    links: list[Ends] = [(0, at, "related") for at in range(1, 200)]
    told = graph([*links, (300, 301, "related")])
    assert (told.nodes, told.edges, told.of_nodes) == (MOST_NODES, MOST_EDGES, 202)
    [note] = [line for line in graph_lines(told, "en") if "Shown here" in line]
    assert "60 of 202 linked fragments, 4 of 200 links" in note


@st.composite
def _links(draw: st.DrawFn) -> list[Ends]:
    pairs = draw(st.sets(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=60))
    relations: tuple[Relation, ...] = RELATIONS  # type: ignore[assignment]
    return [(one, to, draw(st.sampled_from(relations))) for one, to in sorted(pairs) if one != to]


@given(_links())
def test_rows_are_distinct_and_no_two_lines_lie_on_each_other(links: list[Ends]) -> None:
    told = graph(links)
    assert graph_lines(told, "en") == graph_lines(graph(links), "en")
    assert told.nodes == told.of_nodes
    for cluster in told.clusters:
        edges = [edge for node in cluster.nodes for edge in node.edges]
        rows = [*(it.row for it in cluster.nodes), *(it.row for it in edges)]
        assert sorted(rows) == list(range(cluster.rows))
        at = {node.item.name: node.row for node in cluster.nodes}
        assert all(at[it.to.name] == it.to_row for it in edges)
        drawn = [it for it in edges if it.lane is not None]
        assert all(it.lane is not None and it.lane < cluster.lanes <= MOST_LANES for it in drawn)
        for one in drawn:
            for other in drawn:
                if one is not other and one.lane == other.lane:
                    first, second = sorted(
                        (sorted((one.row, one.to_row)), sorted((other.row, other.to_row)))
                    )
                    assert first[1] < second[0]


@given(_links())
def test_what_is_drawn_is_well_formed_and_told_as_a_list(links: list[Ends]) -> None:
    told = graph(links)
    text = "".join(graph_lines(told, "en"))
    tree = ElementTree.fromstring(f"<div>{text.replace(' open>', '>')}</div>")
    assert len(tree.findall(".//path[@class]")) >= told.nodes + told.edges
    linked = [it.get("href") for it in tree.iter("a")]
    assert len(linked) == told.nodes + told.edges


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_drawing_is_for_the_eye_and_the_list_for_all(lang: Language) -> None:
    lines = graph_lines(graph([(0, 1, "caused_by")]), lang)
    text = "".join(lines)
    assert 'aria-hidden="true"' in text
    assert '<a href="#f-n0" ' in text and text.count('<a href="#f-n1" ') == 2
    assert ("caused by" if lang == "en" else "원인") in text
