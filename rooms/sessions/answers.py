"""Writes what the tools of the sessions answer: lines for a model, or the declared objects."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile, zip_longest
from typing import Any, NamedTuple

from core.lessons.record import Record
from core.lessons.record_text import field_line, topic_text
from core.messages import Language, language, say
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
from rooms.sessions.search import LEAST_SHARE, Hit, Page, about
from rooms.sessions.session import Action, Point, Session
from rooms.sessions.store import Saved

Object = dict[str, Any]

# context_save

# Estimated, of a first save with its related work: by the tokenizer 50; dates are estimated high.
_SAVED_TOKENS = 56
_MOST_RELATED = 3


def _saved_message(saved: Saved) -> str:
    """Return the sentences on what a save did."""
    name = name_of(saved.session)
    said = [say(f"sessions.answers.saved_{'new' if saved.is_new else 'again'}", name=name)]
    if saved.replaced:
        fields = ", ".join(saved.replaced)
        said.append(say("sessions.answers.replaced", fields=fields, name=name))
    if saved.redacted:
        said.append(say("sessions.answers.redacted", kinds=", ".join(saved.redacted)))
    if saved.resolved:
        said.append(say("sessions.answers.resolved", names=", ".join(map(name_of, saved.resolved))))
    if not saved.projected:
        said.append(say("sessions.answers.not_projected"))
    return " ".join(said)


def _related(hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits that may be shown unasked: none that reads like an order."""
    return [it for it in hits if not is_order(it.session)][:_MOST_RELATED]


def saved_text(saved: Saved, related: Iterable[Hit], beside: Sequence[str]) -> str:
    """Return what a save did, the related sessions that fit, and what else is to be said."""
    heading, budget = say("sessions.answers.related"), Budget(_SAVED_TOKENS, 1_000)
    budget.spend(say("sessions.answers.saved_new", name=name_of(saved.session)))
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
    message = "\n".join([_saved_message(saved), *beside])
    return {
        "id": saved.session.id,
        "message": message,
        **({"relatedContexts": found} if found else {}),
    }


# context_search


def found_text(page: Page, *, offset: int, note: str = "") -> str:
    """Return the hints, below a line that counts them. note: what to try where nothing is found."""
    if not page.hits:
        key = "past_end" if page.total else "found_none"
        said = say(f"sessions.answers.{key}", total=page.total, offset=offset)
        return " ".join(filter(None, (said, note)))
    lines = [say("sessions.answers.found", shown=len(page.hits), total=page.total)]
    lines += [hint_of(it) for it in page.hits]
    if page.failing:
        name = name_of(page.failing.session, page.failing.project)
        lines.append(say("sessions.answers.failures_in", name=name))
    if _has_more(page, offset):
        lines.append(say("sessions.answers.more", offset=offset + len(page.hits)))
    return "\n".join(lines + [note] * bool(note))


def found_object(page: Page, *, offset: int) -> Object:
    """Return the object ContextSearchOutput."""
    hints = [
        {
            "id": it.session.id,
            "goal": _with_project(goal_of(it.session), it.project),
            "date": day_of(it.session.date),
            "hasWarnings": it.session.has_warnings,
        }
        for it in page.hits
    ]
    found: Object = {"hints": hints, "total": page.total, "hasMore": _has_more(page, offset)}
    if page.hits and page.failing:
        name = page.failing.session.id
        found["suggestion"] = say("sessions.answers.failures_in", name=name)
    return found


def _has_more(page: Page, offset: int) -> bool:
    return bool(page.hits) and offset + len(page.hits) < page.total


def _with_project(text: str, project: str) -> str:
    return f"[{brief(project, PROJECT_CHARS)}] {text}" if project else text


# context_warn

# Estimated: by the tokenizer 100 and 160.
_WARNED_TOKENS: Mapping[Language, int] = {"en": 100, "ko": 146}
_HANGUL = re.compile("[\uac00-\ud7a3]")
_LESSON_CHARS = 70


class Warned(NamedTuple):
    """What there is to warn of, the best first of each kind.

    failures: the session of each with its line, and whether the goal has a word of it. looked_at:
    how many sessions.
    """

    lessons: Sequence[Record]
    failures: Sequence[tuple[Session, str, bool]]
    similar: Sequence[Session]
    looked_at: int


