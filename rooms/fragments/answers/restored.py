"""Writes what context answers: what to know before any work, and what this session keeps."""

from typing import Any

from core.lessons.record_text import day_of
from core.messages import say
from core.text.plain import estimate_tokens
from rooms.fragments.answers.lines import Scene
from rooms.fragments.answers.objects import as_object
from rooms.fragments.recall.context import Context

_MANY = 100_000  # a count as long as any


def frame_tokens() -> int:
    """Return what an answer costs at most beside its fragments."""
    said = (
        say("fragments.answers.context_core"),
        say("fragments.answers.context_working"),
        say("fragments.answers.context_left_out", count=_MANY),
        say("fragments.answers.unreflected", count=_MANY, date="2026-01-01"),
    )
    return sum(estimate_tokens(it) + 1 for it in said)


def text(restored: Context, scene: Scene) -> str:
    """Return the fragments, those of the session below those for all, and a hint."""
    told = list[str]()
    for key, fragments in (
        ("context_core", restored.core),
        ("context_working", restored.working),
    ):
        told += [say(f"fragments.answers.{key}"), *map(scene.line, fragments)] if fragments else []
    if restored.left_out:
        told.append(say("fragments.answers.context_left_out", count=restored.left_out))
    if restored.unreflected:
        last = day_of(max(it.last_at for it in restored.unreflected))
        told.append(
            say("fragments.answers.unreflected", count=len(restored.unreflected), date=last)
        )
    return "\n".join(told or [say("fragments.answers.context_none")])


def declared(restored: Context, scene: Scene) -> dict[str, Any]:
    """Return the object that context gives; injectionText is what a prompt may hold of it."""
    return {
        "success": True,
        "core": [as_object(it) for it in restored.core],
        "working": [as_object(it) for it in restored.working],
        "unreflected": len(restored.unreflected),
        "left_out": restored.left_out,
        "injectionText": text(restored, scene),
    }
