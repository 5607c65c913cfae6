"""Writes what graph_explore answers: an error, its causes and its cures, below one another."""

from typing import Any

from core.lessons.record_text import as_json
from core.messages import say
from core.text.plain import Budget
from rooms.fragments.answers.lines import Scene, id_text
from rooms.fragments.answers.objects import as_object, link_object
from rooms.fragments.recall.links import Explored


def text(found: Explored, scene: Scene, budget: Budget) -> str:
    """Return the fragment and a line for each link that leads to another one."""
    budget.spend(say("fragments.answers.links_left_out", count=100_000))
    head = scene.line(found.start)
    budget.spend(head)
    if not found.steps:
        return f"{head}\n{say('fragments.answers.explored_none')}"
    lines = []
    for step in found.steps:
        link = step.link
        is_ours = link.from_id == found.start.id
        relation = link.relation if is_ours else f"{link.relation} ←"
        if not is_ours and link.to_id != found.start.id:  # a step further on
            relation = f"{id_text(link.from_id)} {link.relation} {id_text(link.to_id)}:"
        line = f"  {relation} {scene.line(step.fragment)}"
        if budget.take(line):
            lines.append(line)
    left = len(found.steps) - len(lines)
    more = [say("fragments.answers.links_left_out", count=left)] if left else []
    return "\n".join([head, *lines, *more])


def declared(found: Explored, budget: Budget) -> dict[str, Any]:
    """Return the object that graph_explore gives: as many links as fit, and how many do not."""
    told: dict[str, Any] = {"success": True, "start": as_object(found.start)}
    budget.spend(as_json(told))
    nodes, edges = list[dict[str, Any]](), list[dict[str, Any]]()
    for step in found.steps:
        node, edge = as_object(step.fragment), link_object(step.link)
        if budget.take(as_json({"node": node, "edge": edge})):
            nodes.append(node)
            edges.append(edge)
    left = len(found.steps) - len(nodes)
    return {**told, "nodes": nodes, "edges": edges} | ({"left_out": left} if left else {})
