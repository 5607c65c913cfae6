"""Reads and plays stories: text files of calls and commands, each with its answer.

A story is written like this, in `tests/stories/*.txt`:

    ## a topic filters exactly  [001 3-1]
    log_memory topic=auth missing_context=one lesson="rule for one"
    log_memory topic=auth-login missing_context=two lesson="rule for two"
    search_memory query="" topic=auth
    |

The heading states the property in one sentence, and names rows of the specifications. A step is
one line, and has to succeed unless it is marked. `python -m tests.stories.update FILE …` fills in
the answer wherever a line with a bare `|` stands, and later brings all recorded answers up to date:
read the difference before you commit it. A story records at most 25 lines; of a longer answer, and
for the point of any, write the texts that it has to contain.

    TOOL name=value …       a call; a value that reads as JSON is JSON, else a text
    read uri=URI            a resource; prompt name=NAME name=value … is a prompt
    $ COMMAND … [< INPUT]   a command of cli.py, in this process
    ! STEP                  the same, and it has to be refused
    | ANSWER                the answer to the step above, line by line; recorded
    ~ TEXT                  the answer above contains it; written, an update leaves it alone
    !~ TEXT                 the answer above does not contain it
    repeat N STEP           with {n} from 1 to N; the answer is the last one
    file PATH TEXT …        appends each text to the file, as a line
    cat PATH                the content of a file, or the names in a directory
    env NAME=VALUE          cd PATH                 # a comment
    git ARGUMENTS           and so chmod, ln, mkdir, mkfifo, readlink, rm, sed
    sh -c SCRIPT            where no other step will do, as short as it may be
    sql PATH STATEMENT …    a change of a database by another program; the rows
    as AGENT                the name of the client from here on
    shop LANG               the project of the documents' examples, in the place of an empty one

Words are split as a shell does it. `{x*500}` stands for that many x. Steps before the first heading
are done before each story of the file; `rooms NAMES` there names the rooms of the server, and
`long` says that its stories cost much.

Values that differ by day or by machine are masked in every answer: a day or moment is DATE, the
project DIR, the user's directory HOME, this checkout ROOT, its interpreter PYTHON, milliseconds N.
A version id is TOKEN1, the next one TOKEN2, a random id ID1; a later step may use the names of
places and ids.
A test that depends on the clock in any other way is no story.
"""

import difflib
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, NamedTuple, Protocol
from unittest import mock

import pytest

import cli
from tests.support.doc_shop import Shop
from tests.support.git_clones import git
from tests.support.tables import ROOT

MOST_RECORDED_LINES = 25
MOST_TOLD_CHARS = 2_000  # of an answer in which something is missing
DEFAULT_ROOMS = "lessons"
_ROW = re.compile(r"00[0-4] [A-Z0-9][\w.-]*|[PI]\d+")
_HEADING = re.compile(r"## (?P<name>.+?)(?:\s+\[(?P<rows>[^\[\]]+)\])?")
_TIMES = re.compile(r"\{([^{}]+)\*(\d+)\}")
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\+00:00|Z)?)?|\d{8}T\d{12}Z|(?<=\()(?:\d{4}/)?\d\d?/\d\d?(?=\))"
)
_MILLISECONDS = re.compile(r"\d+(?:[.,]\d+)?(?= ?ms\b)")
_NAMED = {
    "TOKEN": re.compile(r"\b[0-9a-f]{16}@[0-9a-f]{6}\b"),
    "ID": re.compile(
        r"\bctx_[0-9a-f]{12}\b"
        r"|(?:(?<=Remembered: )|(?<=기억했습니다: )|(?<=\"id\":\"))[a-z0-9]{8}\b"
    ),
    "FORMER": re.compile(r'(?<="former": \[")[0-9a-f]{6}(?="\])'),
}


class StoryError(Exception):
    """A story is malformed, or does not hold; the text names its file and line."""


class Answer(NamedTuple):
    text: str
    is_refused: bool = False


class Wire(Protocol):
    def call(self, agent: str, tool: str, arguments: dict[str, Any]) -> Answer:
        """Call a tool of the server of the project that is the working directory."""


