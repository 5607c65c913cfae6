"""Lays out the links between fragments: groups that hang together, in rows, with lanes for lines.

Pure, and the same for the same links. A fragment has a row, and each of its links one below it;
from there a line runs in a lane of its own to the row of the fragment at the other end. What is
linked to another stands above it, as far as links run in no circle.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from commands.view.fragments.collection import Item

MOST_NODES = 60
MOST_EDGES = 4  # of each fragment
MOST_LANES = 6  # of lines that run side by side; a further one is not drawn, only told


class Edge(NamedTuple):
    """A link. row: its own; to_row: that of its other end. lane: from the text outwards, None for
    one that is not drawn.
    """

    relation: str
    to: Item
    row: int
    to_row: int
    lane: int | None = None


class Node(NamedTuple):
    """A fragment in the graph, and the links that begin there."""

    item: Item
    row: int
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Fragments that hang together. rows, lanes: how many there are."""

    nodes: tuple[Node, ...]
    rows: int
    lanes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """What is drawn; of_nodes, of_edges: how many fragments have links, and how many there are."""

    clusters: tuple[Cluster, ...]
    of_nodes: int
    of_edges: int

    @property
    def nodes(self) -> int:
        return sum(len(it.nodes) for it in self.clusters)

    @property
    def edges(self) -> int:
        return sum(len(node.edges) for it in self.clusters for node in it.nodes)


def graph_of(items: Sequence[Item], most: int = MOST_NODES) -> Graph:
    """Return the graph of these items, those that matter most first. most: how many nodes."""
    linked = [item for item in items if item.ties]
    clusters, left = list[Cluster](), most
    for members in _components(linked):
        if left < 2:
            break
        chosen = members if len(members) <= left else _near(members, left)
        clusters.append(_cluster(chosen))
        left -= len(chosen)
    edges = sum(tie.is_from for item in linked for tie in item.ties)
    return Graph(clusters=tuple(clusters), of_nodes=len(linked), of_edges=edges)


def _components(items: Iterable[Item]) -> list[list[Item]]:
    """Return the items that hang together, each group in the order of the first of it."""
    seen, groups = set[Item](), list[list[Item]]()
    for item in items:
        if item not in seen:
            groups.append(_near([item], 0))
            seen.update(groups[-1])
    return groups


def _near(members: Sequence[Item], most: int) -> list[Item]:
    """Return what hangs together with the member that has most links, nearest first.

    most: how many, 0 for all of them.
    """
    reached = [max(members, key=lambda it: len(it.ties))]
    known = set(reached)
    for item in reached:  # grows while it is read
        for tie in item.ties:
            if tie.other not in known:
                known.add(tie.other)
                reached.append(tie.other)
        if most and len(reached) >= most:
            return reached[:most]
    return reached


def _cluster(members: Sequence[Item]) -> Cluster:
    order = _in_layers(members)
    out = {it: _targets(it, order)[:MOST_EDGES] for it in order}
    rows, row = dict[Item, int](), 0
    for item in order:
        rows[item] = row
        row += 1 + len(out[item])
    edges = [
        Edge(relation, to, rows[item] + at, rows[to])
        for item in order
        for at, (relation, to) in enumerate(out[item], 1)
    ]
    lanes = _lanes(edges)
    drawn = iter(edge._replace(lane=lane) for edge, lane in zip(edges, lanes, strict=True))
    nodes = tuple(Node(it, rows[it], tuple(next(drawn) for _ in out[it])) for it in order)
    used = max((lane for lane in lanes if lane is not None), default=-1) + 1
    return Cluster(nodes=nodes, rows=row, lanes=used)


def _targets(item: Item, among: Iterable[Item]) -> list[tuple[str, Item]]:
    known = set(among)
    return [(it.relation, it.other) for it in item.ties if it.is_from and it.other in known]


def _in_layers(members: Sequence[Item]) -> list[Item]:
    """Return the members, each below what is linked to it.

    A circle is entered where the fewest links lead in, and near what stands there already.
    """
    known = set(members)
    into = {it: sum(not t.is_from and t.other in known for t in it.ties) for it in members}
    ready = [it for it in members if not into[it]][::-1]
    waiting, order = dict.fromkeys(members), list[Item]()
    last = dict[Item, int]()  # of those that stand there, the last one that leads to each
    while waiting:
        item = ready.pop() if ready else min(waiting, key=lambda it: (into[it], -last.get(it, -1)))
        if item not in waiting:
            continue
        del waiting[item]
        order.append(item)
        freed = list[Item]()
        for _, to in _targets(item, waiting):
            into[to] -= 1
            last[to] = len(order)
            if not into[to]:
                freed.append(to)
        ready += freed[::-1]
    return order


def _lanes(edges: Sequence[Edge]) -> list[int | None]:
    """Return the lane of each edge: short ones run near the text, and no two lie on each other."""
    spans = [(min(it.row, it.to_row), max(it.row, it.to_row)) for it in edges]
    taken = [list[tuple[int, int]]() for _ in range(MOST_LANES)]
    lanes: list[int | None] = [None] * len(edges)
    for at in sorted(range(len(edges)), key=lambda it: (spans[it][1] - spans[it][0], it)):
        top, bottom = spans[at]
        for lane, others in enumerate(taken):
            if all(bottom < first or last < top for first, last in others):
                others.append((top, bottom))
                lanes[at] = lane
                break
    return lanes
