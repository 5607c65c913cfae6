"""Writes the fragments' part of the page: groups by kind, and what can be filtered by."""

from functools import cache
from importlib.resources import files

from commands.view.escaping import as_line
from commands.view.fragments.cards import card, kinds_of
from commands.view.fragments.collection import GROUPS, PINNED, SUPERSEDED, Collection
from commands.view.part import Figure, Part
from commands.view.records import as_code
from core.messages import say

MOST_OPEN = 12  # fragments of the first group, so that the others are in sight
KINDS = {
    "fragment": "kind_fragment",
    **{kind: f"group_{kind}" for kind in (PINNED, *GROUPS, SUPERSEDED)},
    "linked": "kind_linked",
    "public": "kind_public",
    "suspect": "kind_suspect",
}


def part_of(collection: Collection, *, about: str) -> Part:
    """Return what fragments add to the page.

    about: the key of the sentence that says whose they are.
    """
    items = collection.items
    there = {kind for item in items for kind in kinds_of(item)}
    pinned = sum(item.fragment.is_anchor for item in items)
    return Part(
        title=say("view_fragments.fragments"),
        name=say("view_fragments.of_fragments"),
        shown=len(items),
        figures=(
            Figure(say("view_fragments.fragments"), collection.total, "fragments"),
            Figure(say("view_fragments.group_pinned"), pinned, "fragments", "type=pinned"),
        ),
        section=tuple(_section(collection, about)),
        kinds={kind: say(f"view_fragments.{key}") for kind, key in KINDS.items() if kind in there},
        agents=frozenset(it.fragment.agent for it in items) - {""},
        style=_asset("fragments.css"),
    )


@cache
def _asset(name: str) -> str:
    return files("commands.view.fragments").joinpath(name).read_text(encoding="utf-8")


def _section(collection: Collection, about: str) -> list[str]:
    tone = "note" if about == "about_all" else "soft"
    lines = [
        '<section id="fragments" aria-labelledby="fragments-title">',
        f'<h2 id="fragments-title">{as_line(say("view_fragments.fragments"))}</h2>',
        f'<p class="{tone}">{as_code(as_line(say("view_fragments." + about)))}</p>',
    ]
    shown = len(collection.items)
    if shown < collection.total:
        note = say("view_fragments.left_out", shown=shown, count=collection.total)
        lines.append(f'<p class="soft">{as_line(note)}</p>')
    for at, (name, items) in enumerate(collection.groups.items()):
        is_folded = at or len(items) > MOST_OPEN  # by the script, as all that have an id
        anchor = f' id="show=fragments-{name}"' if is_folded else ""
        lines += [
            f'<details class="topic group"{anchor} open>',
            f"<summary><h3>{as_line(say(f'view_fragments.group_{name}'))}</h3>"
            f' <span class="count">{len(items):,}</span></summary>',
            *(line for item in items for line in card(item)),
            "</details>",
        ]
    return [*lines, "</section>"]