@dataclass
class Step:
    """A line of a story and the lines below it that check its answer.

    words: without the `!` of a step that has to be refused. recorded: None where nothing is.
    parts: the texts that the answer has to contain, or not, by line.
    """

    place: str
    line: int
    text: str
    words: list[str]
    recorded: list[str] | None = None
    recorded_at: list[int] = field(default_factory=list)
    parts: list[tuple[int, bool, str]] = field(default_factory=list)


@dataclass
class Story:
    """One story, with the steps that come before each story of its file."""

    place: str
    name: str
    rows: list[str]
    rooms: str
    is_long: bool
    before: list[Step]
    steps: list[Step] = field(default_factory=list)

    @property
    def calls_a_tool(self) -> bool:
        return any(step.words[0] not in _STEPS for step in self.steps)

    @property
    def is_local(self) -> bool:
        """Whether a step needs the project's files, so that no server elsewhere will do."""
        return any(step.words[0] in _STEPS for step in (*self.before, *self.steps))


def read_stories(path: Path) -> list[Story]:
    """Return the stories of a file. Raises StoryError."""
    shown = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    stories: list[Story] = []
    before: list[Step] = []
    steps, rooms, is_long = before, DEFAULT_ROOMS, False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        place = f"{shown}:{number}"
        if line.startswith("## "):
            stories.append(_story(line, place, before, rooms, is_long))
            if stories[-1].name in (story.name for story in stories[:-1]):
                raise StoryError(f"{place}: there is another story of this name")
            steps = stories[-1].steps
        elif line.startswith(("|", "~ ", "!~ ")):
            if not steps or steps is before:
                raise StoryError(f"{place}: there is no step above this line")
            if line.startswith("|"):
                steps[-1].recorded = [*(steps[-1].recorded or ()), line[2:].rstrip()]
                steps[-1].recorded_at.append(number)
            else:
                sign, _, text = line.partition(" ")
                steps[-1].parts.append((number, sign == "~", text.strip()))
            recorded = sum(len(step.recorded or ()) for step in steps)
            if recorded > MOST_RECORDED_LINES:
                raise StoryError(
                    f"{place}: {recorded} recorded lines, {MOST_RECORDED_LINES} may be"
                )
        elif line.startswith("rooms ") and steps is before:
            rooms = line.removeprefix("rooms ").strip()
        elif line == "long" and steps is before:
            is_long = True
        elif line.strip() and not line.startswith("#"):
            steps.append(Step(place, number, line, _words_of(line, place)))
    return stories


def _story(line: str, place: str, before: list[Step], rooms: str, is_long: bool) -> Story:
    found = _HEADING.fullmatch(line.rstrip())
    rows = [row.strip() for row in found["rows"].split(",")] if found and found["rows"] else []
    if not found or not all(map(_ROW.fullmatch, rows)):
        raise StoryError(f"{place}: a heading reads `## a sentence  [001 3-1, 003 T9]`")
    return Story(place, found["name"], rows, rooms, is_long, before)


