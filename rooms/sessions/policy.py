"""Says which command lines are recorded: those that run something included and not excluded.

Pure. A command is known by its leading words (`npm test`). Options may stand between these, and
what merely starts it, as `sudo` or `time`, does not count.
"""

import re
from collections.abc import Iterator, Sequence

MOST_CHARS = 16_000  # of a command line, which are looked at
_MOST_SHELLS = 3  # one within another: sh -c "sh -c …"

_PIECE = re.compile(
    r"""(?P<end>[;&|\n()]++)|(?P<note>\#[^\n]*+)"""
    r"""|(?P<word>(?:[^\s;&|()<>'"`\\]|\\.|'[^']*+'|"(?:[^"\\]|\\.)*+")++)|.""",
    re.DOTALL,
)
_HERE = re.compile(r"""(?<!<)<<-?\s*+(["']?)([A-Za-z_]\w*+)\1""")
_QUOTED = re.compile(r"""\\(.)|'([^']*+)'|"((?:[^"\\]|\\.)*+)\"""", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*+\+?=")
_ENDING = re.compile(r"\.(?:exe|cmd|bat)\Z", re.I)
_VERSION = re.compile(r"(?<=[A-Za-z])[0-9]++(?:\.[0-9]++)*+\Z")  # python3.11 is python, too
# What stands before the command that is really run, with those of its options that take a value.
_WRAPPERS = {
    **dict.fromkeys("command exec builtin nohup time then do else if while until ! {".split(), ""),
    "sudo": "-u -g -h -p -C -D -R -T",
    "doas": "-u -C",
    "env": "-u -C",
    "nice": "-n",
    "timeout": "-k -s",
    "xargs": "-n -I -P -L -d",
}
_WITH_LINE = re.compile(r"-(?!-).*c", re.DOTALL)  # an option of a shell before a line to run
_SHELLS = frozenset("sh bash zsh dash ksh".split())


def is_recorded(line: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Return whether a command line runs something to record.

    include, exclude: leading words of commands; no `include` stands for all. A command that both
    name is excluded.
    """
    wanted, unwanted = ([name.split() for name in names] for names in (include, exclude))
    for command in commands_in(line):
        is_wanted = not wanted or any(_leads(name, command) for name in wanted)
        if is_wanted and not any(_leads(name, command) for name in unwanted):
            return True
    return False


def commands_in(line: str, shells: int = _MOST_SHELLS) -> Iterator[list[str]]:
    """Yield the words of each simple command of a line, its program first, by its bare name."""
    for words in _simple(_without_here_documents(line[:MOST_CHARS])):
        words = _unwrapped(words)
        if not words:
            continue
        words[0] = _ENDING.sub("", re.split(r"[/\\]", words[0])[-1])
        at = next((at for at, word in enumerate(words[:4]) if _WITH_LINE.fullmatch(word)), 0)
        if words[0] in _SHELLS and at and shells:
            yield from commands_in(" ".join(words[at + 1 :]), shells - 1)
        else:
            yield words


def _simple(line: str) -> Iterator[list[str]]:
    """Yield the words between the signs that part commands; what is quoted is one word."""
    words = list[str]()
    for piece in _PIECE.finditer(line):
        if piece["word"]:
            words.append(_QUOTED.sub(lambda it: it[1] or it[2] or it[3] or "", piece["word"]))
        elif piece["end"]:
            yield words
            words = []
    yield words


def _without_here_documents(line: str) -> str:
    """Return the lines of a command without those that are the input of one."""
    kept, end = list[str](), ""
    for text in line.split("\n"):
        if end:
            end = "" if text.strip() == end else end
            continue
        kept.append(text)
        found = _HERE.search(text)
        end = found[2] if found else ""
    return "\n".join(kept)


def _unwrapped(words: Sequence[str]) -> list[str]:
    """Return the words from the command on that is really run."""
    left = list(words)
    while left:
        if _ASSIGNMENT.match(left[0]):
            del left[0]
            continue
        name = left[0].rpartition("/")[2]
        if name not in _WRAPPERS:
            break
        with_value = _WRAPPERS[name].split()
        del left[0]
        while left and left[0].startswith("-"):
            del left[: 2 if left[0] in with_value else 1]
        if name == "timeout":
            del left[:1]  # how long
    return left


def _leads(name: Sequence[str], command: Sequence[str]) -> bool:
    """Return whether a command begins with the words of a name, its options aside."""
    if not name or name[0] not in (command[0], _VERSION.sub("", command[0])):
        return False
    at = 1
    for word in name[1:]:
        while at < len(command) and command[at] != word:
            before = command[at - 1]
            is_value = at > 1 and before.startswith("-") and "=" not in before
            if not command[at].startswith("-") and not is_value:
                return False
            at += 1
        if at == len(command):
            return False
        at += 1
    return True
