"""Lays sessions out for a terminal: one line each in a table, whole, or as a tree of a chain."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from commands.terminal.safe_text import plain, plain_lines
from commands.terminal.screen import INDENT, Screen, day_text, fitted, hung, table
from core.messages import say
from rooms.sessions.actions.kinds import KINDS, result_of

if TYPE_CHECKING:
    from rooms.sessions.session import Action, Session

WARNING = "!"  # before the goal of a session that failed somewhere, or is blocked
LEAST_WIDTH = 46  # in fewer cells a session takes two lines


def session_table(sessions: Sequence["Session"], screen: Screen) -> list[str]:
    """Return a line for each session below a head, or two lines on a narrow terminal."""
    rows = [_row(session) for session in sessions]
    if screen.width < LEAST_WIDTH:
        return [line for row in rows for line in _stacked(row, screen)]
    is_marked = any(session.has_warnings for session in sessions)
    last = say(
        "session_commands.goal_marked" if is_marked else "session_commands.goal", mark=WARNING
    )
    head, *lines = table(
        ["#", say("session_commands.saved"), say("session_commands.status"), last],
        rows,
        screen.width,
    )
    return [screen.painted(head, "bold"), *lines]


def whole(
    session: "Session",
    actions: Sequence["Action"],
    chain: Sequence["Session"],
    screen: Screen,
) -> list[str]:
    """Return everything about one session, each line within the screen.

    chain: the sessions before and after it with itself, oldest first.
    """
    first = f"#{session.number}  {plain(session.goal)}"
    lines = [screen.painted(first, "bold")]
    lines.append(INDENT + screen.painted("; ".join(_facts(session)), "dim"))
    if session.tags:
        lines.append(f"{INDENT}{say('session_commands.tags')}: {plain(', '.join(session.tags))}")
    lines += _labelled(say("session_commands.summary"), session.summary)
    for label, text, below, more in _items(session):
        lines += _labelled(label, text)
        lines += [INDENT + line for line in _labelled(below, more)]
    if session.changes.modified_files:
        files = plain(", ".join(session.changes.modified_files))
        lines.append(f"{INDENT}{say('session_commands.files')}: {files}")
    if len(chain) > 1:
        numbers = ", ".join(f"#{it.number}" for it in chain)
        lines.append(f"{INDENT}{say('session_commands.chain')}: {numbers}")
    if actions:
        lines.append(f"{INDENT}{say('session_commands.actions')}:")
        lines += [INDENT * 2 + _action_line(action) for action in actions]
    return [piece for line in lines for piece in hung(line, screen.text_width)]


def tree(chain: Sequence["Session"], named: "Session", screen: Screen) -> list[str]:
    """Return the sessions of a chain below the one that each continues, in one line each.

    A session that one other continues has that right below it; several are set off by lines.
    named: the one that stands out.
    """
    children: dict[str, list[Session]] = {}
    for session in chain[1:]:
        children.setdefault(session.parent_id, []).append(session)
    lines, waiting = list[str](), [(chain[0], "", "")]
    while waiting:
        session, first, rest = waiting.pop()
        number, day, status, goal = _row(session)
        line = fitted(f"{first}#{number}  {day}  {status}  {goal}", screen.width)
        lines.append(screen.painted(line, "bold") if session.id == named.id else line)
        below = children.get(session.id, [])
        if len(below) == 1:
            waiting.append((below[0], rest, rest))
        else:
            branches = list(_branches(below, rest, screen))
            waiting += reversed(branches)
    return lines


def _branches(
    sessions: Sequence["Session"], rest: str, screen: Screen
) -> Iterator[tuple["Session", str, str]]:
    """Yield each of several sessions with what stands before its line, and before those below."""
    fork, end, side = ("+- ", "`- ", "|  ") if screen.ascii_signs else ("├─ ", "└─ ", "│  ")
    for at, session in enumerate(sessions, 1):
        is_last = at == len(sessions)
        yield session, rest + (end if is_last else fork), rest + ("   " if is_last else side)


def _row(session: "Session") -> list[str]:
    goal = " ".join(plain(session.goal).split())
    return [
        str(session.number),
        day_text(session.date),
        plain(session.status),
        f"{WARNING} {goal}" if session.has_warnings else goal,
    ]


def _stacked(row: Sequence[str], screen: Screen) -> list[str]:
    number, day, status, goal = row
    first = fitted(INDENT + INDENT.join((f"#{number}", day, status)), screen.width)
    return [screen.painted(first, "dim"), fitted(INDENT * 2 + goal, screen.width)]


def _facts(session: "Session") -> list[str]:
    dates = [("started", session.started_at), ("saved_on", session.updated_at)]
    dates += [("ended", session.ended_at)] if session.ended_at else []
    facts = [session.status, session.agent]
    facts += [
        say(f"session_commands.{key}", date=_minute(moment)) for key, moment in dates if moment
    ]
    facts += [say("session_commands.in_archive", file=session.archive)] if session.archive else []
    return [plain(fact) for fact in (*facts, session.id) if fact]


def _items(session: "Session") -> Iterator[tuple[str, str, str, str]]:
    """Yield the parts of a session: a label and a text, and those that stand below it."""
    for decision in session.decisions:
        yield (
            say("session_commands.decision"),
            decision.what,
            say("session_commands.why"),
            decision.why,
        )
    for approach in session.approaches:
        known = approach.result in ("success", "failed")
        label = say(f"session_commands.{approach.result if known else 'partial'}")
        yield label, approach.description, say("session_commands.why"), approach.reason
    for blocker in session.blockers:
        label = say("session_commands.resolved" if blocker.resolved else "session_commands.open")
        yield label, blocker.description, say("session_commands.solution"), blocker.resolution
    yield say("session_commands.changes"), session.changes.summary, "", ""


def _action_line(action: "Action") -> str:
    kind = say(f"session_commands.{action.kind}") if action.kind in KINDS else action.kind
    path = action.file_path if action.file_path not in action.content else ""
    ended = result_of(action, "session_commands")
    result = f"→ {ended}" if ended else ""
    words = (_minute(action.created_at), f"{kind}:", action.content, path, result)
    return plain(" ".join(filter(None, words)))


def _labelled(label: str, text: str) -> list[str]:
    first, *rest = plain_lines(text.strip("\r\n")) or [""]
    lines = [f"{INDENT}{label}: {first}", *(INDENT * 2 + line for line in rest)]
    return lines if text.strip() else []


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")
