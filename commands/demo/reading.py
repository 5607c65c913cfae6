"""Reads the server's answers for the demo, and stands in for a language model.

It builds its patterns from the server's own table of sentences, so that it follows every change of
words in both languages.
"""

import contextlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from string import Formatter
from typing import Any

from core.lessons.answers.words import WORDS
from core.lessons.record import LIMITS_BYTES
from core.messages import Language

FIELDS = ("topic", "missing_context", "lesson", "ask_next_time")

_NUMBERS = ("count", "threshold", "seen", "left_out")
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s")
_HANGUL = re.compile("[가-힣]{2,}")
_TOKEN = re.compile(r"(?<![0-9a-f])([0-9a-f]+@[0-9a-f]+) ")

Lesson = dict[str, str]


@dataclass(frozen=True, slots=True)
class Group:
    """One topic in an answer of compact_memory: its tokens, lessons and questions."""

    topic: str
    compact: bool
    tokens: list[str] = field(default_factory=list)
    lessons: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)


def read_lessons(paths: Iterable[Path]) -> list[Lesson]:
    """Return the lessons in these files, each gap once; skip other lines and missing files."""
    lessons: dict[tuple[str, str], Lesson] = {}
    for path in paths:
        for line in path.read_bytes().split(b"\n") if path.exists() else ():
            with contextlib.suppress(ValueError, LookupError, TypeError):
                values = json.loads(line)
                lesson = {name: str(values[name]) for name in FIELDS if name in values}
                gap = (lesson["topic"], lesson["missing_context"])
                if lesson["lesson"] and all(gap):  # a principle has no missing_context
                    lessons.setdefault(gap, lesson)
    return list(lessons.values())


def hangul_words(text: str) -> list[str]:
    """Return the Korean words of two or more syllables, with their particles."""
    return _HANGUL.findall(text)


def sentence(lang: Language, key: str) -> str:
    """Return a sentence of the server as a pattern for `re`, its facts as named groups."""
    pattern = ""
    for literal, name, _, _ in Formatter().parse(WORDS[key][lang == "ko"]):
        pattern += re.escape(literal)
        if name:
            pattern += f"(?P<{name}>{'[0-9,]+' if name in _NUMBERS else '.+'})"
    return pattern


def read_groups(answer: str, lang: Language) -> list[Group]:
    """Return the groups in an answer of compact_memory."""
    groups: list[Group] = []
    in_lesson = False
    for line in answer.splitlines():
        compact = re.fullmatch(sentence(lang, "group_compact"), line)
        heading = compact or re.fullmatch(sentence(lang, "group"), line)
        if heading:
            groups.append(Group(heading["topic"], bool(compact)))
        elif groups:
            in_lesson = _read_line(line, groups[-1], lang, in_lesson=in_lesson)
    return groups


def _read_line(line: str, group: Group, lang: Language, *, in_lesson: bool) -> bool:
    """Add a line to its group; return whether the next line may continue a lesson."""
    token = _TOKEN.match(line)
    joined = re.fullmatch(sentence(lang, "joined"), line)
    joined = joined or re.fullmatch(sentence(lang, "joined_partly"), line)
    if token:
        group.tokens.append(token[1])
    elif joined:
        group.questions[:] = [joined["questions"]]
    elif line.startswith("  ") and in_lesson:
        group.lessons[-1] += f" {line.strip()}"
        return True
    elif line.startswith("→ "):
        group.lessons.append(line.removeprefix("→ "))
        return True
    elif line.startswith("ask: "):
        group.questions.append(line.removeprefix("ask: "))
    return False


def similar_pairs(
    answer: str, groups: Sequence[Group], lang: Language, reasons: Iterable[str]
) -> list[tuple[str, str]]:
    """Return the pairs of topics that the answer calls similar for one of these reasons."""
    line = re.search(f"^{sentence(lang, 'compact_similar')}$", answer, re.MULTILINE)
    if not line:
        return []
    given = "|".join(WORDS[f"reason_{reason}"][lang == "ko"] for reason in reasons)
    given = re.escape(given).replace(r"\|", "|").replace(re.escape("{shared}"), ".+?")
    pairs = []
    for one, other in combinations((group.topic for group in groups), 2):
        for pair in ((one, other), (other, one)):
            named = re.escape(" ~ ".join(pair))
            if re.search(rf"(^|; ){named} \(({given})(; [^()]*)?\)(;|$)", line["pairs"]):
                pairs.append(pair)
    return pairs


def clusters(groups: Sequence[Group], pairs: Iterable[tuple[str, str]]) -> list[list[Group]]:
    """Join the groups that a chain of pairs connects; the shortest topic comes first."""
    found = [[group] for group in groups]
    for pair in pairs:
        meant = [some for some in found if any(group.topic in pair for group in some)]
        if len(meant) == 2:
            meant[0].extend(meant[1])
            found.remove(meant[1])
    return [sorted(some, key=lambda group: len(group.topic)) for some in found]


def compose(cluster: Sequence[Group]) -> tuple[dict[str, Any], int]:
    """Return the arguments that save these groups as one principle, and how many lessons it omits.

    The principle joins the first sentence of each lesson, and former principles whole, as far as
    they fit.
    """
    principle, left_out = "", 0
    parts = [
        lesson if group.compact else _SENTENCE_END.split(lesson, maxsplit=1)[0]
        for group in cluster
        for lesson in group.lessons
    ]
    for part in parts:
        longer = f"{principle} {part}".strip()
        if len(longer.encode("utf-8")) <= LIMITS_BYTES["lesson"]:
            principle = longer
        else:
            left_out += 1
    arguments = {
        "topic": cluster[0].topic,
        "lesson": principle,
        "ask_next_time": " ".join(text for group in cluster for text in group.questions),
        "source_ids": [token for group in cluster for token in group.tokens],
    }
    return arguments, left_out
