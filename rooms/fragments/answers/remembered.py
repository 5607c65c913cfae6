"""Writes what remember and reflect answer: what was kept, and what to do about it."""

from typing import Any

from core.messages import say
from rooms.fragments.answers.lines import id_text, ids_text, json_text
from rooms.fragments.answers.objects import link_object
from rooms.fragments.fragment import CONTENT_CHARS, Link
from rooms.fragments.saving.reflecting import Reflected
from rooms.fragments.saving.remembering import Remembered


def text(done: Remembered, *, core_only: bool) -> str:
    """Return the sentences on what was done, and a ready call for each proposal."""
    fragment = done.fragment
    key = "remembered" if done.is_new else f"known{'_' if done.was else ''}{done.was}"
    told = [say(f"fragments.answers.{key}", id=id_text(fragment.id))]
    if done.redacted:
        told.append(say("fragments.answers.redacted", kinds=", ".join(done.redacted)))
    if done.is_long:
        told.append(say("fragments.answers.long", chars=len(fragment.content), most=CONTENT_CHARS))
    if done.links:
        links = [f"{it.relation} {id_text(_other(it, fragment.id))}" for it in done.links]
        told.append(say("fragments.answers.linked_to", listed=", ".join(links)))
    return "\n".join([" ".join(told), *proposals(done, core_only=core_only)])


def proposals(done: Remembered, *, core_only: bool) -> list[str]:
    """Return a line with a ready call for each fragment whose place this one may take."""
    lines = []
    for link in done.proposals:
        old, new = json_text(link.from_id), json_text(link.to_id)
        call = f'link(fromId={old}, toId={new}, relationType="superseded_by")'
        call = f"forget(id={old})" if core_only else call
        lines.append(say("fragments.answers.may_supersede", id=id_text(link.from_id), call=call))
    return lines


def _other(link: Link, own: str) -> str:
    return link.to_id if link.from_id == own else link.from_id


def declared(done: Remembered, *, core_only: bool) -> dict[str, Any]:
    """Return the declared object; what has nothing to tell is left out."""
    told: dict[str, Any] = {"success": True, "id": done.fragment.id, "created": done.is_new}
    more = {
        "redacted": list(done.redacted),
        "too_long": done.is_long,
        "links": [link_object(it) for it in done.links],
        "proposals": proposals(done, core_only=core_only),
    }
    return told | {key: value for key, value in more.items() if value}


def reflected_text(done: Reflected) -> str:
    """Return the sentences on what a session left."""
    new = [it.fragment for it in done.saved if it.is_new]
    known = [it.fragment for it in done.saved if not it.is_new]
    told = [say("fragments.answers.reflected", count=len(new), ids=ids_text(new))] if new else []
    if known:
        told.append(say("fragments.answers.reflected_before", ids=ids_text(known)))
    if done.parted:
        told.append(say("fragments.answers.parted", count=done.parted))
    if done.redacted:
        told.append(say("fragments.answers.redacted", kinds=", ".join(done.redacted)))
    return " ".join(told)


def reflected(done: Reflected) -> dict[str, Any]:
    """Return the object that reflect gives."""
    told: dict[str, Any] = {
        "success": True,
        "count": len(done.saved),
        "fragments": [
            {"id": it.fragment.id, "type": it.fragment.kind, "created": it.is_new}
            for it in done.saved
        ],
    }
    return told | ({"redacted": list(done.redacted)} if done.redacted else {})
