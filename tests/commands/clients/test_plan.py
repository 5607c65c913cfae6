"""Tests the changes that setup plans for the files of clients, and the files it leaves alone."""

import json
import re
import sys
import tomllib
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from commands.clients.entries import checked_url
from commands.clients.files import Plan, Remark, Tree
from commands.clients.machine import installation_in
from commands.clients.merge import BEGIN, END, MARK
from commands.clients.plan import handler_of
from commands.clients.table import CLIENTS, KEY_VARIABLE, LEVELS, TEAM_ENTRY, UNGRANTED, Level
from commands.clients.table import client_of as row_of
from commands.clients.text_file import ExportError
from core.errors import RefusedError
from core.lessons.briefing import front_matter, rules_for
from tests.commands.clients.conftest import WITH_SESSIONS, Bench
from tests.support.cli_process import Run
from tests.support.costly import enough, one_in
from tests.support.documents import blocks, text_of
from tests.support.faults import tree
from tests.support.sentences import LANGUAGES, sentence
from tests.support.tables import table, with_tuples

ROWS, LIVES = table("commands/plan"), table("commands/setup_lives")
KEYS = [client.key for client in CLIENTS]
TAKING_URLS = [client for client in CLIENTS if client.http]
LOCAL = "root/.claude/settings.local.json"
URL = "https://memory.example.com/mcp"
IMPORT = f"{BEGIN}\n@AGENTS.md\n{END}\n"


def rules_in(bench: Bench) -> dict[str, str]:
    """The files of the project that can hold rules."""
    return {
        name.removeprefix("root/"): data.decode()
        for name, data in bench.files().items()
        if name.endswith((".md", ".mdc")) and name.startswith("root/")
    }


class Life:
    """Sets up clients on a bench. A step of a table is the name of a method, with its arguments."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._kept = dict[str, bytes]()
        self._signs = {
            "{root}": str(bench.root),
            "{home}": str(bench.home),
            "{top}": str(bench.top),
            "{python}": bench.python,
            "{server}": str(bench.tool / "server.py"),
            "{url}": URL,
            "{mark}": MARK,
            "{rules}": f"{BEGIN}\n{rules_for('en')}{END}\n",
            "{first rule}": rules_for("en").splitlines()[0],
            "{old rule}": f"{front_matter('en')}\n{BEGIN}\n{rules_for('en')}{END}\n",
            "{rules ko}": f"{BEGIN}\n{rules_for('ko')}{END}\n",
            "{import}": IMPORT,
            "{import from below}": f"{BEGIN}\n@../AGENTS.md\n{END}\n",
            "{rules alone}": rules_for("en"),
            "{by hand}": text_of(".cursorrules"),
            "{by hand ko}": blocks(text_of("docs/cursorrules.ko.md"), "text")[0],
            "{only where kept}": sentence("ko", "setup.only_where_kept"),
        }

    def live(self, name: str, *arguments: Any) -> None:
        """Carry out one step; its signs are filled in before."""
        getattr(self, name)(*self.filled(arguments))

    def filled(self, found: Any) -> Any:
        """These values, with the text of each sign in its place."""
        text = json.dumps(found, ensure_ascii=False)
        for sign, meaning in self._signs.items():
            text = text.replace(sign, json.dumps(meaning, ensure_ascii=False)[1:-1])
        return json.loads(text)

    def put(self, files: dict[str, Any]) -> None:
        self._bench.put(files)

    def link(self, name: str, target: str) -> None:
        self._bench.path(name).symlink_to(target)

    def mode(self, name: str, mode: str) -> None:
        self._bench.path(name).chmod(int(mode, 8))

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text everywhere in a file, as by hand."""
        data = self._bench.path(name).read_bytes()
        assert old.encode() in data
        self._bench.put({name: data.replace(old.encode(), new.encode())})

    def do(self, clients: str, asked: Any = None, said: Any = None) -> None:
        """Plan and write; said: the problems, notes and changes of the plan."""
        self._check(self._bench.do(*clients.split(), **self._job(asked)), said or {})

    def plan(self, clients: str, asked: Any, said: Any) -> None:
        self._check(self._bench.plan(*clients.split(), **self._job(asked)), said)

    def settled(self, clients: str, asked: Any = None) -> None:
        assert self._bench.plan(*clients.split(), **self._job(asked)).changes == []

    def paste(self, name: str, client: str, text: str, key: str) -> None:
        """Replace a file by this text; the block to be pasted is then its former content."""
        fresh = self._bench.path(name).read_text("utf-8")
        self._bench.put({name: text})
        [problem] = self._bench.plan(client).problems
        assert (problem.key, f"{problem.facts['block']}".rstrip()) == (key, fresh.rstrip())

    def remember(self) -> None:
        self._kept = self._bench.files()

    def back(self) -> None:
        self._bench.put(self._kept)

    def same(self) -> None:
        """Check that every file is as it was at `remember`."""
        assert self._bench.files() == self._kept

    def files(self, *names: str) -> None:
        assert [*self._bench.files()] == [*names]

    def texts(self, texts: dict[str, str]) -> None:
        """Check the texts of the project's files that can hold rules."""
        assert rules_in(self._bench) == texts

    def holding(self, text: str, names: list[str]) -> None:
        """Check that exactly these files contain the text."""
        found = self._bench.files().items()
        assert sorted(name for name, data in found if text.encode() in data) == names

    def data(self, name: str, keys: list[Any], value: Any) -> None:
        """Check the value below these keys of a file; without keys, its text."""
        found = self._bench.data(name) if keys else self._bench.path(name).read_bytes().decode()
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else found[key]
        assert found == value

    def _job(self, asked: Any) -> dict[str, Any]:
        job: dict[str, Any] = with_tuples(asked or {})
        if tree := job.get("tree"):
            exclude = self._bench.root / ".git/info/exclude"
            tracked = frozenset(tree.get("tracked", ()))
            job["tree"] = Tree(exclude, tree.get("prefix", ""), tracked, tree.get("ignored", ""))
        platform, environment = job.pop("platform", "linux"), job.pop("environment", {})
        return {"machine": self._bench.machine_on(platform, **environment), **job}

    def _check(self, planned: Plan, said: dict[str, list[Any]]) -> None:
        for kind, wanted in said.items():
            found: list[Any] = getattr(planned, kind)
            if kind == "changes":
                assert [self._bench.name(it.path) for it in found] == wanted
                continue
            assert len(found) == len(wanted)
            for remark, each in zip(found, wanted, strict=True):
                key, facts = (each, {}) if isinstance(each, str) else each
                assert remark == Remark(key, {**remark.facts, **facts})