def warned(
    goal: str,
    lessons: Sequence[Record],
    hits: Iterable[Hit],
    *,
    looked_at: int,
    tried: bool,
    recommends: bool,
) -> Warned:
    """Return what these records and sessions warn of. Texts that read like orders are left out.

    Of a session that has less than LEAST_SHARE of the goal only those failures count that the goal
    has a word of. tried: whether approaches that failed count. recommends: whether sessions without
    failures do.
    """
    usable = [it for it in hits if not is_order(it.session)]
    told = [(it, *failure) for it in usable for failure in failures_of(it.session, tried=tried)]
    exact = about(goal, [point for _, point, _ in told])
    near = [it.session for it in usable if (it.share or 0) >= LEAST_SHARE]
    by_session = dict[str, list[tuple[Session, str, bool]]]()
    for at, (hit, _, line) in enumerate(told):
        if at in exact or hit.session in near:
            failure = (hit.session, line, at in exact)
            by_session.setdefault(hit.session.id, []).append(failure)
    rows = zip_longest(*by_session.values())  # one of each session first
    in_turn = [it for row in rows for it in row if it]
    once = dict[str, tuple[Session, str, bool]]()
    for failure in in_turn:
        line = failure[1]
        once.setdefault(line[: line.rindex(" (")], failure)
    similar = [it for it in near if it.id not in by_session] if recommends else []
    failures = sorted(once.values(), key=lambda it: not it[2])
    return Warned(lessons, failures, similar, looked_at)


def warned_text(found: Warned, goal: str, *, limit: int, more_key: str) -> str:
    """Return the lines that fit; more_key: of the sentence that counts the others.

    A failure of which the goal has no word stands there without `!`.
    """
    is_korean = language() == "ko" or _HANGUL.search(goal)
    budget = Budget(_WARNED_TOKENS["ko" if is_korean else "en"], 2_000)
    budget.spend(say(f"sessions.answers.{more_key}", count=100))
    lessons = [_lesson(it) for it in found.lessons]
    failures = [f"{'! ' * is_exact}{name_of(it)} {line}" for it, line, is_exact in found.failures]
    similar = [hint(it) for it in found.similar[:limit]]
    kept = set[str]()
    # A lesson and a failure first, then what is left of each.
    for line in (*lessons[:1], *failures[:1], *lessons[1:2], *failures[1:], *similar):
        if budget.take(line):
            kept.add(line)
    lines = [line for line in (*lessons, *failures, *similar) if line in kept]
    count = len(lessons) + len(failures) + len(found.similar)
    if not count:
        return say("sessions.answers.nothing_failed", count=found.looked_at)
    left = count - len(lines)
    return "\n".join([*lines, *([say(f"sessions.answers.{more_key}", count=left)] if left else ())])


def warned_object(found: Warned, *, limit: int) -> Object:
    """Return the object ContextWarnOutput; a lesson is named by its resource."""
    warnings = [
        {"contextId": f"memory://record/{it.id}", "message": brief(it.lesson, _LESSON_CHARS)}
        for it in found.lessons
    ]
    warnings += [{"contextId": it.id, "message": line} for it, line, _ in found.failures]
    similar = [{"id": it.id, "goal": goal_of(it)} for it in found.similar]
    return {
        "warnings": warnings[:limit],
        "recommendations": similar[:limit],
        "hasMore": len(warnings) > limit or len(similar) > limit,
    }


def _lesson(record: Record) -> str:
    topic, lesson = topic_text(record.topic), brief(record.lesson, _LESSON_CHARS)
    return f"lesson {brief(record.id, 16)} [{topic}] {lesson}"


# context_recommend

_SHOWN_FAILURES, _MOST_FAILURES = 2, 10  # as lines; of a declared object, the newest
_WORD = re.compile(r"[a-z0-9]+")


