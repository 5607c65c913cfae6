"""What the three tools answer: the head, the notes and the records, in the console's language.

The file is long because the answers share most of their lines.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from core.injection.marks import HIDDEN_TEXT, marks_of
from core.lessons.answers.fitting import records_within, topics_by_relevance
from core.lessons.answers.notes import (
    LIST_SHARE,
    beginning,
    counted,
    flaw_notes,
    is_shortened,
    notes,
    topic_line,
)
from core.lessons.answers.rendering import headed_block, record_block, token_text, topic_text
from core.lessons.answers.words import say
from core.lessons.changes import select
from core.lessons.compaction import (
    Group,
    SimilarTopics,
    group_by_topic,
    need_for,
    similar_to,
    similar_topics,
)
from core.lessons.log import MemoryLog
from core.lessons.outcomes import Removal, Saved
from core.lessons.record import LIMITS_BYTES, Record, normalise_topic
from core.messages import Facts, Language
from core.settings import DEFAULT_THRESHOLD, Settings
from core.text.budget import Budget
from core.text.printable import one_line

TOPICS_AFTER_A_SAVE = 12  # the search before the task has shown more
PAIRS_SHOWN = 20
TOKENS_SHOWN = 60
TOPICS_COMPARED = 500
DELETION_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every answer depends on beside the log: whose it is, and how it is said."""

    project: str
    settings: Settings
    threshold: int = DEFAULT_THRESHOLD

    @property
    def lang(self) -> Language:
        """The language of the sentences."""
        return self.settings.lang

    def halved(self) -> "Frame":
        """The same with half the budget, for an answer in two parts."""
        tokens, chars = self.settings.budget_tokens // 2, self.settings.budget_chars // 2
        settings = replace(self.settings, budget_tokens=tokens, budget_chars=chars)
        return replace(self, settings=settings)


def search_answer(log: MemoryLog, frame: Frame, *, query: str, topic: str = "") -> str:
    """All records, or those of one topic; above the budget the most relevant and an index."""
    lang, everything = frame.lang, log.records
    wanted = normalise_topic(topic)
    records = [record for record in everything if not wanted or record.topic == wanted]
    facts: Facts = {"count": len(everything), "project": one_line(frame.project)}
    if wanted and records:
        head = say(lang, "head_topic", topic=topic_text(wanted), shown=len(records), **facts)
    else:
        head = say(lang, "head_all", **facts)
    lines = [head, *notes(log, frame.threshold, lang)]
    if not records:
        missed = _no_topic(wanted, log, frame, query) if everything else say(lang, "nothing_found")
        return "\n".join([*lines, missed, say(lang, "questions")])
    lines.append(_topics(log, frame, "" if wanted else query))
    budget = Budget.of(frame.settings)
    budget.spend("\n".join(lines))
    return "\n".join(lines + records_within(records, query, budget, lang))


def _topics(log: MemoryLog, frame: Frame, query: str) -> str:
    """The topics that exist, those with the most records first; where not all are shown, those
    that a question is about."""
    counts, budget_tokens = log.topics.most_common(), frame.settings.budget_tokens
    if query.strip() and is_shortened(counts, budget_tokens):
        counts = [(name, log.topics[name]) for name in topics_by_relevance(query, log.records)]
    return topic_line(counts, frame.lang, budget_tokens)


def saved_answer(saved: Saved, frame: Frame, *, shortened_from_bytes: int = 0) -> str:
    """What one save did, the topics that exist, and whether compaction is due."""
    lang, record, count = frame.lang, saved.record, saved.log.count
    again, topic = bool(record.updated), topic_text(record.topic)
    topics = saved.log.topics.copy()
    if "topic" in saved.suspicious:  # an answer goes into transcripts: do not repeat it there
        topic = say(lang, "not_repeated")
        del topics[record.topic]
    facts: Facts = {"type": record.type, "topic": topic, "project": one_line(frame.project)}
    key = "saved_again" if again else "saved_new"
    lines = [say(lang, key, seen=record.seen, count=count, **facts)]
    if record.seen > 1 and not again:
        lines.append(say(lang, "came_back"))
    if saved.removal.removed:
        lines.append(say(lang, "replaced", count=len(saved.removal.removed)))
    lines += _tokens_left(saved.removal, frame)
    if saved.redacted:
        kinds = ", ".join(dict.fromkeys(saved.redacted))
        lines.append(say(lang, "redacted", count=len(saved.redacted), kinds=kinds))
    lines += [say(lang, "suspicious", field=name) for name in saved.suspicious]
    lines += _marked(record, lang)
    if shortened_from_bytes:
        lines.append(_shortened(record.ask_next_time, shortened_from_bytes, lang))
    alike = similar_to(record.topic, list(topics)) if topics[record.topic] == 1 else []
    if alike and not again:
        near = ", ".join(map(topic_text, alike[:5]))
        lines.append(say(lang, "similar_topic", topic=topic, topics=near))
    budget_tokens = frame.settings.budget_tokens
    line = topic_line(topics.most_common(), lang, budget_tokens, at_most=TOPICS_AFTER_A_SAVE)
    lines.append(line)
    return "\n".join(lines + notes(saved.log, frame.threshold, lang))