@pytest.mark.parametrize("life", LIVES)
def test_setup_does_this_in_the_files_of_a_client(life: str, bench: Bench) -> None:
    it = Life(bench)
    for step in LIVES[life]:
        it.live(*step)


# Files that are left alone.


@pytest.mark.parametrize("row", ROWS["a_file_that_cannot_be_edited_is_left_alone"])
def test_a_file_that_cannot_be_edited_is_left_alone_and_the_others_are_done(
    row: list[str], bench: Bench
) -> None:
    client, file, content, key = row
    bench.do(client)
    fresh = {name: data for name, data in bench.files().items() if name != file}
    bench.do(client, remove=True)
    text = content.replace("DEEP", '{"a":' * 5_000)
    bench.put({file: text.encode("latin-1" if key == "not_utf8" else "utf-8")})
    before = bench.path(file).read_bytes()
    [problem] = bench.do(client).problems
    assert (problem.key, problem.facts["path"]) == (key, str(bench.path(file)))
    said = [sentence(lang, f"setup.{key}", **problem.facts) for lang in LANGUAGES]
    assert any(step in said[0] for step in ("repeat", "by hand"))
    assert any(step in said[1] for step in ("다시 실행하세요", "직접"))
    others = {name: data for name, data in bench.files().items() if name != file}
    assert bench.path(file).read_bytes() == before
    assert others == fresh or client == "claude-code"


