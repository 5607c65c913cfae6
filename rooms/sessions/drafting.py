"""Makes a draft ready to be stored: secrets out of every text, then the limits of each field.

Whatever a session says goes through here before anything else sees it: the database, its index, the
projection, the index over projects.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.program import shown
from core.sanitizer import redact, safe, values_in
from core.text.plain import moment_of, normal_form
from rooms.sessions.errors import SessionsError
from rooms.sessions.session import (
    AGENT_CHARS,
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
_RAW_TIMES = 10  # of its limit: a longer text is too long, whatever the redactor takes out of it
_AGENT_CHARS = 40
# The one name of each client, whatever it calls itself in the handshake or in a hook.
# fmt: off
_AGENTS = {
    "claude-code": "claude-code", "claude code": "claude-code",
    "claude-ai": "claude-desktop", "claude-desktop": "claude-desktop",
    "cursor": "cursor", "cursor-vscode": "cursor", "cursor-agent": "cursor",
    "codex": "codex", "codex-mcp-client": "codex", "codex-cli": "codex",
    "gemini": "gemini", "gemini-cli": "gemini", "gemini-cli-mcp-client": "gemini",
    "visual studio code": "vscode", "visual studio code - insiders": "vscode", "vscode": "vscode",
    "copilot": "copilot", "github-copilot": "copilot", "copilot-cli": "copilot",
    "windsurf": "windsurf", "windsurf-client": "windsurf",
}
# fmt: on
_BLANKS = re.compile(r"\s+")


class Prepared(NamedTuple):
    """A draft that may be stored, and the kinds of the secrets that were taken out of it."""

    draft: Draft
    redacted: tuple[str, ...] = ()


class _Part(NamedTuple):
    """A text of a draft: the field that it is in, its limit in characters, whether it must be."""

    field: str
    most: int
    is_required: bool = False


_GOAL = _Part("goal", GOAL_CHARS, is_required=True)
_SUMMARY, _TAG = _Part("summary", SUMMARY_CHARS), _Part("tags", TAG_CHARS)
_WHAT, _WHY = _Part("decisions", ITEM_CHARS, is_required=True), _Part("decisions", ITEM_CHARS)
_MAKER = _Part("decisions", AGENT_CHARS)
_TRIED, _REASON = _Part("approaches", ITEM_CHARS, is_required=True), _Part("approaches", ITEM_CHARS)
_BLOCK, _CURE = _Part("blockers", ITEM_CHARS, is_required=True), _Part("blockers", ITEM_CHARS)
_CHANGED, _FILE = _Part("codeChanges", ITEM_CHARS), _Part("codeChanges", PATH_CHARS)

_Change = Callable[[str, _Part], str]


def prepared(draft: Draft, *, strict: bool = False) -> Prepared:
    """Return the draft as it may be stored. Raises SessionsError (a ValueError).

    strict: a secret is refused, not taken out. A text without one is looked through once.
    """
    _check(draft)
    cleaner = _Cleaner(strict=strict)
    done = _mapped(_mapped(_trimmed(draft), cleaner.look_at), cleaner.clean)
    if done.tags is not None:
        done = replace(done, tags=tuple(dict.fromkeys(done.tags)))
    return Prepared(done, tuple(dict.fromkeys(cleaner.kinds)))


def client_name(agent: str) -> str:
    """Return the name that a client gives itself as it may be stored."""
    return safe(shown(agent[: AGENT_CHARS * _RAW_TIMES].strip()))[:AGENT_CHARS]


class _Cleaner:
    """Redacts the texts of one draft: a secret that one of them gives away goes from all."""

    def __init__(self, *, strict: bool) -> None:
        self._known: dict[str, str] = {}
        self._strict = strict
        self.kinds: list[str] = []

    def look_at(self, text: str, part: _Part) -> str:
        """Note the secrets of a text, and return it as it is."""
        if _SURROGATE.search(text):
            raise SessionsError("lone_surrogate", field=part.field)
        if part.is_required and not text.strip():
            raise SessionsError("blank", field=part.field)
        if len(text) > part.most * _RAW_TIMES:
            raise _too_long(text, part)
        self._known.update(values_in((text,)))
        return text

    def clean(self, text: str, part: _Part) -> str:
        """Return the text as it may be stored; its limit holds for that."""
        kept, kinds = redact(text, self._known) if self._known else (text, [])
        if kinds and self._strict:
            known = ", ".join(sorted({*kinds}))
            raise SessionsError("secret_refused", field=part.field, kinds=known)
        self.kinds += kinds
        if len(kept) > part.most:
            raise _too_long(kept, part)
        return kept


def _too_long(text: str, part: _Part) -> SessionsError:
    over = len(text) - part.most
    return SessionsError("too_long", field=part.field, chars=len(text), over=over, most=part.most)


def _trimmed(draft: Draft) -> Draft:
    """Return the draft without blanks around its goal and tags, and with usable dates only."""
    tags = draft.tags
    if tags is not None:
        tags = tuple(filter(None, (normal_form("NFC", tag).strip() for tag in tags)))
    changes = draft.changes
    if changes is not None:
        files = tuple(dict.fromkeys(path for path in changes.modified_files if path.strip()))
        changes = replace(changes, modified_files=files)
    return replace(
        draft,
        goal=draft.goal.strip(),
        tags=tags,
        changes=changes,
        decisions=tuple(replace(it, timestamp=moment_of(it.timestamp)) for it in draft.decisions),
        approaches=tuple(replace(it, timestamp=moment_of(it.timestamp)) for it in draft.approaches),
        blockers=tuple(
            replace(
                it,
                discovered_at=moment_of(it.discovered_at),
                resolved_at=moment_of(it.resolved_at),
            )
            for it in draft.blockers
        ),
    )


def _mapped(draft: Draft, to: _Change) -> Draft:
    """Return the draft with another text for each of its texts."""
    changes = draft.changes
    return replace(
        draft,
        goal=to(draft.goal, _GOAL),
        summary=None if draft.summary is None else to(draft.summary, _SUMMARY),
        tags=None if draft.tags is None else tuple(to(tag, _TAG) for tag in draft.tags),
        decisions=tuple(
            replace(
                it, what=to(it.what, _WHAT), why=to(it.why, _WHY), made_by=to(it.made_by, _MAKER)
            )
            for it in draft.decisions
        ),
        approaches=tuple(
            replace(it, description=to(it.description, _TRIED), reason=to(it.reason, _REASON))
            for it in draft.approaches
        ),
        blockers=tuple(
            replace(it, description=to(it.description, _BLOCK), resolution=to(it.resolution, _CURE))
            for it in draft.blockers
        ),
        changes=changes
        and Changes(
            modified_files=tuple(to(path, _FILE) for path in changes.modified_files),
            summary=to(changes.summary, _CHANGED),
        ),
    )


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


def agent_of(name: str) -> str:
    """Return the name of a client as sessions hold it, "" for none.

    An unknown one is kept as it is given, in lower case, without what cannot be printed.
    """
    plain = "".join(char for char in _BLANKS.sub(" ", name) if char.isprintable())
    lowered = plain.strip().lower()[:_AGENT_CHARS].rstrip()
    return _AGENTS.get(lowered, lowered)
