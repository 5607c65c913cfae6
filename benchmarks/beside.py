"""Each room of this project beside servers of its kind, and what all the rooms together cost."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from costs import TYPICAL, WORD, timed, tool_texts
from experiments import broken_promises, race, race_rows
from peers import MARK, OURS, Call, Peer, lessons, marked_lessons
from plan import QUICK, Plan, rotated
from process import Refused, ServerProcess, processor_s
from prose import ABSENT_TEXT, ROOM_NOTES, ROOM_TEXTS, ROOMS_TEXT, WHY_ABSENT
from ranking import Labelled, labelled_sets, ndcg_at_10
from report import Row, Section, compared, counted, measured
from room_peers import SERVICE, AllRooms, kind_of, room_of
from tokens import tokenizer

from core.lessons.record import Draft

ROOMS = ("lessons", "sessions", "fragments")
LOST_ROWS = ("acknowledged", "acknowledged and lost", "refused with an error")


@dataclass(frozen=True, slots=True)
class Answers:
    """How well one server answers labelled questions. held: the share whose answer has a hit."""

    ndcg: float
    held: float
    tokens: float | None


def room_section(room: str, plan: Plan) -> Section:
    """One room beside the servers of its kind."""
    kind = kind_of(room)
    able = [peer for peer in kind.peers if peer is not SERVICE or can_save(peer, plan)]
    unable = [f"{it.name}: a save is refused here." for it in kind.peers if it not in able]
    its_plan = replace(plan, peers=kind.peers)
    lost, broken = lost_rows(replace(plan, peers=able))
    return Section(
        title=f"Room by room: {room}",
        text=ROOM_TEXTS[room],
        columns=its_plan.names_and_echo,
        floor=plan.echo.name,
        rows=[
            *token_rows(kind.peers, plan),
            *([] if plan.rounds is QUICK else start_rows(kind.peers, plan)),
            *([] if plan.rounds is QUICK else call_rows(replace(plan, peers=able))),
            *quality_rows(replace(plan, peers=able)),
            *lost,
        ],
        notes=[*ROOM_NOTES[room], *unable, *kind.missing],
        broken=broken,
    )


def can_save(peer: Peer, plan: Plan) -> bool:
    """Whether a save succeeds here; this project's always has to."""
    try:
        peer.fill(peer.place(plan.directory()), lessons()[:1])
    except Refused:
        return False
    return True


def token_rows(peers: Sequence[Peer], plan: Plan) -> Iterator[Row]:
    """What the tools and the instructions cost each session."""
    count = tokenizer()
    if count is None:
        return
    cells: dict[str, tuple[float, float]] = {}
    for peer in peers:
        with peer.start(peer.place(plan.directory())) as server:
            tools, said = tool_texts(server)
        cells[peer.name] = count(tools), count(tools) + count(said)
    yield compared("list of tools", {name: its[0] for name, its in cells.items()}, "tokens")
    yield compared(
        "list of tools and instructions", {name: its[1] for name, its in cells.items()}, "tokens"
    )


def start_rows(peers: Sequence[Peer], plan: Plan) -> list[Row]:
    """From the start of the process until the tools are listed, with an empty store."""
    starts: dict[str, Callable[[], ServerProcess]]
    starts = {it.name: partial(it.start, it.place(plan.directory())) for it in peers}
    starts[plan.echo.name] = plan.echo.start
    wall: dict[str, list[float]] = {name: [] for name in starts}
    processor: dict[str, list[float]] = {name: [] for name in starts}
    for turn in range(plan.rounds.room_starts + 1):
        for name in rotated(list(starts), turn):
            begun = time.perf_counter()
            with starts[name]() as server:
                server.request("tools/list")
                took, used = time.perf_counter() - begun, processor_s(server.pid)
            if turn:  # the first turn fills the caches of files and byte code
                wall[name].append(took)
                processor[name] += [] if used is None else [used]
    return [
        measured("start until the tools are listed: processor", processor, "s"),
        measured("start until the tools are listed: wall", wall, "s"),
    ]


