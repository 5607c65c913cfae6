"""What a server costs when nothing goes wrong: start, calls, memory and tokens."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from peers import MARK, OURS, Call, Peer, ReferenceMemory, lessons, marked_lessons
from plan import Plan, rotated
from process import ServerProcess, processor_s, resident_mb
from prose import (
    CALLS_NOTES,
    CALLS_TEXT,
    MEMORY_TEXT,
    NO_TOKENIZER,
    START_TEXT,
    TOKENS_NOTES,
    TOKENS_TEXT,
)
from report import Row, Section, compared, counted, measured
from tokens import as_offered, session_costs, tokenizer

from core.lessons.record import Draft

TYPICAL = 50
WARM_UP = 5
WORD = "payment"

Start = Callable[[], tuple[ServerProcess, Call]]


def start_section(plan: Plan) -> Section:
    """From the start of the process to the first answer of a tool."""

    def of(peer: Peer) -> Start:
        store = plan.store(peer, TYPICAL)
        return lambda: (peer.start(store), peer.read_all())

    starts: dict[str, Start] = {peer.name: of(peer) for peer in plan.peers}
    starts[plan.echo.name] = lambda: (plan.echo.start(), ("echo", {"text": "hello"}))
    processor: dict[str, list[float]] = {name: [] for name in starts}
    wall: dict[str, list[float]] = {name: [] for name in starts}
    for turn in range(plan.rounds.starts + 1):
        for name in rotated(list(starts), turn):
            begun = time.perf_counter()
            server, first_call = starts[name]()
            with server:
                server.call(*first_call)
                took, used = time.perf_counter() - begun, processor_s(server.pid)
            if turn:  # the first turn fills the caches of files and byte code
                wall[name].append(took)
                if used is not None:
                    processor[name].append(used)
    return Section(
        title="Start",
        text=START_TEXT,
        columns=plan.names_and_echo,
        floor=plan.echo.name,
        rows=[
            measured("processor time to the first answer", processor, "s"),
            measured("wall time to the first answer", wall, "s"),
        ],
    )


def calls_section(plan: Plan) -> Section:
    """Round trips of single calls to servers that are already running."""
    rows: list[Row] = []
    for count in plan.rounds.counts:
        servers = {peer.name: peer.start(plan.store(peer, count)) for peer in plan.peers}
        servers[plan.echo.name] = plan.echo.start()
        try:
            for label, calls in actions(plan, count):
                rows += timed(label, servers, calls, plan.rounds.calls)
        finally:
            for server in servers.values():
                server.close()
    return Section(
        title="Calls",
        text=CALLS_TEXT.format(word=WORD),
        columns=plan.names_and_echo,
        floor=plan.echo.name,
        rows=rows,
        notes=CALLS_NOTES,
    )


def actions(plan: Plan, count: int) -> Iterator[tuple[str, Mapping[str, Iterator[Call]]]]:
    """What is called at so many records: a label, and the calls of each column one by one."""

    def again(call: Call) -> Iterator[Call]:
        while True:
            yield call

    def saves(peer: Peer) -> Iterator[Call]:
        for mark, draft in marked_lessons(count, 10_000):
            yield peer.save(draft, mark)

    at = f"at {count:,} records"
    echo = {plan.echo.name: again(("echo", {"text": "hello"}))}
    yield f"read everything {at}", {it.name: again(it.read_all()) for it in plan.peers} | echo
    yield f"search one word {at}", {it.name: again(it.search(WORD)) for it in plan.peers} | echo
    yield f"save one more {at}", {it.name: saves(it) for it in plan.peers} | echo


def timed(
    label: str,
    servers: Mapping[str, ServerProcess],
    calls: Mapping[str, Iterator[Call]],
    rounds: int,
) -> list[Row]:
    """Wall and processor time of one kind of call, the servers taking turns."""
    wall: dict[str, list[float]] = {name: [] for name in servers}
    processor: dict[str, list[float]] = {name: [] for name in servers}
    for turn in range(rounds + WARM_UP):
        for name in rotated(list(servers), turn):
            server, call = servers[name], next(calls[name])
            used, begun = processor_s(server.pid), time.perf_counter()
            server.call(*call)
            took, used_then = time.perf_counter() - begun, processor_s(server.pid)
            if turn >= WARM_UP:
                wall[name].append(took * 1000)
                if used is not None and used_then is not None:
                    processor[name].append((used_then - used) * 1000)
    return [
        measured(f"{label}: wall", wall, "ms"),
        measured(f"{label}: processor", processor, "ms"),
    ]


def memory_section(plan: Plan) -> Section:
    """Resident memory of the whole process tree."""
    rows = []
    for count in plan.rounds.counts:
        samples: dict[str, list[float]] = {name: [] for name in plan.names_and_echo}
        stores = {peer.name: plan.store(peer, count) for peer in plan.peers}
        for turn in range(plan.rounds.memory):
            for peer in rotated(plan.peers, turn):
                with peer.start(stores[peer.name]) as server:
                    server.call(*peer.read_all())
                    samples[peer.name] += _known(resident_mb(server.pid))
            with plan.echo.start() as server:
                server.call("echo", {"text": "hello"})
                samples[plan.echo.name] += _known(resident_mb(server.pid))
        rows.append(measured(f"after reading {count:,} records once", samples, "MB"))
    return Section(
        title="Memory",
        text=MEMORY_TEXT,
        columns=plan.names_and_echo,
        floor=plan.echo.name,
        rows=rows,
    )


def tokens_section(plan: Plan) -> Section:
    """What a model pays for: the tools, an answer, a save."""
    count = tokenizer()
    if count is None:
        return Section(
            title="Tokens", text=TOKENS_TEXT, columns=plan.names, rows=(), notes=[NO_TOKENIZER]
        )
    figures = {peer.name: dict(token_figures(plan, peer, count)) for peer in plan.peers}
    labels = list(figures[plan.peers[0].name])
    rows = [
        compared(label, {name: its[label] for name, its in figures.items()}, "tokens")
        for label in labels
    ]
    return Section(
        title="Tokens",
        text=TOKENS_TEXT,
        columns=plan.names,
        rows=[*rows, *whole_records(plan)],
        notes=TOKENS_NOTES,
    )


def token_figures(
    plan: Plan, peer: Peer, count: Callable[[str], int]
) -> Iterator[tuple[str, float | None]]:
    """Each figure with its label, in the order of the table."""
    typical = lessons()[:TYPICAL]
    store = peer.place(plan.directory())
    peer.fill(store, typical)
    with peer.start(store) as server:
        tools, said = tool_texts(server)
        rules = session_costs("en", count)["rules"] if peer is OURS else 0
        paid = count(tools), count(said), rules
        yield "list of tools: names, descriptions, input schemas", paid[0]
        yield "instructions of the server", paid[1] or None
        yield "rules that setup installs, in English", paid[2] or None
        yield "together, in every session", sum(paid)
        answer = count(server.call(*peer.read_all()))
        yield f"answer that reads {TYPICAL} typical records", answer
        yield "the same for one record", answer / TYPICAL
        grouped = by_topic(plan, peer, typical, count)
        yield "the same 50 records, grouped by topic", answer if grouped is None else grouped
        call = peer.save(lessons()[TYPICAL], "one-more")
        yield "one save: the arguments that the model writes", count(_compact(call[1]))
        yield "one save: the answer", count(server.call(*call))
    for many in plan.rounds.counts[1:]:
        with peer.start(plan.store(peer, many)) as server:
            label = f"answer that reads as much as it may of {many:,} records"
            yield label, count(server.call(*peer.read_all()))


def by_topic(
    plan: Plan, peer: Peer, drafts: list[Draft], count: Callable[[str], int]
) -> float | None:
    """Tokens of reading everything where the lessons of a topic share an entity."""
    if not isinstance(peer, ReferenceMemory):
        return None
    with peer.start(peer.place(plan.directory())) as server:
        server.call(*peer.save_by_topic(drafts))
        return count(server.call(*peer.read_all()))


def whole_records(plan: Plan) -> Iterator[Row]:
    """How many records the answer of a read holds whole, at each count."""
    for many in plan.rounds.counts:
        cells = {}
        for peer in plan.peers:
            with peer.start(plan.store(peer, many)) as server:
                cells[peer.name] = len(set(MARK.findall(server.call(*peer.read_all()))))
        yield counted(f"records that an answer holds whole, of {many:,}", cells)


def tool_texts(server: ServerProcess) -> tuple[str, str]:
    """What a client hands to the model in every session: the tools as JSON, the instructions."""
    tools = server.request("tools/list")["tools"]
    return as_offered(tools), str(server.hello.get("instructions") or "")


def _known(value: float | None) -> list[float]:
    return [] if value is None else [value]


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
