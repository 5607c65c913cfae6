"""Gives sessions out as one document: Markdown or HTML for people, JSON to be imported again."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.lessons.record import utc_now
from core.room.documents import CONFIG_NAME, Target
from core.text.plain import Budget, shown_path
from rooms.sessions.errors import ExchangeError, NoSuchSessionError
from rooms.sessions.exchange.document import Form, Head, Whole, cleaned
from rooms.sessions.exchange.html_form import HTML
from rooms.sessions.exchange.json_form import JSON
from rooms.sessions.exchange.markdown_form import MARKDOWN
from rooms.sessions.projection import NAME as PROJECTION_NAME
from rooms.sessions.rows import actions_of, sessions_where
from rooms.sessions.search.filters import bound_of
from rooms.sessions.session import Action, Session
from rooms.sessions.store import SessionStore, resolve, shown_name

FormName = Literal["markdown", "json", "html"]
FORMS: Mapping[FormName, Form] = {"markdown": MARKDOWN, "json": JSON, "html": HTML}

_SAVED = "coalesce(nullif(updated_at, ''), created_at)"
_OWN = frozenset((CONFIG_NAME, PROJECTION_NAME))


@dataclass(frozen=True, slots=True)
class Exported:
    """A document. text: of it, "" if it is in a file; path: of that, from the project's root.

    count: of its sessions; left_out: of those for which an answer has no room, as it says itself.
    """

    text: str
    path: str
    count: int
    left_out: int = 0


def export(
    store: SessionStore,
    form: FormName,
    *,
    since: str = "",
    until: str = "",
    names: Sequence[str] = (),
    output: str = "",
) -> Exported:
    """Return sessions as one document, those saved last first, or write them to a file.

    since, until: days or moments in ISO 8601, both included, of the last save. names: numbers or
    ids, () for all. output: a file in the project, "" to return the text; that keeps to the budget
    of one answer, with whole sessions or none, and says how many it leaves out. Raises
    SessionsError, ExchangeError, and what the store raises.
    """
    chosen_form = FORMS[form]
    target = _target_of(store.root, output, chosen_form, form) if output else None
    with chosen(store, since, until, names) as (count, wholes):
        head = Head(store.root.name, count, utc_now())
        if target:
            target.write(_pieces(wholes, chosen_form, head))
            return Exported("", target.relative, count)
        settings = store.settings
        budget = Budget(settings.budget_tokens, settings.budget_chars)
        return _bounded(wholes, chosen_form, head, budget)


def document(
    sessions: Iterable[tuple[Session, Sequence[Action]]],
    form: FormName,
    *,
    project: str = "",
) -> str:
    """Return these sessions with their actions as one document. project: its name."""
    given = list(sessions)
    numbers = {session.id: session.number for session, _ in given}
    wholes = (_clean(it, list(actions), numbers.get(it.parent_id, 0)) for it, actions in given)
    return "".join(_pieces(wholes, FORMS[form], Head(project, len(given), utc_now())))


def _bounded(wholes: Iterator[Whole], form: Form, head: Head, budget: Budget) -> Exported:
    begin = form.begin(head)
    budget.spend(begin)
    budget.spend(form.end(head, head.count))
    taken = list[str]()
    for whole in wholes:
        text = form.session(whole, head)
        if not budget.take(text):
            break
        taken.append(text)
    left_out = head.count - len(taken)
    text = begin + form.between.join(taken) + form.end(head, left_out)
    return Exported(text, "", len(taken), left_out)


def _pieces(wholes: Iterable[Whole], form: Form, head: Head) -> Iterator[str]:
    yield form.begin(head)
    between = ""
    for whole in wholes:
        yield between + form.session(whole, head)
        between = form.between
    yield form.end(head, 0)


@contextmanager
def chosen(
    store: SessionStore, since: str, until: str, names: Sequence[str]
) -> Iterator[tuple[int, Iterator[Whole]]]:
    """Yield how many sessions fit, and these, as of one moment. Raises SessionsError."""
    condition, values = list[str](), list[str]()
    if first := bound_of("from", since):
        condition.append(f"{_SAVED} >= ?")
        values.append(first)
    if last := bound_of("to", until):  # a day with all of its moments
        condition.append(f"substr({_SAVED}, 1, {len(last)}) <= ?")
        values.append(last)
    with store.database.reading() as connection:
        if connection is None:
            for name in names:
                raise NoSuchSessionError(name=shown_name(name))
            yield 0, iter(())
            return
        statement = f"SELECT number FROM contexts WHERE {' AND '.join(condition) or '1'}"
        rows = connection.execute(f"{statement} ORDER BY {_SAVED} DESC, number DESC", values)
        numbers = [number for (number,) in rows]
        if names:
            wanted = {resolve(connection, name).number for name in names}
            numbers = [number for number in numbers if number in wanted]
        yield len(numbers), _wholes(store, connection, numbers)


def _wholes(
    store: SessionStore, connection: sqlite3.Connection, numbers: Iterable[int]
) -> Iterator[Whole]:
    for number in numbers:
        [session] = sessions_where(connection, "number = ?", (number,))
        statement = "SELECT number FROM contexts WHERE id = ?"
        parent = connection.execute(statement, (session.parent_id,)).fetchone()
        if session.archive:
            from rooms.sessions.upkeep.archive import whole  # which few sessions need

            session, actions = whole(store, session)
        else:
            actions = actions_of(connection, session.id)
        yield _clean(session, actions, parent[0] if parent else 0)


def _clean(session: Session, actions: list[Action], parent: int) -> Whole:
    clean = cleaned(session, actions)
    return Whole(clean.session, clean.actions, parent)


def _target_of(root: Path, output: str, form: Form, name: str) -> Target:
    """Return the file that an export may become. Raises ExchangeError.

    root: of the project. name: of the form, for a sentence.
    """

    def refused(key: str, **facts: str) -> ExchangeError:
        suffix, suffixes = form.suffixes[0].lstrip("."), ", ".join(form.suffixes)
        about = {"path": shown_path(output), "form": name, "suffix": suffix, "suffixes": suffixes}
        return ExchangeError(key, **about, **facts)

    return Target(
        root, output, suffixes=form.suffixes, begins=form.begins, refused=refused, own=_OWN
    )
