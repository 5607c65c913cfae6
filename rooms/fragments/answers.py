"""Runs the operation of each tool, and writes its answer: lines of text, or the declared object.

No text passes for another line or for our words: it ends its line, behind a colon, without line
ends and hidden characters.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from core.guard.injection import order_marks
from core.lessons.record_text import as_json, day_of, topic_text
from core.messages import Facts, say
from core.text.plain import Budget, estimate_tokens, flat_line, one_line
from core.text.ranking import Finds, Gather
from rooms.fragments import activity, draft, links, versions
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Fragment, Link, Query, Version, column_of
from rooms.fragments.room import Room, agents_for, find_visible, repeats_when_cut
from rooms.fragments.texts import CONTENT_CHARS, SOURCE_CHARS
from rooms.fragments.upkeep.life import is_doubtful

if TYPE_CHECKING:  # loaded where it is asked for
    from rooms.fragments.upkeep.consolidation import Progress, Report

IN_PROMPT = 5  # fragments at most
MOST_TOKENS_TO_SETTLE = 1_500  # estimated, of what an upkeep leaves to its caller
SHOWN_SOURCE_CHARS = 40
_MANY = 100_000  # a count as long as any
_MOST_IDS, _NAME_CHARS, _MOST_COUNTS, _MOST_TOOLS = 10, 40, 10, 5
_PLAIN_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")  # an imported id may be any text

# The fields of an object, in order. An empty rare field is left out.
_USUAL = (
    *("id", "content", "topic", "keywords", "kind", "lifetime", "importance", "source", "agent"),
    *("tier", "is_anchor", "privacy", "access_count", "accessed_at", "created_at", "verified_at"),
)
_RARE = ("session", "expires_at", "superseded_at", "promoted", "deleted_at")
_OF_VERSION = (*schema.AMENDED, "amended_at", "amended_by")


class Call(NamedTuple):
    """One call of a tool: the room as its caller has it, and the form of the answer."""

    room: Room
    now: str
    session: str = ""
    project: str = ""  # of the caller, whose fragments need no source
    core_only: bool = False  # only core tools are offered

    @property
    def as_json(self) -> bool:
        return self.room.settings.answers == "json"

    @property
    def source(self) -> str:
        return self.project[:SOURCE_CHARS]

    def tokens(self, wanted: int, frame: int) -> int:
        """Return the tokens for fragments, within the settings. frame: of the rest."""
        return max(min(wanted, self.room.settings.budget_tokens) - frame, 1)

    def text_of(self, row: Fragment | Link) -> str:
        """Return a fragment or link in the form of the answer, to count tokens."""
        return as_json(object_of(row)) if self.as_json else self.line(row)

    def line(self, row: Fragment | Link) -> str:
        """Return the line of a fragment: id, day, kind (`!` if pinned), topic, notes, text.

        9f2c4b7a 2026-03-01 error!/redis (from bakery): Redis answers NOAUTH
        """
        if isinstance(row, Link):
            return f"  {row.relation} {text_of_id(row.to_id)}"
        kind = f"{row.kind}{'!' if row.is_anchor else ''}"
        if row.topic != schema.DEFAULT_TOPIC:
            kind += f"/{topic_text(row.topic)}"
        words = [text_of_id(row.id), day_of(row.created_at), kind]
        notes = {
            "in_bin": bool(row.deleted_at),
            "promoted": bool(row.promoted),
            "superseded": bool(row.superseded_at) and not row.promoted,
            "doubtful": is_doubtful(row, self.now, self.room.config),
            "of_session": bool(row.session),
            "from": row.source not in ("", self.project),
            "order": is_order(row),
        }
        if any(notes.values()):
            source = flat_line(row.source)
            if len(source) > SHOWN_SOURCE_CHARS:
                source = f"{source[:SHOWN_SOURCE_CHARS]}…"
            keys = [key for key, holds in notes.items() if holds]
            words.append(f"({'; '.join(_say(key, source=source) for key in keys)})")
        return f"{' '.join(words)}: {flat_line(row.content)}"

    # Each tool: its operation, and the answer.

    def remember(self, new: schema.Draft, agent: str) -> str:
        """Keep a fragment; return a ready call for each proposal, too."""
        done = draft.remember(self.room, new, agent=agent, session=self.session)
        fragment, proposals = done.fragment, list[str]()
        for link in done.proposals:
            old, later = quote(link.from_id), quote(link.to_id)
            ready = f'link(fromId={old}, toId={later}, relationType="superseded_by")'
            ready = f"forget(id={old})" if self.core_only else ready
            proposals.append(_say("may_supersede", id=text_of_id(link.from_id), call=ready))
        if self.as_json:
            rare = {"redacted": done.redacted, "too_long": done.is_long}
            rare |= {"links": _objects(done.links), "proposals": proposals}
            return _answer({"id": fragment.id, "created": done.is_new}, rare)
        key = "remembered" if done.is_new else f"known{'_' if done.was else ''}{done.was}"
        said = [_say(key, id=text_of_id(fragment.id)), *_cautions(done)]
        if done.links:
            ends = [it.to_id if it.from_id == fragment.id else it.from_id for it in done.links]
            pairs = zip(done.links, ends, strict=True)
            listed = ", ".join(f"{it.relation} {text_of_id(other)}" for it, other in pairs)
            said.append(_say("linked_to", listed=listed))
        return "\n".join([" ".join(said), *proposals])

    def forget(self, id: str, topic: str, agent: str, *, force: bool, hard: bool) -> str:
        done = versions.forget(self.room, id=id, topic=topic, force=force, hard=hard, agent=agent)
        count, ids = len(done.fragments), [it.id for it in done.fragments]
        if self.as_json:
            protected = done.kept + done.shared
            fields = {"deleted": count, "ids": ids, "protected": protected}
            return _answer({**fields, "recoverable": not done.is_gone})
        said = list[str]()
        if done.fragments:
            way = "gone" if done.is_gone else "binned"
            is_served = self.room.engine.keeps_agents_apart  # with backups nobody here knows of
            key = f"{way}_served" if is_served else way
            said.append(_say(key, count=count, ids=text_of_ids(done.fragments)))
        if done.kept:
            said.append(_say("kept", count=done.kept))
        if done.shared:
            said.append(_say("kept_shared", count=done.shared))
        return " ".join(said) or _say("nothing_forgotten")

    def link(self, from_id: str, to_id: str, relation: schema.Relation, agent: str) -> str:
        link, is_new, former = links.link(self.room, from_id, to_id, relation, agent=agent)
        if self.as_json:
            return _answer({"created": is_new, **object_of(link)})
        key = "linked" if is_new else "relinked" if former else "linked_before"
        ends = {"from_id": text_of_id(link.from_id), "to_id": text_of_id(link.to_id)}
        return _say(key, relation=link.relation, former=former, **ends)

    def amend(self, amendment: schema.Amendment, agent: str) -> str:
        done = versions.amend(self.room, amendment, agent=agent, session=self.session)
        fragment, before = done.fragment, done.before
        if self.as_json:
            rare = {"superseded": before.id if done.is_new else "", "redacted": done.redacted}
            return _answer({"id": fragment.id, "updated": True}, {**rare, "too_long": done.is_long})
        key = "replaced" if done.is_new else "amended"
        if fragment == replace(before, verified_at=fragment.verified_at):
            key = "verified"
        said = _say(key, id=text_of_id(fragment.id), old=text_of_id(before.id))
        return " ".join([said, *_cautions(done)])

    def reflect(self, reflection: schema.Reflection, agent: str) -> str:
        done = draft.reflect(self.room, reflection, agent=agent, session=self.session)
        if self.as_json:
            saved = [
                {"id": it.fragment.id, "type": it.fragment.kind, "created": it.is_new}
                for it in done.saved
            ]
            return _answer({"count": len(saved), "fragments": saved}, {"redacted": done.redacted})
        new = [it.fragment for it in done.saved if it.is_new]
        known = [it.fragment for it in done.saved if not it.is_new]
        said = [_say("reflected", count=len(new), ids=text_of_ids(new))] if new else []
        if known:
            said.append(_say("reflected_before", ids=text_of_ids(known)))
        if done.parted:
            said.append(_say("parted", count=done.parted))
        if done.redacted:
            said.append(_say("redacted", kinds=", ".join(done.redacted)))
        return " ".join(said)

    def recall(self, query: Query, gathers: Sequence[Gather]) -> str:
        """Return the entries that answer. beside: see `rooms.fragments.recall`."""
        from rooms.fragments.recall import recall

        tokens = self.tokens(query.tokens, estimate_tokens(_say("left_out", count=_MANY)))
        line = cache(self.text_of)  # first for the budget, then for the answer
        asked = replace(query, session=self.session, tokens=tokens)
        found = recall(self.room, asked, line=line, count=activity.count_later, gathers=gathers)
        if self.as_json:
            linked = [
                object_of(it.fragment)
                | {"relation_type": it.link.relation, "linked_to": it.start_id}
                for it in found.linked
            ]
            others = [
                {"rank": rank, "source": it.source, "id": it.id, "text": it.line()}
                for rank, it in enumerate(found.found, 1)
                if it.source != "fragment"
            ]
            fields = {"count": len(found.found), "fragments": _objects(found.fragments)}
            rare = {"relations": _objects(found.relations), "others": others}
            return _answer(
                {**fields, "linked": linked, "left_out": found.left_out},
                {**rare, "warning": str(found.failure or "")},
            )
        lines = list[str]()
        for entry in found.found:
            lines.append(entry.labelled_line() if gathers else entry.line())
            if entry.source == "fragment":
                relations = [it for it in found.relations if it.from_id == entry.id]
                lines += map(line, relations)
            for it in found.linked:
                if it.start_id == entry.id:
                    # The relation of this one to the one above.
                    arrow = "" if it.leads_to_fragment else " ←"
                    lines.append(f"  {it.link.relation}{arrow} {line(it.fragment)}")
        if found.left_out:
            lines.append(_say("left_out", count=found.left_out))
        with_links = query.with_links
        is_empty = query == Query(agent=query.agent, tokens=query.tokens, with_links=with_links)
        lines = lines or [_say("found_empty" if is_empty else "found_none")]
        if found.failure:
            lines.append(_say("words_only", why=str(found.failure)))
        return "\n".join(lines)

    def context(self, tokens: int, types: Sequence[str], agent: str) -> str:
        """Return the fragments for a start; `injectionText` of an object is for a prompt."""
        from rooms.fragments.recall import restore_context

        frame = [_say("unreflected", count=_MANY, date="2026-01-01"), _say("context_working")]
        frame += [_say("context_core"), _say("context_left_out", count=_MANY)]
        found = restore_context(
            self.room,
            tokens=self.tokens(tokens, sum(estimate_tokens(it) + 1 for it in frame)),
            types=types,
            session=self.session,
            agent=agent,
            line=self.text_of,
        )
        lines, sessions = list[str](), len(found.unreflected)
        if found.core:
            lines += [_say("context_core"), *map(self.line, found.core)]
        if found.working:
            lines += [_say("context_working"), *map(self.line, found.working)]
        if found.left_out:
            lines.append(_say("context_left_out", count=found.left_out))
        if sessions:
            last = day_of(max(it.last_at for it in found.unreflected))
            lines.append(_say("unreflected", count=sessions, date=last))
        text = "\n".join(lines or [_say("context_none")])
        if not self.as_json:
            return text
        fields = {"core": _objects(found.core), "working": _objects(found.working)}
        counts = {"unreflected": sessions, "left_out": found.left_out}
        return _answer({**fields, **counts, "injectionText": text})

    def tool_feedback(self, feedback: schema.ToolFeedback) -> str:
        activity.store_feedback(self.room, replace(feedback, session_id=self.session))
        return _answer({}) if self.as_json else _say("noted")

    def memory_stats(self) -> str:
        numbers = activity.statistics_of(self.room)
        live, left_out = numbers["live"], numbers["superseded"] + sum(numbers["deleted"].values())
        if self.as_json:  # what no recall finds is left out of the total
            return _answer({"total": live, "left_out": left_out, **numbers})
        lines = [_say("stats_live", count=live, anchors=numbers["anchors"])]
        for name in ("kinds", "lifetimes", "tiers", "agents", "links"):
            if counts := numbers[name]:
                lines.append(_say(f"stats_{name}", listed=_listed(counts)))
        listed = _listed(numbers["deleted"])
        away: Facts = {"superseded": numbers["superseded"], "listed": listed, "left_out": left_out}
        if numbers["figures"]:
            lines.append(_say("stats_away", purged=numbers["figures"]["purged"], **away))
        else:  # an agent of a team gets none: they count what others have
            lines.append(_say("stats_away_own", **away))
        more = {name: numbers[name] for name in ("versions", "suspicions", "unreflected")}
        lines.append(_say("stats_more", **more))
        if numbers["model"]:
            near: Facts = {"model": _name(numbers["model"]), "count": live}
            near |= {"with_vector": numbers["with_vector"]}
            near |= {"share": round(100 * numbers["with_vector"] / live) if live else 0}
            lines.append(_say("stats_model", least=f"{numbers['least_cosine']:.2f}", **near))
        else:
            lines.append(_say("stats_no_model"))
        key = "stats_upkeep" if numbers["upkeep_at"] else "stats_no_upkeep"
        lines.append(_say(key, date=day_of(numbers["upkeep_at"])))
        return "\n".join(lines)

    def memory_consolidate(self, progress: "Progress", *, waits: bool) -> str:
        """Run the upkeep; return its changes, and the open questions that fit."""
        from rooms.fragments.models.judge import judge_of
        from rooms.fragments.models.vectors import embedder_of
        from rooms.fragments.upkeep.consolidation import consolidate

        models: Any = {"judge": judge_of(os.environ), "embedder": embedder_of(os.environ)}
        report = consolidate(self.room, progress=progress, waits=waits, **models)
        if self.as_json:
            return _answer(_report_fields(report))
        changed = sum(it.count for it in report.steps)
        key = "upkept" if changed else "upkept_nothing" if report.steps else "upkept_for_all"
        lines = [_say(key, changed=changed)]
        done = [f"{it.name} {it.count:,}" for it in report.steps if it.count]
        lines += [", ".join(done)] if done else []
        suspected = list[str]()
        for pair in report.suspicions:
            earlier, later = quote(pair.earlier.id), quote(pair.later.id)
            ready = f'  link(fromId={earlier}, toId={later}, relationType="contradicts")'
            suspected.append("\n".join((self.line(pair.earlier), self.line(pair.later), ready)))
        budget, left = Budget(MOST_TOKENS_TO_SETTLE, 20_000), 0
        to_settle: dict[str, Iterable[str]] = {
            "suspected": suspected,
            "stale": map(self.line, report.stale),
            "promotable": map(self.line, report.promotable),
            "for_the_log": map(self.line, report.for_the_log),
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
            lines.append(_say("feedback_of", tool=_name(it.tool), **facts))
        return "\n".join(lines)

    def graph_explore(self, start_id: str, agent: str) -> str:
        found = links.explore(self.room, start_id, agent=agent)
        budget = Budget(self.room.settings.budget_tokens, self.room.settings.budget_chars)
        if self.as_json:
            fields = {"start": object_of(found.start)}
            budget.spend(_answer(fields))
            pairs = ((object_of(it.fragment), object_of(it.link)) for it in found.steps)
            steps = [{"node": node, "edge": edge} for node, edge in pairs]
            kept = [it for it in steps if budget.take(as_json(it))]
            nodes, edges = ([it[name] for it in kept] for name in ("node", "edge"))
            left_out = {"left_out": len(steps) - len(kept)}
            return _answer({**fields, "nodes": nodes, "edges": edges}, left_out)
        budget.spend(_say("links_left_out", count=_MANY))
        head, lines = self.line(found.start), list[str]()
        budget.spend(head)
        for it in found.steps:
            arrow = "" if it.leads_to_fragment else " ←"
            lines.append(f"  {it.link.relation}{arrow} {self.line(it.fragment)}")
        shown = [line for line in lines if budget.take(line)]
        if not lines:
            shown = [_say("explored_none")]
        elif len(shown) < len(lines):
            shown.append(_say("links_left_out", count=len(lines) - len(shown)))
        return "\n".join([head, *shown])

    def pin(self, id: str, *, pinned: bool) -> str:
        fragment = versions.pin(self.room, id, pinned=pinned)
        if self.as_json:
            return _answer({"id": fragment.id, "pinned": fragment.is_anchor})
        return _say("pinned" if fragment.is_anchor else "unpinned", id=text_of_id(fragment.id))

    @repeats_when_cut
    def fragment_json(self, name: str) -> str:
        """Return one fragment of any state as JSON, with links and versions."""
        with self.room.engine.reading() as rows:
            fragment = find_visible(rows, name, agents_for(self.room, ""), in_bin=True)
            links = _objects(rows.links([fragment.id]))
            former = [
                _fields_of(it, _OF_VERSION) for it in rows.entries(Version, subject=fragment.id)
            ]
        return as_json({**object_of(fragment), "links": links, "versions": former})

    def prompt_lines(self, query: str, budget: Budget) -> list[str]:
        """Return the lines of a prompt, without orders to a model."""
        from rooms.fragments.recall import recall

        tokens = max(int(budget.tokens), 1)
        asked = Query(text=query, session=self.session, tokens=tokens, limit=IN_PROMPT)
        found = recall(self.room, replace(asked, with_links=False), line=self.line)
        kept = (self.line(it) for it in found.fragments if not is_order(it))
        return [line for line in kept if budget.take(line)]

    @repeats_when_cut
    def gather(self, question: str) -> Finds:
        """Return candidates for a question, without orders to a model."""
        from rooms.fragments.recall import Search

        search = Search(self.room, Query(text=question, session=self.session), self.line)
        with self.room.engine.reading() as rows:
            search.begin(rows)
            found = search.gather()
        return found._replace(entries=[it for it in found.entries if not is_order(it.item)])


def is_order(fragment: Fragment) -> bool:
    """Return whether a text reads like an order to a model."""
    texts = (fragment.content, fragment.topic, fragment.source, *fragment.keywords)
    return bool(order_marks((), texts))


def text_of_id(fragment_id: str) -> str:
    """Return an id, quoted if it could pass for something else."""
    return fragment_id if _PLAIN_ID.fullmatch(fragment_id) else quote(fragment_id)


def quote(text: str) -> str:
    """Return a text as a JSON string, for a call in an answer."""
    return json.dumps(one_line(text), ensure_ascii=False)


def text_of_ids(fragments: Sequence[Fragment]) -> str:
    """Return the first ten ids, between commas."""
    more = ["…"] if len(fragments) > _MOST_IDS else []
    return ", ".join([*(text_of_id(it.id) for it in fragments[:_MOST_IDS]), *more])


def object_of(row: Fragment | Link) -> dict[str, Any]:
    """Return a row with the specification's names; of a fragment, without empty rare fields."""
    if isinstance(row, Link):
        ends = {"from_id": row.from_id, "to_id": row.to_id}
        return {**ends, "relation_type": row.relation, "created_at": row.created_at}
    usual, rare = _fields_of(row, _USUAL), _fields_of(row, _RARE)
    usual["importance"] = round(row.importance, 4)
    rare |= {"promoted": row.record_id, "reads_like_order": is_order(row)}
    return usual | {name: value for name, value in rare.items() if value}


