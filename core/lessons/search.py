"""Finds the records that have every word of a person's search. Pure."""

from collections.abc import Sequence

from core.lessons.record import Record
from core.text.ranking import Ranking


def matching(words: str, records: Sequence[Record]) -> list[int]:
    """Return the places of the records that have all words, the most relevant first."""
    having = [*holders_of(words, records).values()]
    hits = set.intersection(*having) if having else set[int]()
    order = Ranking(words, list(map(_text_of, records))).order() if hits else []
    return [at for at in order if at in hits]


def holders_of(words: str, records: Sequence[Record]) -> dict[str, set[int]]:
    """Return the places of records by word; a word that says nothing is left out.

    The beginning of an id, version id or date counts, too.
    """
    texts = list(map(_text_of, records))
    holders = {}
    for word in dict.fromkeys(words.split()):
        named = {at for at, record in enumerate(records) if _is_named(record, word.lower())}
        terms = [it for it in Ranking(word, texts).holding().terms if not it.term.spare]
        having = [set(it.numbers or ()) for it in terms]
        if having or named:
            holders[word] = named | (set.intersection(*having) if having else set())
    return holders


def _text_of(record: Record) -> str:
    return "\n".join((*record.texts, *record.paths, *record.when))


def _is_named(record: Record, word: str) -> bool:
    names = (record.id, record.created, record.updated, *record.source_ids)
    is_token = "@" in word and record.token == word
    return is_token or any(name.lower().startswith(word) for name in names)
