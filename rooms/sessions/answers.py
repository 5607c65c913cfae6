"""Writes the answers of the tools: lines for a model, or the declared object as JSON.

as_object: whether the settings ask for the object. No answer writes anything.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile, zip_longest
from typing import Any, NamedTuple

from core.errors import SentinelError
from core.lessons.record import Record
from core.lessons.record_text import field_line, is_harmless, is_usable, json_text, topic_text
from core.lessons.task import choose_for_prompt
from core.messages import Language, language, say
from core.store import MemoryStore
from core.text.plain import Budget, day_of, estimate_tokens, normal_form, one_line
from rooms.sessions import hints
from rooms.sessions.hints import goal_of, hint_of, is_order, line_of, name_of
from rooms.sessions.search import LEAST_SHARE, Hit, Page, Statistics, indexes_about
from rooms.sessions.session import ACTION, SESSION, Action, Draft, Session
from rooms.sessions.store import SaveOutcome, SessionStore

# Estimated, of a first save with its related work: by the tokenizer 50; dates are estimated high.
_SAVE_TOKENS = 56
_MOST_RELATED = 3
_FAILURE_LINES, _MOST_FAILURES = 2, 10  # as lines; of a declared object, the newest
_NAME_CHARS, _TAG_CHARS, _SUMMARY_CHARS = 50, 50, 100
_LATIN_WORD = re.compile(r"[a-z0-9]+")

_MOST_RECORDS, _MOST_GOAL_CHARS = 2_000, 2_000  # of the log, 20 µs each; of a goal
_KNOWN_CHARS, _LESSON_CHARS = 90, 70  # of a lesson beside a save, and in a warning
# Estimated: by the tokenizer 100 and 160.
_WARNING_TOKENS: Mapping[Language, int] = {"en": 100, "ko": 146}
_HANGUL = re.compile("[\uac00-\ud7a3]")

_SESSION_TOKENS = 470  # estimated, without the sentence that counts the rest
_SUMMARY_SHARE, _ONLY_SUMMARY_SHARE, _ACTIONS_SHARE, _CHAIN_SHARE = 0.4, 0.8, 0.3, 0.5
_LEAST_CHARS = 80  # of a summary
_CONTENT_CHARS, _RESULT_CHARS, _FORMER_CHARS = 120, 80, 100


def _say(key: str, **facts: str | int) -> str:
    return say(f"sessions.answers.{key}", **facts)


def save_answer(outcome: SaveOutcome, hits: list[Hit], notes: list[str], *, as_object: bool) -> str:
    """Describe a save, and list related sessions that fit. notes: further lines."""
    name = name_of(outcome.session)
    sentences = [_say("saved_new" if outcome.is_new else "saved_again", name=name)]
    if outcome.replaced_fields:
        sentences.append(_say("replaced", fields=", ".join(outcome.replaced_fields), name=name))
    if outcome.secret_kinds:
        sentences.append(_say("redacted", kinds=", ".join(outcome.secret_kinds)))
    if is_order(outcome.session):
        sentences.append(_say("saved_order"))
    if outcome.resolved_sessions:
        sentences.append(_say("resolved", names=", ".join(map(name_of, outcome.resolved_sessions))))
    if not outcome.is_current_written:
        sentences.append(_say("not_projected"))
    message = " ".join(sentences)
    # Nobody asked for these: what reads like an order is left out.
    related = [hit for hit in hits if not is_order(hit.session)][:_MOST_RELATED]
    if as_object:
        answer: dict[str, Any] = {"id": outcome.session.id, "message": "\n".join([message, *notes])}
        if related:
            answer["relatedContexts"] = [
                {
                    "id": hit.session.id,
                    "goal": goal_of(hit.session),
                    "summary": hit.session.summary_short,
                    "similarity": hit.level or "low",
                }
                for hit in related
            ]
        return json_text(answer)
    budget = Budget(_SAVE_TOKENS, 1_000)
    budget.spend(_say("saved_new", name=name))
    hint_lines = hints.with_heading("related", (hint_of(hit.session) for hit in related), budget)
    return "\n".join([message, *hint_lines, *notes])


def page_answer(page: Page, *, offset: int, note: str = "", as_object: bool) -> str:
    """Return the hints below their count. note: a last sentence."""
    has_more = bool(page.hits) and offset + len(page.hits) < page.total
    if as_object:
        entries = [
            {
                "id": hit.session.id,
                "goal": " ".join(filter(None, (hints.mark_of(hit.project), goal_of(hit.session)))),
                "date": day_of(hit.session.date),
                "hasWarnings": hit.session.has_warnings,
            }
            for hit in page.hits
        ]
        answer: dict[str, Any] = {"hints": entries, "total": page.total, "hasMore": has_more}
        if page.hits and page.failing_hit:
            answer["suggestion"] = _say("failures_in", name=page.failing_hit.session.id)
        return json_text(answer)
    if not page.hits:
        key = "past_end" if page.total else "found_none"
        return " ".join(filter(None, (_say(key, total=page.total, offset=offset), note)))
    lines = [_say("found", shown=len(page.hits), total=page.total)]
    lines += [hint_of(hit.session, hit.project) for hit in page.hits]
    if hit := page.failing_hit:
        lines.append(_say("failures_in", name=name_of(hit.session, hit.project)))
    if has_more:
        lines.append(_say("more", offset=offset + len(page.hits)))
    return "\n".join([*lines, *([note] if note else ())])


def recommendations_answer(hits: Iterable[Hit], goal: str, *, as_object: bool) -> str:
    """Return for each session its hint, its level, its tags in the goal, its failures."""
    text = normal_form("NFC", goal).casefold()
    words = set(_LATIN_WORD.findall(text))

    def is_named(tag: str) -> bool:  # any particle may follow a Korean one
        parts = set(_LATIN_WORD.findall(tag))
        return parts <= words if parts and tag.isascii() else bool(tag.strip()) and tag in text

    objects, lines = list[dict[str, Any]](), list[str]()
    for hit in hits:
        session, level = hit.session, hit.level or "low"
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
        if failures := [line_of(point.text, hints.FAILURE_CHARS) for point in session.failures]:
            answer["failedApproaches"] = failures[-_MOST_FAILURES:]
        objects.append(answer)
        hashtags = (f"#{line_of(tag, _TAG_CHARS)}" for tag in tags)
        lines.append(" ".join([hint_of(session, hit.project), f"[{_say(level)}]", *hashtags]))
        if session.summary:
            lines.append(f"  {line_of(session.summary, _SUMMARY_CHARS)}")
        lines += [f"  ! {line}" for _, line in list(hints.failures_of(session))[:_FAILURE_LINES]]
    if as_object:
        return json_text({"recommendations": objects})
    return "\n".join(lines) or _say("recommended_none")


def statistics_answer(statistics: Statistics, range_: str, *, as_object: bool) -> str:
    by_agent = {agent or _say("unknown"): count for agent, count in statistics.by_agent.items()}
    if as_object:
        tags = [{"tag": tag, "count": count} for tag, count in statistics.top_tags.items()]
        answer = {
            "totalSessions": statistics.sessions,
            "byStatus": dict(statistics.by_status),
            "byAgent": by_agent,
            "topTags": tags,
            "failedApproaches": statistics.failures,
            "avgActionsPerSession": round(statistics.actions_per_session, 1),
        }
        return json_text(answer)
    lines = [_say("stats_head", count=statistics.sessions, range=range_)]
    tables = statistics.by_status, by_agent, statistics.top_tags
    for key, counts in zip(("stats_status", "stats_agent", "stats_tags"), tables, strict=True):
        if counts:
            figures = ", ".join(f"{line_of(name, _NAME_CHARS)} {n:,}" for name, n in counts.items())
            lines.append(_say(key, listed=figures))
    if statistics.sessions:
        actions = f"{statistics.actions_per_session:.1f}"
        lines.append(_say("stats_failed", failed=statistics.failures, actions=actions))
    return "\n".join(lines)


def lessons_for(goal: str, log: MemoryStore, *, limit: int) -> list[Record]:
    """Return the team's lessons on a goal, best first; mostly none, also without a sound log."""
    try:
        records = log.read().records[-_MOST_RECORDS:]
        candidates = choose_for_prompt(goal[:_MOST_GOAL_CHARS], records, len(records), {})
    except (SentinelError, OSError):
        return []
    return [record for record in candidates if is_usable(record) and is_harmless(record)][:limit]


