"""Which record a person means by an id, the beginning of one, or a token of one version."""

from collections.abc import Mapping
from dataclasses import dataclass

from commands.terminal.safe_text import plain
from core.lessons.answers.rendering import topic_text
from core.lessons.git.repository import HistoryError
from core.lessons.git.versions import History, whole
from core.lessons.log import MemoryLog
from core.lessons.record import Record, id_in, is_token

PREFIX_CHARS = 4
CANDIDATES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The record that somebody means: its id, and the token when one version is meant."""

    id: str
    token: str = ""


def named(text: str, history: History) -> Named:
    """The record that an argument names: an id, a beginning of one, or a token.

    The log as it stands comes first, then what it says of replaced records, then git. Raises
    HistoryError: bad_token, too_short, unknown or ambiguous.
    """
    records = {record.id: record.topic for record in whole(history.log)}
    if text in records:
        return Named(id=text)
    beginning, at_sign, fingerprint = text.rpartition("@")
    if not at_sign:
        beginning = text
    elif not is_token(text):
        raise HistoryError("bad_token", name=plain(text))
    ids = _beginning_so(beginning, records)
    if not ids:
        ids = _beginning_so(beginning, _replaced_topics(history.log))
        if beginning not in ids and len(beginning) >= PREFIX_CHARS:
            ids |= _beginning_so(beginning, history.topics(beginning))
    if beginning in ids:
        ids = {beginning: ids[beginning]}
    elif len(beginning) < PREFIX_CHARS:
        raise HistoryError("too_short", name=plain(text), least=PREFIX_CHARS)
    if not ids:
        raise HistoryError("unknown", *history.notes(), name=plain(text))
    if len(ids) > 1:
        raise HistoryError("ambiguous", name=plain(text), ids=_listed(ids))
    found = next(iter(ids))
    return Named(id=found, token=f"{found}@{fingerprint}" if at_sign else "")


def records_named(text: str, log: MemoryLog) -> list[Record]:
    """The records of the log that an argument names: one, or all that share its id.

    Only what a reader sees counts. Raises HistoryError: bad_token, too_short, not_there, ambiguous
    or other_version.
    """
    records = {record.id: record.topic for record in log.records}
    beginning, fingerprint = text, ""
    if text not in records and "@" in text:
        if not is_token(text):
            raise HistoryError("bad_token", name=plain(text))
        beginning, _, fingerprint = text.rpartition("@")
    ids = _beginning_so(beginning, records)
    if beginning in ids:
        ids = {beginning: ids[beginning]}
    elif len(beginning) < PREFIX_CHARS:
        raise HistoryError("too_short", name=plain(text), least=PREFIX_CHARS)
    if not ids:
        raise HistoryError("not_there", name=plain(text))
    if len(ids) > 1:
        raise HistoryError("ambiguous", name=plain(text), ids=_listed(ids))
    there = [record for record in log.records if record.id in ids]
    found = [record for record in there if not fingerprint or record.fingerprint() == fingerprint]
    if not found:
        facts = {"token": plain(there[0].token), "named": plain(text)}
        raise HistoryError("other_version", id=plain(there[0].id), **facts)
    return found


def one_named(text: str, log: MemoryLog) -> Record:
    """The one record of the log that an argument names. Raises HistoryError, shared_id as well."""
    found = records_named(text, log)
    if len(found) > 1:
        tokens = ", ".join(plain(record.token) for record in found)
        raise HistoryError("shared_id", name=plain(text), tokens=tokens)
    return found[0]


def _beginning_so(beginning: str, topics: Mapping[str, str]) -> dict[str, str]:
    return {name: topic for name, topic in topics.items() if name.startswith(beginning)}


def _replaced_topics(log: MemoryLog) -> dict[str, str]:
    """By id, the topics under which records were replaced; they may never have been committed."""
    return {
        id_in(token): principle.topic
        for principle in whole(log)
        for token in principle.source_ids
        if is_token(token)
    }


def _listed(topics: Mapping[str, str]) -> str:
    shown = [f"{plain(name)} [{plain(topic_text(topic))}]" for name, topic in topics.items()]
    more = [f"+{len(shown) - CANDIDATES}"] if len(shown) > CANDIDATES else []
    return ", ".join(shown[:CANDIDATES] + more)
