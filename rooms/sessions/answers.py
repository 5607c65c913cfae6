"""Writes the answers of the tools: lines for a model, or the declared object as JSON.

declared: whether the settings ask for the object. No answer writes anything.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile, zip_longest
from typing import Any, NamedTuple

from core.errors import SentinelError
from core.lessons.record import Record
from core.lessons.record_text import (
    as_json,
    day_of,
    field_line,
    is_harmless,
    is_usable,
    topic_text,
)
from core.lessons.task import choose_for_prompt
from core.messages import Language, language, say
from core.store import MemoryStore
from core.text.plain import Budget, estimate_tokens, normal_form, one_line
from rooms.sessions import hints
from rooms.sessions.hints import brief, goal_of, hint, is_order, name_of
from rooms.sessions.search import LEAST_SHARE, Hit, Page, Statistics, about
from rooms.sessions.session import ACTION, SESSION, Action, Draft, Session
from rooms.sessions.store import Saved, SessionStore

# Estimated, of a first save with its related work: by the tokenizer 50; dates are estimated high.
_SAVED_TOKENS = 56
_MOST_RELATED = 3
_SHOWN_FAILURES, _MOST_FAILURES = 2, 10  # as lines; of a declared object, the newest
_NAME_CHARS, _TAG_CHARS, _SUMMARY_CHARS = 50, 50, 100
_WORD = re.compile(r"[a-z0-9]+")

# The log: records that are read, the later ones, since each takes some 20 µs; of the goal; of a
# lesson beside a save, and in a warning.
_MOST_READ, _MOST_PROMPT_CHARS = 2_000, 2_000
_KNOWN_CHARS, _LESSON_CHARS = 90, 70
# Estimated: by the tokenizer 100 and 160.
_WARNED_TOKENS: Mapping[Language, int] = {"en": 100, "ko": 146}
_HANGUL = re.compile("[\uac00-\ud7a3]")

_WHOLE_TOKENS = 470  # estimated, without the sentence that counts the rest
_SUMMARY_SHARE, _ONLY_SUMMARY_SHARE, _ACTIONS_SHARE, _CHAIN_SHARE = 0.4, 0.8, 0.3, 0.5
_LEAST_CHARS = 80  # of a summary
_CONTENT_CHARS, _RESULT_CHARS, _FORMER_CHARS = 120, 80, 100


def _said(key: str, **facts: str | int) -> str:
    return say(f"sessions.answers.{key}", **facts)


def saved(done: Saved, hits: Iterable[Hit], beside: Sequence[str], *, declared: bool) -> str:
    """Describe a save, and list related sessions that fit. beside: further lines."""
    name = name_of(done.session)
    said = [_said("saved_new" if done.is_new else "saved_again", name=name)]
    if done.replaced:
        said.append(_said("replaced", fields=", ".join(done.replaced), name=name))
    if done.redacted:
        said.append(_said("redacted", kinds=", ".join(done.redacted)))
    if done.resolved:
        said.append(_said("resolved", names=", ".join(map(name_of, done.resolved))))
    if not done.is_current_written:
        said.append(_said("not_projected"))
    message = " ".join(said)
    # Nobody asked for these: what reads like an order is left out.
    related = [it for it in hits if not is_order(it.session)][:_MOST_RELATED]
    if declared:
        answer: dict[str, Any] = {"id": done.session.id, "message": "\n".join([message, *beside])}
        if related:
            answer["relatedContexts"] = [
                {
                    "id": it.session.id,
                    "goal": goal_of(it.session),
                    "summary": it.session.summary_short,
                    "similarity": it.level or "low",
                }
                for it in related
            ]
        return as_json(answer)
    budget = Budget(_SAVED_TOKENS, 1_000)
    budget.spend(_said("saved_new", name=name))
    hinted = hints.headed("related", (hint(it.session) for it in related), budget)
    return "\n".join([message, *hinted, *beside])


def found(page: Page, *, offset: int, note: str = "", declared: bool) -> str:
    """Return the hints below their count. note: a last sentence."""
    has_more = bool(page.hits) and offset + len(page.hits) < page.total
    if declared:
        entries = [
            {
                "id": it.session.id,
                "goal": " ".join(filter(None, (hints.mark_of(it.project), goal_of(it.session)))),
                "date": day_of(it.session.date),
                "hasWarnings": it.session.has_warnings,
            }
            for it in page.hits
        ]
        answer: dict[str, Any] = {"hints": entries, "total": page.total, "hasMore": has_more}
        if page.hits and page.failing:
            answer["suggestion"] = _said("failures_in", name=page.failing.session.id)
        return as_json(answer)
    if not page.hits:
        key = "past_end" if page.total else "found_none"
        return " ".join(filter(None, (_said(key, total=page.total, offset=offset), note)))
    lines = [_said("found", shown=len(page.hits), total=page.total)]
    lines += [hint(it.session, it.project) for it in page.hits]
    if page.failing:
        name = name_of(page.failing.session, page.failing.project)
        lines.append(_said("failures_in", name=name))
    if has_more:
        lines.append(_said("more", offset=offset + len(page.hits)))
    return "\n".join([*lines, *([note] if note else ())])


def recommended(hits: Iterable[Hit], goal: str, *, declared: bool) -> str:
    """Return for each session its hint, its level, its tags in the goal, its failures."""
    text = normal_form("NFC", goal).casefold()
    words = set(_WORD.findall(text))

    def is_named(tag: str) -> bool:  # any particle may follow a Korean one
        parts = set(_WORD.findall(tag))
        return parts <= words if parts and tag.isascii() else bool(tag.strip()) and tag in text

    objects, lines = list[dict[str, Any]](), list[str]()
    for it in hits:
        session, level = it.session, it.level or "low"
        if is_order(session):
            continue
        tags = [tag for tag in session.tags if is_named(tag.casefold())]
        answer: dict[str, Any] = {
            "id": session.id,
            "goal": goal_of(session),
            "summary": session.summary_short,
            "relevance": level,
            "matchedTags": tags,
        }
        failed = [brief(tried.text, hints.FAILURE_CHARS) for tried in session.failed]
        if failed:
            answer["failedApproaches"] = failed[-_MOST_FAILURES:]
        objects.append(answer)
        named = (f"#{brief(tag, _TAG_CHARS)}" for tag in tags)
        lines.append(" ".join([hint(session, it.project), f"[{_said(level)}]", *named]))
        if session.summary:
            lines.append(f"  {brief(session.summary, _SUMMARY_CHARS)}")
        lines += [f"  ! {line}" for _, line in list(hints.failures_of(session))[:_SHOWN_FAILURES]]
    if declared:
        return as_json({"recommendations": objects})
    return "\n".join(lines) or _said("recommended_none")


def counted(numbers: Statistics, range_: str, *, declared: bool) -> str:
    by_agent = {it or _said("unknown"): count for it, count in numbers.by_agent.items()}
    if declared:
        tags = [{"tag": tag, "count": count} for tag, count in numbers.top_tags.items()]
        return as_json(
            {
                "totalSessions": numbers.sessions,
                "byStatus": dict(numbers.by_status),
                "byAgent": by_agent,
                "topTags": tags,
                "failedApproaches": numbers.failed,
                "avgActionsPerSession": round(numbers.actions_per_session, 1),
            }
        )
    lines = [_said("stats_head", count=numbers.sessions, range=range_)]
    for key, counts in (
        ("stats_status", numbers.by_status),
        ("stats_agent", by_agent),
        ("stats_tags", numbers.top_tags),
    ):
        if counts:
            listed = ", ".join(f"{brief(it, _NAME_CHARS)} {n:,}" for it, n in counts.items())
            lines.append(_said(key, listed=listed))
    if numbers.sessions:
        actions = f"{numbers.actions_per_session:.1f}"
        lines.append(_said("stats_failed", failed=numbers.failed, actions=actions))
    return "\n".join(lines)


def lessons_for(goal: str, log: MemoryStore, *, limit: int) -> list[Record]:
    """Return the team's lessons on a goal, best first; mostly none, also without a sound log."""
    try:
        records = log.read().records[-_MOST_READ:]
        fitting = choose_for_prompt(goal[:_MOST_PROMPT_CHARS], records, len(records), {})
    except (SentinelError, OSError):
        return []
    return [it for it in fitting if is_usable(it) and is_harmless(it)][:limit]


