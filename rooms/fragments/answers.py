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
from core.lessons.record_text import json_text, topic_text
from core.messages import Facts, say
from core.text.plain import Budget, day_of, estimate_tokens, flat_line, one_line
from core.text.ranking import Entries, Gather
from rooms.fragments import activity, draft, links, versions
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Fragment, Link, Query, Version, column_of
from rooms.fragments.room import Room, agents_for, find_visible, repeats_when_cut
from rooms.fragments.texts import CONTENT_CHARS, SOURCE_CHARS
from rooms.fragments.upkeep.life import is_doubtful

if TYPE_CHECKING:  # loaded where it is asked for
    from rooms.fragments.upkeep.consolidation import Progress, Report

MOST_IN_PROMPT = 5  # fragments at most
MOST_TOKENS_TO_SETTLE = 1_500  # estimated, of what an upkeep leaves to its caller
SHOWN_SOURCE_CHARS = 40
_LONG_COUNT = 100_000  # a count as long as any
_MOST_IDS, _NAME_CHARS, _MOST_COUNTS, _MOST_TOOLS = 10, 40, 10, 5
_PLAIN_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")  # an imported id may be any text

# The fields of an object, in order. An empty rare field is left out.
_USUAL_FIELDS = (
    *("id", "content", "topic", "keywords", "kind", "lifetime", "importance", "source", "agent"),
    *("tier", "is_anchor", "privacy", "access_count", "accessed_at", "created_at", "verified_at"),
)
_RARE_FIELDS = ("session", "expires_at", "superseded_at", "promoted", "deleted_at")
_LISTED = ("stale", "promotable", "for_the_log")  # of the report of an upkeep
_VERSION_FIELDS = (*schema.VERSION_FIELDS, "amended_at", "amended_by")


