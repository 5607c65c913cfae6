"""Chooses the records that an action needs: the few whose files, commands and words are its own.

Pure, lexical and deterministic. An irrelevant reminder trains the model to ignore all reminders, so
silence is the rule: a record must gather evidence worth a threshold, and evidence is worth the
more, the fewer other records share it. The weights were chosen on the labelled actions of
`benchmarks/recall.py`, which also says how often they are right. What this cannot do: synonyms,
translations, and rules about what code does rather than what it is called.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import log

from core.lessons.paths import could_match, is_exact, matches
from core.lessons.record import Record
from core.text.english import FUNCTION_WORDS, stem_of

MOST_RECORDS = 3
MOST_ANCHORS = 400  # a principle has those of all its originals, and a hand may write more
MOST_READ = 1_000  # of a longer log those that come closest; an agent waits for the answer
_MOST_ASKED = 300  # characters of a command and of a text, for the same reason

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

_WORD_CHARS = 3
_FIRST_HANGUL = "\uac00"
_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*|[\uac00-\ud7a3]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]+(?:\.[A-Za-z_][A-Za-z0-9_]+)+")
# A Korean particle may follow a name without a blank, so that names end where ASCII does.
_FOLDERS = r"(?:[\w@.+*()\[\]\uac00-\ud7a3-]*/)+"
_FILE = re.compile(
    rf"{_FOLDERS}[\w@.+*\[\]-]*[\w*\]](?:/(?!\w))?|{_FOLDERS}|[\w-]+(?:\.[A-Za-z]\w{{0,9}})+", re.A
)
_OPTION_WORD = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]+", re.A)
# Encoded data. It has no words, and names without an end are slow to look for.
_DATA = re.compile(r"[\w@.+*()\[\]/=-]{300,}")
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
_MEANINGLESS = FUNCTION_WORDS | frozenset(
    "add added always change changed changes first get got instead like made make must need needs"
    " never new old one run set still two use used using want without"
    " 있게 있는 있다 있으 있어 있습 있고 있지 없는 없이 없다 없으 없고 하는 하지 하고 하면 한다"
    " 해야 했다 해서 되는 된다 되면 되지 않는 않고 않으 때문 경우 대한 위해 통해 모든 다른 같은"
    " 이런 그런 어떤 먼저 반드 다시 바로 함께 그대 그리 그래 그때 이미 아직 이때 이후 이전 부터"
    " 까지 보다 에서 으로 에는 주세 해주 해줘 합니 입니 됩니 습니 한번 새로".split()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What an agent is about to do.

    paths: the files that it changes, relative to the project. command: what it gives to a shell.
    text: what it writes, or what the user asks of it.
    """

    paths: Sequence[str] = ()
    command: str = ""
    text: str = ""


def recall(action: Action, records: Sequence[Record]) -> list[Record]:
    """Return at most MOST_RECORDS of these records, the best first; of equals the newer first.

    Nearly always none. Any text is allowed on both sides. Of a long log only the records that are
    `worth_reading` are looked at.
    """
    action = replace(
        action,
        paths=[unicodedata.normalize("NFC", path) for path in action.paths],
        command=_worded(unicodedata.normalize("NFC", action.command)),
        text=_worded(action.text),
    )
    sources = list(_sources(action))
    if not sources:
        return []
    count = len(records)
    records = worth_reading(action, records)
    candidates = [_Candidate(record) for record in records]
    evidence = _Evidence(action, sources, candidates, count)
    needed = _NEEDED_IN_A_SHELL if action.command and not action.paths else _NEEDED
    found = [
        (weight, at)
        for at, candidate in enumerate(candidates)
        if (weight := evidence.of(candidate)) >= needed
    ]
    found.sort(reverse=True)
    least = _BESIDE_THE_BEST * found[0][0] if found else 0.0
    return [records[at] for weight, at in found[:MOST_RECORDS] if weight >= least]


def worth_reading(action: Action, records: Sequence[Record]) -> Sequence[Record]:
    """Return at most MOST_READ of these records, in their order: all when they are not more.

    Else first those whose `paths` may stand for a file of the action, then the others; of each the
    most relevant to its words, and of equals the later.
    """
    if len(records) <= MOST_READ:
        return records
    from core.text.ranking import rank  # most logs are short, and a hook is a new process each time

    named = [*action.paths, *_FILE.findall(action.command)]
    patterns = {pattern for record in records for pattern in record.paths}
    near = {it for it in patterns if any(could_match(it, path) for path in named)}
    query = [*action.paths, action.command[:_MOST_ASKED], action.text[:_MOST_ASKED]]
    ranked = rank(" ".join(query), [" ".join(record.texts) for record in records])
    anchored = [at for at in ranked if not near.isdisjoint(records[at].paths)]
    chosen = list(dict.fromkeys([*anchored, *ranked]))[:MOST_READ]
    return [records[at] for at in sorted(chosen)]