def lesson_lines_for(session: Session, draft: Draft, log: MemoryStore) -> list[str]:
    """Return a line if a draft reports a failure or an obstacle.

    It names the record that says so, or asks for a lesson. A redacted text is passed over.
    """
    texts = {point.text for point in (*draft.approaches, *draft.blockers)}
    points = [point for point in (*session.open_blockers, *session.failures) if point.text in texts]
    if not points or is_order(session):
        return []
    point = max(points, key=lambda point: bool(point.result and point.why))  # with a reason first
    for record in lessons_for(f"{session.goal}\n{point.text}\n{point.why}", log, limit=1):
        facts = {"id": line_of(record.id, 16), "topic": topic_text(record.topic)}
        return [_say("known", lesson=line_of(record.lesson, _KNOWN_CHARS), **facts)]
    return [_say("to_log")]


class Failure(NamedTuple):
    """The line of a failure or open blocker. is_exact: it has a word of the goal."""

    session: Session
    line: str
    is_exact: bool


def failures_on(goal: str, hits: Sequence[Hit], *, with_approaches: bool) -> list[Failure]:
    """Return failures of earlier work, exact ones first, then one of each session in turn.

    Of a session below LEAST_SHARE only exact ones. with_approaches: also failed approaches.
    """
    failures_of = partial(hints.failures_of, with_approaches=with_approaches)
    entries = [(hit, *failure) for hit in hits for failure in failures_of(hit.session)]
    exact_indexes = indexes_about(goal, [point for _, point, _ in entries])
    by_session = dict[str, list[Failure]]()
    for i, (hit, _, line) in enumerate(entries):
        if i in exact_indexes or (hit.share or 0) >= LEAST_SHARE:
            failure = Failure(hit.session, line, i in exact_indexes)
            by_session.setdefault(hit.session.id, []).append(failure)
    by_text = dict[str, Failure]()
    for row in zip_longest(*by_session.values()):
        for failure in filter(None, row):
            without_date = failure.line[: failure.line.rindex(" (")]
            by_text.setdefault(without_date, failure)
    return sorted(by_text.values(), key=lambda failure: not failure.is_exact)