def recommended_text(hits: Sequence[Hit], goal: str) -> str:
    """Return for each session its hint, how near it is, its tags in the goal, what failed."""
    lines = list[str]()
    for it in hits:
        if is_order(it.session):
            continue
        words = [hint_of(it), f"[{say('sessions.answers.' + (it.level or 'low'))}]"]
        words += [f"#{brief(tag, 50)}" for tag in matched_tags(it.session, goal)]
        lines.append(" ".join(words))
        if it.session.summary:
            lines.append(f"  {brief(it.session.summary, 100)}")
        failures = list(failures_of(it.session))[:_SHOWN_FAILURES]
        lines += [f"  ! {line}" for _, line in failures]
    return "\n".join(lines) or say("sessions.answers.recommended_none")


def recommended_object(hits: Sequence[Hit], goal: str) -> Object:
    """Return the object ContextRecommendOutput."""
    found = list[Object]()
    for hit in hits:
        session = hit.session
        if is_order(session):
            continue
        failed = [brief(it.text, FAILURE_CHARS) for it in session.failed[-_MOST_FAILURES:]]
        found.append(
            {
                "id": session.id,
                "goal": goal_of(session),
                "summary": session.summary_short,
                "relevance": hit.level or "low",
                "matchedTags": matched_tags(session, goal),
                **({"failedApproaches": failed} if failed else {}),
            }
        )
    return {"recommendations": found}


def matched_tags(session: Session, goal: str) -> list[str]:
    """Return the tags of a session that a goal names; Korean ones with any particle behind."""
    text = normal_form("NFC", goal).casefold()
    words = set(_WORD.findall(text))
    return [tag for tag in session.tags if _is_named(tag.casefold(), text, words)]


def _is_named(tag: str, text: str, words: set[str]) -> bool:
    parts = set(_WORD.findall(tag))
    return parts <= words if parts and tag.isascii() else bool(tag.strip()) and tag in text


# context_get: what failed and what is open comes before what went well, since a reader is warned of
# that. A long summary is cut, everything else is left out whole, and a sentence counts both.

_WHOLE_TOKENS = 470  # estimated, without the sentence on what was left out
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
    """Return the session as far as some 500 tokens hold it.

    parent: the name of the one it continues. project: of the session, "" for this one. archive: the
    file of an older version that has its texts. how: shows all of it.
    """
    budget = Budget(_WHOLE_TOKENS, 100_000)
    lines = [_head(session, parent, project)]
    lines.append(field_line(say("sessions.answers.goal"), session.goal))
    budget.spend("\n".join(lines))
    chain_lines = _chain_lines(session, chain, project, budget)
    summary, cut_chars = _summary_lines(session, budget)
    own = budget.split_off(1 - _ACTIONS_SHARE if actions else 1.0)
    items = [*_warnings(session), *_others(session), *_former(session)]
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
        lines.append(say("sessions.answers.in_archive", path=archive))
    counts = [say(f"sessions.answers.{key}", count=count) for key, count in left.items() if count]
    if counts:
        lines.append(say("sessions.answers.left_out", what=", ".join(counts), how=how))
    return "\n".join(lines)


def whole_object(
    session: Session,
    *,
    actions: Sequence[Action] | None = None,
    chain: Sequence[Session] | None = None,
    budget_tokens: int,
) -> Object:
    """Return the object ContextGetOutput; of many actions the last ones."""
    found: Object = {"context": session.as_json()}
    if actions is not None:
        budget = Budget(budget_tokens, 2 * budget_tokens)
        fitting = takewhile(lambda it: budget.take(f"{it.content}{it.result}"), actions[::-1])
        found["actions"] = [it.as_json() for it in fitting][::-1]
    if chain is not None:
        found["chain"] = [
            {"id": it.id, "goal": it.goal_short, "createdAt": it.created_at} for it in chain
        ]
    if session.former:
        found["former"] = session.former_objects
    return found


def _head(session: Session, parent: str, project: str) -> str:
    names = [f"[{brief(project, PROJECT_CHARS)}]"] if project else [name_of(session)]
    words = [" ".join([*names, one_line(session.id)]), brief(session.status, 20)]
    words += [brief(session.agent, 40)] if session.agent else []
    words.append(say("sessions.answers.saved_at", date=day_of(session.date)))
    if session.started_at[:10] != session.date:
        words.append(say("sessions.answers.started", date=day_of(session.started_at)))
    if parent:
        words.append(say("sessions.answers.continues", name=parent))
    if session.tags:
        words.append(f"{say('sessions.answers.tags')} {', '.join(map(one_line, session.tags))}")
    if is_order(session):
        words.append(say("sessions.answers.order"))
    return " · ".join(words)


