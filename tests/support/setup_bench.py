"""Plans and writes what setup does, in a project and a home directory with files in them."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from commands.setup.client_machine import Machine, machine_of
from commands.setup.files import Installation, Job, Level, Tree
from commands.setup.here import installed, present_clients
from commands.setup.plan import Plan, plan
from core.config import CONTEXT_DIRECTORY
from core.lessons.rules import rules
from core.messages import Language

GOLDEN = Path(__file__).parents[2] / "tests" / "data" / "setup"
WITH_SESSIONS = "lessons", "sessions"
SUFFIX = ".golden"  # so that no client takes a file of the tests for its own


@dataclass(frozen=True)
class Bench:
    """A project, a home directory and an installation, all below one directory."""

    top: Path

    @property
    def root(self) -> Path:
        return self.top / "my 프로젝트"

    @property
    def home(self) -> Path:
        return self.top / "home"

    @property
    def tool(self) -> Path:
        return self.top / "도구 상자"

    @property
    def python(self) -> str:
        return str(self.tool / ".venv" / "bin" / "python")

    @property
    def machine(self) -> Machine:
        return self.machine_on("linux")

    def machine_on(self, platform: str) -> Machine:
        """This place, as if it were on that system."""
        where = {"server": self.tool / "server.py", "home": self.home}
        return machine_of(self.root, **where, environment={}, platform=platform)

    @property
    def installation(self) -> Installation:
        return installed((self.python,), str(self.tool), windows=False)

    def plan(
        self,
        *clients: str,
        remove: bool = False,
        rules: bool = True,
        hooks: bool = True,
        lang: Language = "en",
        chosen: Language | None = None,
        machine: Machine | None = None,
        installation: Installation | None = None,
        approvals: bool = True,
        level: Level = "project",
        tree: Tree | None = None,
        rooms: tuple[str, ...] | None = None,
        url: str = "",
        oauth: bool = False,
    ) -> Plan:
        """What setup would change for these clients."""
        machine = machine or self.machine
        job = Job(
            clients=clients,
            present=present_clients(machine),
            machine=machine,
            installation=installation or self.installation,
            lang=lang,
            chosen=chosen,
            remove=remove,
            rules=rules,
            hooks=hooks,
            approvals=approvals,
            level=level,
            tree=tree,
            rooms=rooms,
            url=url,
            oauth=oauth,
        )
        return plan(job)

    def do(
        self,
        *clients: str,
        remove: bool = False,
        rooms: tuple[str, ...] | None = None,
    ) -> Plan:
        """Plan and write."""
        planned = self.plan(*clients, remove=remove, rooms=rooms)
        for change in planned.changes:
            change.write(self.root)
        return planned

    def apply(self, client: str, *, chosen: Language) -> None:
        """Plan and write for one client, with a language that was asked for."""
        for change in self.plan(client, chosen=chosen).changes:
            change.write(self.root)

    def take(self, planned: Plan) -> None:
        """Have the files as planned, without the care of a real write, which waits for the disk."""
        for change in planned.changes:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            change.path.write_bytes((change.after or "").encode())
            if change.after is None:
                change.path.unlink()

    def put(self, files: Mapping[str, bytes | str]) -> None:
        """Write files; names begin with `root/` or `home/`."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def path(self, name: str) -> Path:
        directory, _, below = name.partition("/")
        return {"root": self.root, "home": self.home}[directory] / below

    def files(self) -> dict[str, bytes]:
        """Every file but those that every project gets, by a name as `put` takes it."""
        return {
            f"{name}/{path.relative_to(directory).as_posix()}": path.read_bytes()
            for name, directory in (("root", self.root), ("home", self.home))
            for path in sorted(directory.rglob("*"))
            if path.is_file() and path.parent.name != CONTEXT_DIRECTORY
        }

    def directories(self) -> list[Path]:
        return [path for path in sorted(self.root.rglob("*")) if path.is_dir()]

    def golden(self, client: str, case: str, state: str) -> dict[str, bytes]:
        """The files of a case as they stand in the folder of the tests."""
        folder = GOLDEN / client / case / state
        return {
            path.relative_to(folder).as_posix().removesuffix(SUFFIX): self.filled(path.read_bytes())
            for path in sorted(folder.rglob(f"*{SUFFIX}"))
        }

    def filled(self, data: bytes) -> bytes:
        """A golden file with the paths of this bench, and the rules, in their places."""
        for name, text in self.words().items():
            newline = b"\r\n" if b"\r\n" in data else b"\n"
            data = data.replace(name.encode(), text.encode().replace(b"\n", newline))
        return data

    def words(self) -> dict[str, str]:
        """What the names in golden files stand for; a longer text before one that it holds."""
        cli = str(self.tool / "cli.py")
        return {
            "@HOOK@": shlex.join([self.python, cli]) + " hook",
            "@PYTHON@": self.python,
            "@SERVER@": str(self.tool / "server.py"),
            "@NAMED@": shlex.join(["--project", str(self.root)]),
            "@PROJECT@": str(self.root),
            "@RULES_WITH_SESSIONS@": rules("en", WITH_SESSIONS).removesuffix("\n"),
            "@RULES@": rules("en").removesuffix("\n"),
        }


def cases() -> list[tuple[str, str]]:
    """Every client with each of its cases."""
    return [
        (client, case)
        for client in sorted(os.listdir(GOLDEN))
        if (GOLDEN / client).is_dir()
        for case in sorted(os.listdir(GOLDEN / client))
    ]