def warnings_answer(
    goal: str,
    records: Sequence[Record],
    hits: Iterable[Hit],
    store: SessionStore,
    *,
    limit: int,
    more_key: str,
    as_object: bool,
) -> str:
    """Return lessons, failures and similar sessions, as many as fit; none reads like an order.

    Only a failure with a word of the goal has `!`. A declared object names a lesson by its
    resource. more_key: of the sentence that counts the others.
    """
    usable_hits, similar = [hit for hit in hits if not is_order(hit.session)], list[Session]()
    failures = failures_on(goal, usable_hits, with_approaches=store.config.warns)
    if store.config.recommends:
        failures_of = partial(hints.failures_of, with_approaches=store.config.warns)
        sessions = [hit.session for hit in usable_hits if (hit.share or 0) >= LEAST_SHARE]
        similar = [session for session in sessions if not any(failures_of(session))]
    pairs = [(record, line_of(record.lesson, _LESSON_CHARS)) for record in records]
    if as_object:
        uris = [(f"memory://record/{record.id}", text) for record, text in pairs]
        messages = [*uris, *((session.id, line) for session, line, _ in failures)]
        warnings = [{"contextId": id_, "message": text} for id_, text in messages]
        objects = [{"id": session.id, "goal": goal_of(session)} for session in similar]
        has_more = len(warnings) > limit or len(objects) > limit
        answer = {"warnings": warnings[:limit], "recommendations": objects[:limit]}
        return json_text({**answer, "hasMore": has_more})
    lessons = [
        f"lesson {line_of(record.id, 16)} [{topic_text(record.topic)}] {text}"
        for record, text in pairs
    ]
    failure_lines = [
        f"{'! ' if is_exact else ''}{name_of(session)} {line}"
        for session, line, is_exact in failures
    ]
    count = len(lessons) + len(failure_lines) + len(similar)
    if not count:
        return _say("nothing_failed", count=store.count())
    hint_lines = [hint_of(session) for session in similar[:limit]]
    is_korean = language() == "ko" or _HANGUL.search(goal)
    budget = Budget(_WARNING_TOKENS["ko" if is_korean else "en"], 2_000)
    budget.spend(_say(more_key, count=100))
    # A lesson and a failure first, then the others of each.
    in_turn = (*lessons[:1], *failure_lines[:1], *lessons[1:2], *failure_lines[1:], *hint_lines)
    kept_lines = {line for line in in_turn if budget.take(line)}
    lines = [line for line in (*lessons, *failure_lines, *hint_lines) if line in kept_lines]
    if rest := count - len(lines):
        entries = zip(failures, failure_lines, strict=True)
        names = [name_of(failure.session) for failure, line in entries if line not in kept_lines]
        is_of_one = len(names) == rest and len({*names}) == 1
        key = "warn_more_of_one" if is_of_one else more_key
        lines.append(_say(key, count=rest, name="".join(names[:1])))
    return "\n".join(lines)