def _summary_lines(session: Session, budget: Budget) -> tuple[list[str], int]:
    """Return the line of the summary, and how many of its characters were cut."""
    if not session.summary:
        return [], 0
    label, kept = say("sessions.answers.summary"), session.summary
    has_items = any(session.points()) or bool(session.changes)
    share = budget.split_off(_SUMMARY_SHARE if has_items else _ONLY_SUMMARY_SHARE)
    while estimate_tokens(field_line(label, kept)) >= share.tokens and len(kept) > _LEAST_CHARS:
        kept = kept[: max(int(len(kept) * 0.85), _LEAST_CHARS)].rstrip()
    cut_chars = len(session.summary) - len(kept)
    text = say("sessions.answers.cut", text=kept, chars=cut_chars) if cut_chars else kept
    line = field_line(label, text)
    share.spend(line)
    budget.add(share)
    return [line], cut_chars


def _warnings(session: Session) -> Iterator[str]:
    """Yield a line for each failure and each open blocker, the last one first."""
    for point in reversed(session.failed):
        yield _because("failed", point)
    for point in reversed(session.open_blockers):
        yield field_line(say("sessions.answers.open"), point.text)


def _others(session: Session) -> Iterator[str]:
    """Yield a line for each decision, other approach, resolved blocker and change."""
    for point in reversed(session.decisions):
        yield _because("decision", point)
    for result in ("partial", "success"):
        for point in reversed(session.approaches):
            if point.result == result:
                yield _because(result, point)
    for point in reversed(session.blockers):
        if point.is_resolved:
            settled = f"{point.text} → {point.why}" if point.why else point.text
            yield field_line(say("sessions.answers.closed"), settled)
    if session.changes.summary:
        yield field_line(say("sessions.answers.changes"), session.changes.summary)
    if session.changes.modified_files:
        files = ", ".join(map(one_line, session.changes.modified_files))
        yield field_line(say("sessions.answers.files"), files)


def _because(label: str, point: Point) -> str:
    text = point.text
    if point.why:
        text = say("sessions.answers.because", text=text, why=point.why)
    return field_line(say(f"sessions.answers.{label}"), text)


def _former(session: Session) -> Iterator[str]:
    """Yield a line with the words that an update has replaced, the last update first."""
    for former in reversed(session.former):
        texts = {"goal": former.goal, "summary": former.summary, "tags": ", ".join(former.tags)}
        words = [f"{name}: {brief(text, _FORMER_CHARS)}" for name, text in texts.items() if text]
        if words:
            label = say("sessions.answers.former", date=day_of(former.at))
            yield field_line(label, "; ".join(words))


def _newest_actions(actions: Sequence[Action], budget: Budget) -> list[str]:
    """Return the last actions that fit below their heading, the oldest of them first."""
    heading, taken = say("sessions.answers.actions"), list[str]()
    budget.spend(heading)
    for action in reversed(actions):
        words = [f"- {brief(action.kind, 10)}: {brief(action.content, _CONTENT_CHARS)}"]
        if action.file_path and action.file_path not in action.content:
            words.append(f"({brief(action.file_path, _CONTENT_CHARS)})")
        if action.result:
            words.append(f"→ {brief(action.result, _RESULT_CHARS)}")
        line = " ".join(words)
        if not budget.take(line):
            break
        taken.append(line)
    return [heading, *reversed(taken)] if taken else []


def _chain_lines(
    session: Session, chain: Sequence[Session], project: str, budget: Budget
) -> list[str]:
    """Return the hints of a chain: as many as fit, those nearest to the session."""
    if not chain:
        return []
    heading = say("sessions.answers.chain")
    share = budget.split_off(_CHAIN_SHARE)
    share.spend(heading)
    here = next((at for at, it in enumerate(chain) if it.id == session.id), 0)
    nearest = sorted(range(len(chain)), key=lambda at: abs(at - here))
    fitting = takewhile(lambda at: share.take(hint(chain[at], project)), nearest)
    kept = sorted(fitting)
    budget.add(share)
    return [heading, *(hint(chain[at], project) for at in kept)]