def call_rows(plan: Plan) -> list[Row]:
    """A save and a search of one word, the servers taking turns, beside an echo."""

    def calls(peer: Peer) -> Iterator[Call]:
        for mark, draft in marked_lessons(TYPICAL, 10_000):
            yield peer.save(draft, mark)

    def again(call: Call) -> Iterator[Call]:
        while True:
            yield call

    rows: list[Row] = []
    servers = {it.name: it.start(plan.store(it, TYPICAL)) for it in plan.peers}
    servers[plan.echo.name] = plan.echo.start()
    try:
        echo = {plan.echo.name: again(("echo", {"text": "hello"}))}
        searches = {it.name: again(it.search(WORD)) for it in plan.peers} | echo
        saves = {it.name: calls(it) for it in plan.peers} | echo
        rows += timed(f"search at {TYPICAL} records", servers, searches, plan.rounds.calls)
        rows += timed(f"save at {TYPICAL} records", servers, saves, plan.rounds.calls)
    finally:
        for server in servers.values():
            server.close()
    return rows


def quality_rows(plan: Plan) -> list[Row]:
    """How well each answers the labelled questions, out of its own answers."""
    sets = labelled_sets()
    if plan.rounds is QUICK:
        sets = {"lessons": sets["lessons"]}
    rows = []
    for name, labelled in sets.items():
        found = {peer.name: answers_of(peer, labelled, plan) for peer in plan.peers}
        rows += [
            counted(f"{name}: nDCG@10", {it: its.ndcg for it, its in found.items()}),
            counted(
                f"{name}: answers with a hit",
                {it: 100 * its.held for it, its in found.items()},
                "%",
            ),
            counted(
                f"{name}: an answer, mean", {it: its.tokens for it, its in found.items()}, "tokens"
            ),
        ]
    return rows


def answers_of(peer: Peer, labelled: Labelled, plan: Plan) -> Answers:
    """Save the texts through the server's own tools, then ask all questions."""
    count = tokenizer()
    with peer.start(peer.place(plan.directory())) as server:
        for at, text in enumerate(labelled.texts):
            mark = mark_of(at)
            draft = Draft(topic=mark, missing_context=text.strip(), lesson=mark)
            server.call(*peer.save(draft, mark))
        said = {
            query: asked(partial(server.call, *peer.search(query)))
            for query, _ in labelled.questions
        }
    orders = {query: places_in(answer) for query, answer in said.items()}
    hits = [bool(its & set(orders[query])) for query, its in labelled.questions]
    tokens = statistics.mean(map(count, said.values())) if count else None
    return Answers(
        ndcg_at_10(lambda query, texts: orders[query], labelled), sum(hits) / len(hits), tokens
    )


def asked(call: Callable[[], str]) -> str:
    """The answer; none where the server refuses the question."""
    try:
        return call()
    except Refused:
        return ""


def mark_of(at: int) -> str:
    """The name of the text at this place."""
    return f"mark-{at:05d}"


def places_in(answer: str) -> list[int]:
    """The places of the texts that an answer shows, in its order."""
    return [int(it.removeprefix("mark-")) for it in dict.fromkeys(MARK.findall(answer))]


def lost_rows(plan: Plan) -> tuple[list[Row], list[str]]:
    """Two processes that save at once: what was acknowledged, and what of it is not there."""
    each = plan.rounds.saves_each
    label = f"2 processes, {each} saves each"
    outcomes = {
        peer.name: [
            race(peer, peer.place(plan.directory()), 2, each) for _ in range(plan.rounds.room_races)
        ]
        for peer in plan.peers
    }
    rows = [
        it for it in race_rows(label, outcomes) if it.label.removeprefix(f"{label}: ") in LOST_ROWS
    ]
    return rows, broken_promises(label, plan.names[0], outcomes)


def rooms_section(plan: Plan) -> Section:
    """What each room costs a session by itself, and all three of them."""
    names = (*ROOMS, AllRooms.name)
    servers = [room_of(name) for name in names]
    columns = {OURS.name: "lessons"}

    def named(row: Row) -> Row:
        cells = {columns.get(it, it): cell for it, cell in row.cells.items()}
        ratios = {it: row.ratios[it] for it in (AllRooms.name, plan.echo.name) if it in row.ratios}
        return replace(row, cells=cells, ratios=ratios)

    rows = [*token_rows(servers, plan), *start_rows(servers, plan)]
    return Section(
        title="All three rooms",
        text=ROOMS_TEXT,
        columns=[*names, plan.echo.name],
        floor=plan.echo.name,
        rows=[named(row) for row in rows],
    )


def absent_section(plan: Plan) -> Section:
    """The servers that were asked for and are not compared, or not wholly, by name."""
    return Section(
        title="Not compared",
        text=ABSENT_TEXT,
        columns=["looked at", "why"],
        rows=[
            counted(name, {"looked at": version, "why": why}) for name, version, why in WHY_ABSENT
        ],
    )
