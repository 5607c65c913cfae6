"""Writes the answers of the tools: lines for a model, or the declared objects."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from core.lessons.record_text import field_line
from core.messages import say
from core.text.plain import Budget, estimate_tokens, normal_form, one_line
from rooms.sessions.hints import (
    FAILURE_CHARS,
    PROJECT_CHARS,
    brief,
    day_of,
    failures_of,
    goal_of,
    hint,
    hint_of,
    is_order,
    name_of,
)
from rooms.sessions.search import Hit, Page, Statistics
from rooms.sessions.session import Action, Session
from rooms.sessions.store import Saved

Object = dict[str, Any]

# Estimated, of a first save with its related work: by the tokenizer 50; dates are estimated high.
_SAVED_TOKENS = 56
_MOST_RELATED = 3
_SHOWN_FAILURES, _MOST_FAILURES = 2, 10  # as lines; of a declared object, the newest
_NAME_CHARS = 50  # of a name that is counted
_WORD = re.compile(r"[a-z0-9]+")


def _said(key: str, **facts: str | int) -> str:
    return say(f"sessions.answers.{key}", **facts)


# context_save


def _saved_message(saved: Saved) -> str:
    name = name_of(saved.session)
    said = [_said("saved_new" if saved.is_new else "saved_again", name=name)]
    if saved.replaced:
        said.append(_said("replaced", fields=", ".join(saved.replaced), name=name))
    if saved.redacted:
        said.append(_said("redacted", kinds=", ".join(saved.redacted)))
    if saved.resolved:
        said.append(_said("resolved", names=", ".join(map(name_of, saved.resolved))))
    if not saved.projected:
        said.append(_said("not_projected"))
    return " ".join(said)


def _related(hits: Iterable[Hit]) -> list[Hit]:
    """Drop hits that read like an order, since nobody asked for them."""
    return [it for it in hits if not is_order(it.session)][:_MOST_RELATED]


def saved_text(saved: Saved, related: Iterable[Hit], beside: Sequence[str]) -> str:
    """Describe a save, and list related sessions that fit. beside: further lines."""
    heading, budget = _said("related"), Budget(_SAVED_TOKENS, 1_000)
    budget.spend(_said("saved_new", name=name_of(saved.session)))
    budget.spend(heading)
    fitting = [line for it in _related(related) if budget.take(line := hint(it.session))]
    return "\n".join([_saved_message(saved), *([heading, *fitting] if fitting else ()), *beside])


def saved_object(saved: Saved, related: Iterable[Hit], beside: Sequence[str]) -> Object:
    """Return the object ContextSaveOutput."""
    found = [
        {
            "id": it.session.id,
            "goal": goal_of(it.session),
            "summary": it.session.summary_short,
            "similarity": it.level or "low",
        }
        for it in _related(related)
    ]
    done: Object = {"id": saved.session.id, "message": "\n".join([_saved_message(saved), *beside])}
    return {**done, "relatedContexts": found} if found else done


# context_search


def found_text(page: Page, *, offset: int, note: str = "") -> str:
    """Return the hints below their count. note: a last sentence."""
    if not page.hits:
        key = "past_end" if page.total else "found_none"
        return " ".join(filter(None, (_said(key, total=page.total, offset=offset), note)))
    lines = [_said("found", shown=len(page.hits), total=page.total), *map(hint_of, page.hits)]
    if page.failing:
        name = name_of(page.failing.session, page.failing.project)
        lines.append(_said("failures_in", name=name))
    if _has_more(page, offset):
        lines.append(_said("more", offset=offset + len(page.hits)))
    return "\n".join([*lines, *([note] if note else ())])


def found_object(page: Page, *, offset: int) -> Object:
    """Return the object ContextSearchOutput."""
    hints = [
        {
            "id": it.session.id,
            "goal": " ".join(filter(None, (_project(it.project), goal_of(it.session)))),
            "date": day_of(it.session.date),
            "hasWarnings": it.session.has_warnings,
        }
        for it in page.hits
    ]
    found: Object = {"hints": hints, "total": page.total, "hasMore": _has_more(page, offset)}
    if page.hits and page.failing:
        found["suggestion"] = _said("failures_in", name=page.failing.session.id)
    return found


def _has_more(page: Page, offset: int) -> bool:
    return bool(page.hits) and offset + len(page.hits) < page.total


def _project(name: str) -> str:
    return f"[{brief(name, PROJECT_CHARS)}]" if name else ""


# context_recommend


def recommended_text(hits: Sequence[Hit], goal: str) -> str:
    """Return the hint of each session, its level, its tags in the goal, its failures."""
    lines = list[str]()
    for it in hits:
        if is_order(it.session):
            continue
        tags = [f"#{brief(tag, 50)}" for tag in matched_tags(it.session, goal)]
        lines.append(" ".join([hint_of(it), f"[{_said(it.level or 'low')}]", *tags]))
        if it.session.summary:
            lines.append(f"  {brief(it.session.summary, 100)}")
        failures = list(failures_of(it.session))[:_SHOWN_FAILURES]
        lines += [f"  ! {line}" for _, line in failures]
    return "\n".join(lines) or _said("recommended_none")


def recommended_object(hits: Sequence[Hit], goal: str) -> Object:
    """Return the object ContextRecommendOutput."""
    found = list[Object]()
    for it in hits:
        session = it.session
        if is_order(session):
            continue
        failed = [brief(tried.text, FAILURE_CHARS) for tried in session.failed[-_MOST_FAILURES:]]
        declared: Object = {
            "id": session.id,
            "goal": goal_of(session),
            "summary": session.summary_short,
            "relevance": it.level or "low",
            "matchedTags": matched_tags(session, goal),
        }
        found.append({**declared, "failedApproaches": failed} if failed else declared)
    return {"recommendations": found}


def matched_tags(session: Session, goal: str) -> list[str]:
    """Return the session's tags in a goal; any particle may follow a Korean tag."""
    text = normal_form("NFC", goal).casefold()
    words = set(_WORD.findall(text))

    def is_named(tag: str) -> bool:
        parts = set(_WORD.findall(tag))
        return parts <= words if parts and tag.isascii() else bool(tag.strip()) and tag in text

    return [tag for tag in session.tags if is_named(tag.casefold())]


