"""Writes the graph of links: a list for all readers, with lines beside it for the eye."""

from commands.view.escaping import as_line
from commands.view.fragments.cards import brief_link, kind_text, relation_text
from commands.view.fragments.graph import Cluster, Edge, Graph, Node
from commands.view.fragments.words import word
from core.messages import Language
from rooms.fragments.kinds import KINDS, RELATIONS

ROW, LANE, EDGE = 32, 12, 10  # units: the height of a row, the width of a lane, beyond the dots
FIRST = 18  # from the dots to the nearest lane
CURVE, TIP = 7, 4


def graph_lines(graph: Graph, lang: Language) -> list[str]:
    """Return the lines of the graph, folded; nothing where there are no links."""
    if not graph.clusters:
        return []
    about = word(lang, "graph_about")
    if any(edge.lane is None for it in graph.clusters for node in it.nodes for edge in node.edges):
        about += " " + word(lang, "graph_stubs")
    lines = [
        '<details class="graph" id="show=links" open>',
        f"<summary><h3>{as_line(word(lang, 'graph'))}</h3>"
        f' <span class="count">{graph.of_edges:,}</span></summary>',
        f'<p class="soft">{as_line(about)}</p>',
        *(line for it in graph.clusters for line in _cluster(it, lang)),
    ]
    if graph.edges < graph.of_edges:
        note = word(
            lang,
            "graph_part",
            nodes=graph.nodes,
            of_nodes=graph.of_nodes,
            edges=graph.edges,
            of_edges=graph.of_edges,
        )
        lines.append(f'<p class="soft">{as_line(note)}</p>')
    return [*lines, "</details>"]


def _cluster(cluster: Cluster, lang: Language) -> list[str]:
    width = (cluster.lanes - 1) * LANE + FIRST + 2 * EDGE
    return [
        '<div class="cluster">',
        f'<svg width="{width}" viewBox="0 0 {width} {cluster.rows * ROW}"'
        ' preserveAspectRatio="none" aria-hidden="true">',
        *(line for node in cluster.nodes for line in _drawn(node, width)),
        "</svg>",
        "<ol>",
        *(_row(node, lang) for node in cluster.nodes),
        "</ol>",
        "</div>",
    ]


def _row(node: Node, lang: Language) -> str:
    kind = as_line(kind_text(node.item.fragment.kind, lang))
    edges = "".join(_edge_row(edge, lang) for edge in node.edges)
    return (
        f'<li><p class="row">{brief_link(node.item, lang)} <span class="kind">{kind}</span></p>'
        + (f"<ul>{edges}</ul>" if edges else "")
        + "</li>"
    )


def _edge_row(edge: Edge, lang: Language) -> str:
    relation = as_line(relation_text(edge.relation, lang))
    return (
        f'<li class="row {_class(edge)}"><span class="relation">{relation}</span>'
        f" {brief_link(edge.to, lang)}</li>"
    )


def _drawn(node: Node, width: int) -> list[str]:
    """Return the dot of a fragment, the line down to its links, and their lines."""
    x, y = width - EDGE, _middle(node.row)
    lines = list[str]()
    if node.edges:
        lines.append(f'<path class="stem" d="M{x} {y}V{_middle(node.edges[-1].row)}"/>')
    lines += [_line(edge, x) for edge in node.edges]
    kind = node.item.fragment.kind
    look = f"dot {kind}" if kind in KINDS else "dot"
    return [*lines, f'<path class="{look}" d="M{x} {y}h0"/>']


def _line(edge: Edge, x: int) -> str:
    """Return the line of a link: out to its lane, along it, and in to the fragment, with a tip."""
    y, to = _middle(edge.row), _middle(edge.to_row)
    if edge.lane is None:
        return f'<path class="{_class(edge)}" d="M{x} {y}h-{EDGE - 2}"/>'
    lane, turn = x - FIRST - edge.lane * LANE, CURVE if to > y else -CURVE
    tip = x - TIP - 3
    return (
        f'<path class="{_class(edge)}" d="M{x} {y}H{lane + CURVE}q-{CURVE} 0-{CURVE} {turn}'
        f'V{to - turn}q0 {turn} {CURVE} {turn}H{tip}"/>'
        f'<path class="tip {_class(edge)}" d="M{tip - TIP} {to - TIP}l{TIP} {TIP}l-{TIP} {TIP}"/>'
    )


def _class(edge: Edge) -> str:
    return edge.relation if edge.relation in RELATIONS else "related"


def _middle(row: int) -> int:
    return row * ROW + ROW // 2
