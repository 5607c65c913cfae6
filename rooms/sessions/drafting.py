"""Makes a draft ready to be stored: secrets out of every text, then the limits of each field.

Whatever a session says goes through here before anything else sees it: the database, its index, the
projection, the index over projects.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from core.sanitizer import values_in
from core.text.normal_form import normal_form
from core.text_redaction import redacted
from rooms.sessions.errors import SessionsError
from rooms.sessions.session import (
    GOAL_CHARS,
    ITEM_CHARS,
    MOST_FILES,
    MOST_ITEMS,
    MOST_TAGS,
    OUTCOMES,
    PATH_CHARS,
    STATUSES,
    SUMMARY_CHARS,
    TAG_CHARS,
    Changes,
    Draft,
)

_SURROGATE = re.compile("[\ud800-\udfff]")


class Prepared(NamedTuple):
    """A draft that may be stored, and the kinds of the secrets that were taken out of it."""

    draft: Draft
    redacted: tuple[str, ...] = ()


def prepared(draft: Draft, *, strict: bool = False) -> Prepared:
    """Return the draft as it may be stored. Raises SessionsError (a ValueError).

    strict: a secret is refused, not taken out.
    """
    cleaner = _Cleaner(_texts(draft), strict=strict)
    clean = cleaner.clean
    _check(draft)
    goal = clean("goal", draft.goal, GOAL_CHARS, required=True).strip()
    summary, tags, changes = draft.summary, draft.tags, draft.changes
    if summary is not None:
        summary = clean("summary", summary, SUMMARY_CHARS)
    if tags is not None:
        cleaned = [clean("tags", normal_form("NFC", tag).strip(), TAG_CHARS) for tag in tags]
        tags = tuple(dict.fromkeys(tag for tag in cleaned if tag))
    if changes is not None:
        files = (clean("codeChanges", path, PATH_CHARS) for path in changes.modified_files)
        told = clean("codeChanges", changes.summary, ITEM_CHARS)
        changes = Changes(modified_files=tuple(dict.fromkeys(files)), summary=told)
    items = _cleaned_items(draft, clean)
    done = replace(draft, goal=goal, summary=summary, tags=tags, changes=changes, **items)
    return Prepared(done, tuple(dict.fromkeys(cleaner.kinds)))


def _cleaned_items(draft: Draft, clean: Callable[..., str]) -> dict[str, Any]:
    """Return decisions, approaches and blockers with clean texts."""
    return {
        "decisions": tuple(
            replace(
                it,
                what=clean("decisions", it.what, ITEM_CHARS, required=True),
                why=clean("decisions", it.why, ITEM_CHARS),
            )
            for it in draft.decisions
        ),
        "approaches": tuple(
            replace(
                it,
                description=clean("approaches", it.description, ITEM_CHARS, required=True),
                reason=clean("approaches", it.reason, ITEM_CHARS),
            )
            for it in draft.approaches
        ),
        "blockers": tuple(
            replace(
                it,
                description=clean("blockers", it.description, ITEM_CHARS, required=True),
                resolution=clean("blockers", it.resolution, ITEM_CHARS),
            )
            for it in draft.blockers
        ),
    }


class _Cleaner:
    """Redacts the texts of one draft: a secret that one of them gives away goes from all."""

    def __init__(self, texts: Iterable[str], *, strict: bool) -> None:
        self._known: Mapping[str, str] = values_in(texts)
        self._strict = strict
        self.kinds: list[str] = []

    def clean(self, field: str, text: str, most: int, *, required: bool = False) -> str:
        """Return the text as it may be stored; its limit holds for that."""
        if _SURROGATE.search(text):
            raise SessionsError("lone_surrogate", field=field)
        if required and not text.strip():
            raise SessionsError("blank", field=field)
        shown, kinds = redacted(text, self._known)
        if kinds and self._strict:
            raise SessionsError("secret_refused", field=field, kinds=", ".join(sorted({*kinds})))
        self.kinds += kinds
        if len(shown) > most:
            over = len(shown) - most
            raise SessionsError("too_long", field=field, chars=len(shown), over=over, most=most)
        return shown


def _texts(draft: Draft) -> list[str]:
    texts = [draft.goal, draft.summary or "", *(draft.tags or ())]
    texts += [text for it in draft.decisions for text in (it.what, it.why)]
    texts += [text for it in draft.approaches for text in (it.description, it.reason)]
    texts += [text for it in draft.blockers for text in (it.description, it.resolution)]
    if draft.changes:
        texts += [draft.changes.summary, *draft.changes.modified_files]
    return texts


def _check(draft: Draft) -> None:
    """Raise SessionsError for a word that is none of those declared, and for too many of a kind."""
    if draft.status is not None and draft.status not in STATUSES:
        raise SessionsError("bad_status", known=", ".join(STATUSES))
    if any(it.result not in OUTCOMES for it in draft.approaches):
        raise SessionsError("bad_result", known=", ".join(OUTCOMES))
    counted: Sequence[tuple[str, Sequence[object], int]] = (
        ("tags", draft.tags or (), MOST_TAGS),
        ("decisions", draft.decisions, MOST_ITEMS),
        ("approaches", draft.approaches, MOST_ITEMS),
        ("blockers", draft.blockers, MOST_ITEMS),
        ("codeChanges", draft.changes.modified_files if draft.changes else (), MOST_FILES),
    )
    for field, given, most in counted:
        if len(given) > most:
            raise SessionsError("too_many", field=field, count=len(given), most=most)