def line_to_the_log(session: Session, draft: Draft, log: MemoryStore) -> list[str]:
    """Return a line if a draft reports a failure or an obstacle.

    It names the record that says so, or asks for a lesson. A redacted text is passed over.
    """
    told = {it.text for it in (*draft.approaches, *draft.blockers)}
    new = [it for it in (*session.open_blockers, *session.failed) if it.text in told]
    if not new or is_order(session):
        return []
    last = max(new, key=lambda it: bool(it.result and it.why))  # a failure with its reason first
    for record in lessons_for(f"{session.goal}\n{last.text}\n{last.why}", log, limit=1):
        facts = {"id": brief(record.id, 16), "topic": topic_text(record.topic)}
        return [_said("known", lesson=brief(record.lesson, _KNOWN_CHARS), **facts)]
    return [_said("to_log")]


class Failure(NamedTuple):
    """The line of a failure or open blocker. is_exact: it has a word of the goal."""

    session: Session
    line: str
    is_exact: bool


def failures_on(goal: str, hits: Sequence[Hit], *, tried: bool) -> list[Failure]:
    """Return failures of earlier work, exact ones first, then one of each session in turn.

    A session below LEAST_SHARE counts only by failures with a word of the goal. tried: count failed
    approaches.
    """
    told = [(it, *failure) for it in hits for failure in hints.failures_of(it.session, tried=tried)]
    exact = about(goal, [point for _, point, _ in told])
    by_session = dict[str, list[Failure]]()
    for at, (hit, _, line) in enumerate(told):
        if at in exact or (hit.share or 0) >= LEAST_SHARE:
            failure = Failure(hit.session, line, at in exact)
            by_session.setdefault(hit.session.id, []).append(failure)
    once = dict[str, Failure]()
    for row in zip_longest(*by_session.values()):
        for failure in filter(None, row):
            without_date = failure.line[: failure.line.rindex(" (")]
            once.setdefault(without_date, failure)
    return sorted(once.values(), key=lambda it: not it.is_exact)