def test_a_file_that_changed_after_the_plan_is_not_overwritten(bench: Bench) -> None:
    [change] = [it for it in bench.plan("codex").changes if it.path.name == "AGENTS.md"]
    for content in (b"new", b"old"):
        bench.put({"root/AGENTS.md": content})
        with pytest.raises(ExportError, match="Another program changed"):
            change.file.write(change.new_text, bench.root)
        assert bench.files() == {"root/AGENTS.md": content}
        [change] = [it for it in bench.plan("codex").changes if it.path.name == "AGENTS.md"]
    (bench.root / "AGENTS.md").unlink()
    with pytest.raises(ExportError, match="Another program changed"):
        change.file.write(change.new_text, bench.root)
    assert bench.files() == {}


def test_a_client_that_would_expand_the_path_of_the_server_is_told(bench: Bench) -> None:
    for client, directory, sign in ROWS["paths of a server that a client would expand"]:
        tool = installation_in(("/bin/python",), directory, windows=False)
        found = [it.facts["sign"] for it in bench.plan(client, installation=tool).notes]
        assert found == ([sign] if sign else []), (client, directory)
        assert bench.plan(client, installation=tool, remove=True).notes == []


@pytest.mark.parametrize("key", KEYS)
def test_a_plan_shows_nothing_of_the_user(key: str, bench: Bench) -> None:
    """It shows no secret beside our own parts, and none that a person has put into them."""
    secret = "Hunter2wasHere"
    bench.do(key, rooms=WITH_SESSIONS)
    for name in bench.files():
        path = bench.path(name)
        if path.suffix == ".json":
            path.write_text(path.read_text().replace("{", f'{{"theirs": {{"k": "{secret}"}},'))
        elif path.suffix == ".toml":
            path.write_text(f'k = "{secret}"\n{path.read_text()}\nmine = "{secret}"\n')
    for asked in ({"remove": True}, {"language": "ko"}, {"rooms": ("lessons", "fragments")}):
        parts = [part for change in bench.plan(key, **asked).changes for part in change.parts]
        pieces = [piece for part in parts for piece in (*part.old_pieces, *part.new_pieces)]
        assert secret not in "".join(pieces)


@pytest.mark.parametrize(("key", "header", "is_shown"), ROWS["headers that a plan shows or hides"])
def test_a_plan_shows_the_header_of_a_key_only_where_it_is_a_variable(
    key: str, header: str, is_shown: bool, bench: Bench
) -> None:
    bench.do(key, url=URL)
    [(name, data)] = ((it, data) for it, data in bench.files().items() if URL.encode() in data)
    document = json.loads(data)
    document["mcpServers"][TEAM_ENTRY]["headers"]["Authorization"] = header
    bench.put({name: document})
    parts = [part for it in bench.plan(key, url=URL, remove=True).changes for part in it.parts]
    [piece] = [piece for part in parts if part.kind == "remote" for piece in part.old_pieces]
    assert (header in piece, "…" in piece) == (is_shown, not is_shown)


# Links of a clone; other stand-ins for a file are in stories/setup_links.txt.

LINKS, HOME = table("commands/setup_links").values()


@pytest.mark.parametrize(
    ("name", "remove"),
    enough(
        product(LINKS, [False, True]),
        lambda name, _: name,
        lambda name, remove: (name.count("/"), remove),
    ),
)
def test_no_link_of_a_clone_is_followed_out_of_it(bench: Bench, name: str, remove: bool) -> None:
    bench.put(HOME)
    link, target = bench.root / name, bench.home / LINKS[name]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    before = tree(bench.home)
    planned = bench.plan(*(key for key in KEYS if key != "claude-desktop"), remove=remove)
    for change in planned.changes:
        change.file.write(change.new_text, bench.root)
    after = {at: item for at, item in tree(bench.home).items() if not at.startswith(".copilot")}
    assert after == before  # but for Copilot's approvals, which are the user's
    assert link.is_symlink()
    found = [problem for problem in planned.problems if problem.key == "leads_out"]
    assert {problem.facts["link"] for problem in found} <= {str(link)}
    assert found or remove or name.startswith(".cursor/rules")  # setup no longer writes it
    for problem in found:
        assert str(problem.facts["target"]).startswith(str(target))


# The rules that clients read.

PAST = table("commands/rules_past")
READ: dict[str, list[str]] = ROWS["the files that a client reads"]