def _fields_of(row: Fragment | Version, names: Sequence[str]) -> dict[str, Any]:
    return {column_of(name): getattr(row, name) for name in names}


def _objects(rows: Iterable[Fragment] | Iterable[Link]) -> list[dict[str, Any]]:
    return [object_of(it) for it in rows]


def _answer(fields: Mapping[str, Any], rare: Mapping[str, Any] | None = None) -> str:
    """Return JSON. rare: fields left out where they are empty."""
    filled = {name: value for name, value in (rare or {}).items() if value}
    return as_json({"success": True, **fields, **filled})


def _say(key: str, **facts: str | int) -> str:
    return say(f"fragments.answers.{key}", **facts)


def _cautions(done: "draft.Remembered | versions.Amended") -> list[str]:
    said = [_say("redacted", kinds=", ".join(done.redacted))] if done.redacted else []
    if done.is_long:
        said.append(_say("long", chars=len(done.fragment.content), most=CONTENT_CHARS))
    return said


def _name(text: str) -> str:
    return flat_line(text)[:_NAME_CHARS]


def _listed(counts: Mapping[str, int]) -> str:
    most = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
    shown = [f"{_name(name)} {count:,}" for name, count in most[:_MOST_COUNTS] if count]
    return ", ".join([*shown, *(["…"] if len(most) > _MOST_COUNTS else [])]) or _say("none")


def _report_fields(report: "Report") -> dict[str, Any]:
    pairs, feedback = list[Any](), list[Any]()
    for pair in report.suspicions:
        both = {"earlier": object_of(pair.earlier), "later": object_of(pair.later)}
        pairs.append({**both, "similarity": round(pair.similarity, 4)})
    for tool in report.feedback:
        shares = {it: round(getattr(tool, it), 4) for it in ("relevant", "sufficient")}
        said = {"tool_name": tool.tool, "count": tool.count, **shares}
        feedback.append({**said, "suggestions": tool.suggestions})
    steps = [asdict(it) for it in report.steps]
    listed = {it: _objects(getattr(report, it)) for it in ("stale", "promotable", "for_the_log")}
    return {"steps": steps, "contradictions": pairs, **listed, "feedback": feedback}
