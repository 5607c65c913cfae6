"""Chooses the records that an action needs: the few whose files, commands and words are its own.

Pure, lexical and deterministic. An irrelevant reminder trains the model to ignore all reminders, so
silence is the rule: a record must gather evidence worth a threshold, and evidence is worth the
more, the fewer other records share it. The weights were chosen on the labelled actions of
`benchmarks/recall.py`, which also says how often they are right. What this cannot do: synonyms,
translations, and rules about what code does rather than what it is called.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import log

from core.lessons.recall.reading import (
    FILE,
    MEANINGLESS,
    MOST_ANCHORS,
    MOST_PATTERN_CHARS,
    TOKEN,
    Action,
    Reading,
    Vocabulary,
    worded,
)
from core.lessons.answers.fitting import is_usable
from core.lessons.paths import could_match, is_exact, matches
from core.lessons.record import Record
from core.text.english import stem_of
from core.text.normal_form import normal_form

MOST_RECORDS = 3
_CACHED_TOPICS = 1_024

# What a record must reach. The words of a command say less, since many lessons name commands.
_NEEDED, _NEEDED_IN_A_SHELL = 3.5, 5.6
_BESIDE_THE_BEST = 0.7  # of the best record's evidence; less is only noise beside it

# Files: those of `paths`, then those that the texts name.
_ANCHORED_FILE, _ANCHORED_PLACE, _ANCHORED_KIND = 3.6, 3.5, 2.0
_NAMED_PATH, _NAMED_FILE, _NAMED_COMMON_FILE, _NAMED_FOLDER = 3.5, 2.5, 0.4, 1.2
_IN_A_COMMAND = 0.4
# Commands: two words in a row, a long option.
_PHRASE, _OPTION, _MOST_OPTIONS = 3.5, 2.5, 1.5
# Words, each once: identifiers of several parts, other words, those of every program. Of Hangul the
# first two syllables are the word, since particles follow, and any two are a little of one, since
# words run together.
_NAME, _NAME_IN_COMMAND, _WORD, _COMMON_WORD, _PAIR = 0.9, 1.5, 1.25, 0.2, 0.2
_BESIDE_THE_LESSON = 0.8  # a word that only `missing_context` or `ask_next_time` has
_TOPIC = 0.6

_OPTION_WORD = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]+", re.A)
_COMMAND_END = re.compile(r"&&|\|\||[;|\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.A)
# What stands before the program that is really run.
_WRAPPERS = frozenset(
    "sudo env time uv run npx pnpm yarn exec poetry pipenv bundle python python3 -m bash sh -c cd"
    " then do".split()
)
# A name that every second directory has says nothing about which one is meant.
_COMMON_FILE = re.compile(
    r"(?:index|main|utils?|helpers?|common|types?|models?|views?|urls|tests?|conftest|__init__"
    r"|readme|config|settings|setup|package|mod|lib|app|constants?|errors?|schema|page|layout|route"
    r"|handler|service|server|client)\.[a-z]+"
)
_COMMON = frozenset(
    map(
        stem_of,
        "api app apps base branch build class code com commit common config const core data date "
        "def default dir doc docs error errors false file files folder func function git github "
        "helper helpers http https id import index int item items java json key let lib line lines "
        "list local main md method model models module name none null number object org package "
        "path private project public readme repo result return rs script scripts self src static "
        "string test tests time toml true ts tsx txt type types update user users util utils val "
        "value values var version view views void www yaml yml 사용 확인 추가 변경 수정 작업 설정 "
        "파일 코드 테스 버전 이름 실행 적용 처리 생성 삭제 값을 값이 문제 서버 화면 함수 기능 사람 "
        "방식 내용 결과 요청 응답 호출 데이".split(),
    )
)


def recall(
    action: Action,
    records: Sequence[Record],
    count: int | None = None,
    having: Mapping[str, int] | None = None,
) -> list[Record]:
    """Return at most MOST_RECORDS of these records, the best first; of equals the newer first.

    Nearly always none. Any text is allowed on both sides; a record that is not usable is passed
    over. count, having: as in AtHand, when these are not all records of the log.
    """
    action = action.readable()
    sources = list(_sources(action))
    if not sources:
        return []
    sought = _Sought.of(action, [reading for _, reading in sources])
    candidates = [_Candidate(record, sought) for record in records if is_usable(record)]
    evidence = _Evidence(action, sources, sought, candidates, count or len(records), having)
    needed = _NEEDED_IN_A_SHELL if action.command and not action.paths else _NEEDED
    found = [
        (weight, at)
        for at, candidate in enumerate(candidates)
        if (weight := evidence.of(candidate)) >= needed
    ]
    found.sort(reverse=True)
    least = _BESIDE_THE_BEST * found[0][0] if found else 0.0
    return [candidates[at].record for weight, at in found[:MOST_RECORDS] if weight >= least]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sought:
    """What an action says. words: of its texts. phrases and options: of its command.

    names: caseless, all parts of the files that it names.
    """

    words: Vocabulary
    phrases: Collection[tuple[str, str]]
    options: Collection[str]
    names: Collection[str]

    @classmethod
    def of(cls, action: Action, readings: Sequence[Reading]) -> "_Sought":
        return cls(
            words=Vocabulary(readings),
            phrases=set(_phrases(action.command)),
            options={it.casefold() for it in _OPTION_WORD.findall(action.command)},
            names={name for path in action.named for name in path.casefold().split("/") if name},
        )


class _Candidate:
    """Reads one record as far as an action asks: what cannot be there is not looked for."""

    def __init__(self, record: Record, sought: _Sought) -> None:
        self.record, self._sought = record, sought
        texts = record.lesson, record.missing_context, record.ask_next_time
        self.text = worded(normal_form("NFC", "\n".join(texts)))
        self._caseless = self.text.casefold()
        self.topic = _topic(record.topic)

    @cached_property
    def lesson(self) -> Reading:
        return self._sought.words.shared(worded(self.record.lesson))

    @cached_property
    def whole(self) -> Reading:
        return self._sought.words.shared(self.text)

    @cached_property
    def files(self) -> set[str]:
        if not any(name in self._caseless for name in self._sought.names):
            return set()
        found = (name.casefold().strip("/.").rstrip("*/") for name in FILE.findall(self.text))
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


def _sources(action: Action) -> Iterator[tuple[str, Reading]]:
    """Yield what an action says, the surest first: a word counts where it stands first."""
    for name, text in (
        ("path", "\n".join(action.paths)),
        ("command", action.command),
        ("text", action.text),
    ):
        if text.strip():
            yield name, Reading(text)


class _Evidence:
    """Weighs what speaks for a record at one action; rare words weigh more.

    count: of the records that these were chosen from. The others hardly have what an action says.
    """

    def __init__(
        self,
        action: Action,
        sources: Sequence[tuple[str, Reading]],
        sought: _Sought,
        candidates: Sequence[_Candidate],
        count: int,
        having: Mapping[str, int] | None,
    ) -> None:
        self._action, self._sources, self._all = action, sources, candidates
        self._count, self._having = count, having or {}
        self._phrases, self._options = sought.phrases, sought.options
        self._named = action.named
        self._found: dict[object, int] = {}

    def of(self, candidate: _Candidate) -> float:
        """Return the weight of all that speaks for this record."""
        weight = self._of_files(candidate)
        if self._action.command:
            weight += self._of_command(candidate)
        counted = set[str]()
        for source, reading in self._sources:
            weight += self._of_topic(candidate.topic, reading)
            weight += self._of_words(candidate, reading, source, counted)
        return weight

    def _of_files(self, candidate: _Candidate) -> float:
        anchored = named = 0.0
        patterns = candidate.record.paths[:MOST_ANCHORS]
        patterns = tuple(it for it in patterns if len(it) <= MOST_PATTERN_CHARS)
        for path in self._named:
            share = 1.0 if path in self._action.paths else _IN_A_COMMAND
            for pattern in patterns:
                if could_match(pattern, path) and matches(pattern, path):
                    anchored = max(anchored, share * _anchor(pattern, path))
            for name in candidate.files:
                named = max(named, share * _naming(name, path.casefold().rstrip("/")))
        return anchored + named

    def _of_command(self, candidate: _Candidate) -> float:
        phrases = candidate.phrases.intersection(self._phrases)
        options = candidate.options.intersection(self._options)
        phrase = max((self._rarity("phrases", it) for it in phrases), default=0.0)
        option = sum(self._rarity("options", it) for it in options)
        return _PHRASE * phrase + _OPTION * min(option, _MOST_OPTIONS)

    def _of_topic(self, topic: Reading, reading: Reading) -> float:
        words = bool(topic.words) and topic.words <= reading.words
        # A particle may take the place of the last syllable.
        pairs = bool(topic.pairs) and len(topic.pairs - reading.pairs) <= (len(topic.pairs) > 1)
        return _TOPIC if words or pairs else 0.0

    def _of_words(
        self, candidate: _Candidate, reading: Reading, source: str, counted: set[str]
    ) -> float:
        total = 0.0
        name_weight = _NAME_IN_COMMAND if source == "command" else _NAME
        for kind, full_weight in (("names", name_weight), ("words", _WORD), ("pairs", _PAIR)):
            shared = getattr(reading, kind) & getattr(candidate.whole, kind)
            for term in shared - counted:
                is_common = kind == "words" and term in _COMMON
                weight = _COMMON_WORD if is_common else full_weight
                if term not in getattr(candidate.lesson, kind):
                    weight *= _BESIDE_THE_LESSON
                total += weight * self._rarity(kind, term)
            counted |= shared
        return total

    def _rarity(self, kind: str, term: object) -> float:
        """Return 1 for what only one record has, 0 for what all of them have."""
        if (kind, term) not in self._found:
            found = sum(term in _having(it, kind) for it in self._all)
            elsewhere = self._having.get(term, 0) if isinstance(term, str) else 0
            self._found[kind, term] = max(found, elsewhere)
        return 1 - log(self._found[kind, term] or 1) / log(self._count + 1)


def _having(candidate: _Candidate, kind: str) -> Collection[object]:
    if kind in ("phrases", "options"):
        return getattr(candidate, kind)  # type: ignore[no-any-return]
    return getattr(candidate.whole, kind) | getattr(candidate.topic, kind)  # type: ignore[no-any-return]


def _anchor(pattern: str, path: str) -> float:
    """Return the weight of a pattern of the record that stands for this file."""
    if pattern.casefold().rstrip("/") == path.casefold():
        return _ANCHORED_FILE
    return _ANCHORED_PLACE if is_exact(pattern) else _ANCHORED_KIND


def _naming(name: str, path: str) -> float:
    """Return the weight of a name in the record's text for a path, 0 for another path."""
    if path == name or path.endswith(f"/{name}"):
        if "/" in name:
            return _NAMED_PATH
        return _NAMED_COMMON_FILE if _COMMON_FILE.fullmatch(name) else _NAMED_FILE
    if "/" in name and f"/{name}/" in f"/{path}":
        return _NAMED_FOLDER
    return 0.0


def _phrases(command: str) -> Iterator[tuple[str, str]]:
    """Yield two words in a row of each program that a command runs, options left out."""
    for part in _COMMAND_END.split(command):
        words = [word.strip("'\"()`").casefold() for word in part.split()]
        words = [word for word in words if word and not _ASSIGNMENT.match(word)]
        while words and words[0] in _WRAPPERS:
            del words[0]
        words = [word for word in words if not word.startswith("-")]
        yield from (pair for pair in pairwise(words) if not MEANINGLESS & {*pair})