def _words_of(text: str, place: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise StoryError(f"{place}: {error}") from None
    words = words[1:] if words[:1] == ["!"] else words
    if words[:1] == ["repeat"]:
        words = words[2:] if words[1:2] and words[1].isdigit() else []
    is_call = words and all(re.match(r"\w+=", word) for word in words[1:])
    if not words or not (
        words[0] in _STEPS or (re.fullmatch(r"[a-z]+_?\w*", words[0]) and is_call)
    ):
        raise StoryError(f"{place}: this is no step: {text}")
    return words


class Player:
    """Plays the steps of one story in a project, over a wire."""

    def __init__(self, project: Path, home: Path, wire: Wire) -> None:
        self.project, self.home, self.wire, self.agent = project, home, wire, "tests"
        self._names: dict[str, str] = {}  # of the masked ids and places, by their values

    def play(self, step: Step) -> Answer:
        """Do a step and return its masked answer. Raises StoryError."""
        words = step.words
        for value, name in self._names.items():
            words = [re.sub(rf"\b{name}\b", value, word) for word in words]
        words = [_TIMES.sub(lambda it: it[1] * int(it[2]), word) for word in words]
        places = {"DIR": str(self.project), "HOME": str(self.home)}
        places |= {"ROOT": str(ROOT), "PYTHON": sys.executable}
        of_place = re.compile(rf"\b({'|'.join(places)})\b(?!=)")
        words = [of_place.sub(lambda it: places[it[1]], word) for word in words]
        times = re.match(r"(?:! )?repeat (\d+) ", step.text)
        for number in range(1, int(times[1]) + 1) if times else [0]:
            now = [word.replace("{n}", str(number)) for word in words]
            done = _STEPS.get(now[0], Player._call)(self, now) or Answer("")
            if done.is_refused != step.text.startswith("! "):
                wanted = "it succeeds" if not done.is_refused else "it is refused"
                raise StoryError(f"{step.place}: {wanted}: {step.text}\n{self._masked(done.text)}")
        return Answer(self._masked(done.text), done.is_refused)

    def _masked(self, text: str) -> str:
        places = [(self.project, "DIR"), (self.home, "HOME"), (ROOT, "ROOT")]
        text = text.replace(f"{sys.executable} {ROOT / 'cli.py'}", "python cli.py")
        for path, name in [*places, (Path(sys.executable), "PYTHON")]:
            text = text.replace(str(path), name)
        for kind, pattern in _NAMED.items():
            for value in pattern.findall(text):
                known = sum(name.startswith(kind) for name in self._names.values())
                self._names.setdefault(value, f"{kind}{known + 1}")
        for value, name in self._names.items():  # six digits may also stand within an id
            text = re.sub(rf"(?<![0-9a-z]){value}(?![0-9a-z])", name, text)
        return _MILLISECONDS.sub("N", _DATE.sub("DATE", text))

    def _call(self, words: list[str]) -> Answer:
        pairs = (word.partition("=") for word in words[1:])
        return self.wire.call(self.agent, words[0], {name: _value(text) for name, _, text in pairs})

    def _command(self, words: list[str]) -> Answer:
        given = ""
        if "<" in words:
            words, given = words[: words.index("<")], " ".join(words[words.index("<") + 1 :])
        return run_command(words[1:], given)

    def _file(self, words: list[str]) -> None:
        path = Path(words[1])
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write("".join(f"{text}\n" for text in words[2:]).encode())

    def _cat(self, words: list[str]) -> Answer:
        path = Path(words[1])
        if path.is_dir():
            return Answer("\n".join(sorted(it.name for it in path.iterdir())))
        if not path.exists():
            return Answer("(none)")
        return Answer(path.read_text(encoding="utf-8", errors="replace"))

    def _env(self, words: list[str]) -> None:
        name, _, value = words[1].partition("=")
        os.environ[name] = value

    def _program(self, words: list[str]) -> Answer:
        done = subprocess.run(words, capture_output=True, encoding="utf-8")
        return Answer(done.stdout + done.stderr, bool(done.returncode))

    def _sql(self, words: list[str]) -> Answer:
        try:
            with closing(sqlite3.connect(words[1])) as connection, connection:
                rows = [row for it in words[2:] for row in connection.execute(it)]
        except sqlite3.Error as error:
            return Answer(str(error), is_refused=True)
        return Answer("\n".join(" | ".join(map(str, row)) for row in rows))

    def _cd(self, words: list[str]) -> None:
        os.chdir(words[1])

    def _as(self, words: list[str]) -> None:
        self.agent = words[1]

    def _shop(self, words: list[str]) -> None:
        made = _shop_of(words[1])
        shutil.copytree(made / "shop", self.project, dirs_exist_ok=True)
        shutil.copytree(made / "home", self.home, dirs_exist_ok=True)
        os.environ["SENTINEL_MEMORY_FRAGMENTS"] = str(self.home / "memory.db")


_STEPS: dict[str, Callable[[Player, list[str]], Answer | None]] = {
    "$": Player._command,
    "file": Player._file,
    "cat": Player._cat,
    "env": Player._env,
    **dict.fromkeys("git chmod ln mkdir mkfifo readlink rm sed sh".split(), Player._program),
    "sql": Player._sql,
    "cd": Player._cd,
    "as": Player._as,
    "shop": Player._shop,
}


def run_command(words: list[str], given: str = "") -> Answer:
    """Run a command in this process. given: its input."""
    stdin = TextIOWrapper(BytesIO(given.encode()), encoding="utf-8")
    # A file, since a hook writes past the buffer.
    with TemporaryFile("w+", encoding="utf-8", newline="") as out:
        with redirect_stdout(out), redirect_stderr(out), mock.patch.object(sys, "stdin", stdin):
            try:
                status = cli.main(words)
            except SystemExit as error:
                status = int(str(error.code or 0))
        out.seek(0)
        said = out.read()
    if words[:1] == ["hook"] and said.startswith("{"):  # ASCII alone, which nobody can review
        said = json.dumps(json.loads(said), ensure_ascii=False)
    return Answer(said + (f"(status {status})\n" if status else ""), bool(status))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@cache
def _shops() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="shops-")


