"""Writes what a hook shows a model unasked: a briefing at the start, a few records at an action.

Nobody asked for these texts: they are short, and leave out records that read like orders.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from core.injection.marks import may_have_marks, orders_in, shown_marks
from core.lessons.answers.fitting import Layout, is_usable, that_fit
from core.lessons.answers.frame import Frame
from core.lessons.answers.notes import TOPICS_SHOWN, notes, topic_line
from core.lessons.answers.rendering import headed_block
from core.lessons.answers.words import say
from core.lessons.log import MemoryLog
from core.lessons.record import Record, seconds_of
from core.messages import Language
from core.settings import Settings
from core.text.budget import Budget
from core.text.printable import one_line

BRIEFING_CHARS = 9_000  # two clients cut what is longer than 10,000 characters
RECALL_BYTES = 4_096
MOST_OFFERED = 400  # the shortest records that fill BRIEFING_CHARS
MOST_JUDGED, MOST_TOPIC_CHARS = 200, 256  # of the topics; few are shown


@dataclass(frozen=True, slots=True)
class Briefing:
    """A text for a model ("" for nothing to say) and the records that it shows."""

    text: str = ""
    records: tuple[Record, ...] = ()


def session_briefing(log: MemoryLog, *, project: str, settings: Settings) -> Briefing:
    """Write the topics, what is due, and the whole records that fit: principles, then the newest.

    project: how the answer names it. settings: `hook_tokens` are the estimated tokens of the whole
    text, which takes its first lines in any case.
    """
    lang, budget_tokens = settings.lang, settings.hook_tokens
    records, count = log.records, log.count
    if not records:
        return Briefing()
    head = say(lang, "head_all", count=count, project=one_line(project))
    topics = _harmless_topics(log)
    lines = [head, *notes(log, Frame(project=project, settings=settings))]
    if topics:
        lines.append(topic_line(topics, lang, budget_tokens))
    budget = Budget(budget_tokens, BRIEFING_CHARS)
    longest = [say(lang, key, shown=count, count=count) for key in ("brief_part", "brief_marked")]
    budget.spend("\n".join([*lines, *longest]))
    shown, marked = _offered(_principles_first(records), budget, lang)
    if marked:
        lines.append(say(lang, "brief_marked", count=marked))
    key = "brief_all" if len(shown) == count else "brief_part" if shown else "brief_none"
    lines.append(say(lang, key, shown=len(shown), count=count))
    blocks = [headed_block(record, lang) for record in shown]
    return Briefing("\n".join(lines + blocks), tuple(shown))


def _harmless_topics(log: MemoryLog) -> list[tuple[str, int]]:
    """Return the topics with their counts, those that may be shown first, less the marked ones."""
    topics = [it for it in log.topics.most_common() if len(it[0]) <= MOST_TOPIC_CHARS]
    judged = [it for it in topics[:MOST_JUDGED] if not shown_marks((), (it[0],))]
    return judged + topics[MOST_JUDGED:] if len(judged) >= TOPICS_SHOWN else judged


def _offered(records: Sequence[Record], budget: Budget, lang: Language) -> tuple[list[Record], int]:
    """Return the records that fit, and how many stay out because of their marks.

    Only the long table of suspicious texts can judge some records, and it takes long to load:
    they come last, and only where the others leave room.
    """
    plain: list[Record] = []
    doubtful: list[Record] = []
    for record in islice(filter(is_usable, records), MOST_OFFERED):
        is_doubtful = record.marks or may_have_marks(" ".join(record.texts))
        (doubtful if is_doubtful else plain).append(record)
    layout = Layout(lang)
    shown, rest = that_fit(plain, budget, layout)
    if rest:
        return shown, 0
    good = list(filter(is_harmless, doubtful))
    return shown + that_fit(good, budget, layout)[0], len(doubtful) - len(good)


def action_briefing(records: Sequence[Record], lang: Language) -> Briefing:
    """Write the records that fit into 4 KB; what was missing gives way before a lesson does."""
    head = say(lang, "recall_head")
    left_bytes = RECALL_BYTES - _bytes(head)
    versions = list(records)
    for at in reversed(range(len(versions))):  # the best one keeps it longest
        if sum(_bytes(headed_block(it, lang)) for it in versions) <= left_bytes:
            break
        versions[at] = replace(versions[at], missing_context="")
    lines, shown = [head], list[Record]()
    for record, version in zip(records, versions, strict=True):
        block = headed_block(version, lang)
        if _bytes(block) <= left_bytes:
            left_bytes -= _bytes(block)
            lines.append(block)
            shown.append(record)
    return Briefing("\n".join(lines), tuple(shown)) if shown else Briefing()


def is_harmless(record: Record) -> bool:
    """Return whether a record does not read like an order to a model."""
    return not orders_in(record.marks, record.texts)


def _principles_first(records: Sequence[Record]) -> list[Record]:
    """Order principles before logs, newer before older, of equals the later line first."""
    return sorted(
        reversed(records),
        key=lambda it: (it.type == "principle", seconds_of(it.updated or it.created)),
        reverse=True,
    )


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace")) + 1
