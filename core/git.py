"""Asks git, only to read: it starts no other program, asks nobody, takes no lock, fetches nothing.

The repository may be a stranger's: every setting that names a program is overridden. A tree may
hold a fake git directory: only the first call looks for one, none is taken from inside the tree,
and every other call names it.
"""

import io
import math
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from core.config import CONTEXT_DIRECTORY
from core.errors import LogMissingError, SentinelError
from core.messages import say
from core.text.plain import normal_form

TIMEOUT_S = 120
WAIT_S = 2  # for a question of a save or a hook that only adds a sentence
READ_AT_ONCE = 16  # objects: few processes, and few files in memory
SHORT_DIGITS = 10  # of a commit's name, for people

# Where lessons themselves stand, the log and the rules of clients: no files of the project.
LESSON_FILES = (
    *(f"{CONTEXT_DIRECTORY}/**", ".cursor/**", ".claude/**", ".github/instructions/**"),
    *("AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"),
    *(".cursorrules", ".github/copilot-instructions.md"),
)
# A git that is too old to know a setting ignores it.
# fmt: off
_SAFE_SETTINGS = (
    # would start a program
    "core.fsmonitor=false", f"core.hooksPath={os.devnull}", "log.showSignature=false",
    "core.sshCommand=", "core.askPass=", "core.alternateRefsCommand=", "credential.helper=",
    "submodule.recurse=false", "protocol.allow=never",
    # a directory of the work tree that looks like a repository is none
    "safe.bareRepository=explicit",
    # would change the output of git
    "core.quotepath=off", "core.warnAmbiguousRefs=true", "i18n.logOutputEncoding=UTF-8",
    "log.showRoot=true", "log.diffMerges=separate", "log.follow=false",
    "diff.relative=false", "diff.renameLimit=1000", f"diff.orderFile={os.devnull}",
)
# fmt: on
# Where the user's own settings are, and how far up git looks. Any other one, set by a hook of git
# for one, would name other repositories, other files or programs.
_KEPT_VARIABLES = {
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
    *("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"),
}
_SET_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "",  # beats protocol.NAME.allow, which protocol.allow does not
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_BARE_REFUSAL = b"safe.bareRepository"  # in the refusal of a git that knows this setting
# The sentence of git on a missing or damaged object names it, or has one of these words.
_MISSING_OBJECT = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{40}|(?<![\w/\\.-])objects?\b(?! format)"
    r"|packfile|promisor|revision walk|not a valid commit|transport .{0,64} not allowed",
    re.IGNORECASE,
)
_REASON_CHARS = 300

_Result = subprocess.CompletedProcess[bytes]


class HistoryError(SentinelError, LookupError):
    """Git cannot be asked, it lacks a version, or an argument names none. notes: reasons."""

    table = "git"

    def __init__(self, key: str, /, *notes: str, **facts: str | int) -> None:
        super().__init__(key, **facts)
        self.notes = notes

    def sentence(self) -> str:
        return " ".join([super().sentence(), *(say(f"git.{note}") for note in self.notes)])


# Calling git.


def find_git() -> str:
    """Return the path of git, "" where it is not installed."""
    # Of the PATH only absolute directories: the current one may be a stranger's.
    name = "git.exe" if os.name == "nt" else "git"
    paths = (os.path.join(folder, name) for folder in filter(os.path.isabs, os.get_exec_path()))
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), "")


def build_environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT_VARIABLES or not name.startswith("GIT_")
    } | _SET_VARIABLES


