"""Writes the answer of each tool: lines of text, or the declared object.

Each function takes the result of an operation, and the call that asked for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from core.lessons.record_text import as_json, day_of
from core.messages import Facts, say
from core.text.plain import Budget, estimate_tokens, flat
from rooms.fragments.fragment import CONTENT_CHARS, Fragment, Version
from rooms.fragments.lines import (
    Call,
    id_text,
    ids_text,
    link_object,
    object_of,
    quoted,
    version_object,
)
from rooms.fragments.room import readers, repeats_when_cut
from rooms.fragments.standing import visible

if TYPE_CHECKING:  # an answer loads nothing that its operation has not loaded
    from rooms.fragments.context import Context, Reflected
    from rooms.fragments.draft import Remembered
    from rooms.fragments.links import Explored
    from rooms.fragments.links import MadeLink as Related
    from rooms.fragments.recall import Line, Recalled
    from rooms.fragments.upkeep.consolidation import Report
    from rooms.fragments.upkeep.statistics import Statistics
    from rooms.fragments.upkeep.suspicions import Pair
    from rooms.fragments.versions import Amended, Forgotten

MOST_TOKENS_TO_SETTLE = 1_500  # estimated, of what an upkeep leaves to its caller
_MANY = 100_000  # a count as long as any
_NAME_CHARS, _MOST_COUNTS, _MOST_TOOLS = 40, 10, 5
_STATISTICS = ("kinds", "lifetimes", "tiers", "agents", "links")


def _say(key: str, **facts: str | int) -> str:
    return say(f"fragments.answers.{key}", **facts)


def _object(fields: Mapping[str, Any], rare: Mapping[str, Any] | None = None) -> str:
    """Return JSON. rare: fields left out where they are empty."""
    filled = {name: value for name, value in (rare or {}).items() if value}
    return as_json({"success": True, **fields, **filled})


# Changes.


def remembered(done: "Remembered", call: Call) -> str:
    """Say that a fragment was kept, with a ready call for each proposal."""
    fragment, proposals = done.fragment, list[str]()
    for link in done.proposals:
        old, new = quoted(link.from_id), quoted(link.to_id)
        ready = f'link(fromId={old}, toId={new}, relationType="superseded_by")'
        ready = f"forget(id={old})" if call.core_only else ready
        proposals.append(_say("may_supersede", id=id_text(link.from_id), call=ready))
    if call.as_json:
        return _object(
            {"id": fragment.id, "created": done.is_new},
            {
                "redacted": done.redacted,
                "too_long": done.is_long,
                "links": [link_object(it) for it in done.links],
                "proposals": proposals,
            },
        )
    key = "remembered" if done.is_new else f"known{'_' if done.was else ''}{done.was}"
    said = [_say(key, id=id_text(fragment.id)), *_cautions(done.redacted, done.is_long, fragment)]
    if done.links:
        pairs = [(it, it.to_id if it.from_id == fragment.id else it.from_id) for it in done.links]
        links = [f"{it.relation} {id_text(other)}" for it, other in pairs]
        said.append(_say("linked_to", listed=", ".join(links)))
    return "\n".join([" ".join(said), *proposals])


def _cautions(redacted: Sequence[str], is_long: bool, fragment: Fragment) -> list[str]:
    said = [_say("redacted", kinds=", ".join(redacted))] if redacted else []
    if is_long:
        said.append(_say("long", chars=len(fragment.content), most=CONTENT_CHARS))
    return said


def forgotten(done: "Forgotten", call: Call) -> str:
    count = len(done.fragments)
    if call.as_json:
        return _object(
            {
                "deleted": count,
                "ids": [it.id for it in done.fragments],
                "protected": done.kept + done.shared,
                "recoverable": not done.is_gone,
            }
        )
    said = list[str]()
    if done.fragments:
        way = "gone" if done.is_gone else "binned"
        is_served = call.room.engine.keeps_agents_apart  # with backups that nobody here knows of
        key = f"{way}_served" if is_served else way
        said.append(_say(key, count=count, ids=ids_text(done.fragments)))
    if done.kept:
        said.append(_say("kept", count=done.kept))
    if done.shared:
        said.append(_say("kept_shared", count=done.shared))
    return " ".join(said) or _say("nothing_forgotten")


def amended(done: "Amended", call: Call) -> str:
    fragment, before = done.fragment, done.before
    if call.as_json:
        rare = {
            "superseded": before.id if done.is_new else "",
            "redacted": done.redacted,
            "too_long": done.is_long,
        }
        return _object({"id": fragment.id, "updated": True}, rare)
    key = "replaced" if done.is_new else "amended"
    if fragment == replace(before, verified_at=fragment.verified_at):
        key = "verified"
    said = _say(key, id=id_text(fragment.id), old=id_text(before.id))
    return " ".join([said, *_cautions(done.redacted, done.is_long, fragment)])


def linked(done: "Related", call: Call) -> str:
    link = done.link
    if call.as_json:
        return _object({"created": done.is_new, **link_object(link)})
    key, ends = "linked" if done.is_new else "linked_before", (link.from_id, link.to_id)
    from_id, to_id = map(id_text, ends)
    return _say(key, relation=link.relation, from_id=from_id, to_id=to_id)


def pinned(fragment: Fragment, call: Call) -> str:
    if call.as_json:
        return _object({"id": fragment.id, "pinned": fragment.is_anchor})
    return _say("pinned" if fragment.is_anchor else "unpinned", id=id_text(fragment.id))


def reflected(done: "Reflected", call: Call) -> str:
    if call.as_json:
        saved = [
            {"id": it.fragment.id, "type": it.fragment.kind, "created": it.is_new}
            for it in done.saved
        ]
        return _object({"count": len(saved), "fragments": saved}, {"redacted": done.redacted})
    new = [it.fragment for it in done.saved if it.is_new]
    known = [it.fragment for it in done.saved if not it.is_new]
    said = [_say("reflected", count=len(new), ids=ids_text(new))] if new else []
    if known:
        said.append(_say("reflected_before", ids=ids_text(known)))
    if done.parted:
        said.append(_say("parted", count=done.parted))
    if done.redacted:
        said.append(_say("redacted", kinds=", ".join(done.redacted)))
    return " ".join(said)


def noted(call: Call) -> str:
    return _object({}) if call.as_json else _say("noted")


# What is known.


def left_out_tokens() -> int:
    """Return the most that the last line of a recall costs."""
    return estimate_tokens(_say("left_out", count=_MANY))


def recalled(found: "Recalled", call: Call, line: "Line", *, is_empty: bool) -> str:
    """Return the found entries, and the number left out.

    line: as the recall counted it. is_empty: the query asked for nothing.
    """
    if call.as_json:
        others = [(at, it) for at, it in enumerate(found.found, 1) if it.source != "fragment"]
        return _object(
            {
                "count": len(found.found),
                "fragments": [object_of(it) for it in found.fragments],
                "linked": [
                    {**object_of(it.fragment), "relation_type": it.relation, "linked_to": it.to_id}
                    for it in found.linked
                ],
                "left_out": found.left_out,
            },
            {
                "relations": [link_object(it) for it in found.relations],
                "others": [
                    {"rank": rank, "source": it.source, "id": it.id, "text": it.line()}
                    for rank, it in others
                ],
                "warning": str(found.failure or ""),
            },
        )
    lines = list[str]()
    for entry in found.found:
        lines.append(entry.labelled() if found.is_labelled else entry.line())
        if entry.source == "fragment":
            relations = [it for it in found.relations if it.from_id == entry.id]
            lines += map(call.relation_text, relations)
        for it in found.linked:
            if it.to_id == entry.id:
                arrow = "" if it.leads_here else " ←"  # the relation of this one to the one above
                lines.append(f"  {it.relation}{arrow} {line(it.fragment)}")
    if found.left_out:
        lines.append(_say("left_out", count=found.left_out))
    lines = lines or [_say("found_empty" if is_empty else "found_none")]
    if found.failure:
        lines.append(_say("words_only", why=str(found.failure)))
    return "\n".join(lines)


def context_tokens() -> int:
    """Return the most that a context costs beside its fragments."""
    unreflected = _say("unreflected", count=_MANY, date="2026-01-01")
    left_out = _say("context_left_out", count=_MANY)
    said = (_say("context_core"), _say("context_working"), left_out, unreflected)
    return sum(estimate_tokens(it) + 1 for it in said)


def restored(found: "Context", call: Call) -> str:
    """Return the fragments for a session's start, and a hint to reflect.

    `injectionText` of the object is for a prompt.
    """
    lines = list[str]()
    if found.core:
        lines += [_say("context_core"), *map(call.line, found.core)]
    if found.working:
        lines += [_say("context_working"), *map(call.line, found.working)]
    if found.left_out:
        lines.append(_say("context_left_out", count=found.left_out))
    sessions = len(found.unreflected)
    if sessions:
        last = day_of(max(it.last_at for it in found.unreflected))
        lines.append(_say("unreflected", count=sessions, date=last))
    text = "\n".join(lines or [_say("context_none")])
    if not call.as_json:
        return text
    return _object(
        {
            "core": [object_of(it) for it in found.core],
            "working": [object_of(it) for it in found.working],
            "unreflected": sessions,
            "left_out": found.left_out,
            "injectionText": text,
        }
    )


def explored(found: "Explored", call: Call) -> str:
    budget = Budget(call.room.settings.budget_tokens, call.room.settings.budget_chars)
    if call.as_json:
        fields = {"start": object_of(found.start)}
        budget.spend(_object(fields))
        steps = [
            {"node": object_of(it.fragment), "edge": link_object(it.link)} for it in found.steps
        ]
        kept = [it for it in steps if budget.take(as_json(it))]
        nodes, edges = ([it[name] for it in kept] for name in ("node", "edge"))
        left_out = {"left_out": len(steps) - len(kept)}
        return _object({**fields, "nodes": nodes, "edges": edges}, left_out)
    budget.spend(_say("links_left_out", count=_MANY))
    head, lines = call.line(found.start), list[str]()
    budget.spend(head)
    for link, fragment in found.steps:
        arrow = "" if link.from_id == found.start.id else " ←"
        lines.append(f"  {link.relation}{arrow} {call.line(fragment)}")
    shown = [line for line in lines if budget.take(line)]
    if not lines:
        shown = [_say("explored_none")]
    elif len(shown) < len(lines):
        shown.append(_say("links_left_out", count=len(lines) - len(shown)))
    return "\n".join([head, *shown])


@repeats_when_cut
def whole(call: Call, name: str) -> str:
    """Return one fragment of any state as JSON, with links and versions.

    Raises NoSuchFragmentError.
    """
    with call.room.engine.reading() as reading:
        fragment = visible(reading, name, readers(call.room, ""))
        beside = {
            "links": [link_object(it) for it in reading.links([fragment.id])],
            "versions": [version_object(it) for it in reading.entries(Version, of=fragment.id)],
        }
    return as_json({**object_of(fragment), **beside})


# Upkeep.


def counted(numbers: "Statistics", call: Call) -> str:
    if call.as_json:
        return _object({"total": numbers.live, "left_out": numbers.left_out, **asdict(numbers)})
    lines = [_say("stats_live", count=numbers.live, anchors=numbers.anchors)]
    for name in _STATISTICS:
        if counts := getattr(numbers, name):
            lines.append(_say(f"stats_{name}", listed=_listed(counts)))
    away: Facts = {"superseded": numbers.superseded, "listed": _listed(numbers.deleted)}
    away["left_out"] = numbers.left_out
    if numbers.figures:
        lines.append(_say("stats_away", purged=numbers.figures["purged"], **away))
    else:  # an agent of a team gets none: they count what others have
        lines.append(_say("stats_away_own", **away))
    facts: Facts = {"versions": numbers.versions, "suspicions": numbers.suspicions}
    lines.append(_say("stats_more", unreflected=numbers.unreflected, **facts))
    lines.append(_embeddings(numbers))
    key = "stats_upkeep" if numbers.upkeep_at else "stats_no_upkeep"
    lines.append(_say(key, date=day_of(numbers.upkeep_at)))
    return "\n".join(lines)


def _listed(counts: Mapping[str, int]) -> str:
    most = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
    shown = [
        f"{flat(name)[:_NAME_CHARS]} {count:,}" for name, count in most[:_MOST_COUNTS] if count
    ]
    return ", ".join([*shown, *(["…"] if len(most) > _MOST_COUNTS else [])]) or _say("none")


def _embeddings(numbers: "Statistics") -> str:
    if not numbers.model:
        return _say("stats_no_model")
    share = round(100 * numbers.with_vector / numbers.live) if numbers.live else 0
    facts: Facts = {"with_vector": numbers.with_vector, "count": numbers.live, "share": share}
    least = f"{numbers.least_cosine:.2f}"
    return _say("stats_model", model=flat(numbers.model)[:_NAME_CHARS], least=least, **facts)


def consolidated(report: "Report", call: Call) -> str:
    """Return the changes of an upkeep, and the open questions that fit."""
    if call.as_json:
        return _object(_report_fields(report))
    changed = sum(it.count for it in report.steps)
    key = "upkept" if changed else "upkept_nothing" if report.steps else "upkept_for_all"
    lines = [_say(key, changed=changed)]
    done = [f"{it.name} {it.count:,}" for it in report.steps if it.count]
    lines += [", ".join(done)] if done else []
    budget, left = Budget(MOST_TOKENS_TO_SETTLE, 20_000), 0
    to_settle: dict[str, Iterable[str]] = {
        "suspected": (_pair_lines(it, call) for it in report.suspicions),
        "stale": map(call.line, report.stale),
        "promotable": map(call.line, report.promotable),
        "for_the_log": map(call.line, report.for_the_log),
    }
    for heading, blocks in to_settle.items():
        fits = [(block, budget.take(block)) for block in blocks]
        kept = [block for block, has_room in fits if has_room]
        left += len(fits) - len(kept)
        lines += [_say(heading, count=len(kept)), *kept] if kept else []
    lines += [_say("upkeep_left_out", count=left)] if left else []
    tools = report.feedback[:_MOST_TOOLS]
    lines += [_say("feedback_head")] if tools else []
    for it in tools:
        relevant, sufficient = round(100 * it.relevant), round(100 * it.sufficient)
        facts: Facts = {"count": it.count, "relevant": relevant, "sufficient": sufficient}
        lines.append(_say("feedback_of", tool=flat(it.tool)[:_NAME_CHARS], **facts))
    return "\n".join(lines)


def _pair_lines(pair: "Pair", call: Call) -> str:
    earlier, later = quoted(pair.earlier.id), quoted(pair.later.id)
    ready = f'  link(fromId={earlier}, toId={later}, relationType="contradicts")'
    return "\n".join((call.line(pair.earlier), call.line(pair.later), ready))


def _report_fields(report: "Report") -> dict[str, Any]:
    return {
        "steps": [
            {"name": it.name, "count": it.count, "figures": dict(it.figures)} for it in report.steps
        ],
        "contradictions": [
            {
                "earlier": object_of(it.earlier),
                "later": object_of(it.later),
                "similarity": round(it.similarity, 4),
            }
            for it in report.suspicions
        ],
        "stale": [object_of(it) for it in report.stale],
        "promotable": [object_of(it) for it in report.promotable],
        "for_the_log": [object_of(it) for it in report.for_the_log],
        "feedback": [
            {
                "tool_name": it.tool,
                "count": it.count,
                "relevant": round(it.relevant, 4),
                "sufficient": round(it.sufficient, 4),
                "suggestions": list(it.suggestions),
            }
            for it in report.feedback
        ],
    }