class Call(NamedTuple):
    """One call of a tool: the room as its caller has it, and the form of the answer."""

    room: Room
    now: str
    session: str = ""
    project: str = ""  # of the caller, whose fragments need no source
    core_only: bool = False  # only core tools are offered

    @property
    def as_object(self) -> bool:
        return self.room.settings.answers == "json"

    @property
    def source(self) -> str:
        return self.project[:SOURCE_CHARS]

    def tokens_for(self, most_tokens: int, frame: int) -> int:
        """Return the tokens for fragments, within the settings. frame: of the rest."""
        return max(min(most_tokens, self.room.settings.budget_tokens) - frame, 1)

    def text_of(self, row: Fragment | Link) -> str:
        """Return a fragment or link in the form of the answer, to count tokens."""
        return json_text(object_of(row)) if self.as_object else self.line_of(row)

    def line_of(self, row: Fragment | Link) -> str:
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

    def remember(self, request: schema.Draft, agent: str) -> str:
        """Keep a fragment; return a ready call for each proposal, too."""
        outcome = draft.remember(self.room, request, agent=agent, session=self.session)
        fragment, proposals = outcome.fragment, list[str]()
        for link in outcome.proposals:
            old, later = quote(link.from_id), quote(link.to_id)
            call = f'link(fromId={old}, toId={later}, relationType="superseded_by")'
            call = f"forget(id={old})" if self.core_only else call
            proposals.append(_say("may_supersede", id=text_of_id(link.from_id), call=call))
        if self.as_object:
            extra = {"links": _objects_of(outcome.links), "proposals": proposals}
            fields = {"id": fragment.id, "created": outcome.is_new}
            return _dump(fields, _cautions_for(outcome) | extra)
        key = "remembered" if outcome.is_new else f"known{'_' if outcome.was else ''}{outcome.was}"
        sentences = [_say(key, id=text_of_id(fragment.id)), *_caution_sentences(outcome)]
        if outcome.links:
            names = list[str]()
            for link in outcome.links:
                other = link.to_id if link.from_id == fragment.id else link.from_id
                names.append(f"{link.relation} {text_of_id(other)}")
            sentences.append(_say("linked_to", listed=", ".join(names)))
        return "\n".join([" ".join(sentences), *proposals])

    def forget(self, id: str, topic: str, agent: str, *, force: bool, hard: bool) -> str:
        outcome = versions.forget(
            self.room, id=id, topic=topic, force=force, hard=hard, agent=agent
        )
        count, ids = len(outcome.fragments), [fragment.id for fragment in outcome.fragments]
        if self.as_object:
            protected_count = outcome.kept_count + outcome.shared_count
            fields = {"deleted": count, "ids": ids, "protected": protected_count}
            return _dump({**fields, "recoverable": not outcome.is_gone})
        sentences = list[str]()
        if outcome.fragments:
            word = "gone" if outcome.is_gone else "binned"
            is_served = self.room.engine.keeps_agents_apart  # with backups nobody here knows of
            key = f"{word}_served" if is_served else word
            sentences.append(_say(key, count=count, ids=text_of_ids(outcome.fragments)))
        if outcome.kept_count:
            sentences.append(_say("kept", count=outcome.kept_count))
        if outcome.shared_count:
            sentences.append(_say("kept_shared", count=outcome.shared_count))
        return " ".join(sentences) or _say("nothing_forgotten")

    def link(self, from_id: str, to_id: str, relation: schema.Relation, agent: str) -> str:
        link, is_new, former = links.link(self.room, from_id, to_id, relation, agent=agent)
        if self.as_object:
            return _dump({"created": is_new, **object_of(link)})
        key = "linked" if is_new else "relinked" if former else "linked_before"
        ends = {"from_id": text_of_id(link.from_id), "to_id": text_of_id(link.to_id)}
        is_left = link.relation == "superseded_by"
        notes = [_say("left_recall", id=ends["from_id"])] if is_left else []
        return " ".join([_say(key, relation=link.relation, former=former, **ends), *notes])

    def amend(self, amendment: schema.Amendment, agent: str) -> str:
        outcome = versions.amend(self.room, amendment, agent=agent, session=self.session)
        fragment, before = outcome.fragment, outcome.before
        old_id = before.id if fragment.id != before.id else ""  # superseded
        if self.as_object:
            extra = {"superseded": old_id, **_cautions_for(outcome)}
            return _dump({"id": fragment.id, "updated": True}, extra)
        key = "replaced" if old_id else "amended"
        if fragment == replace(before, verified_at=fragment.verified_at):
            key = "verified"
        sentence = _say(key, id=text_of_id(fragment.id), old=text_of_id(before.id))
        return " ".join([sentence, *_caution_sentences(outcome)])

    def reflect(self, reflection: schema.Reflection, agent: str) -> str:
        outcome = draft.reflect(self.room, reflection, agent=agent, session=self.session)
        if self.as_object:
            items = [
                {"id": item.fragment.id, "type": item.fragment.kind, "created": item.is_new}
                for item in outcome.saved
            ]
            extra = {"redacted": outcome.secret_kinds}
            return _dump({"count": len(items), "fragments": items}, extra)
        new_rows = [item.fragment for item in outcome.saved if item.is_new]
        known_rows = [item.fragment for item in outcome.saved if not item.is_new]
        kinds = ", ".join(outcome.secret_kinds)
        sentences = {
            _say("reflected", count=len(new_rows), ids=text_of_ids(new_rows)): new_rows,
            _say("reflected_before", ids=text_of_ids(known_rows)): known_rows,
            _say("parted", count=outcome.parted): outcome.parted,
            _say("redacted", kinds=kinds): kinds,
        }
        return " ".join(sentence for sentence, holds in sentences.items() if holds)

    def recall(self, query: Query, gathers: Sequence[Gather]) -> str:
        """Return the entries that answer. gathers: see `rooms.fragments.recall`."""
        from rooms.fragments.recall import recall

        tokens = self.tokens_for(query.tokens, estimate_tokens(_say("left_out", count=_LONG_COUNT)))
        line = cache(self.text_of)  # first for the budget, then for the answer
        request = replace(query, session=self.session, tokens=tokens)
        outcome = recall(self.room, request, line=line, count=activity.count_later, gathers=gathers)
        if self.as_object:
            objects = [
                object_of(step.fragment)
                | {"relation_type": step.link.relation, "linked_to": step.start_id}
                for step in outcome.linked
            ]
            others = [
                {"rank": rank, "source": entry.source, "id": entry.id, "text": entry.line()}
                for rank, entry in enumerate(outcome.entries, 1)
                if entry.source != "fragment"
            ]
            fields = {"count": len(outcome.entries), "fragments": _objects_of(outcome.fragments)}
            fields |= {"linked": objects, "left_out": outcome.left_out}
            extra = {"relations": _objects_of(outcome.relations), "others": others}
            return _dump(fields, {**extra, "warning": str(outcome.failure or "")})
        lines = list[str]()
        for entry in outcome.entries:
            lines.append(entry.labelled_line() if gathers else entry.line())
            if entry.source == "fragment":
                relations = [link for link in outcome.relations if link.from_id == entry.id]
                lines += map(line, relations)
            for step in outcome.linked:
                if step.start_id == entry.id:
                    # The relation of this one to the one above.
                    arrow = "" if step.leads_to_fragment else " ←"
                    lines.append(f"  {step.link.relation}{arrow} {line(step.fragment)}")
        if outcome.left_out:
            lines.append(_say("left_out", count=outcome.left_out))
        empty_query = Query(agent=query.agent, tokens=query.tokens, with_links=query.with_links)
        lines = lines or [_say("found_empty" if query == empty_query else "found_none")]
        if outcome.failure:
            lines.append(_say("words_only", why=str(outcome.failure)))
        return "\n".join(lines)

    def context(self, tokens: int, types: Sequence[str], agent: str) -> str:
        """Return the fragments for a start; `injectionText` of an object is for a prompt."""
        from rooms.fragments.recall import restore_context

        frame = [_say("unreflected", count=_LONG_COUNT, date="2026-01-01"), _say("context_working")]
        frame += [_say("context_core"), _say("context_left_out", count=_LONG_COUNT)]
        start = restore_context(
            self.room,
            tokens=self.tokens_for(tokens, sum(estimate_tokens(text) + 1 for text in frame)),
            types=types,
            session=self.session,
            agent=agent,
            line=self.text_of,
        )
        lines, sessions = list[str](), len(start.unreflected)
        if start.core:
            lines += [_say("context_core"), *map(self.line_of, start.core)]
        if start.working:
            lines += [_say("context_working"), *map(self.line_of, start.working)]
        if start.left_out:
            lines.append(_say("context_left_out", count=start.left_out))
        if sessions:
            last_day = day_of(max(session.last_at for session in start.unreflected))
            lines.append(_say("unreflected", count=sessions, date=last_day))
        text = "\n".join(lines or [_say("context_none")])
        if not self.as_object:
            return text
        fields = {"core": _objects_of(start.core), "working": _objects_of(start.working)}
        counts = {"unreflected": sessions, "left_out": start.left_out}
        return _dump({**fields, **counts, "injectionText": text})

    def tool_feedback(self, feedback: schema.ToolFeedback) -> str:
        activity.store_feedback(self.room, replace(feedback, session_id=self.session))
        return _dump({}) if self.as_object else _say("noted")

    def memory_stats(self) -> str:
        numbers = activity.statistics_of(self.room)
        count, left_out = numbers["live"], numbers["superseded"] + sum(numbers["deleted"].values())
        if self.as_object:  # what no recall finds is left out of the total
            return _dump({"total": count, "left_out": left_out, **numbers})
        lines = [_say("stats_live", count=count, anchors=numbers["anchors"])]
        for name in ("kinds", "lifetimes", "tiers", "agents", "links"):
            if counts := numbers[name]:
                lines.append(_say(f"stats_{name}", listed=_joined_counts(counts)))
        bin_facts: Facts = {"superseded": numbers["superseded"], "left_out": left_out}
        bin_facts["listed"] = _joined_counts(numbers["deleted"])
        figures = numbers["figures"]  # an agent of a team gets none: they count what others have
        key = "stats_away" if figures else "stats_away_own"
        lines.append(_say(key, purged=figures.get("purged", 0), **bin_facts))
        counts = {name: numbers[name] for name in ("versions", "suspicions", "unreflected")}
        lines.append(_say("stats_more", **counts))
        if numbers["model"]:
            facts: Facts = {"model": _shorten_name(numbers["model"]), "count": count}
            facts |= {"with_vector": numbers["with_vector"]}
            facts |= {"share": round(100 * numbers["with_vector"] / count) if count else 0}
            lines.append(_say("stats_model", least=f"{numbers['least_cosine']:.2f}", **facts))
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
        if self.as_object:
            return _dump(_report_fields(report))
        change_count = sum(step.count for step in report.steps)
        key = "upkept" if change_count else "upkept_nothing" if report.steps else "upkept_for_all"
        lines = [_say(key, changed=change_count)]
        changed_steps = (step for step in report.steps if step.count)
        lines += [_say(f"step_{step.name}", count=step.count) for step in changed_steps]
        cases = list[str]()
        for pair in report.suspicions:
            earlier, later = quote(pair.earlier.id), quote(pair.later.id)
            call = f'  link(fromId={earlier}, toId={later}, relationType="contradicts")'
            cases.append("\n".join((self.line_of(pair.earlier), self.line_of(pair.later), call)))
        budget, left_count = Budget(MOST_TOKENS_TO_SETTLE, 20_000), 0
        sections: dict[str, Iterable[str]] = {"suspected": cases}
        for name in _LISTED:
            sections[name] = map(self.line_of, getattr(report, name))
        for heading, blocks in sections.items():
            fits = [(block, budget.take(block)) for block in blocks]
            kept_blocks = [block for block, has_room in fits if has_room]
            left_count += len(fits) - len(kept_blocks)
            lines += [_say(heading, count=len(kept_blocks)), *kept_blocks] if kept_blocks else []
        lines += [_say("upkeep_left_out", count=left_count)] if left_count else []
        tools = report.feedback[:_MOST_TOOLS]
        lines += [_say("feedback_head")] if tools else []
        for tool in tools:
            relevant, sufficient = round(100 * tool.relevant), round(100 * tool.sufficient)
            facts: Facts = {"count": tool.count, "relevant": relevant, "sufficient": sufficient}
            lines.append(_say("feedback_of", tool=_shorten_name(tool.tool), **facts))
        return "\n".join(lines)

    def graph_explore(self, start_id: str, agent: str) -> str:
        outcome = links.explore(self.room, start_id, agent=agent)
        budget = Budget(self.room.settings.budget_tokens, self.room.settings.budget_chars)
        if self.as_object:
            fields = {"start": object_of(outcome.start)}
            budget.spend(_dump(fields))
            pairs = ((object_of(step.fragment), object_of(step.link)) for step in outcome.steps)
            steps = [{"node": node, "edge": edge} for node, edge in pairs]
            kept_steps = [step for step in steps if budget.take(json_text(step))]
            nodes, edges = ([step[name] for step in kept_steps] for name in ("node", "edge"))
            left_out = {"left_out": len(steps) - len(kept_steps)}
            return _dump({**fields, "nodes": nodes, "edges": edges}, left_out)
        budget.spend(_say("links_left_out", count=_LONG_COUNT))
        head, lines = self.line_of(outcome.start), list[str]()
        budget.spend(head)
        for step in outcome.steps:
            arrow = "" if step.leads_to_fragment else " ←"
            lines.append(f"  {step.link.relation}{arrow} {self.line_of(step.fragment)}")
        kept_lines = [line for line in lines if budget.take(line)]
        if not lines:
            kept_lines = [_say("explored_none")]
        elif len(kept_lines) < len(lines):
            kept_lines.append(_say("links_left_out", count=len(lines) - len(kept_lines)))
        return "\n".join([head, *kept_lines])

    def pin(self, id: str, *, pinned: bool) -> str:
        fragment = versions.pin(self.room, id, pinned=pinned)
        if self.as_object:
            return _dump({"id": fragment.id, "pinned": fragment.is_anchor})
        return _say("pinned" if fragment.is_anchor else "unpinned", id=text_of_id(fragment.id))

    @repeats_when_cut
    def fragment_json(self, name: str) -> str:
        """Return one fragment of any state as JSON, with links and versions."""
        with self.room.engine.reading() as rows:
            fragment = find_visible(rows, name, agents_for(self.room, ""), in_bin=True)
            links = _objects_of(rows.links([fragment.id]))
            entries = rows.entries(Version, subject=fragment.id)
        history = [_fields_of(version, _VERSION_FIELDS) for version in entries]
        return json_text({**object_of(fragment), "links": links, "versions": history})

    def prompt_lines(self, query: str, budget: Budget) -> list[str]:
        """Return the lines of a prompt, without orders to a model."""
        from rooms.fragments.recall import recall

        tokens = max(int(budget.tokens), 1)
        request = Query(text=query, session=self.session, tokens=tokens, limit=MOST_IN_PROMPT)
        outcome = recall(self.room, replace(request, with_links=False), line=self.line_of)
        lines = (self.line_of(fragment) for fragment in outcome.fragments if not is_order(fragment))
        return [line for line in lines if budget.take(line)]

    @repeats_when_cut
    def gather(self, question: str) -> Entries:
        """Return candidates for a question, without orders to a model."""
        from rooms.fragments.recall import Search

        search = Search(self.room, Query(text=question, session=self.session), self.line_of)
        with self.room.engine.reading() as rows:
            search.begin(rows)
            pool = search.gather()
        return pool._replace(entries=[entry for entry in pool.entries if not is_order(entry.item)])


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
    ellipsis = ["…"] if len(fragments) > _MOST_IDS else []
    return ", ".join([*(text_of_id(fragment.id) for fragment in fragments[:_MOST_IDS]), *ellipsis])