def met_by(client: str, past: str, there: dict[str, str]) -> str:
    """The text that a client reads, according to its documents."""
    names = READ[client]
    if client == "codex" and "AGENTS.override.md" in there:
        names = ["AGENTS.override.md"]
    if client == "gemini" and "gemini" in past and "import" not in past:
        names = ["AGENTS.md"]
    met = "\n".join(there.get(name, "") for name in names)
    imports = client in ("claude-code", "gemini") and "AGENTS.md" in met
    return met + (there.get("AGENTS.md", "") if imports else "")


@pytest.mark.row("001 6.b")
@pytest.mark.parametrize("past", PAST)
@pytest.mark.parametrize("count", [5, *(pytest.param(it, marks=pytest.mark.long) for it in (1, 2))])
def test_every_client_reads_the_rules_and_all_before(past: str, count: int, tmp_path: Path) -> None:
    files = Life(Bench(tmp_path)).filled(PAST[past])
    for chosen in combinations(READ, count):
        bench = Bench(tmp_path / "-".join(chosen))
        bench.put({f"root/{name}": text for name, text in files.items()})
        before = rules_in(bench)
        bench.do(*chosen, unwanted_parts=["hooks"])
        there = {name.removeprefix("root/"): it.decode() for name, it in bench.files().items()}
        for client in chosen:
            met = met_by(client, past, there)
            assert "log_memory" in met, (chosen, client)
            was = met_by(client, past, {"AGENTS.md": "", **files})
            assert all(line in met for line in was.splitlines() if "@" not in line)
        assert bench.plan(*chosen, unwanted_parts=["hooks"]).changes == []
        bench.do(*chosen, unwanted_parts=["hooks"], remove=True)
        assert rules_in(bench) == before, chosen


