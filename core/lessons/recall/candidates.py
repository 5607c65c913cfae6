"""Reads an action and the records that it may need, as far as they have something in common.

Pure. What cannot be there is not looked for: a hook does this for every record at every action.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from core.lessons.recall.reading import (
    MOST_TRIGGERS,
    TOKEN,
    Action,
    Reading,
    Vocabulary,
    files_in,
    without_imports,
    worded,
)
from core.lessons.recall.shell import phrases_in
from core.lessons.record import Record
from core.text.normal_form import normal_form

_CACHED_TOPICS = 1_024
_OPTION_WORD = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]+", re.A)


class Sought(NamedTuple):
    """What an action says. words: of its texts. phrases and options: of its command.

    names: caseless, of the files that it names the last parts, of the folders around them all with
    their `/`. text: what it runs and writes but what brings in other modules. imports: with that.
    """

    text: str
    imports: str
    words: Vocabulary
    phrases: Collection[tuple[str, str]]
    options: Collection[str]
    names: Collection[str]

    @classmethod
    def of(cls, action: Action, readings: Sequence[Reading]) -> "Sought":
        return cls(
            text=f"{action.command}\n{without_imports(action.text)}",
            imports=action.text,
            words=Vocabulary(readings),
            phrases=set(phrases_in(action.command)),
            options={it.casefold() for it in _OPTION_WORD.findall(action.command)},
            names=set(_signs(action.named)),
        )

    def has(self, trigger: str) -> bool:
        """Return whether a trigger stands there; in an import only if it is one itself."""
        if not stands(trigger, self.text) and not stands(trigger, self.imports):
            return False
        is_import = not without_imports(trigger)
        return stands(trigger, self.imports if is_import else self.text)


def _signs(paths: Iterable[str]) -> Iterator[str]:
    """Yield pieces of which a text has one if it names a file or one of the folders around it."""
    for path in paths:
        *folders, name = path.casefold().strip("/").split("/")
        yield from (f"{it}/" for it in folders if it)
        if name:
            yield name


class Candidate:
    """Reads one record as far as an action asks: what cannot be there is not looked for."""

    def __init__(self, record: Record, sought: Sought) -> None:
        self.record, self._sought = record, sought
        texts = record.lesson, record.missing_context, record.ask_next_time
        self.text = worded(normal_form("NFC", "\n".join(texts)))
        self._caseless = self.text.casefold()
        self.whole = sought.words.shared(self.text)
        self.topic = _topic(record.topic)
        self.triggers = [it for it in record.when[:MOST_TRIGGERS] if sought.has(it)]
        self.anchored = self.triggered = 0.0
        self.is_sure = False

    @cached_property
    def lesson(self) -> Reading:
        return self._sought.words.shared(worded(self.record.lesson))

    @property
    def shared(self) -> Collection[str]:
        """The terms that the record shares with the action."""
        return self.whole.words | self.whole.names | self.whole.pairs

    @cached_property
    def files(self) -> set[str]:
        if not any(name in self._caseless for name in self._sought.names):
            return set()
        found = (name.casefold().strip("/.").rstrip("*/") for name in files_in(self.text))
        return {name for name in found if name}

    @cached_property
    def phrases(self) -> set[tuple[str, str]]:
        text = self._caseless
        if not any(one in text and other in text for one, other in self._sought.phrases):
            return set()
        words = [word.casefold() for word in TOKEN.findall(self.text)]
        return set(pairwise(words))

    @cached_property
    def options(self) -> set[str]:
        if not any(option in self._caseless for option in self._sought.options):
            return set()
        return {option.casefold() for option in _OPTION_WORD.findall(self.text)}


@lru_cache(maxsize=_CACHED_TOPICS)  # few topics, many records
def _topic(topic: str) -> Reading:
    return Reading(topic)


def stands(trigger: str, text: str) -> bool:
    """Return whether a trigger stands in a text, not in the middle of another word."""
    at = text.find(trigger) if trigger.strip() else -1
    while at > 0 and _is_word(trigger[0]) and _is_word(text[at - 1]):
        at = text.find(trigger, at + 1)
    return at >= 0


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")
