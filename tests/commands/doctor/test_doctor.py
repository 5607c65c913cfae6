"""Tests `cli.py doctor` beside its stories: rights, odd bytes, a terminal, servers."""

import json
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from commands import doctor as module
from commands.clients.table import CLIENTS, TEAM_ENTRY
from core.lessons.record import Record
from core.store import MemoryStore
from rooms import lessons
from tests.support import cli_process
from tests.support.cli_process import Run
from tests.support.git_clones import commit, git
from tests.support.samples import a_draft, a_record
from tests.support.stand_in_service import Answer, StandIn, self_signed, stand_in
from tests.support.tables import ROOT, table
from tests.support.tables import text_of as recorded

LONG_AGO = "2025-03-01T09:00:00+00:00"
ONE, TWO = a_record("one", now=LONG_AGO), a_record("두 번째", now=LONG_AGO)
LONG = a_record("long", lesson="가" * 400, now=LONG_AGO)

pytestmark = pytest.mark.long  # each costs much


class Desk(cli_process.Desk):
    """A project in which the doctor is asked."""

    def doctor(self, *options: str, **variables: str) -> Run:
        return self.run("doctor", *options, **variables)

    def asides(self) -> list[Path]:
        return sorted(self.log.parent.glob("memory_log.removed-*.txt"))


@pytest.fixture
def bare(tmp_path: Path) -> Desk:
    """An empty project without git, of somebody who has a client."""
    desk = Desk(tmp_path / "shop", tmp_path / "home")
    (desk.home / ".gemini").mkdir()
    return desk


@pytest.fixture
def healthy(bare: Desk) -> Desk:
    """A repository in which a first save was committed."""
    git(bare.root, "init", "--quiet")
    MemoryStore(bare.log).upsert_log(a_draft("one"))
    commit(bare.root)
    return bare


@pytest.fixture
def bound(bare: Desk) -> None:
    """Permissions hold for the processes of this test."""
    locked = bare.home / "locked"
    locked.touch(mode=0)
    if Run.process(sys.executable, "-c", f"open({str(locked)!r})").code == 0:
        pytest.skip("this user may read and write everything")


def test_a_healthy_line_breaks_between_two_parts(healthy: Desk) -> None:
    place = healthy.place(COLUMNS="24", NO_COLOR="1")
    assert Run.at_terminal("doctor", **place).lines[:2] == ["✓ lessons 1", "✓ git merge=union"]


# The surroundings of the log


@pytest.mark.parametrize("row", table("commands/doctor_permissions"))
def test_no_right_to_read_is_an_error_to_write_a_note(
    healthy: Desk, bound: None, row: list[Any]
) -> None:
    place, mode, code, sentence = row
    path = healthy.root / place
    before = path.stat().st_mode
    path.chmod(int(mode, 8))
    done = Run.started("doctor", **healthy.place())
    path.chmod(before)
    assert (done.code, done.errors) == (code, "") and sentence.format(path) in done.out


