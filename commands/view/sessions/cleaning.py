"""Takes the secrets out of a session and its actions once more, before a page shows them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from core.sanitizer import values_in
from core.text_redaction import is_whole, redacted
from rooms.sessions.session import Action, Session


def cleaned_session(
    session: Session, actions: Iterable[Action], kinds: list[str]
) -> tuple[Session, tuple[Action, ...]]:
    """Return a session and its actions without secrets; the kinds of these join `kinds`.

    Its ids stay, by which it is linked.
    """
    listed = tuple(actions)
    texts = [*session.texts, *session.changes.modified_files, session.agent, session.status]
    texts += [text for it in listed for text in (it.content, it.result, it.kind)]
    clean = _cleaner(texts, kinds)
    told = replace(
        session,
        goal=clean(session.goal),
        summary=clean(session.summary),
        status=clean(session.status),
        tags=tuple(map(clean, session.tags)),
        agent=clean(session.agent),
        **_items(session, clean),
    )
    return told, tuple(
        replace(it, content=clean(it.content), result=clean(it.result), kind=clean(it.kind))
        for it in listed
    )


def _cleaner(texts: Iterable[str], kinds: list[str]) -> Callable[[str], str]:
    """Return what cleans one of these texts, or another that is shown with them."""
    looked_at = dict.fromkeys(texts)
    known = values_in(looked_at)  # what one text calls a password, another may only use

    def clean(text: str) -> str:
        if not known and text in looked_at and is_whole(text):
            return text
        text, found = redacted(text, known)
        kinds.extend(found)
        return text

    return clean


def _items(session: Session, clean: Callable[[str], str]) -> dict[str, Any]:
    """Return decisions, approaches, blockers and changes with clean texts."""
    changes = session.changes
    return {
        "decisions": tuple(
            replace(it, what=clean(it.what), why=clean(it.why)) for it in session.decisions
        ),
        "approaches": tuple(
            replace(it, description=clean(it.description), reason=clean(it.reason))
            for it in session.approaches
        ),
        "blockers": tuple(
            replace(it, description=clean(it.description), resolution=clean(it.resolution))
            for it in session.blockers
        ),
        "changes": replace(
            changes,
            modified_files=tuple(map(clean, changes.modified_files)),
            summary=clean(changes.summary),
        ),
    }
