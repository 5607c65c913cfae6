"""Writes a session as a hint: one line of some twenty tokens, from which it can be asked for.

No text of a session can pass for another line or for a word of ours: it stands last in its line,
without line ends and hidden characters, and is quoted where it begins as ours would.
"""

import json
import re

from core.guard.injection import orders_in
from core.messages import say
from core.text.plain import one_line
from rooms.sessions.search.found import Hit
from rooms.sessions.session import GOAL_SHORT_CHARS, Session, shortened

PROJECT_CHARS = 30
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LIKE_OURS = re.compile(r"[!(#\[]")


def brief(text: str, most: int) -> str:
    """Return a text as one line of at most so many characters, with nothing hidden in it."""
    return shortened(one_line(text), most)


def name_of(session: Session, project: str = "") -> str:
    """Return the name to ask for a session by: `#12`, its id where it is of another project."""
    return one_line(session.id) if project else f"#{session.number}"


def day_of(moment: str) -> str:
    """Return the date of a moment, and only a date: others may write the table, too."""
    return moment[:10] if _DAY.match(moment) else "????-??-??"


def is_order(session: Session) -> bool:
    """Return whether the texts of a session read like orders to a model."""
    return bool(orders_in((), session.texts))


def goal_of(session: Session) -> str:
    """Return the short goal for a line of ours."""
    goal = brief(session.goal, GOAL_SHORT_CHARS)
    quoted = json.dumps(goal, ensure_ascii=False) if _LIKE_OURS.match(goal) else goal
    return f"{say('sessions.answers.order')} {quoted}" if is_order(session) else quoted


def hint(session: Session, project: str = "") -> str:
    """Return the line of a session: its name, the day of its last save, `!`, its short goal.

    `!` stands for approaches that failed and blockers that are open. project: the name of another
    one that the session is from.
    """
    words = [name_of(session, project), day_of(session.date)]
    if session.has_warnings:
        words.append("!")
    if session.archive:
        words.append(say("sessions.answers.archived"))
    if project:
        words.append(f"[{brief(project, PROJECT_CHARS)}]")
    return " ".join([*words, goal_of(session)])


def hint_of(hit: Hit) -> str:
    """Return the line of a session that was found."""
    return hint(hit.session, hit.project)


def with_project(text: str, project: str) -> str:
    """Return a text for a declared object, behind the name of another project."""
    return f"[{brief(project, PROJECT_CHARS)}] {text}" if project else text
