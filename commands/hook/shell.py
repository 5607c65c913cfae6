"""Reads which files a shell's command line edits: by redirections, programs and inline code.

Nothing is run, and every look is bounded. `core/data/shell_edits.jsonl` lists programs that edit
their files, always or with an option; `target`: the last file is the destination, and `keeps`: the
others stay.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache
from itertools import islice, pairwise, takewhile
from typing import Any, NamedTuple

from commands.hook.events import MOST_FILES, MOST_TEXT_CHARS
from core.data import rows

_MOST_DEPTH, _MOST_VALUES, _MOST_FOLDERS, _MOST_FOUND = 3, 20, 100, 1_000
_TOP = "$(git rev-parse --show-toplevel)"

_TOKEN = re.compile(
    r"(?P<skip>[ \t\r]++|\\\r?\n|(?<![^\s;&|(])#[^\n]*+)"
    r"|(?P<redirect>\d?(?:>>|>\||>&|<>|>)|&>>?|<<<|<<-?|<)"
    r"|(?P<end>&&|\|\||\|&|;;|[;|\n&()])"
    r"|(?P<word>(?:[^\s'\"\\;&|<>()$`]|\\.|'[^']*+'|\"(?:[^\"\\]|\\.)*+\"|\$\([^()\n]*+\)|[$`])++)"
    r"|.",
    re.S,
)
_QUOTED = re.compile(r"'([^']*+)'|\"((?:[^\"\\]|\\.)*+)\"|\\([^\w.])", re.S)
_ESCAPED = re.compile(r"\\([\"$`\\\n])")
_VARIABLE = re.compile(r"\$(?:\{(\w{1,80})\}|(\w{1,80}))")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.A | re.S)
_BRACES = re.compile(r"\{([^{},]*(?:,[^{},]*)+)\}")
_SEARCH = re.compile(r"\$\((?:grep|rg|ag|find|fd|ls|git ls-files) ([^()\n]+)\)")

# Words before the program that runs.
_WRAPPERS = frozenset(
    "sudo doas env time nice nohup timeout command exec builtin xargs parallel npx pnpm yarn bunx"
    " dlx uv uvx poetry pipenv pdm hatch run bundle export local declare then do else if while"
    " until ! {".split()
)
_FOLDERS = frozenset("cd pushd popd chdir set-location".split())
_SHELLS = frozenset("bash sh zsh dash ksh fish pwsh powershell eval".split())
_INTERPRETER = re.compile(r"(?:python|pypy)[\d.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|lua")
_CODE_OPTION = re.compile(r"-[a-z]*[cer]|--eval|-command", re.I)
# Arguments by which any program edits, or only looks.
_EDIT_OPTION = re.compile(
    r"--(?:in-?place|fix(?!-dry)|write|apply|auto-?fix|auto-?correct|overwrite|reformat)"
)
_EDIT_VERBS = frozenset("format fmt fix reformat".split())
_DRY_OPTIONS = frozenset("--check -check --diff --dry-run --check-only --fix-dry-run".split())

# Calls of code that writes files, and how it joins their names.
_WRITE_CALL = re.compile(
    r"(?<!stdout\.)(?<!stderr\.)writ|unlink|remov|renam|rmtree|truncat|append|dump|save|touch|shutil|put_contents|os\.replace"
    r"|Sync\(|['\"](?:[wax]b?t?\+?|r\+?b?\+)['\"]"
)
_JOINED = re.compile(r"['\"]\)?\s{0,9}/\s{0,9}['\"]")
_JOIN = re.compile(r"(?:join|Path)\(([^()\n]{1,300})\)")
_TEXT = re.compile(r"(['\"`])([^'\"`\s(){}<>=;,|&$]{1,300})\1")
_PATCHED = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?([^\t\n]+)", re.M)


class Edits(NamedTuple):
    """The edits of a command. text: new text, as far as the command holds it."""

    paths: tuple[str, ...] = ()
    text: str = ""


def edits_of(command: str, cwd: str, root: str) -> Edits:
    """Return the files that a command edits, as whole paths; read the disk only below `root`.

    >>> edits_of("echo 1 > a.txt", "/shop", "/shop")
    Edits(paths=('/shop/a.txt',), text='')
    """
    command, cwd = (re.sub("[\0\ud800-\udfff]", "", text) for text in (command, cwd))  # no path's
    shell = _Shell(cwd, root)
    shell.run(command)
    return Edits(tuple(islice(shell.paths, MOST_FILES)), "\n".join(shell.texts)[:MOST_TEXT_CHARS])


@cache
def _read_programs() -> Mapping[str, Mapping[str, Any]]:
    return {name: row for row in rows("shell_edits") for name in row["programs"].split()}


class _Part(NamedTuple):
    """One simple command. targets: of its output. texts: here-documents."""

    words: list[str]
    targets: list[str]
    texts: list[str]


class _Shell:
    """Follows a command line: its folder, its variables, the files that it edits."""

    def __init__(self, cwd: str, root: str) -> None:
        self._root = root.rstrip("/") + "/"
        self.paths, self.texts = dict[str, None](), list[str]()
        self._folder, self._old_folders = cwd, list[str]()
        self._variables: dict[str, list[str]] = {"PWD": [cwd]}
        self._scripts = dict[str, str]()  # the files that here-documents have made
        self._piped_files = list[str]()  # by the command before, which may hand them to `xargs`

    def run(self, command: str, depth: int = 0) -> None:
        command = command.replace("$(pwd)", "$PWD").replace(_TOP, self._root)
        for part in _commands_in(command) if depth <= _MOST_DEPTH else ():
            if part.words in (["("], [")"]):  # a subshell goes back to its folder
                self._move("pushd" if part.words == ["("] else "popd", ())
            else:
                self._run(part, depth)

    def _run(self, part: _Part, depth: int) -> None:
        for target in part.targets:
            self._note_edit(target)
        if part.targets:
            self.texts += part.texts
            self._scripts |= dict.fromkeys(part.targets, "\n".join(part.texts))
        name, words = self._parse([value for word in part.words for value in self._expand(word)])
        files = [word for word in words if not word.startswith(("-", "+"))]
        if "xargs" in part.words:
            files += self._piped_files
        self._piped_files = files
        code = [code for option, code in pairwise(words) if _CODE_OPTION.fullmatch(option)]
        if name == "find":
            self._run_find(words)
        elif name in _FOLDERS:
            self._move(name, files)
        elif name in _SHELLS:
            lines = [*code, *part.texts, *([" ".join(words)] if name == "eval" else ())]
            for line in lines:
                self.run(line, depth + 1)
        elif _INTERPRETER.fullmatch(name) and not _is_edit(name, words):
            script = self._scripts.get("".join(files[:1]), "")
            self._read_code("\n".join((*code, *part.texts, script)), files)
        elif name == "git":
            self._run_git(words, part.texts)
        elif _is_edit(name, words):
            if name in ("patch", "tee"):
                self._take_texts(part.texts)
            self._note_edits(name, words, files)

    def _parse(self, words: list[str]) -> tuple[str, list[str]]:
        """Return the program and its arguments; keep assigned variables."""
        if words[:1] == ["for"] and words[2:3] == ["in"]:
            self._variables[words[1]] = words[3:][:_MOST_VALUES]
            return "", []
        is_wrapped = False
        for index, word in enumerate(words):
            name = word.replace("\\", "/").rpartition("/")[2].casefold()
            name = name.removesuffix(".exe").partition("@")[0]  # a version may follow
            is_known = name in _read_programs() or name in _SHELLS or name == "git"
            if assignment := _ASSIGNMENT.fullmatch(word):
                self._variables[assignment[1]] = [assignment[2]]
            elif name in _WRAPPERS:
                is_wrapped = True
            elif _INTERPRETER.fullmatch(name) and words[index + 1 : index + 2] == ["-m"]:
                return "".join(words[index + 2 : index + 3]), words[index + 3 :]
            elif not is_wrapped or is_known or _INTERPRETER.fullmatch(name):
                return name, words[index + 1 :]
        return "", []

    def _expand(self, word: str) -> list[str]:
        if search := _SEARCH.fullmatch(word):
            return search[1].split()  # what it finds is there, or below it
        variable = _VARIABLE.search(word)
        values = self._variables.get(variable[1] or variable[2]) if variable else None
        if not variable or not values:
            return [word]
        return [word[: variable.start()] + value + word[variable.end() :] for value in values]

    def _move(self, name: str, files: Sequence[str]) -> None:
        if name == "pushd":
            self._old_folders.append(self._folder)
        if name == "popd":
            self._folder = self._old_folders.pop() if self._old_folders else self._folder
        elif files:
            self._folder = self._path_of(files[0])

    def _run_find(self, words: list[str]) -> None:
        """Note files that `find` deletes or hands to a program that edits, or to `xargs`."""
        folders = list(takewhile(lambda word: word[:1] not in ("-", "(", "!"), words)) or ["."]
        names = [word for option, word in pairwise(words) if option in ("-name", "-iname")] or ["*"]
        places = filter(self._is_inside, map(self._path_of, folders))
        files = (file for place in places for file in islice(_files_at(place), _MOST_FOUND))
        matches = [
            file for file in files if any(fnmatch(os.path.basename(file), name) for name in names)
        ]
        self._piped_files = matches if len(matches) <= MOST_FILES else []
        runs = words[words.index("-exec") + 1 :] if "-exec" in words else []
        if "-delete" in words or _is_edit(*self._parse(runs)):
            for file in self._piped_files:
                self._note_edit(file)

    def _run_git(self, words: list[str], texts: Sequence[str]) -> None:
        folder = self._folder
        while words and words[0].startswith("-"):
            if words[0] == "-C":
                self._folder = self._path_of("".join(words[1:2]))
            words = words[2 if words[0] in ("-C", "-c") else 1 :]
        verb, rest = "".join(words[:1]), words[1:]
        files = [word for word in rest if not word.startswith("-")]
        if verb in ("checkout", "restore"):
            named_files = rest[rest.index("--") + 1 :] if "--" in rest else files
            for file in named_files:  # a branch may look like a file
                if "--" in rest or self._is_there(self._path_of(file)):
                    self._note_edit(file)
        elif verb in ("rm", "mv"):
            self._note_edits(verb, rest, files)
        elif verb in ("apply", "am"):
            self._take_texts([*texts, *(self._scripts.get(file, "") for file in files)])
        self._folder = folder

    def _note_edits(self, name: str, words: Sequence[str], files: Sequence[str]) -> None:
        row = _read_programs().get(name, {})
        if "target" in row:
            *sources, target = files or [""]
            path = self._path_of(target)
            is_folder = target.endswith("/") or (self._is_there(path) and os.path.isdir(path))
            targets = [os.path.join(target, os.path.basename(source)) for source in sources]
            files = [*(targets if is_folder else [target]), *([] if "keeps" in row else sources)]
        elif name in ("sed", "gsed") and {"-e", "-f", "--expression"}.isdisjoint(words):
            files = [file for file in files if file][1:]  # the first is the script
        for file in files:
            self._note_edit(file.removeprefix("of=") if name == "dd" else file)

    def _read_code(self, code: str, arguments: Sequence[str]) -> None:
        """Take the files that inline code names or gets, if it writes any."""
        if not _WRITE_CALL.search(code):
            return
        names = [text for _, text in _TEXT.findall(_JOINED.sub("/", code))]
        names += ["/".join(text for _, text in _TEXT.findall(call)) for call in _JOIN.findall(code)]
        names += arguments if "argv" in code.lower() else []
        for file in names[: 2 * MOST_FILES]:
            if "/" in file or re.search(r"\.\w{1,10}\Z", file):
                self._note_edit(file)
        self.texts.append(code)

    def _take_texts(self, texts: Sequence[str]) -> None:
        """Take here-documents, and the files of a patch among them."""
        for file in _PATCHED.findall("\n".join(texts)):
            self._note_edit(file)
        self.texts += texts

    def _note_edit(self, word: str) -> None:
        """Note a file, or those of a pattern or folder unless they are many."""
        for value in self._expand(word):
            names = [value]  # those that braces stand for: `a`, `b` for `{a,b}`
            while len(names) < _MOST_VALUES and (braces := _BRACES.search(names[0])):
                head, tail = names[0][: braces.start()], names[0][braces.end() :]
                names = [*names[1:], *(f"{head}{part}{tail}" for part in braces[1].split(","))]
            for path in (self._path_of(name) for name in names if name):
                is_ours = self._is_inside(path)
                if (is_ours or not path.startswith("/dev/")) and len(self.paths) < MOST_FILES:
                    files = [*islice(_files_at(path) if is_ours else [path], MOST_FILES + 1)]
                    self.paths |= dict.fromkeys(files if len(files) <= MOST_FILES else [])

    def _is_inside(self, path: str) -> bool:
        return f"{path}/".startswith(self._root)

    def _is_there(self, path: str) -> bool:
        return self._is_inside(path) and os.path.lexists(path)

    def _path_of(self, word: str) -> str:
        name = word.replace("\\", "/") if "/" not in word else word
        return os.path.normpath(os.path.join(self._folder, os.path.expanduser(name)))


def _files_at(path: str) -> Iterator[str]:
    """Yield the files of a folder or pattern, or the path itself."""
    if os.path.isdir(path):
        for folder, folders, names in islice(os.walk(path), _MOST_FOLDERS):
            folders[:] = [name for name in folders if name != ".git"]
            yield from (os.path.join(folder, name) for name in names)
    elif re.search(r"[*?\[]", path) and not os.path.lexists(path):
        from glob import iglob

        yield from iglob(path)
    else:
        yield path


def _commands_in(command: str) -> list[_Part]:
    """Return the simple commands, each with its here-documents."""
    parts, documents = [_Part([], [], [])], list[tuple[_Part, str]]()
    redirect, position = "", 0
    while match := _TOKEN.match(command, position):
        token, position, part = match[0], match.end(), parts[-1]
        if match["redirect"]:
            redirect = token
        elif match["word"]:
            word = _QUOTED.sub(_unquote, token)
            if redirect in ("<<", "<<-"):
                documents.append((part, word))
            elif redirect.endswith((">", ">|")):
                part.targets.append(word)
            elif redirect in ("", "<<<"):
                (part.texts if redirect else part.words).append(word)
            redirect = ""
        elif match["end"]:
            for owner, end in documents if token == "\n" else ():
                pattern = re.compile(rf"^[ \t]*{re.escape(end)}[ \t]*\r?$", re.M)
                ending = pattern.search(command, position)
                owner.texts.append(command[position : ending.start() if ending else len(command)])
                position = ending.end() if ending else len(command)
            documents = [] if token == "\n" else documents
            parts += [_Part([token], [], [])] if token in "()" else []
            parts.append(_Part([], [], []))
    return parts


def _unquote(match: re.Match[str]) -> str:
    if match[2] is not None:
        return _ESCAPED.sub(r"\1", match[2])
    return match[1] if match[1] is not None else match[3]


def _is_edit(name: str, words: Sequence[str]) -> bool:
    if not _DRY_OPTIONS.isdisjoint(words):
        return False
    row = _read_programs().get(name)
    if row and (not row["option"] or any(re.match(row["option"], word) for word in words)):
        return True
    return "".join(words[:1]) in _EDIT_VERBS or any(map(_EDIT_OPTION.match, words))