def _marked(record: Record, lang: Language) -> list[str]:
    """What a save has marked, field by field."""
    by_field = {name: marks_of(getattr(record, name)) for name in LIMITS_BYTES}
    found = ", ".join(f"{mark} ({name})" for name, marks in by_field.items() for mark in marks)
    if not found:
        return []
    only_hidden = record.marks == (HIDDEN_TEXT,)
    return [say(lang, "marked_hidden" if only_hidden else "marked", found=found)]


def deletion_that_fits(
    log: MemoryLog, tokens: Sequence[str], frame: Frame
) -> tuple[list[str], list[str]]:
    """The tokens to delete now, and those for a later call.

    What is deleted is repeated in full, so no more may go than one answer can hold.
    """
    named = {gone.id: gone for gone in select(log, tokens).removed}
    budget = Budget.of(frame.settings).split_off(DELETION_SHARE)
    now: list[str] = []
    put_off: list[str] = []
    for token in tokens:
        record = named.pop(token.partition("@")[0], None)
        fits = record is None or budget.take(deleted_block(record, frame.lang)) or not now
        (now if fits else put_off).append(token)
    return now, put_off


def deleted_block(record: Record, lang: Language) -> str:
    """A deleted record in full, under its topic."""
    return headed_block(record, lang, token=token_text(record, lang))


def deletion_answer(
    removal: Removal, log: MemoryLog, frame: Frame, put_off: Sequence[str] = ()
) -> str:
    """The deleted records in full, and what became of the other tokens.

    removal, log: what a deletion did, and the log afterwards. put_off: tokens for a later call.
    """
    lang, count = frame.lang, len(removal.removed)
    facts: Facts = {"left": log.count, "project": one_line(frame.project)}
    key = "deleted" if count else "deleted_none"
    lines = [say(lang, key, count=count, **facts)]
    for record in removal.removed:
        lines.append(deleted_block(record, lang))
    if put_off:
        lines.append(say(lang, "put_off", tokens=_listed_tokens(put_off, frame)))
    return "\n".join(lines + _tokens_left(removal, frame))


def compaction_answer(
    log: MemoryLog, frame: Frame, *, target_topics: Collection[str] | None = None
) -> str:
    """Groups with tokens, whole topics only, the largest first, and what to do with them."""
    lang, records = frame.lang, log.records
    groups = group_by_topic(records)
    wanted = None if target_topics is None else {normalise_topic(name) for name in target_topics}
    chosen = [group for group in groups if wanted is None or group.topic in wanted]
    facts: Facts = {"count": len(records), "project": one_line(frame.project)}
    if not records:
        lines = [say(lang, "compact_empty", **facts), *flaw_notes(log, lang)]
        return "\n".join(lines)
    need = need_for(chosen or groups, len(records), frame.threshold)
    head = say(lang, f"compact_head_{need}", threshold=frame.threshold, **facts)
    lines = [head, *flaw_notes(log, lang)]
    if not chosen:
        missed = next(iter(wanted or [""]))
        return "\n".join([*lines, _no_topic(missed, log, frame)])
    if need != "pointless":
        lines.append(say(lang, "compact_steps"))
    compared = sorted(groups, key=lambda group: -len(group.records))
    if wanted is None:  # every pair is looked at: bounded, so that no log makes a call hang
        compared = compared[:TOPICS_COMPARED]
    pairs = similar_topics([group.topic for group in compared], among=wanted)
    if pairs:
        lines.append(_similar_line(pairs, frame))
    budget = Budget.of(frame.settings)
    budget.spend("\n".join(lines))
    return "\n".join(lines + _groups_within(chosen, budget, frame))


