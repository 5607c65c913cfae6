"""What a new team member should know of a memory, as one page of Markdown.

Pure: records in, text out; all dates are those of the records. Room is what a page has least of.
So a record says its lesson once, whole or not at all, in the first section that wants it, and its
question once, among the questions. What was missing stands before the lesson where there is room,
since a rule without its reason says little to somebody who is new. Each section has a share of
the room, and what one leaves goes to the others: neither two hundred principles nor two hundred
gaps that came back push the rest off the page. Records that read like instructions to a model are
left out and counted: nobody needs them in order to begin, and such a page is soon pasted to where
models read it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from commands.onboard.items import Item, Wanted, joined, named, size, wanted_of
from commands.onboard.words import word
from core.lessons.answers.briefing import is_harmless
from core.lessons.answers.rendering import day_of
from core.lessons.record import Record
from core.messages import Language

# What a printed page of A4 holds in lists: some fifty lines of up to a hundred characters.
PAGE_CHARS = 4_000
LEAST_CHARS = 1_500
SHARES = {"again": 0.25, "by_topic": 0.4, "ask": 0.15, "newest": 0.2}
WHOLE_ITEMS = 10  # that a page holds; in one that is longer, what was missing is left out


@dataclass(slots=True, kw_only=True)
class _Section:
    """The items under one heading, and how many characters are left for more."""

    title: str
    left: int
    items: list[tuple[tuple[int, int], str]] = field(default_factory=list)

    def fill(self, items: Iterable[Item], said: set[str], *, passes_over: bool = True) -> None:
        """Take what fits and is not said yet, the first ones first.

        passes_over: whether one that does not fit is passed over, or ends it.
        """
        for item in items:
            if item.says in said:
                continue
            lines = item.lines() if len(item.says) < self.left else ()
            line = next(filter(self._fits, lines), None)
            if line is not None:
                self.left -= self._cost(line)
                self.items.append((item.place, line))
                said.add(item.says)
            elif not passes_over:
                return

    def _fits(self, line: str) -> bool:
        return self._cost(line) <= self.left

    def _cost(self, line: str) -> int:
        return size([line] if self.items else ["", self.title, "", line])

    def lines(self) -> list[str]:
        """The section as it stands on the page; nothing without items."""
        return ["", self.title, "", *(line for _, line in sorted(self.items))] if self.items else []


def page(
    records: Sequence[Record],
    project: str,
    lang: Language,
    *,
    is_part: bool = False,
    most_chars: int = PAGE_CHARS,
) -> str:
    """The page of these records.

    is_part: whether they are those of some topics only. most_chars: how long the page may be, wide
    characters such as Hangul counted twice; no less than LEAST_CHARS.
    """
    title = f"# {word(lang, 'title', project=named(project))}"
    if not records:
        return f"{title}\n\n{word(lang, 'empty')}\n"
    harmless = list(filter(is_harmless, records))
    longest_item = most_chars // max(1, min(WHOLE_ITEMS, len(harmless)))
    wanted = wanted_of(harmless, lang, most_chars=longest_item)
    about = [_about(records, lang)]
    if is_part and wanted.topics:
        about.append(word(lang, "only", topics=joined(named(it.name) for it in wanted.topics)))
    head = [title, "", " ".join(about), "", word(lang, "is_not")]
    marked = len(records) - len(harmless)
    longest = _foot(wanted, wanted.counts, marked, lang, is_longest=True)
    sections = _filled(wanted, most_chars - size([*head, *longest]), lang)
    asked = len(sections["ask"].items)
    lessons = sum(len(section.items) for section in sections.values()) - asked
    body = [line for section in sections.values() for line in section.lines()]
    foot = _foot(wanted, {"lessons": lessons, "questions": asked}, marked, lang)
    return "\n".join([*head, *body, *foot]) + "\n"


def _about(records: Sequence[Record], lang: Language) -> str:
    """What the page is, and how many records of when it was chosen from."""
    moments = {moment for it in records for moment in (it.created, it.updated)}
    days = sorted(day for day in map(day_of, moments) if day[0].isdigit())
    when = ""
    if days:
        key = "day" if days[0] == days[-1] else "days"
        when = word(lang, key, first=days[0], last=days[-1])
    return word(lang, "is", count=len(records), when=when)


def _foot(
    wanted: Wanted,
    shown: Mapping[str, int],
    marked: int,
    lang: Language,
    *,
    is_longest: bool = False,
) -> list[str]:
    """What is not on the page, and how to see it; is_longest: with all that may be said here."""
    largest = sorted(wanted.topics, key=lambda it: it.count, reverse=True)
    topics = joined(f"{named(it.name)} {it.count:,}" for it in largest)
    told = [
        word(lang, name, shown=shown[name], count=count, topics=topics)
        for name, count in wanted.counts.items()
        if is_longest or shown[name] < count
    ]
    if marked:
        told.append(word(lang, "marked", count=marked))
    return ["", " ".join(told)] if told else []


def _filled(wanted: Wanted, room: int, lang: Language) -> dict[str, _Section]:
    """The sections with what fits into so many characters.

    Some of the newest are taken before the logs of the topics, or they would not be the newest;
    then each topic has its turn.
    """
    again, by_topic, ask, newest = (
        _Section(title=f"## {word(lang, name)}", left=int(share * room))
        for name, share in SHARES.items()
    )
    principles = _in_turn(topic.principles for topic in wanted.topics)
    said: set[str] = set()
    again.fill(wanted.again, said)
    by_topic.fill(principles, said)
    ask.fill(wanted.ask, said)
    unsaid = [item for item in wanted.newest if item.says not in said]
    some = unsaid[: 1 + int(SHARES["newest"] * len(unsaid))]
    newest.fill(some, said, passes_over=False)
    again.left += ask.left + newest.left
    again.fill(wanted.again, said)
    logs = _in_turn([it for it in topic.logs if it.says not in said] for topic in wanted.topics)
    by_topic.left += again.left
    by_topic.fill([*principles, *logs], said)
    ask.left = by_topic.left
    ask.fill(wanted.ask, said)
    return dict(zip(SHARES, (again, by_topic, ask, newest), strict=True))


def _in_turn(rows: Iterable[Iterable[Item]]) -> list[Item]:
    """The first of each row, then the second of each."""
    return [item for turn in zip_longest(*rows) for item in turn if item]