# context_get: failures and open blockers come before successes, since they warn a reader. A long
# summary is cut, any other text is left out whole, and a sentence counts both.
def session_object(
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
        texts = (f"{action.content}{action.result}" for action in actions[::-1])
        count = len(list(takewhile(budget.take, texts)))
        answer["actions"] = [ACTION.as_json(action) for action in actions[len(actions) - count :]]
    if chain is not None:
        answer["chain"] = [
            {"id": link.id, "goal": link.goal_short, "createdAt": link.created_at} for link in chain
        ]
    return json_text({**answer, "former": session.former_objects} if session.former else answer)


def session_answer(
    session: Session,
    *,
    actions: Sequence[Action] = (),
    chain: Sequence[Session] = (),
    parent: str = "",
    project: str = "",
    archive: str = "",
    instruction: str,
) -> str:
    """Return a session within some 500 tokens.

    parent: the name of the session before it. project: "" for this one. archive: an older version's
    file with the texts. instruction: a way to show all.
    """
    lines = _head_lines_of(session, parent, project)
    budget = Budget(_SESSION_TOKENS, 100_000)
    budget.spend("\n".join(lines))
    share = budget.split_off(_CHAIN_SHARE if chain else 0)
    position = next((i for i, link in enumerate(chain) if link.id == session.id), 0)
    nearest = sorted(range(len(chain)), key=lambda i: abs(i - position))
    chain_hints = ((i, hint_of(chain[i], project)) for i in nearest)
    chain_lines = _choose_lines(_say("chain"), chain_hints, share) if chain else []
    budget.add(share)
    label, summary = _say("summary"), session.summary
    if summary:
        is_all = not any(session.points()) and not session.changes
        share = budget.split_off(_ONLY_SUMMARY_SHARE if is_all else _SUMMARY_SHARE)
        while len(summary) > _LEAST_CHARS and (
            estimate_tokens(field_line(label, summary)) >= share.tokens
        ):
            summary = summary[: max(int(len(summary) * 0.85), _LEAST_CHARS)].rstrip()
        cut = len(session.summary) - len(summary)
        text = _say("cut", text=summary, chars=cut) if cut else summary
        lines.append(field_line(label, text))
        share.spend(lines[-1])
        budget.add(share)
    item_budget = budget.split_off(1 - _ACTIONS_SHARE if actions else 1.0)
    items = list(_item_lines_of(session))
    item_lines = [line for line in items if item_budget.take(line)]
    budget.add(item_budget)
    action_lines = ((i, _action_line_of(actions[i])) for i in reversed(range(len(actions))))
    newest_lines = _choose_lines(_say("actions"), action_lines, budget)
    lines += [*item_lines, *newest_lines, *chain_lines]
    left_counts = {
        "of_texts": len(session.summary) - len(summary),
        "of_items": len(items) - len(item_lines),
        "of_actions": len(actions) - max(len(newest_lines) - 1, 0),
        "of_chain": len(chain) - max(len(chain_lines) - 1, 0),
    }
    if archive:
        lines.append(_say("in_archive", path=archive))
    if counts := [_say(key, count=count) for key, count in left_counts.items() if count]:
        lines.append(_say("left_out", what=", ".join(counts), how=instruction))
    return "\n".join(lines)


def _head_lines_of(session: Session, parent: str, project: str) -> list[str]:
    started_on = day_of(session.started_at)
    words = (
        f"{hints.mark_of(project) or name_of(session)} {one_line(session.id)}",
        line_of(session.status, 20),
        line_of(session.agent, 40),
        _say("saved_at", date=day_of(session.date)),
        _say("started", date=started_on) if session.started_at[:10] != session.date else "",
        _say("continues", name=parent) if parent else "",
        f"{_say('tags')} {', '.join(map(one_line, session.tags))}" if session.tags else "",
        _say("order") if is_order(session) else "",
    )
    return [" · ".join(filter(None, words)), field_line(_say("goal"), session.goal)]


def _item_lines_of(session: Session) -> Iterator[str]:
    approaches, changes = session.approaches[::-1], session.changes
    points = [
        *(("failed", point) for point in session.failures[::-1]),
        *(("open", point) for point in session.open_blockers[::-1]),
        *(("decision", point) for point in session.decisions[::-1]),
        *(("partial", point) for point in approaches if point.result == "partial"),
        *(("success", point) for point in approaches if point.result == "success"),
        *(("closed", point) for point in session.blockers[::-1] if point.is_resolved),
    ]
    for label, point in points:
        text = point.text
        if point.why and label == "closed":
            text = f"{text} → {point.why}"
        elif point.why and label != "open":
            text = _say("because", text=text, why=point.why)
        yield field_line(_say(label), text)
    if changes.summary:
        yield field_line(_say("changes"), changes.summary)
    if changes.modified_files:
        yield field_line(_say("files"), ", ".join(map(one_line, changes.modified_files)))
    for former in reversed(session.former):
        words = [f"{name}: {line_of(text, _FORMER_CHARS)}" for name, text in former.texts]
        if words:
            yield field_line(_say("former", date=day_of(former.at)), "; ".join(words))


def _action_line_of(action: Action) -> str:
    line = f"- {line_of(action.kind, 10)}: {line_of(action.content, _CONTENT_CHARS)}"
    if action.file_path and action.file_path not in action.content:
        line += f" ({line_of(action.file_path, _CONTENT_CHARS)})"
    return f"{line} → {line_of(action.result, _RESULT_CHARS)}" if action.result else line


def _choose_lines(heading: str, lines: Iterable[tuple[int, str]], budget: Budget) -> list[str]:
    """Return a heading with the first lines that fit, in the order of their places."""
    budget.spend(heading)
    entries = sorted(takewhile(lambda entry: budget.take(entry[1]), lines))
    return [heading, *(line for _, line in entries)] if entries else []
