"""Writes what context_get answers: one session, as far as some 500 tokens hold it.

What failed and what is open comes before what went well: that is what a reader is warned of. A long
summary is cut, everything else is left out whole, and a sentence counts both.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from core.lessons.record_text import field_line
from core.messages import say
from core.text.plain import Budget, estimate_tokens, one_line
from rooms.sessions.actions.kinds import FOLLOWED, LESSON, SHOWN, lessons_in
from rooms.sessions.answers.hints import brief, day_of, hint, is_order, name_of
from rooms.sessions.session import Action, Session

MOST_TOKENS = 470  # estimated, without the sentence on what was left out
_SUMMARY_SHARE, _ACTIONS_SHARE, _CHAIN_SHARE = 0.4, 0.3, 0.5
_LEAST_CHARS = 80  # of a summary
_CONTENT_CHARS, _RESULT_CHARS = 120, 80


def text(
    session: Session,
    *,
    actions: Sequence[Action] = (),
    chain: Sequence[Session] = (),
    parent: str = "",
    how: str,
) -> str:
    """Return the session; parent: the name of the one it continues; how: shows all of it."""
    budget = Budget(MOST_TOKENS, 100_000)
    lines = [_head(session, parent), field_line(say("sessions.answers.goal"), session.goal)]
    budget.spend("\n".join(lines))
    chain_lines = _chain(session, chain, budget)
    summary, cut = _summary(session, budget)
    lines += summary
    own = budget.split_off(1 - _ACTIONS_SHARE if actions else 1.0)
    noted, actions = lessons_in(actions), [it for it in actions if it.kind != LESSON]
    items = [*_warnings(session), *_lessons(noted), *_items(session)]
    shown = [line for line in items if own.take(line)]
    budget.add(own)
    newest = list(_newest(actions, budget))
    lines += shown
    if newest:
        lines += [say("sessions.answers.actions"), *newest]
    lines += chain_lines
    left = (
        ("of_texts", cut),
        ("of_items", len(items) - len(shown)),
        ("of_actions", len(actions) - len(newest)),
        ("of_chain", max(len(chain) - len(chain_lines) + 1, 0) if chain_lines else 0),
    )
    if what := ", ".join(
        say(f"sessions.answers.{key}", count=count) for key, count in left if count
    ):
        lines.append(say("sessions.answers.left_out", what=what, how=how))
    return "\n".join(lines)


def declared(
    session: Session,
    *,
    actions: Sequence[Action] | None = None,
    chain: Sequence[Session] | None = None,
    budget_tokens: int,
) -> dict[str, Any]:
    """Return the object ContextGetOutput; of many actions the last ones."""
    told: dict[str, Any] = {"context": session.as_json()}
    if actions is not None:
        budget = Budget(budget_tokens, 2 * budget_tokens)
        fitting = takewhile(lambda it: budget.take(f"{it.content}{it.result}"), actions[::-1])
        told["actions"] = [it.as_json() for it in fitting][::-1]
    if chain is not None:
        told["chain"] = [
            {"id": it.id, "goal": it.goal_short, "createdAt": it.created_at} for it in chain
        ]
    return told


def _head(session: Session, parent: str) -> str:
    words = [f"{name_of(session)} {one_line(session.id)}", brief(session.status, 20)]
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


def _summary(session: Session, budget: Budget) -> tuple[list[str], int]:
    """Return the line of the summary, and how many of its characters were cut."""
    if not session.summary:
        return [], 0
    label, whole = say("sessions.answers.summary"), session.summary
    line = field_line(label, whole)
    has_items = bool(session.decisions or session.approaches or session.blockers or session.changes)
    share = budget.split_off(_SUMMARY_SHARE if has_items else 0.8)
    kept = whole
    while estimate_tokens(field_line(label, kept)) >= share.tokens and len(kept) > _LEAST_CHARS:
        kept = kept[: max(int(len(kept) * 0.85), _LEAST_CHARS)].rstrip()
    if kept != whole:
        line = field_line(
            label, say("sessions.answers.cut", text=kept, chars=len(whole) - len(kept))
        )
    share.spend(line)
    budget.add(share)
    return [line], len(whole) - len(kept)


def _warnings(session: Session) -> Iterator[str]:
    """Yield a line for each failure and each open blocker, the last one first."""
    for tried in reversed(session.failed):
        yield _because("failed", tried.description, tried.reason)
    for blocker in reversed(session.open_blockers):
        yield field_line(say("sessions.answers.open"), blocker.description)


def _lessons(noted: Sequence[Action]) -> Iterator[str]:
    """Yield a line with the lessons that were followed, and one with those that were shown only."""
    for result in (FOLLOWED, SHOWN):
        names = [f"{it.content} ({it.file_path})" for it in noted if it.result == result]
        if names:
            yield field_line(
                say(f"sessions.answers.lessons_{result}"), ", ".join(map(one_line, names))
            )


def _items(session: Session) -> Iterator[str]:
    """Yield a line for each decision, other approach, resolved blocker and change."""
    for decision in reversed(session.decisions):
        yield _because("decision", decision.what, decision.why)
    for result in ("partial", "success"):
        for tried in reversed(session.approaches):
            if tried.result == result:
                yield _because(result, tried.description, tried.reason)
    for blocker in reversed(session.blockers):
        if blocker.resolved:
            found = f"{blocker.description} → {blocker.resolution}"
            yield field_line(say("sessions.answers.closed"), found.removesuffix(" → "))
    if session.changes.summary:
        yield field_line(say("sessions.answers.changes"), session.changes.summary)
    if session.changes.modified_files:
        files = ", ".join(map(one_line, session.changes.modified_files))
        yield field_line(say("sessions.answers.files"), files)


def _because(label: str, what: str, why: str) -> str:
    said = say("sessions.answers.because", text=what, why=why) if why else what
    return field_line(say(f"sessions.answers.{label}"), said)


def _newest(actions: Sequence[Action], budget: Budget) -> Iterator[str]:
    """Yield the last actions that fit, the oldest of them first."""
    taken: list[str] = []
    budget.spend(say("sessions.answers.actions"))
    for action in reversed(actions):
        line = _action(action)
        if not budget.take(line):
            break
        taken.append(line)
    yield from reversed(taken)


def _action(action: Action) -> str:
    words = [f"- {brief(action.kind, 10)}: {brief(action.content, _CONTENT_CHARS)}"]
    if action.file_path and action.file_path not in action.content:
        words.append(f"({brief(action.file_path, _CONTENT_CHARS)})")
    if action.result:
        words.append(f"→ {brief(action.result, _RESULT_CHARS)}")
    return " ".join(words)


def _chain(session: Session, chain: Sequence[Session], budget: Budget) -> list[str]:
    """Return the hints of a chain: as many as fit, those nearest to the session."""
    if not chain:
        return []
    heading = say("sessions.answers.chain")
    share = budget.split_off(_CHAIN_SHARE)
    share.spend(heading)
    here = next((at for at, it in enumerate(chain) if it.id == session.id), 0)
    nearest = sorted(range(len(chain)), key=lambda at: abs(at - here))
    kept = []
    for at in nearest:
        if not share.take(hint(chain[at])):
            break
        kept.append(at)
    budget.add(share)
    return [heading, *(hint(chain[at]) for at in sorted(kept))]
