"""Chooses what one page can tell a new team member of a memory, and writes it as Markdown.

Pure; all dates come from the records. Room is scarce, so the page says each lesson once, whole or
not at all, in the first section that wants it, and each question once. What was missing stands
before a lesson where there is room: a rule without its reason says little to a newcomer. Each
section has a share of the room and passes on what it leaves, so that neither two hundred principles
nor two hundred gaps that came back push the rest off the page. Records that read like instructions
to a model are left out and counted, since such a page soon lands where models read it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from commands.onboard.items import Item, Wanted, joined, named, size, wanted_of
from commands.onboard.words import word
from core.lessons.answers.fitting import is_harmless
from core.lessons.answers.rendering import day_of
from core.lessons.record import Record
from core.messages import Language

# A printed page of A4 holds some fifty lines of up to a hundred characters.
PAGE_CHARS = 4_000
LEAST_CHARS = 1_500
SHARES = {"again": 0.25, "by_topic": 0.4, "ask": 0.15, "newest": 0.2}
WHOLE_ITEMS = 10  # on a page, at least: a longer item leaves out what was missing


@dataclass(slots=True, kw_only=True)
class _Section:
    """The items under one heading, and how many characters it may still take."""

    title: str
    left: int
    items: list[tuple[tuple[int, int], str]] = field(default_factory=list)

    def fill(self, items: Iterable[Item], used: set[str], *, passes_over: bool = True) -> None:
        """Take the items that fit and whose text is not in `used` yet, in their order.

        passes_over: whether to go on after one that does not fit.
        """
        for item in items:
            if item.says in used:
                continue
            lines = item.lines() if len(item.says) < self.left else ()
            line = next(filter(self._fits, lines), None)
            if line is not None:
                self.left -= self._cost(line)
                self.items.append((item.place, line))
                used.add(item.says)
            elif not passes_over:
                return

    def _fits(self, line: str) -> bool:
        return self._cost(line) <= self.left

    def _cost(self, line: str) -> int:
        return size([line] if self.items else ["", self.title, "", line])

    def lines(self) -> list[str]:
        """Return the lines of the section, none without items."""
        return ["", self.title, "", *(line for _, line in sorted(self.items))] if self.items else []


def page(
    records: Sequence[Record],
    project: str,
    lang: Language,
    *,
    is_part: bool = False,
    most_chars: int = PAGE_CHARS,
) -> str:
    """Return the page of these records.

    is_part: whether they belong to some topics only. most_chars: the length of the page,
    LEAST_CHARS or more; a wide character such as Hangul counts twice.
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
    """Say what the page is, and from how many records of which days it was chosen."""
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
    """Say what the page leaves out and how to see it; is_longest: in the longest form."""
    largest = sorted(wanted.topics, key=lambda it: it.count, reverse=True)
    topics = joined(f"{named(it.name)} {it.count:,}" for it in largest)
    sentences = [
        word(lang, name, shown=shown[name], count=count, topics=topics)
        for name, count in wanted.counts.items()
        if is_longest or shown[name] < count
    ]
    if marked:
        sentences.append(word(lang, "marked", count=marked))
    return ["", " ".join(sentences)] if sentences else []


def _filled(wanted: Wanted, room: int, lang: Language) -> dict[str, _Section]:
    """Return the sections with what fits into `room` characters.

    Some of the newest come before the logs of the topics, which would else take them; then each
    topic has its turn.
    """
    again, by_topic, ask, newest = (
        _Section(title=f"## {word(lang, name)}", left=int(share * room))
        for name, share in SHARES.items()
    )
    principles = _in_turn(topic.principles for topic in wanted.topics)
    used: set[str] = set()
    again.fill(wanted.again, used)
    by_topic.fill(principles, used)
    ask.fill(wanted.ask, used)
    unsaid = [item for item in wanted.newest if item.says not in used]
    some = unsaid[: 1 + int(SHARES["newest"] * len(unsaid))]
    newest.fill(some, used, passes_over=False)
    again.left += ask.left + newest.left
    again.fill(wanted.again, used)
    logs = _in_turn([it for it in topic.logs if it.says not in used] for topic in wanted.topics)
    by_topic.left += again.left
    by_topic.fill([*principles, *logs], used)
    ask.left = by_topic.left
    ask.fill(wanted.ask, used)
    return dict(zip(SHARES, (again, by_topic, ask, newest), strict=True))


def _in_turn(rows: Iterable[Iterable[Item]]) -> list[Item]:
    """Return the first item of each row, then the second of each, and so on."""
    return [item for turn in zip_longest(*rows) for item in turn if item]
