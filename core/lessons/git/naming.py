"""Finds the record that a person names by an id, the beginning of one, or a version id."""

from collections.abc import Container, Mapping
from dataclasses import dataclass

from core.lessons.git.errors import HistoryError
from core.lessons.git.versions import History, whole
from core.lessons.log import MemoryLog
from core.lessons.record import Record, id_in, is_token
from core.lessons.record_text import topic_text

PREFIX_CHARS = 4
CANDIDATES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The record that somebody means: its id, and the version id if one version is meant."""

    id: str
    token: str = ""


def named(text: str, history: History) -> Named:
    """Return the record that an argument names: an id, a beginning of one, or a version id.

    The log as it stands comes first, then what it says of replaced records, then git. Raises
    HistoryError: bad_token, too_short, unknown or ambiguous.
    """
    topics = {record.id: record.topic for record in whole(history.log)}
    beginning, fingerprint = _parted(text, topics)
    ids = _beginning_so(beginning, topics)
    if not ids:
        ids = _beginning_so(beginning, _replaced_topics(history.log))
        if beginning not in ids and len(beginning) >= PREFIX_CHARS:
            ids |= _beginning_so(beginning, history.topics(beginning))
    if not ids and len(beginning) >= PREFIX_CHARS:
        raise HistoryError("unknown", *history.notes(), name=text)
    found = _only(ids, beginning, text)
    return Named(id=found, token=f"{found}@{fingerprint}" if fingerprint else "")


def records_named(text: str, log: MemoryLog) -> list[Record]:
    """Return the records of the log that an argument names: one, or all that share its id.

    Only what a reader sees counts. Raises HistoryError: bad_token, too_short, not_there, ambiguous
    or other_version.
    """
    topics = {record.id: record.topic for record in log.records}
    beginning, fingerprint = _parted(text, topics)
    ids = _beginning_so(beginning, topics)
    if not ids and len(beginning) >= PREFIX_CHARS:
        raise HistoryError("not_there", name=text)
    wanted = _only(ids, beginning, text)
    there = [record for record in log.records if record.id == wanted]
    found = [record for record in there if not fingerprint or record.fingerprint() == fingerprint]
    if not found:
        facts = {"token": there[0].token, "named": text}
        raise HistoryError("other_version", id=there[0].id, **facts)
    return found


def one_named(text: str, log: MemoryLog) -> Record:
    """Return the one record of the log that an argument names. Raises HistoryError."""
    found = records_named(text, log)
    if len(found) > 1:
        tokens = ", ".join(record.token for record in found)
        raise HistoryError("shared_id", name=text, tokens=tokens)
    return found[0]


def _parted(text: str, known: Container[str]) -> tuple[str, str]:
    """Return an id or its beginning, and the fingerprint behind it, or ""; an id may hold an @."""
    if text in known or "@" not in text:
        return text, ""
    if not is_token(text):
        raise HistoryError("bad_token", name=text)
    beginning, _, fingerprint = text.rpartition("@")
    return beginning, fingerprint


def _only(ids: Mapping[str, str], beginning: str, text: str) -> str:
    """Return the one of these ids that is meant. Raises HistoryError: too_short or ambiguous."""
    if beginning in ids:
        return beginning
    if len(beginning) < PREFIX_CHARS:
        raise HistoryError("too_short", name=text, least=PREFIX_CHARS)
    if len(ids) > 1:
        raise HistoryError("ambiguous", name=text, ids=_listed(ids))
    return next(iter(ids))


def _beginning_so(beginning: str, topics: Mapping[str, str]) -> dict[str, str]:
    return {name: topic for name, topic in topics.items() if name.startswith(beginning)}


def _replaced_topics(log: MemoryLog) -> dict[str, str]:
    """Return, by id, topics under which records were replaced; maybe they were never committed."""
    return {
        id_in(token): principle.topic
        for principle in whole(log)
        for token in principle.source_ids
        if is_token(token)
    }


def _listed(topics: Mapping[str, str]) -> str:
    names = [f"{name} [{topic_text(topic)}]" for name, topic in topics.items()]
    more = [f"+{len(names) - CANDIDATES}"] if len(names) > CANDIDATES else []
    return ", ".join(names[:CANDIDATES] + more)
