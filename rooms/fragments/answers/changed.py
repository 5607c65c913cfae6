"""Writes what forget, amend, link and pin answer."""

from dataclasses import replace
from typing import Any

from core.messages import say
from rooms.fragments.answers.lines import id_text, ids_text
from rooms.fragments.answers.objects import link_object
from rooms.fragments.fragment import CONTENT_CHARS, Fragment
from rooms.fragments.saving.amending import Amended
from rooms.fragments.saving.forgetting import Forgotten
from rooms.fragments.saving.linking import Linked


def forgotten_text(done: Forgotten, *, is_served: bool = False) -> str:
    """Return the sentences on what was removed, and what was not.

    is_served: a server keeps the fragments.
    """
    told = []
    if done.fragments:
        way, count = "gone" if done.is_gone else "binned", len(done.fragments)
        key = f"{way}_served" if is_served else way
        told.append(say(f"fragments.answers.{key}", count=count, ids=ids_text(done.fragments)))
    if done.kept:
        told.append(say("fragments.answers.kept", count=done.kept))
    if done.shared:
        told.append(say("fragments.answers.kept_shared", count=done.shared))
    return " ".join(told) or say("fragments.answers.nothing_forgotten")


def forgotten(done: Forgotten) -> dict[str, Any]:
    """Return the object that forget gives."""
    return {
        "success": True,
        "deleted": len(done.fragments),
        "ids": [it.id for it in done.fragments],
        "protected": done.kept + done.shared,
        "recoverable": not done.is_gone,
    }


def amended_text(done: Amended) -> str:
    """Return the sentences on what was corrected."""
    fragment = done.fragment
    key = "replaced" if done.is_new else "amended"
    if done.fragment == replace(done.before, verified_at=done.fragment.verified_at):
        key = "verified"
    told = [say(f"fragments.answers.{key}", id=id_text(fragment.id), old=id_text(done.before.id))]
    if done.redacted:
        told.append(say("fragments.answers.redacted", kinds=", ".join(done.redacted)))
    if done.is_long:
        told.append(say("fragments.answers.long", chars=len(fragment.content), most=CONTENT_CHARS))
    return " ".join(told)


def amended(done: Amended) -> dict[str, Any]:
    """Return the object that amend gives."""
    told: dict[str, Any] = {"success": True, "id": done.fragment.id, "updated": True}
    more = {
        "superseded": done.before.id if done.is_new else "",
        "redacted": list(done.redacted),
        "too_long": done.is_long,
    }
    return told | {key: value for key, value in more.items() if value}


def linked_text(done: Linked) -> str:
    """Return the sentence on a link."""
    link = done.link
    facts = {"from_id": id_text(link.from_id), "to_id": id_text(link.to_id)}
    key = "linked" if done.is_new else "linked_before"
    return say(f"fragments.answers.{key}", relation=link.relation, **facts)


def linked(done: Linked) -> dict[str, Any]:
    """Return the object that link gives."""
    return {"success": True, "created": done.is_new, **link_object(done.link)}


def pinned_text(fragment: Fragment) -> str:
    """Return the sentence on a pin."""
    return say(
        "fragments.answers.pinned" if fragment.is_anchor else "fragments.answers.unpinned",
        id=id_text(fragment.id),
    )


def pinned(fragment: Fragment) -> dict[str, Any]:
    """Return the object that pin and unpin give."""
    return {"success": True, "id": fragment.id, "pinned": fragment.is_anchor}