@cache
def _shop_of(lang: str) -> Path:
    """Return where the documents' shop of a language was made, with sessions and fragments."""
    folder = Path(_shops().name) / lang
    shop = Shop(folder, lang)
    shop.export_to(folder / "rooms.jsonl")
    with clean_environment(shop.root, shop.home):
        os.environ["SENTINEL_MEMORY_FRAGMENTS"] = str(shop.home / "memory.db")
        run_command(["import", str(folder / "rooms.jsonl"), "--yes"])
    git(shop.root, "repack", "-a", "-d", "--quiet")  # each story copies its files
    return folder


@contextmanager
def clean_environment(project: Path, home: Path) -> Iterator[None]:
    """Work in the project, without the environment of the user who runs the tests."""
    user = {"PATH": os.environ["PATH"], "HOME": str(home), "USERPROFILE": str(home), "TZ": "UTC"}
    terminal = {"COLUMNS": "80", "LANG": "C.UTF-8"}
    of_git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        of_git |= {f"GIT_{role}_NAME": "developer"}
        of_git |= {f"GIT_{role}_EMAIL": "developer@example.invalid"}
    before = Path.cwd()
    with mock.patch.dict(os.environ, {**user, **terminal, **of_git}, clear=True):
        os.chdir(project)
        _take_time_zone()
        try:
            yield
        finally:
            os.chdir(before)
    _take_time_zone()


def _take_time_zone() -> None:
    if hasattr(time, "tzset"):  # not on Windows
        time.tzset()


def play(story: Story, project: Path, home: Path, wire: Wire) -> list[Answer]:
    """Play a story and return the answer of each of its steps. Raises StoryError."""
    player = Player(project, home, wire)
    with clean_environment(project, home):
        for step in story.before:
            player.play(step)
        return [player.play(step) for step in story.steps]


def lines_of(answer: Answer) -> list[str]:
    """Return an answer as it is recorded; one empty line where it says nothing."""
    return [line.rstrip() for line in answer.text.rstrip("\n").split("\n")]


def missing_parts(step: Step, answer: Answer) -> list[str]:
    """Return the `~` and `!~` lines that an answer does not satisfy, each with its place."""
    path, shown = step.place.rpartition(":")[0], answer.text[:MOST_TOLD_CHARS]
    return [
        f"{path}:{number}: {'not ' if wanted else ''}in the answer: {text}\n{shown}"
        for number, wanted, text in step.parts
        if (text in answer.text) != wanted
    ]


def check(story: Story, answers: list[Answer]) -> None:
    """Compare the answers with the lines of the story. Raises StoryError."""
    told: list[str] = []
    for step, answer in zip(story.steps, answers, strict=True):
        told += missing_parts(step, answer)
        now = lines_of(answer)
        if step.recorded is not None and step.recorded != now:
            lines = difflib.unified_diff(step.recorded, now, "recorded", "answered", lineterm="")
            told.append("\n".join([f"{step.place}: {step.text}", *lines]))
    if told:
        raise StoryError("\n\n".join(told))


def held(story: Story, project: Path, home: Path, wire: Wire) -> list[Answer]:
    """Return the answers, or fail the test with the differences alone, without a trace."""
    try:
        answers = play(story, project, home, wire)
        check(story, answers)
        return answers
    except StoryError as error:
        told = str(error)
    pytest.fail(told, pytrace=False)