def _groups_within(groups: Sequence[Group], budget: Budget, frame: Frame) -> list[str]:
    """Whole groups, the largest first; one that is too large alone is begun.

    Groups that are already compact come last: there is nothing to do in them.
    """
    lang, budget_tokens = frame.lang, frame.settings.budget_tokens
    largest_first = sorted(groups, key=lambda group: (group.already_compact, -len(group.records)))
    if budget.could_hold(record for group in groups for record in group.records):
        texts = ["\n".join(_group_lines(group, lang)) for group in largest_first]
        if budget.take_all(texts):
            return texts
    budget.spend(say(lang, "compact_rest", topics=""))
    budget.tokens -= LIST_SHARE * budget_tokens
    lines: list[str] = []
    rest: list[Group] = []
    for group in largest_first:
        if budget.could_hold(group.records) and budget.take(
            text := "\n".join(_group_lines(group, lang))
        ):
            lines.append(text)
        elif group is largest_first[0]:  # else what must shrink could never be compacted
            lines += _group_begun(group, budget, lang)
        else:
            rest.append(group)
    if rest:
        names = [(group.topic, len(group.records)) for group in rest]
        listed = counted(names, lang, at_most=8, budget_tokens=budget_tokens)
        lines.append(say(lang, "compact_rest", topics=listed))
    return lines


def _group_lines(group: Group, lang: Language) -> list[str]:
    key = "group_compact" if group.already_compact else "group"
    lines = [say(lang, key, topic=topic_text(group.topic), count=len(group.records))]
    ask = bool(group.questions_left_out)  # else the joined line says them all
    for record in group.records:
        lines.append(record_block(record, lang, token=token_text(record, lang), ask=ask))
    if group.questions and not group.already_compact:
        facts: Facts = {
            "questions": one_line(group.questions),
            "left_out": group.questions_left_out,
        }
        lines.append(say(lang, "joined_partly" if ask else "joined", **facts))
    elif group.questions and not ask:
        lines.append(f"ask: {one_line(group.questions)}")
    return lines


def _group_begun(group: Group, budget: Budget, lang: Language) -> list[str]:
    facts: Facts = {"topic": topic_text(group.topic), "count": len(group.records)}
    budget.spend(say(lang, "compact_too_large", shown=10**6, **facts))
    blocks: list[str] = []
    for record in group.records:
        if budget.is_spent and blocks:
            break
        block = record_block(record, lang, token=token_text(record, lang))
        if budget.take(block) or not blocks:  # at least one, or the topic could never shrink
            blocks.append(block)
    return [say(lang, "compact_too_large", shown=len(blocks), **facts), *blocks]


def _tokens_left(removal: Removal, frame: Frame) -> list[str]:
    lang = frame.lang
    fates = (
        ("token_changed", removal.changed),
        ("token_gone", removal.gone),
        ("token_absent", removal.absent),
    )
    return [say(lang, key, tokens=_listed_tokens(given, frame)) for key, given in fates if given]


def _listed_tokens(tokens: Sequence[str], frame: Frame) -> str:
    """As many as an eighth of the answer holds, and how many more there are."""
    texts = (one_line(token)[:80] for token in tokens[:TOKENS_SHOWN])
    shown = beginning(texts, LIST_SHARE * frame.settings.budget_tokens)
    listed, more = ", ".join(shown), len(tokens) - len(shown)
    return say(frame.lang, "and_more", listed=listed, more=more) if more > 0 else listed


def _shortened(kept: str, used_bytes: int, lang: Language) -> str:
    kept_bytes = len(kept.encode("utf-8", "replace"))
    limit_bytes = LIMITS_BYTES["ask_next_time"]
    facts: Facts = {"used_bytes": used_bytes, "kept_bytes": kept_bytes, "limit_bytes": limit_bytes}
    return say(lang, "shortened", **facts)


def _no_topic(topic: str, log: MemoryLog, frame: Frame, query: str = "") -> str:
    """All topics with their counts: those that resemble the missing one, then those about it."""
    topics = log.topics
    alike = similar_to(topic, list(topics))
    about = topics_by_relevance(f"{topic} {query}", log.records)
    nearest = [(name, topics[name]) for name in dict.fromkeys([*alike, *about])]
    listed = counted(nearest, frame.lang, budget_tokens=frame.settings.budget_tokens)
    return say(frame.lang, "no_topic", topic=topic_text(topic), topics=listed)


def _similar_line(pairs: Sequence[SimilarTopics], frame: Frame) -> str:
    lang = frame.lang
    texts = (
        f"{topic_text(pair.topic)} ~ {topic_text(pair.other)}"
        f" ({say(lang, f'reason_{pair.reason}', shared=topic_text(pair.shared))})"
        for pair in pairs[:PAIRS_SHOWN]
    )
    shown = beginning(texts, LIST_SHARE * frame.settings.budget_tokens)
    listed, more = "; ".join(shown), len(pairs) - len(shown)
    if more > 0:
        listed = say(lang, "compact_similar_more", pairs=listed, more=more)
    return say(lang, "compact_similar", pairs=listed)
