"""Makes repositories that want to run programs, and says which of these were started.

The table lists every way in which a repository or an environment can name a program that git
starts. A value may hold `{run}`, a program that leaves a mark and is named after the key;
`{run:NAME}`, one of another name; `{here}`, the folder of the traps; `{other}`, another repository.
"""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.support.git_clones import commit, compact, copied, git, made_once, new_project, save
from tests.support.samples import LATER
from tests.support.tables import table

TABLES = table("hostile_settings")
HOOKS = list(TABLES["hooks"])
ATTRIBUTES = """.context/memory_log.jsonl diff=log filter=log merge=log
code.command diff=command
"""


class Setting(NamedTuple):
    """One hostile key.

    fires: the words of a plain git that start the program, behind `tty` where it must believe that
    somebody looks; "" where no installed git or none without a person does. given: its input.
    """

    key: str
    value: str = "{run}"
    fires: str = ""
    given: str = ""


GROUPS = {name: [Setting(**it) for it in TABLES[name]] for name in ("programs", "process", "rest")}
GROUPS["hooks"] = [Setting(f"hook {name}", fires=it) for name, it in TABLES["hooks"].items()]
ENVIRONMENT = [Setting(**it) for it in TABLES["environment"]]
# How the remote from which a partial clone fetches a missing object may name a program.
PROMISORS = {name: list(pairs.items()) for name, pairs in TABLES["promisors"].items()}


def make_project(folder: Path) -> Path:
    """A repository with three gaps; one changed, two compacted; the last commits are signed.

    Its attributes lead to drivers that nobody has defined yet.
    """
    return made_once("hostile", _fill, folder)


def _fill(folder: Path) -> None:
    project = new_project(folder, "one", "two", "three")
    (project / ".git" / "info").mkdir(exist_ok=True)
    for path in (".gitattributes", ".git/info/attributes"):
        (project / path).write_text(ATTRIBUTES)
    for name in ("code", "code.command", "included", "included-if"):
        (project / name).write_text("1\n")
    (project / ".gitmodules").write_text('[submodule "part"]\n\tpath = part\n\turl = x\n')
    (project / "part").mkdir()
    head = git(project, "rev-parse", "HEAD").strip()
    git(project, "update-index", "--add", "--cacheinfo", f"160000,{head},part")
    commit(project, "code")
    git(project, "branch", "other")
    save("two", "changed", LATER)(project)
    commit(project, "change two")
    compact("rule", "one", "two")(project)
    for name in ("code", "code.command"):
        (project / name).write_text("2\n")
    commit(project, "compact")
    git(project, "checkout", "--quiet", "other")
    save("four")(project)
    commit(project, "save four")
    git(project, "checkout", "--quiet", "main")
    for kind in ("PGP SIGNATURE", "SSH SIGNATURE", "SIGNED MESSAGE"):  # a commit that says so
        commit(project, kind)
        head, _, message = git(project, "cat-file", "commit", "HEAD").partition("\n\n")
        signed = f"{head}\ngpgsig -----BEGIN {kind}-----\n \n x\n -----END {kind}-----\n\n{message}"
        file = project / ".git" / "signed"
        file.write_text(signed, newline="\n")
        name = git(project, "hash-object", "-t", "commit", "-w", str(file)).strip()
        git(project, "update-ref", "refs/heads/main", name)