def test_a_network_disk_is_a_note(
    healthy: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(healthy.root).replace(" ", "\\040")
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/x {place} nfs4 rw 0 0\n")
    monkeypatch.setattr(module, "MOUNTS", mounts)
    done = healthy.doctor()
    assert "\n- The log is on a network file system (nfs4), where locks may not" in done.out
    assert done.code == 0


def test_a_lock_of_another_user_is_an_error(bare: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.write(ONE)
    lock = bare.log.with_name(f"{bare.log.name}.lock")
    lock.touch()
    real, shut = os.access, [lock]
    monkeypatch.setattr(os, "access", lambda path, mode: path not in shut and real(path, mode))
    done = bare.doctor()
    assert (done.code, done.out.count("\n✗ "), f"\n    rm -f {lock}\n" in done.out) == (1, 1, True)
    shut.append(lock.parent)  # of a disk that nobody writes
    assert bare.doctor().code == 0


SHOWN = (
    "import sys; sys.argv = ['cli.py', 'doctor']; import cli; cli.main(['doctor']);"
    " print([it for it in sys.modules if it.startswith('rooms.') and it.count('.') > 1"
    " and not it.endswith('for_people') or it == 'sqlite3'])"
)


@pytest.mark.row("002 2.89", "003 T85")
def test_who_has_no_room_loads_nothing_of_one(healthy: Desk) -> None:
    place = healthy.place(PYTHONPATH=str(ROOT), SENTINEL_MEMORY_FRAGMENTS="/nowhere/memory.db")
    assert Run.process(sys.executable, "-c", SHOWN, **place).lines[-1] == "[]"


# Repairs


ILL: list[bytes | Record] = [
    b"\xef\xbb\xbf",
    b"a note\r\n",
    b"\n",
    ONE.to_line().rstrip(b"\n") + TWO.to_line(),
    b"\xff\xfe\x00 binary\n",
    replace(a_record("edited", now=LONG_AGO), missing_context="by hand"),
    replace(LONG, seen=3),
    b"{torn",
]


@pytest.mark.row("P9")
@pytest.mark.parametrize("place", [".context", ".context/memory_log.jsonl"])
def test_a_log_that_cannot_be_written_is_not_repaired(bare: Desk, bound: None, place: str) -> None:
    before = bare.write(*ILL)
    path = bare.root / place
    mode = path.stat().st_mode
    path.chmod(mode & ~0o222)
    done = Run.started("doctor", "--fix", "--yes", **bare.place())
    path.chmod(mode)
    assert done.code == 1
    assert f"The memory log {bare.log} could not be written (Permission" in done.out + done.errors
    assert (bare.log.read_bytes(), bare.asides()) == (before, [])


@pytest.mark.row("P10")
def test_the_lines_that_a_repair_takes_out_lie_beside_the_log_byte_for_byte(bare: Desk) -> None:
    """It names the repairs that it made and the findings that are left."""
    before = bare.write(*ILL)
    bare.log.chmod(0o640)
    done = bare.doctor("--fix", "--yes")
    [aside] = bare.asides()
    assert (done.code, done.errors) == (1, "")
    facts = {"root": bare.root, "aside": aside}
    assert done.out == recorded("commands/doctor.repair.txt", **facts)
    assert stat.S_IMODE(bare.log.stat().st_mode) == 0o640
    lines = aside.read_bytes().split(b"\n")
    for at in (0, 2, 3, 6):
        line = before.split(b"\n")[at].removeprefix(b"\xef\xbb\xbf")
        assert lines[lines.index(line) - 1].startswith(b"# line %d: " % (at + 1))
    assert bare.log.read_bytes() == b"".join(
        record.to_line()
        for record in (ONE, TWO, a_record("by hand", now=LONG_AGO), replace(LONG, seen=3))
    )


# Hostile input


HOSTILE = "\x1b[2J\n\x9b31m\u202eevil\u2028\x7f\ud800"


@pytest.mark.row("P13")
def test_nothing_of_a_record_reaches_the_terminal_as_a_command(bare: Desk) -> None:
    twice = f'"lesson": "", {json.dumps(HOSTILE)}: 1, {json.dumps(HOSTILE)}: 2, "lesson": '
    line = replace(ONE, id=HOSTILE).to_line().replace(b'"lesson": ', twice.encode())
    for options in ((), ("--json",), ("--fix", "--yes"), ("--fix", "--yes", "--json")):
        bare.write(line, b"\x1b[2J\x9b\n")
        done = bare.doctor(*options)
        assert done.errors == ""
        assert {char for char in done.out if not char.isprintable()} == {"\n"}
    keys = [row["facts"]["key"] for row in done.told["fixed"] if row["kind"] == "key_twice"]
    assert keys == ["lesson", HOSTILE]


def test_secrets_of_large_logs_are_for_scan(bare: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lessons, "MOST_SECRETS_BYTES", 1)
    bare.write(ONE)
    sentence = "\n- The log is too large to look for secrets here. `python cli.py scan` does.\n"
    assert sentence in bare.doctor().out


def test_random_bytes_are_told_in_a_few_lines_and_kept_by_a_repair(bare: Desk) -> None:
    data = bare.write(Random(1).randbytes(30_000))
    done = bare.doctor()
    assert (done.code, len(done.lines) < 16) == (1, True)
    assert bare.doctor("--fix", "--yes").code == 0
    [aside] = bare.asides()
    aside_data = aside.read_bytes()
    assert all(line.rstrip(b"\r") in aside_data for line in data.split(b"\n"))


@pytest.mark.parametrize("seed", range(4))
def test_no_file_of_a_client_however_torn_makes_the_doctor_fail(bare: Desk, seed: int) -> None:
    assert bare.run("setup", *(row.key for row in CLIENTS), "--yes").code == 0
    random = Random(seed)
    for path in [it for top in (bare.root, bare.home) for it in top.rglob("*") if it.is_file()]:
        data = bytearray(path.read_bytes())
        for _ in range(random.randrange(4) if ".context" not in path.parts else 0):
            at = random.randrange(len(data) + 1)
            data[at : at + random.randrange(40)] = random.choice(
                (b"", b"[]", b'"', b"{", b"1", b"null", b"\xff", b"\n", b"true")
            )
        path.write_bytes(data)
    found_by(bare)
    for odd in ("[]", "1", '{"hooks": []}', '{"hooks": {"Stop": [1, {"hooks": 2}]}}'):
        for path in bare.root.rglob("*.json"):
            path.write_text(odd)
        found_by(bare)


# A server that others run


KEY, WELL = "smk_" + "k" * 43, {"status": "ok"}


def found_by(desk: Desk, *options: str, **variables: str) -> list[dict[str, Any]]:
    """The doctor's findings about clients; its exit status follows from them."""
    done = desk.doctor("--json", *options, **variables)
    kinds = ("client_", "team_")
    rows = done.told["findings"]
    wrong = [row for row in rows if row["kind"].startswith(kinds) and row["severity"] != "ok"]
    assert (done.code, done.errors) == (int(any(row["severity"] != "note" for row in wrong)), "")
    return wrong


def kinds_of(findings: list[dict[str, Any]]) -> list[str]:
    return [f"{finding['severity']} {finding['kind'].partition('_')[2]}" for finding in findings]


def write(path: Path, url: str, sent: str = "Bearer ${SENTINEL_MEMORY_KEY}") -> None:
    """Write a file with the entry of a team's server."""
    entry = {"type": "http", "url": url, "headers": {"Authorization": sent}}
    path.write_text(json.dumps({"mcpServers": {TEAM_ENTRY: entry}}), encoding="utf-8")


@pytest.fixture
def server() -> Iterator[StandIn]:
    """Says that it is well."""
    with stand_in(lambda _: Answer(WELL)) as server:
        yield server


def keys_sent(server: StandIn) -> list[str]:
    return [f"{asked.path} {asked.headers.get('authorization')}" for asked in server.asked]


def test_a_server_is_asked_on_demand_once_without_key(healthy: Desk, server: StandIn) -> None:
    address = f"{server.address}/mcp"
    assert healthy.run("setup", "cursor", "--url", address, "--yes").code == 0
    write(healthy.root / ".mcp.json", f"{address}/")  # the same address
    variables = {"SENTINEL_MEMORY_KEY": KEY}
    assert (found_by(healthy, **variables), server.asked) == ([], [])
    output = healthy.doctor("--online", **variables).out
    assert f"✓ {address} answers" in output and f"{server.address}/health" in output
    bodies = {
        503: WELL,
        200: {"status": "down " * 99},
        404: b"Not Found",
        302: [],
        500: b"[" * 9999,
        502: b"",
    }
    for status, body in bodies.items():
        server.says(body, status, location="/elsewhere" * (9_999 if status == 502 else 1))
        [finding] = found_by(healthy, "--online", **variables)
        kind = "unwell" if isinstance(body, dict) else "silent"
        assert kinds_of([finding]) == [f"error {kind}"] and len(finding["facts"]["reason"]) < 100
    assert keys_sent(server) == ["/health None"] * 7


@pytest.mark.parametrize(("code", "said"), [(401, ["error key_wrong"]), (200, [])])
def test_a_key_is_tried_where_the_users_own_file_sends_it(
    healthy: Desk, server: StandIn, code: int, said: list[str]
) -> None:
    server.answer = lambda asked: Answer(WELL, code if "authorization" in asked.headers else 200)
    address = f"{server.address}/mcp"
    of_project = healthy.root / ".mcp.json"  # which may be a stranger's
    write(of_project, address)
    findings = found_by(healthy, "--online", SENTINEL_MEMORY_KEY=KEY)
    assert (kinds_of(findings), keys_sent(server)) == (["note key_untried"], ["/health None"])
    of_project.unlink()
    write(healthy.home / ".claude.json", address, "Bearer ${TEAM_KEY}")
    findings = found_by(healthy, "--online", TEAM_KEY=KEY)
    assert kinds_of(findings) == said
    assert keys_sent(server)[1:] == ["/health None", f"/health Bearer {KEY}"]
    assert all(finding["facts"]["variable"] == "TEAM_KEY" for finding in findings)
    assert KEY not in healthy.doctor("--online", TEAM_KEY=KEY).out
    write(healthy.home / ".claude.json", address.replace("127.0.0.1", "0.0.0.0"))  # in the open
    findings = found_by(healthy, "--online", SENTINEL_MEMORY_KEY=KEY)
    assert (kinds_of(findings), keys_sent(server)[5:]) == (["warning plain_http"], ["/health None"])


def test_a_certificate_that_is_not_trusted_is_told_from_silence(
    healthy: Desk, tmp_path: Path
) -> None:
    with stand_in(lambda _: Answer(WELL), self_signed(tmp_path)) as server:
        address = server.address.replace("http://127.0.0.1", "https://localhost")
        write(healthy.root / ".mcp.json", f"{address}/mcp")
        done = healthy.doctor("--online", SENTINEL_MEMORY_KEY=KEY)
    assert "does not trust the server's certificate" in done.out and "self-signed" in done.out
    assert KEY not in done.out and server.asked == []