def run(
    folder: Path,
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout_s: float = TIMEOUT_S,
) -> _Result:
    """Call git in `folder`; the return code says whether it failed.

    variables: of the environment. stdin: its input. Raises HistoryError where git is not installed
    or too slow.
    """
    try:
        return subprocess.run(
            _command_line(*arguments),
            cwd=folder,
            env={**build_environment(), **(variables or {})},
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise HistoryError("git_slow", seconds=round(timeout_s)) from None
    except OSError as error:
        raise HistoryError("no_git") from error


def _command_line(*arguments: str) -> list[str]:
    settings = [*_SAFE_SETTINGS]
    for name, key in os.environ.items():
        if name.startswith("GIT_CONFIG_KEY_") and key.lower() == "safe.directory":
            # a container may have no other place for it
            settings.append(f"{key}={os.environ.get(name.replace('KEY', 'VALUE'), '')}")
    options = [part for setting in settings for part in ("-c", setting)]
    git = find_git()
    if not git:
        raise HistoryError("no_git")
    return [git, "--no-pager", *options, *arguments]


# The repository.


class WorkTree:
    """The git work tree that a folder is in. Its methods raise HistoryError where git fails.

    folder: where git is started. git_directory: the repository's. top: where the work tree begins.
    All are absolute. prefix: the folder from the top, with `/` and one at its end, "" at the top.
    """

    def __init__(self, folder: Path, *, deadline_s: float = math.inf) -> None:
        """Find the work tree of `folder`, which exists. Raises HistoryError, also without one.

        deadline_s: of the monotonic clock.
        """
        self.folder = Path(os.path.abspath(folder))
        self._deadline_s = deadline_s
        place = Path(os.path.realpath(folder))
        while True:
            result = run(place, "rev-parse", "--absolute-git-dir", timeout_s=self._timeout_s())
            if place.parent == place or not _is_planted(result, place):
                break
            place = place.parent
        if result.returncode and b"not a git repository" not in result.stderr:
            raise failure_of(result.stderr)
        self.git_directory = _line_of(result)
        top = _line_of(run(place, "rev-parse", "--show-toplevel", timeout_s=self._timeout_s()))
        self.top = Path(top)
        self._options = (f"--git-dir={self.git_directory}", f"--work-tree={self.top}")
        self._index: dict[str, str] = {}
        if index_path := os.environ.get("GIT_INDEX_FILE"):
            # Git made one for the hook running now: `git commit --all` and `git commit FILE` do not
            # put their content into the usual one. It counts if it is of this repository.
            index = Path(os.path.realpath(self.top / index_path))
            if index.is_relative_to(os.path.realpath(self.git_directory)):
                self._index = {"GIT_INDEX_FILE": str(index)}
        is_inside = self.folder.resolve().is_relative_to(Path(self.git_directory).resolve())
        question = ("rev-parse", "--is-inside-work-tree", "--show-prefix")
        answer = self.ask(*question) if top and not is_inside else b""
        flag, _, prefix = answer.partition(b"\n")
        if flag != b"true":
            reason = _cause_in(result.stderr) if result.returncode else ""
            raise HistoryError("no_repository", path=str(folder), reason=reason)
        self.prefix = os.fsdecode(prefix.removesuffix(b"\n"))

    def ask(self, *arguments: str, stdin: bytes = b"") -> bytes:
        result = self.run(*arguments, stdin=stdin)
        if result.returncode:
            raise failure_of(result.stderr)
        return result.stdout

    def run(self, *arguments: str, stdin: bytes = b"") -> _Result:
        return run(
            self.folder,
            *self._options,
            *arguments,
            variables=self._index,
            stdin=stdin,
            timeout_s=self._timeout_s(),
        )

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                _command_line(*self._options, *arguments),
                cwd=self.folder,
                env={**build_environment(), **self._index},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise HistoryError("no_git") from error

    def _timeout_s(self) -> float:
        return min(TIMEOUT_S, self._deadline_s - time.monotonic())


def _is_planted(result: _Result, place: Path) -> bool:
    """Return whether a directory at or above `place` is itself a repository."""
    if result.returncode:
        return _BARE_REFUSAL in result.stderr
    directory = Path(_line_of(result))
    return directory.name != ".git" and directory in (place, *place.parents)


def _line_of(result: _Result) -> str:
    return os.fsdecode(result.stdout.removesuffix(b"\n"))


def failure_of(stderr: bytes, *, is_lacking: bool = False) -> HistoryError:
    is_lacking = is_lacking or bool(_MISSING_OBJECT.search(stderr.decode("utf-8", "replace")))
    return HistoryError("objects_missing" if is_lacking else "git_failed", reason=_cause_in(stderr))


def _cause_in(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines() or ["?"]
    return next((line for line in lines if line.startswith("fatal:")), lines[-1])[:_REASON_CHARS]


class Entry(NamedTuple):
    """A path in a commit or in the index. stage: "0" outside of an open conflict."""

    mode: str
    blob: str
    stage: str

    @property
    def is_link(self) -> bool:
        return self.mode == "120000"


class Repository(WorkTree):
    """The work tree that a file is in, with its history. Every method raises HistoryError.

    path: the file from the top, with `/`. is_cut: a shallow clone, without older commits. has_head:
    the branch that is checked out has a commit. notes: of a HistoryError for what git may lack.
    """

    def __init__(self, target: Path, *, deadline_s: float = math.inf) -> None:
        """Find the repository of `target`, which need not exist. deadline_s: as of `WorkTree`."""
        folder = next(folder for folder in target.parents if folder.is_dir())
        super().__init__(folder, deadline_s=deadline_s)
        self._relative_path = target.relative_to(folder).as_posix()
        self.path = self.prefix + self._relative_path
        self.is_cut = self.ask("rev-parse", "--is-shallow-repository") == b"true\n"
        self.notes = ("cut",) if self.is_cut else ()
        self.has_head = not self.run("rev-parse", "--verify", "--quiet", "HEAD").returncode
        if not self.has_head:
            self.ask("rev-list", "--max-count=1", "--all")  # fails where a branch cannot be read

    @property
    def is_ignored(self) -> bool:
        return not self.run("check-ignore", "--quiet", "--", self._relative_path).returncode

    @property
    def is_filtered(self) -> bool:
        """Whether git keeps the file in another form, encrypted for example."""
        value = self.ask("check-attr", "-z", "filter", "--", self._relative_path).split(b"\0")[2]
        return value not in (b"unspecified", b"unset")

    def blob_in(self, commit: str, path: str = "") -> str:
        """Return the object name of the file in a commit, "" without one or for a link.

        commit: "" for the index, which raises HistoryError while it holds an open conflict.
        """
        entries = self.read_entries(commit, path or self.path)
        if len(entries) > 1 or any(entry.stage != "0" for entry in entries):
            raise HistoryError("unmerged", path=self.path)
        return next((entry.blob for entry in entries if entry.mode.startswith("100")), "")

    def read_entries(self, commit: str, *paths: str) -> list[Entry]:
        """Return the entries of these paths from the top. commit: "" for the index."""
        pathspecs = map(pathspec_of, paths)
        if commit:
            output = self.ask("ls-tree", "-z", "--full-tree", commit, "--", *pathspecs)
        else:
            output = self.ask("ls-files", "-z", "--stage", "--", *pathspecs)
        entries = []
        for line in filter(None, output.split(b"\0")):
            mode, second, third = line.partition(b"\t")[0].decode("ascii").split()
            # in a commit: mode, kind, name; in the index: mode, name, stage
            entries.append(Entry(mode, third, "0") if commit else Entry(mode, second, third))
        return entries

    def read_contents(self, blobs: Iterable[str]) -> Iterator[bytes]:
        """Yield the content of each object, b"" for one that is no file."""
        names = list(blobs)
        for start in range(0, len(names), READ_AT_ONCE):
            group = names[start : start + READ_AT_ONCE]
            request = "".join(f"{name}\n" for name in group).encode("ascii")
            output = io.BytesIO(self.run("cat-file", "--batch", stdin=request).stdout)
            for name in group:
                header = output.readline().split()  # name, kind, bytes; or name and error
                size = int(header[2]) if len(header) == len(("name", "kind", "bytes")) else -1
                data = output.read(size + 1)
                if len(data) <= size or size < 0:
                    raise HistoryError("objects_missing", reason=f"cat-file {name[:SHORT_DIGITS]}")
                yield data[:-1] if header[1] == b"blob" else b""


def pathspec_of(path: str) -> str:
    """Return a path from the top for git, none of its signs a pattern."""
    return f":(top,literal){path}"


# The files of the project.

_PROJECT_FILES = (".", *(f":(exclude,glob)**/{pattern}" for pattern in LESSON_FILES))


def list_files(root: Path) -> list[str]:
    """Return the files below `root` that git tracks or would take up: paths from there, in NFC.

    [] without a repository or git, also where it needs more than WAIT_S.
    """
    with suppress(HistoryError, OSError):
        tree = WorkTree(root, deadline_s=time.monotonic() + WAIT_S)
        return _names_in(tree.ask("ls-files", "-z", "--cached", "--others", "--exclude-standard"))
    return []


def files_with(texts: Sequence[str], root: Path) -> tuple[list[list[str]], int]:
    """Return for each text its files in the index, less LESSON_FILES, and the count of all files.

    No file of the work tree is opened. None of 0 where `list_files` has none.
    """
    try:
        tree = WorkTree(root, deadline_s=time.monotonic() + WAIT_S)
        tracked_names = _names_in(tree.ask("ls-files", "-z", "--", *_PROJECT_FILES))
        options = ("--cached", "--no-color", "-z", "-l", "-F")
        results = [tree.run("grep", *options, "-e", text, "--", *_PROJECT_FILES) for text in texts]
    except (HistoryError, OSError):
        return [[] for _ in texts], 0
    return [_names_in(result.stdout) for result in results], len(tracked_names)


def _names_in(output: bytes) -> list[str]:
    names = sorted({name for name in output.split(b"\0") if name})
    return [normal_form("NFC", name.decode("utf-8", "replace")) for name in names]


# The memory log.


def is_uncommitted(log_path: Path, read: Callable[[], bytes]) -> bool:
    """Return whether git would take up the log, but the last commit lacks its present state.

    False where git does not know within WAIT_S. Git is not asked for the state of its work tree,
    since it may then run a filter that the repository names: it compares the bytes that it is sent.
    """
    target = Path(os.path.realpath(log_path))
    with suppress(SentinelError, OSError):
        repository = Repository(target, deadline_s=time.monotonic() + WAIT_S)
        head_blob = repository.blob_in("HEAD") if repository.has_head else ""
        if not head_blob:
            return not repository.is_ignored
        content, hash_object = read(), ("hash-object", "--stdin", "--no-filters")
        contents = {content, content.replace(b"\r\n", b"\n")}  # maybe the line ends of Windows here
        blobs = [repository.ask(*hash_object, stdin=data).decode().strip() for data in contents]
        return head_blob not in blobs and not repository.is_filtered
    return False


def is_ignored(log_path: Path) -> bool:
    """Return whether git ignores the log; False where git does not know within WAIT_S."""
    project, name = log_path.parents[1], f"{log_path.parent.name}/{log_path.name}"
    with suppress(SentinelError, OSError):
        if _may_be_in_git(project):
            tree = WorkTree(project, deadline_s=time.monotonic() + WAIT_S)
            return not tree.run("check-ignore", "--quiet", "--", name).returncode
    return False


def _may_be_in_git(project: Path) -> bool:
    folders = (project, *project.resolve().parents)
    return any(os.path.lexists(folder / ".git") for folder in folders)


def check_missing(log_path: Path) -> None:
    """Raise LogMissingError where git has the log and the file is not there.

    Without its folder, the log of a folder above counts as well, up to the top: nobody can see then
    that the project begins there. A log that git does not know within WAIT_S is a new one.
    """
    project = log_path.parents[1]
    if not _may_be_in_git(project):
        return  # most plain directories: git need not be asked
    if os.path.lexists(log_path) or os.path.islink(log_path.parent):  # a link has its own errors
        return
    try:
        tree = WorkTree(project, deadline_s=time.monotonic() + WAIT_S)
        folders = tree.prefix.split("/")[:-1]
        least = len(folders) if os.path.isdir(log_path.parent) else 0
        parts = [log_path.parent.name, log_path.name]
        names = ["/".join([*folders[:n], *parts]) for n in range(len(folders), least - 1, -1)]
        tags = _tags_of(tree, names)
        log = next((name for name in names if name in tags or os.path.lexists(tree.top / name)), "")
        if not log or os.path.lexists(tree.top / log):
            return
        key, command = _remedy_for(tree, log, tags[log])
    except (SentinelError, OSError):
        return
    if not os.path.lexists(log_path):  # git may have been writing it
        raise LogMissingError(key, path=str(tree.top), log=shlex.quote(log), command=command)


def _tags_of(tree: WorkTree, names: Iterable[str]) -> dict[str, str]:
    """Return by file how `ls-files -v` marks it; "" without a checkout."""
    paths = [pathspec_of(name) for name in names]
    if not os.path.exists(os.path.join(tree.git_directory, "index")):
        output = tree.ask("ls-tree", "-z", "--name-only", "--full-tree", "HEAD", "--", *paths)
        return {os.fsdecode(name): "" for name in output.split(b"\0") if name}
    output = tree.ask("ls-files", "-z", "-v", "--full-name", "--", *paths)
    entries = [os.fsdecode(entry) for entry in output.split(b"\0") if entry]
    return {entry[2:]: entry[0].upper() for entry in entries}


def _remedy_for(tree: WorkTree, name: str, tag: str) -> tuple[str, str]:
    restore = shlex.join(["git", "restore", name])
    if not tag:
        return "log_not_checked_out", "git checkout"
    if tag == "M":
        entries = tree.ask("ls-files", "-z", "--unmerged", "--", pathspec_of(name)).split(b"\0")
        stages = {entry.partition(b"\t")[0][-1:] for entry in entries}  # 2 is ours, 3 theirs
        side = "--theirs" if b"2" not in stages else "--merge" if b"3" in stages else "--ours"
        return "log_deleted", shlex.join(["git", "checkout", side, "--", name])
    if tag != "S":
        return "log_deleted", restore
    result = tree.run("config", "--type=bool", "--get", "core.sparseCheckout")
    if result.stdout.strip() == b"true":
        folder = name.rpartition("/")[0]
        return "log_sparse", shlex.join(["git", "sparse-checkout", "add", folder])
    unskip = shlex.join(["git", "update-index", "--no-skip-worktree", name])
    return "log_passed_over", f"{unskip} && {restore}"