def object_of(row: Fragment | Link) -> dict[str, Any]:
    """Return a row with the specification's names; of a fragment, without empty rare fields."""
    if isinstance(row, Link):
        ends = {"from_id": row.from_id, "to_id": row.to_id}
        return {**ends, "relation_type": row.relation, "created_at": row.created_at}
    fields, extra = _fields_of(row, _USUAL_FIELDS), _fields_of(row, _RARE_FIELDS)
    fields["importance"] = round(row.importance, 4)
    extra |= {"promoted": row.record_id, "reads_like_order": is_order(row)}
    return fields | {name: value for name, value in extra.items() if value}


def _fields_of(row: Fragment | Version, names: Sequence[str]) -> dict[str, Any]:
    return {column_of(name): getattr(row, name) for name in names}


def _objects_of(rows: Iterable[Fragment] | Iterable[Link]) -> list[dict[str, Any]]:
    return [object_of(row) for row in rows]


def _dump(fields: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> str:
    """Return JSON. extra: fields left out where they are empty."""
    filled_fields = {name: value for name, value in (extra or {}).items() if value}
    return json_text({"success": True, **fields, **filled_fields})


def _say(key: str, **facts: str | int) -> str:
    return say(f"fragments.answers.{key}", **facts)


def _cautions_for(outcome: "draft.RememberOutcome | versions.AmendOutcome") -> dict[str, Any]:
    marks = {"too_long": outcome.is_long, "reads_like_order": is_order(outcome.fragment)}
    return {"redacted": outcome.secret_kinds, **marks}


def _caution_sentences(outcome: "draft.RememberOutcome | versions.AmendOutcome") -> list[str]:
    facts: Facts = {"chars": len(outcome.fragment.content), "most": CONTENT_CHARS}
    facts["kinds"] = ", ".join(outcome.secret_kinds)
    return [_say(name, **facts) for name, holds in _cautions_for(outcome).items() if holds]


def _shorten_name(text: str) -> str:
    return flat_line(text)[:_NAME_CHARS]


def _joined_counts(counts: Mapping[str, int]) -> str:
    pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    texts = [f"{_shorten_name(name)} {count:,}" for name, count in pairs[:_MOST_COUNTS] if count]
    return ", ".join([*texts, *(["…"] if len(pairs) > _MOST_COUNTS else [])]) or _say("none")


def _report_fields(report: "Report") -> dict[str, Any]:
    pairs, feedback = list[Any](), list[Any]()
    for pair in report.suspicions:
        ends = {"earlier": object_of(pair.earlier), "later": object_of(pair.later)}
        pairs.append({**ends, "similarity": round(pair.similarity, 4)})
    for tool in report.feedback:
        shares = {name: round(getattr(tool, name), 4) for name in ("relevant", "sufficient")}
        fields = {"tool_name": tool.tool, "count": tool.count, **shares}
        feedback.append({**fields, "suggestions": tool.suggestions})
    steps = [asdict(step) for step in report.steps]
    lists = {name: _objects_of(getattr(report, name)) for name in _LISTED}
    return {"steps": steps, "contradictions": pairs, **lists, "feedback": feedback}