@pytest.mark.parametrize(("lead", "keys"), [(0, []), (1, ["codex_cuts"])])
def test_rules_that_codex_cuts_are_told(lead: int, keys: list[str], bench: Bench) -> None:
    own = 32 * 1024 - len(f"\n\n{BEGIN}\n{rules_for('en')}".encode()) + lead
    bench.put({"root/AGENTS.md": "가" * (own // 3) + "." * (own % 3) + "\n"})
    assert [note.key for note in bench.do("codex", unwanted_parts=["hooks"]).notes] == keys


@pytest.mark.parametrize("name", [".git/hooks/x", "a/../../x", ".GIT/config", "x\\.git\\y", "/x"])
def test_a_setting_of_the_clone_names_no_file_of_git(name: str, bench: Bench) -> None:
    bench.put({"root/.gemini/settings.json": {"context": {"fileName": name}}})
    bench.do("gemini", unwanted_parts=["hooks"])
    assert rules_in(bench)["GEMINI.md"] == IMPORT
    assert not any(it.name in ("x", "y", "config") for it in bench.top.rglob("*"))


# Approvals, hooks and the language.


def test_only_tools_of_the_rooms_are_allowed_and_none_that_removes_for_good(bench: Bench) -> None:
    for rooms, last, count in (
        (WITH_SESSIONS, "context_recommend", 10),
        (("lessons", "sessions:core"), "context_warn", 7),
        (("lessons", "fragments"), "unpin", 16),
        (("fragments:core",), "unpin", 5),
    ):
        planned = bench.do("claude-code", rooms=rooms)
        assert (planned.tools[-1], len(planned.tools)) == (last, count)
        wanted = [tool for tool in planned.tools if tool not in UNGRANTED]
        allowed = bench.data(LOCAL)["permissions"]["allow"]
        assert allowed == [f"mcp__sentinel-memory__{tool}" for tool in wanted]
    assert "mcp__sentinel-memory__forget" not in allowed


@pytest.mark.long
@pytest.mark.parametrize("gone", ["interpreter", "scripts"])
@pytest.mark.parametrize("client", [key for key in KEYS if row_of(key).hooks])
def test_a_hook_of_a_gone_installation_stops_no_tool(client: str, gone: str, bench: Bench) -> None:
    """Other codes than 0 are a veto in some clients, and stdout is an answer."""
    python = bench.python if gone == "interpreter" else sys.executable
    made = installation_in((python,), str(bench.top / "gone"), windows=False)
    hooks = row_of(client).hooks
    assert hooks
    words = [*made.cli, "hook", "stop", "--client", client]
    handler = handler_of(hooks, words, "stop", windows=False)
    line = handler.get("command") or handler["bash"]
    for shell in ("sh", "bash"):
        done = Run.process(shell, "-c", line, given=b"{}", cwd=bench.root)
        assert (done.code, done.out, bool(done.errors)) == (0, "", True)


def test_a_language_that_was_asked_for_is_written_kept_and_changed(bench: Bench) -> None:
    for client in KEYS:
        one = Bench(bench.top / client)
        one.put({})
        for chosen, spoken in (("en", set()), ("ko", {"ko"}), (None, {"ko"}), ("en", {"en"})):
            one.do(client, language=chosen)
            text = b"\n".join(one.files().values()).decode()
            found = re.findall(r"--lang (\w+)|LANG\"?[ :=]+\"(\w+)", text)
            assert {lang for pair in found for lang in pair if lang} == spoken
            assert one.plan(client, language=chosen).changes == []
        one.do(client, remove=True)
        assert one.files() == {}


# Windows; commands on the path are in test_machine.py.


PLACES: dict[str, tuple[str, str]] = ROWS["places on windows"]


def test_hooks_are_written_for_the_shell_that_a_client_uses_on_windows() -> None:
    for client, place, wanted in ROWS["hooks on windows"]:
        python, tool = PLACES[place]
        hooks = row_of(client).hooks
        assert hooks
        words = [*installation_in((python,), tool, windows=True).cli, "hook", "stop"]
        assert handler_of(hooks, words, "stop", windows=True) == wanted, (client, place)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("client", one_in(3, KEYS))
def test_forms_of_windows_are_found_and_taken_out(client: str, place: str, bench: Bench) -> None:
    python, tool = PLACES[place]
    asked: dict[str, Any] = {"installation": installation_in((python,), tool, windows=True)}
    asked["machine"] = bench.machine_on("win32")
    bench.do(client, **asked)
    found = [name for name, data in bench.files().items() if b"server.py" in data]
    assert "\\\\" not in json.dumps([bench.data(name) for name in found])
    assert bench.plan(client, **asked).changes == []
    bench.do(client, **asked, remove=True)
    assert bench.files() == {}


# A server that others run.


@pytest.mark.row("002 2.81")
def test_the_document_shows_each_entry_of_a_teams_server_as_it_is_written(bench: Bench) -> None:
    rows = re.findall(r"^- ([^:]+): `([^`]+)`, `\w+`: `([^`]+)`$", text_of("docs/clients.md"), re.M)
    bench.do(*(it.key for it in TAKING_URLS), url=URL)
    assert [client for client, _, _ in rows] == [it.name for it in TAKING_URLS]
    for row, (_, file, text) in zip(TAKING_URLS, rows, strict=True):
        is_toml = file.endswith(".toml")
        told = tomllib.loads(f"it = {text}")["it"] if is_toml else json.loads(text)
        assert told == bench.data(f"root/{file}")[row.under][TEAM_ENTRY]


@pytest.mark.parametrize(
    ("client", "level"),
    one_in(3, [(it.key, level) for it in TAKING_URLS for level in LEVELS if level in it.entry]),
)
def test_it_comes_beside_our_entry_and_goes_again(client: str, level: Level, bench: Bench) -> None:
    bench.do(client, level=level)
    before = bench.files()
    for oauth in (False, True, False):
        given: dict[str, Any] = {"level": level, "url": URL, "oauth": oauth}
        bench.do(client, **given)
        assert bench.plan(client, **given).changes == []
        assert bench.plan(client, level=level).changes == []
        assert (KEY_VARIABLE.encode() in b"".join(bench.files().values())) == (not oauth)
    bench.do(client, level=level, remove=True, url=URL)
    assert bench.files() == before
    bench.do(client, level=level, url=URL)
    bench.do(client, level=level, remove=True)
    assert bench.files() == {}


def test_addresses_are_places_and_nothing_else() -> None:
    good, bad = ROWS["addresses"]["good"], ROWS["addresses"]["bad"]
    assert {given: checked_url(given) for given in good} == good
    for given, key in bad.items():
        with pytest.raises(RefusedError) as raised:
            checked_url(given.replace("KEY", "smk_" + "a" * 43))
        assert raised.value.key == f"setup.{key}", given