@dataclass(frozen=True)
class Traps:
    """Programs that leave a mark when they are started. here: where they and the marks are."""

    here: Path

    def __post_init__(self) -> None:
        for name in ("programs", "marks"):
            (self.here / name).mkdir(parents=True)
        self.program("git-remote-hostile", mark="remote.helper.vcs")

    def program(self, name: str, *, mark: str = "") -> str:
        """The path of a new program; mark: the file that it leaves, if not its name."""
        path = self.here / "programs" / re.sub("[^A-Za-z0-9.-]", "_", name)
        left = self.here / "marks" / (mark or path.name)
        reading = "cat >/dev/null\n" if name.startswith("gpg.") else ""  # git insists on that
        path.write_text(f"#!/bin/sh\n: >{shlex.quote(str(left))}\n{reading}")
        path.chmod(0o755)
        return str(path)

    def filled(self, text: str, name: str, other: Path) -> str:
        """A value of a setting, with the program of this name."""
        for given, chosen in re.findall(r"(\{run(?::(\w+))?\})", text):
            text = text.replace(given, self.program(chosen or name))
        return text.replace("{here}", str(self.here)).replace("{other}", str(other))

    def taken(self) -> set[str]:
        """The marks left since the last time."""
        marks = set(os.listdir(self.here / "marks"))
        for mark in marks:
            (self.here / "marks" / mark).unlink()
        return marks

    def fires(self, setting: Setting, project: Path, environment: Mapping[str, str]) -> bool:
        """Whether a plain git starts the program of the setting in a copy of the project."""
        copy = copied(project, self.here / "copy")
        (copy / "code").write_text("3\n")
        words = shlex.split(setting.fires.replace("{other}", str(project)))
        _plain_git(copy, words, setting.given, environment)
        shutil.rmtree(copy)
        chosen = re.search(r"\{run:(\w+)\}", setting.key)
        mark = chosen[1] if chosen else re.sub("[^A-Za-z0-9.-]", "_", setting.key)
        return bool({mark, "planted"} & self.taken())

    def plant(self, folder: Path, project: Path) -> None:
        """Put into a folder of the tree files that git takes for a repository, with programs.

        It borrows the objects of the project and tells another history of it.
        """
        head, other = (git(project, "rev-parse", name).strip() for name in ("main", "other"))
        files = {
            "HEAD": "ref: refs/heads/main",
            "refs/heads/main": other,
            f"refs/replace/{head}": other,
            "objects/info/alternates": str((project / ".git" / "objects").resolve()),
        }
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"{text}\n")
        (folder / "hooks").mkdir()
        for name in HOOKS:
            shutil.copy(self.program(f"hook {name}"), folder / "hooks" / name)
        settings = {
            **{"core.repositoryformatversion": "1", "core.bare": "false", "core.worktree": ".."},
            **{"core.fsmonitor": self.program("planted"), "extensions.partialClone": "origin"},
            **{"remote.origin.url": "ssh://x.invalid/a", "core.sshCommand": self.program("ssh")},
        }
        _write(folder / "config", settings.items())


def poison(project: Path, traps: Traps, settings: Iterable[Setting], other: Path) -> None:
    """Put these settings into the repository of a project."""
    pairs = []
    for setting in settings:
        if setting.key.startswith("hook "):
            name = setting.key.removeprefix("hook ")
            program = traps.program(setting.key)
            (project / ".git" / "hooks").mkdir(exist_ok=True)
            shutil.copy(program, project / ".git" / "hooks" / name)
        else:
            texts = (setting.key, setting.value)
            pairs.append(tuple(traps.filled(text, setting.key, other) for text in texts))
    for name, key in (("included", "pager.tag"), ("included-if", "pager.branch")):
        mark = "include.path" if name == "included" else "includeIf.gitdir:/**.path"
        program = traps.program(mark)
        (project / name).write_text("")
        _write(project / name, [(key, program)])
    _write(project / ".git" / "config", pairs)


def _write(config: Path, pairs: Iterable[tuple[str, ...]]) -> None:
    """Put settings into a file as git has them; much faster than asking git for each."""
    with config.open("a", encoding="utf-8", newline="\n") as file:
        for key, value in pairs:
            section, _, name = key.partition(".")
            below, _, name = name.rpartition(".")
            head = f'{section} "{below}"' if below else section
            file.write(f'[{head}]\n\t{name} = "{value}"\n')


def _plain_git(project: Path, words: list[str], given: str, environment: Mapping[str, str]) -> None:
    """Carry out a command of git; behind `tty` it sees a terminal."""
    ours, theirs = os.openpty()
    is_seen = words[0] == "tty"
    output = theirs if is_seen else subprocess.PIPE
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            ["git", *(words[1:] if is_seen else words)],
            cwd=project,
            env=environment,
            input=given.encode(),
            stdout=output,
            stderr=output,
            timeout=20,
        )
    for end in (ours, theirs):
        os.close(end)