def warned(
    goal: str,
    records: Sequence[Record],
    hits: Iterable[Hit],
    store: SessionStore,
    *,
    limit: int,
    more_key: str,
    declared: bool,
) -> str:
    """Return lessons, failures and similar sessions, as many as fit; none reads like an order.

    Only a failure with a word of the goal has `!`. A declared object names a lesson by its
    resource. more_key: of the sentence that counts the others.
    """
    usable, tried = [it for it in hits if not is_order(it.session)], store.config.warns
    failures, similar = failures_on(goal, usable, tried=tried), list[Session]()
    if store.config.recommends:
        near_to_it = [it.session for it in usable if (it.share or 0) >= LEAST_SHARE]
        similar = [it for it in near_to_it if not any(hints.failures_of(it, tried=tried))]
    if declared:
        warnings = [
            {"contextId": f"memory://record/{it.id}", "message": brief(it.lesson, _LESSON_CHARS)}
            for it in records
        ]
        warnings += [{"contextId": it.session.id, "message": it.line} for it in failures]
        others = [{"id": it.id, "goal": goal_of(it)} for it in similar]
        has_more = len(warnings) > limit or len(others) > limit
        answer = {"warnings": warnings[:limit], "recommendations": others[:limit]}
        return as_json({**answer, "hasMore": has_more})
    lessons = [
        f"lesson {brief(it.id, 16)} [{topic_text(it.topic)}] {brief(it.lesson, _LESSON_CHARS)}"
        for it in records
    ]
    failed = [f"{'! ' if it.is_exact else ''}{name_of(it.session)} {it.line}" for it in failures]
    count = len(lessons) + len(failed) + len(similar)
    if not count:
        return _said("nothing_failed", count=store.count())
    near = [hint(it) for it in similar[:limit]]
    is_korean = language() == "ko" or _HANGUL.search(goal)
    budget = Budget(_WARNED_TOKENS["ko" if is_korean else "en"], 2_000)
    budget.spend(_said(more_key, count=100))
    # A lesson and a failure first, then the others of each.
    in_turn = (*lessons[:1], *failed[:1], *lessons[1:2], *failed[1:], *near)
    kept = {line for line in in_turn if budget.take(line)}
    lines = [line for line in (*lessons, *failed, *near) if line in kept]
    if left := count - len(lines):
        pairs = zip(failures, failed, strict=True)
        missed = [name_of(it.session) for it, line in pairs if line not in kept]
        is_of_one = len(missed) == left and len({*missed}) == 1
        key = "warn_more_of_one" if is_of_one else more_key
        lines.append(_said(key, count=left, name="".join(missed[:1])))
    return "\n".join(lines)


# context_get: failures and open blockers come before successes, since they warn a reader. A long
# summary is cut, any other text is left out whole, and a sentence counts both.
def whole_object(
    session: Session,
    actions: Sequence[Action] | None,
    chain: Sequence[Session] | None,
    *,
    budget_tokens: int,
) -> str:
    """Return the declared object. budget_tokens: for actions, the last first."""
    answer: dict[str, Any] = {"context": SESSION.as_json(session)}
    if actions is not None:
        budget = Budget(budget_tokens, 2 * budget_tokens)
        fitting = takewhile(lambda it: budget.take(f"{it.content}{it.result}"), actions[::-1])
        answer["actions"] = [ACTION.as_json(it) for it in fitting][::-1]
    if chain is not None:
        answer["chain"] = [
            {"id": it.id, "goal": it.goal_short, "createdAt": it.created_at} for it in chain
        ]
    return as_json({**answer, "former": session.former_objects} if session.former else answer)