def _worded(text: str) -> str:
    """Return the text without what only looks like one."""
    return _DATA.sub(" ", text)


class _Reading:
    """The words of one text."""

    def __init__(self, text: str) -> None:
        text = unicodedata.normalize("NFKC", text)
        self.words, self.names, self.pairs = set[str](), set[str](), set[str]()
        for dotted in _DOTTED.findall(text):
            parts = dotted.casefold().split(".")
            self.names.update(map(".".join, pairwise(parts)))
        for token in set(_TOKEN.findall(text)):
            if token[0] >= _FIRST_HANGUL:
                self.pairs.update(map("".join, pairwise(token)))
                self.words.add(token[:2])
            else:
                self._read(token)
        self.words -= _MEANINGLESS

    def _read(self, token: str) -> None:
        parts = [part.casefold() for part in _PART.findall(token)]
        if sum(len(part) > 1 for part in parts) > 1:
            self.names.add(re.sub(r"[^a-z0-9]", "", token.casefold()))
        elif token.isalpha():
            parts.append(token.casefold())
        for part in parts:
            if len(part) >= _WORD_CHARS and part not in _MEANINGLESS:
                self.words.add(stem_of(part))


class _Candidate:
    """Reads one record as far as an action asks."""

    def __init__(self, record: Record) -> None:
        self.record = record
        texts = record.lesson, record.missing_context, record.ask_next_time
        self.text = _worded(unicodedata.normalize("NFC", "\n".join(texts)))

    @cached_property
    def lesson(self) -> _Reading:
        return _Reading(_worded(self.record.lesson))

    @cached_property
    def whole(self) -> _Reading:
        return _Reading(self.text)

    @cached_property
    def topic(self) -> _Reading:
        return _Reading(self.record.topic)

    @cached_property
    def files(self) -> set[str]:
        found = (name.casefold().strip("/.").rstrip("*/") for name in _FILE.findall(self.text))
        return {name for name in found if name}

    @cached_property
    def phrases(self) -> set[tuple[str, str]]:
        words = [word.casefold() for word in _TOKEN.findall(self.text)]
        return set(pairwise(words))

    @cached_property
    def options(self) -> set[str]:
        return {option.casefold() for option in _OPTION_WORD.findall(self.text)}


def _sources(action: Action) -> Iterator[tuple[str, _Reading]]:
    """Yield what an action says, the surest first: a word counts where it stands first."""
    for name, text in (
        ("path", "\n".join(action.paths)),
        ("command", action.command),
        ("text", action.text),
    ):
        if text.strip():
            yield name, _Reading(text)


class _Evidence:
    """Weighs what speaks for a record at one action; rare words weigh more.

    count: of the records that these were chosen from. The others hardly have what an action says.
    """

    def __init__(
        self,
        action: Action,
        sources: Sequence[tuple[str, _Reading]],
        candidates: Sequence[_Candidate],
        count: int,
    ) -> None:
        self._action, self._sources, self._all = action, sources, candidates
        self._count = count
        self._phrases = set(_phrases(action.command))
        self._options = {it.casefold() for it in _OPTION_WORD.findall(action.command)}
        self._named = list(dict.fromkeys((*action.paths, *_FILE.findall(action.command))))
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
        for path in self._named:
            share = 1.0 if path in self._action.paths else _IN_A_COMMAND
            for pattern in candidate.record.paths[:MOST_ANCHORS]:
                if matches(pattern, path):
                    anchored = max(anchored, share * _anchor(pattern, path))
            for name in candidate.files:
                named = max(named, share * _naming(name, path.casefold().rstrip("/")))
        return anchored + named

    def _of_command(self, candidate: _Candidate) -> float:
        phrases = self._phrases & candidate.phrases
        options = self._options & candidate.options
        phrase = max((self._rarity("phrases", it) for it in phrases), default=0.0)
        option = sum(self._rarity("options", it) for it in options)
        return _PHRASE * phrase + _OPTION * min(option, _MOST_OPTIONS)

    def _of_topic(self, topic: _Reading, reading: _Reading) -> float:
        words = bool(topic.words) and topic.words <= reading.words
        # A particle may take the place of the last syllable.
        pairs = bool(topic.pairs) and len(topic.pairs - reading.pairs) <= (len(topic.pairs) > 1)
        return _TOPIC if words or pairs else 0.0

    def _of_words(
        self, candidate: _Candidate, reading: _Reading, source: str, counted: set[str]
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
            self._found[kind, term] = sum(term in _having(it, kind) for it in self._all)
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
        yield from (pair for pair in pairwise(words) if not _MEANINGLESS & {*pair})