# context_stats


def counted_text(numbers: Statistics, range_: str) -> str:
    lines = [_said("stats_head", count=numbers.sessions, range=range_)]
    for key, counts in (
        ("stats_status", numbers.by_status),
        ("stats_agent", _by_agent(numbers)),
        ("stats_tags", numbers.top_tags),
    ):
        if counts:
            listed = ", ".join(f"{brief(it, _NAME_CHARS)} {n:,}" for it, n in counts.items())
            lines.append(_said(key, listed=listed))
    if numbers.sessions:
        actions = f"{numbers.actions_per_session:.1f}"
        lines.append(_said("stats_failed", failed=numbers.failed, actions=actions))
    return "\n".join(lines)


def counted_object(numbers: Statistics) -> Object:
    """Return the object ContextStatsOutput."""
    return {
        "totalSessions": numbers.sessions,
        "byStatus": dict(numbers.by_status),
        "byAgent": _by_agent(numbers),
        "topTags": [{"tag": tag, "count": count} for tag, count in numbers.top_tags.items()],
        "failedApproaches": numbers.failed,
        "avgActionsPerSession": round(numbers.actions_per_session, 1),
    }


def _by_agent(numbers: Statistics) -> dict[str, int]:
    return {it or _said("unknown"): n for it, n in numbers.by_agent.items()}


# context_get: failures and open blockers come before successes, since they warn a reader. A long
# summary is cut, any other text is left out whole, and a sentence counts both.

_WHOLE_TOKENS = 470  # estimated, without the sentence that counts the rest
_SUMMARY_SHARE, _ONLY_SUMMARY_SHARE, _ACTIONS_SHARE, _CHAIN_SHARE = 0.4, 0.8, 0.3, 0.5
_LEAST_CHARS = 80  # of a summary
_CONTENT_CHARS, _RESULT_CHARS, _FORMER_CHARS = 120, 80, 100


def whole_text(
    session: Session,
    *,
    actions: Sequence[Action] = (),
    chain: Sequence[Session] = (),
    parent: str = "",
    project: str = "",
    archive: str = "",
    how: str,
) -> str:
    """Return a session within some 500 tokens.

    parent: the name of the session before it. project: "" for this one. archive: an older version's
    file with the texts. how: a way to show all.
    """
    budget = Budget(_WHOLE_TOKENS, 100_000)
    lines = [_head(session, parent, project), field_line(_said("goal"), session.goal)]
    budget.spend("\n".join(lines))
    chain_lines = _chain_lines(session, chain, project, budget)
    summary, cut_chars = _summary_lines(session, budget)
    own = budget.split_off(1 - _ACTIONS_SHARE if actions else 1.0)
    items = list(_items(session))
    shown = [line for line in items if own.take(line)]
    budget.add(own)
    newest = _newest_actions(actions, budget)
    lines += [*summary, *shown, *newest, *chain_lines]
    left = {
        "of_texts": cut_chars,
        "of_items": len(items) - len(shown),
        "of_actions": len(actions) - max(len(newest) - 1, 0),
        "of_chain": len(chain) - len(chain_lines) + 1 if chain_lines else 0,
    }
    if archive:
        lines.append(_said("in_archive", path=archive))
    if counts := [_said(key, count=count) for key, count in left.items() if count]:
        lines.append(_said("left_out", what=", ".join(counts), how=how))
    return "\n".join(lines)


