"""Lets agents of a team call the room at once, and judges from outside what came of it."""

import http.client
import json
import random
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from team_rows import Writer

PROTOCOL = "2025-11-25"
PATIENCE_S = 60.0
MARK_CHARS = 17
# Of a hundred calls: an agent asks more often than it learns, and a session starts once.
MIX = {"recall": 60, "remember": 30, "context": 10}
ID = re.compile(r"^(\w+)(?= \d{4}-\d\d-\d\d )", re.MULTILINE)  # of a line of an answer


class CallError(RuntimeError):
    """A call that was answered with an error, or not at all. The text is what was answered."""


class Wire(Protocol):
    """One connection, through which agents call in turn."""

    def call(self, agent: str, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the text that a tool answers. Raises CallError."""

    def close(self) -> None:
        """Let go of it."""


@dataclass
class Tally:
    """What came of a load.

    ms: by tool, of each call that was answered. kept: what was acknowledged, as agent and the first
    MARK_CHARS of the content. seen: agents and ids that they were shown. refused: sentences.
    """

    ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    kept: list[tuple[str, str]] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: "Tally") -> None:
        """Take over what another has counted."""
        for tool, ms in other.ms.items():
            self.ms[tool] += ms
        self.kept += other.kept
        self.seen |= other.seen
        self.refused += other.refused
        self.seconds = max(self.seconds, other.seconds)

    @property
    def per_second(self) -> float:
        """Calls that were answered."""
        return sum(map(len, self.ms.values())) / self.seconds if self.seconds else 0.0

    def at(self, tool: str, share: float) -> float:
        """Milliseconds within which this share of the calls of a tool was answered."""
        ms = sorted(self.ms.get(tool) or [0.0])
        return ms[min(len(ms) - 1, int(len(ms) * share))]


class HttpWire:
    """A client that keeps its connection to one server process."""

    def __init__(self, port: int, keys: Mapping[str, str], path: str = "/mcp") -> None:
        self._port, self._keys, self._path = port, keys, path
        self._sessions: dict[str, str] = {}
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        self._number = 0

    def call(self, agent: str, tool: str, arguments: Mapping[str, Any]) -> str:
        """See `Wire`."""
        if agent not in self._sessions:
            client = {"name": "team", "version": "1"}
            given = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
            _, headers = self._post(agent, "initialize", given)
            self._sessions[agent] = headers.get("mcp-session-id", "")
        result, _ = self._post(agent, "tools/call", {"name": tool, "arguments": dict(arguments)})
        text = "\n".join(it["text"] for it in result.get("content", ()) if it["type"] == "text")
        if result.get("isError"):
            raise CallError(text)
        return text

    def close(self) -> None:
        """Let go of the connection; the sessions stay."""
        self._connection.close()

    def _post(
        self, agent: str, method: str, params: dict[str, Any]
    ) -> tuple[dict[str, Any], http.client.HTTPMessage]:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        headers = {
            "Authorization": f"Bearer {self._keys[agent]}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL,
        }
        if self._sessions.get(agent):
            headers["Mcp-Session-Id"] = self._sessions[agent]
        try:
            self._connection.request("POST", self._path, json.dumps(message), headers)
            answer = self._connection.getresponse()
            body = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise CallError(f"no answer: {error!r}") from error
        return result_of(answer.status, body), answer.headers


def result_of(status: int, body: str) -> dict[str, Any]:
    """The result of an answer, as JSON or as an event. Raises CallError."""
    said = [line[5:].strip() for line in body.splitlines() if line.startswith("data:")]
    try:
        message = json.loads(said[-1] if said else body)
    except ValueError:
        message = {}
    if status != 200 or "result" not in message:
        raise CallError(f"{status} {body[:300]}")
    return dict(message["result"])


def load(
    open_wire: Callable[[int], Wire],
    agents: Sequence[str],
    *,
    connections: int,
    seconds: float,
    seed: str,
) -> Tally:
    """Let agents call for so long over so many connections, each with its share of the agents."""
    tally, lock, ready = Tally(), threading.Lock(), threading.Barrier(connections + 1)

    def work(number: int) -> None:
        mine = Tally()
        try:
            one = open_wire(number)
            writer = Writer(f"{seed} {number}")
            chance = random.Random(f"{seed} {number}")
            its = agents[number % len(agents) :: connections] or agents
            with noted(mine):
                one.call(its[0], "recall", {"query": "first"})  # opens what is opened once
        finally:
            ready.wait(PATIENCE_S)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            act(one, chance.choice(its), chance, writer, mine)
        one.close()
        with lock:
            tally.add(mine)

    threads = [threading.Thread(target=work, args=(at,), daemon=True) for at in range(connections)]
    for thread in threads:
        thread.start()
    ready.wait(PATIENCE_S)
    begun = time.monotonic()
    for thread in threads:
        thread.join(seconds + 2 * PATIENCE_S)
    if any(thread.is_alive() for thread in threads):
        tally.refused.append("a call hangs")
    tally.seconds = time.monotonic() - begun
    return tally


@contextmanager
def noted(tally: Tally) -> Iterator[None]:
    """Note a CallError in a tally, and go on."""
    try:
        yield
    except CallError as error:
        tally.refused.append(str(error))


def act(one: Wire, agent: str, chance: random.Random, writer: Writer, tally: Tally) -> None:
    """Make one call of the mix, and note what came of it."""
    tool = chance.choices(list(MIX), weights=list(MIX.values()))[0]
    mark = f"said {chance.getrandbits(48):012x}"  # first, where no word makes a secret of it
    content = f"{mark} {writer.text(chance.randint(8, 24))[:260]}"
    arguments: dict[str, Any] = {
        "recall": {"query": writer.question()},
        "remember": {"content": content, "topic": "team", "type": "fact"},
        "context": {},
    }[tool]
    with noted(tally):
        begun = time.perf_counter()
        text = one.call(agent, tool, arguments)
        tally.ms[tool].append(1000 * (time.perf_counter() - begun))
        if tool == "remember":
            tally.kept.append((agent, mark))
        else:
            tally.seen.update((agent, it) for it in ID.findall(text))