def describe_session(
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
    lines = _head(session, parent, project)
    budget = Budget(_WHOLE_TOKENS, 100_000)
    budget.spend("\n".join(lines))
    share = budget.split_off(_CHAIN_SHARE if chain else 0)
    here = next((at for at, it in enumerate(chain) if it.id == session.id), 0)
    nearest = sorted(range(len(chain)), key=lambda at: abs(at - here))
    linked = ((at, hint(chain[at], project)) for at in nearest)
    chain_lines = _fitting(_said("chain"), linked, share) if chain else []
    budget.add(share)
    label, summary = _said("summary"), session.summary
    if summary:
        is_all = not any(session.points()) and not session.changes
        share = budget.split_off(_ONLY_SUMMARY_SHARE if is_all else _SUMMARY_SHARE)
        while len(summary) > _LEAST_CHARS and (
            estimate_tokens(field_line(label, summary)) >= share.tokens
        ):
            summary = summary[: max(int(len(summary) * 0.85), _LEAST_CHARS)].rstrip()
        cut = len(session.summary) - len(summary)
        text = _said("cut", text=summary, chars=cut) if cut else summary
        lines.append(field_line(label, text))
        share.spend(lines[-1])
        budget.add(share)
    own = budget.split_off(1 - _ACTIONS_SHARE if actions else 1.0)
    items = list(_items(session))
    shown = [line for line in items if own.take(line)]
    budget.add(own)
    done = ((at, _action_line(actions[at])) for at in reversed(range(len(actions))))
    newest = _fitting(_said("actions"), done, budget)
    lines += [*shown, *newest, *chain_lines]
    left = {
        "of_texts": len(session.summary) - len(summary),
        "of_items": len(items) - len(shown),
        "of_actions": len(actions) - max(len(newest) - 1, 0),
        "of_chain": len(chain) - max(len(chain_lines) - 1, 0),
    }
    if archive:
        lines.append(_said("in_archive", path=archive))
    if counts := [_said(key, count=count) for key, count in left.items() if count]:
        lines.append(_said("left_out", what=", ".join(counts), how=how))
    return "\n".join(lines)


def _head(session: Session, parent: str, project: str) -> list[str]:
    started_on = day_of(session.started_at)
    words = (
        f"{hints.mark_of(project) or name_of(session)} {one_line(session.id)}",
        brief(session.status, 20),
        brief(session.agent, 40),
        _said("saved_at", date=day_of(session.date)),
        _said("started", date=started_on) if session.started_at[:10] != session.date else "",
        _said("continues", name=parent) if parent else "",
        f"{_said('tags')} {', '.join(map(one_line, session.tags))}" if session.tags else "",
        _said("order") if is_order(session) else "",
    )
    return [" · ".join(filter(None, words)), field_line(_said("goal"), session.goal)]


def _items(session: Session) -> Iterator[str]:
    tried, changes = session.approaches[::-1], session.changes
    points = [
        *(("failed", it) for it in session.failed[::-1]),
        *(("open", it) for it in session.open_blockers[::-1]),
        *(("decision", it) for it in session.decisions[::-1]),
        *(("partial", it) for it in tried if it.result == "partial"),
        *(("success", it) for it in tried if it.result == "success"),
        *(("closed", it) for it in session.blockers[::-1] if it.is_resolved),
    ]
    for label, point in points:
        text = point.text
        if point.why and label == "closed":
            text = f"{text} → {point.why}"
        elif point.why and label != "open":
            text = _said("because", text=text, why=point.why)
        yield field_line(_said(label), text)
    if changes.summary:
        yield field_line(_said("changes"), changes.summary)
    if changes.modified_files:
        yield field_line(_said("files"), ", ".join(map(one_line, changes.modified_files)))
    for former in reversed(session.former):
        words = [f"{name}: {brief(text, _FORMER_CHARS)}" for name, text in former.told]
        if words:
            yield field_line(_said("former", date=day_of(former.at)), "; ".join(words))


def _action_line(action: Action) -> str:
    line = f"- {brief(action.kind, 10)}: {brief(action.content, _CONTENT_CHARS)}"
    if action.file_path and action.file_path not in action.content:
        line += f" ({brief(action.file_path, _CONTENT_CHARS)})"
    return f"{line} → {brief(action.result, _RESULT_CHARS)}" if action.result else line


def _fitting(heading: str, lines: Iterable[tuple[int, str]], budget: Budget) -> list[str]:
    """Return a heading with the first lines that fit, in the order of their places."""
    budget.spend(heading)
    kept = sorted(takewhile(lambda it: budget.take(it[1]), lines))
    return [heading, *(line for _, line in kept)] if kept else []