def whole_object(
    session: Session,
    *,
    actions: Sequence[Action] | None = None,
    chain: Sequence[Session] | None = None,
    budget_tokens: int,
) -> Object:
    """Return the object ContextGetOutput. budget_tokens: for actions, the last first."""
    found: Object = {"context": session.as_json()}
    if actions is not None:
        budget = Budget(budget_tokens, 2 * budget_tokens)
        fitting = takewhile(lambda it: budget.take(f"{it.content}{it.result}"), actions[::-1])
        found["actions"] = [it.as_json() for it in fitting][::-1]
    if chain is not None:
        found["chain"] = [
            {"id": it.id, "goal": it.goal_short, "createdAt": it.created_at} for it in chain
        ]
    return {**found, "former": session.former_objects} if session.former else found


def _head(session: Session, parent: str, project: str) -> str:
    started_on = day_of(session.started_at)
    tags = ", ".join(map(one_line, session.tags))
    words = (
        f"{_project(project) or name_of(session)} {one_line(session.id)}",
        brief(session.status, 20),
        brief(session.agent, 40),
        _said("saved_at", date=day_of(session.date)),
        _said("started", date=started_on) if session.started_at[:10] != session.date else "",
        _said("continues", name=parent) if parent else "",
        f"{_said('tags')} {tags}" if session.tags else "",
        _said("order") if is_order(session) else "",
    )
    return " · ".join(filter(None, words))


def _summary_lines(session: Session, budget: Budget) -> tuple[list[str], int]:
    if not session.summary:
        return [], 0
    label, kept = _said("summary"), session.summary
    has_items = any(session.points()) or bool(session.changes)
    share = budget.split_off(_SUMMARY_SHARE if has_items else _ONLY_SUMMARY_SHARE)
    while estimate_tokens(field_line(label, kept)) >= share.tokens and len(kept) > _LEAST_CHARS:
        kept = kept[: max(int(len(kept) * 0.85), _LEAST_CHARS)].rstrip()
    cut_chars = len(session.summary) - len(kept)
    text = _said("cut", text=kept, chars=cut_chars) if cut_chars else kept
    line = field_line(label, text)
    share.spend(line)
    budget.add(share)
    return [line], cut_chars


def _items(session: Session) -> Iterator[str]:
    tried = session.approaches
    points = [
        *(("failed", it) for it in session.failed[::-1]),
        *(("open", it) for it in session.open_blockers[::-1]),
        *(("decision", it) for it in session.decisions[::-1]),
        *(("partial", it) for it in tried[::-1] if it.result == "partial"),
        *(("success", it) for it in tried[::-1] if it.result == "success"),
        *(("closed", it) for it in session.blockers[::-1] if it.is_resolved),
    ]
    for label, point in points:
        text = point.text
        if point.why and label == "closed":
            text = f"{text} → {point.why}"
        elif point.why and label != "open":
            text = _said("because", text=text, why=point.why)
        yield field_line(_said(label), text)
    if session.changes.summary:
        yield field_line(_said("changes"), session.changes.summary)
    if session.changes.modified_files:
        yield field_line(_said("files"), ", ".join(map(one_line, session.changes.modified_files)))
    for former in reversed(session.former):
        texts = {"goal": former.goal, "summary": former.summary, "tags": ", ".join(former.tags)}
        words = [f"{name}: {brief(text, _FORMER_CHARS)}" for name, text in texts.items() if text]
        if words:
            yield field_line(_said("former", date=day_of(former.at)), "; ".join(words))


def _newest_actions(actions: Sequence[Action], budget: Budget) -> list[str]:
    heading = _said("actions")
    budget.spend(heading)
    lines = list[str]()
    for it in actions[::-1]:
        words = [f"- {brief(it.kind, 10)}: {brief(it.content, _CONTENT_CHARS)}"]
        if it.file_path and it.file_path not in it.content:
            words.append(f"({brief(it.file_path, _CONTENT_CHARS)})")
        if it.result:
            words.append(f"→ {brief(it.result, _RESULT_CHARS)}")
        lines.append(" ".join(words))
    taken = list(takewhile(budget.take, lines))
    return [heading, *reversed(taken)] if taken else []


def _chain_lines(
    session: Session, chain: Sequence[Session], project: str, budget: Budget
) -> list[str]:
    if not chain:
        return []
    heading = _said("chain")
    share = budget.split_off(_CHAIN_SHARE)
    share.spend(heading)
    here = next((at for at, it in enumerate(chain) if it.id == session.id), 0)
    nearest = sorted(range(len(chain)), key=lambda at: abs(at - here))
    kept = sorted(takewhile(lambda at: share.take(hint(chain[at], project)), nearest))
    budget.add(share)
    return [heading, *(hint(chain[at], project) for at in kept)]
