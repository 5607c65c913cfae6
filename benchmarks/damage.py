"""What is left of a store, and of a server, when its file was damaged by something else."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from experiments import STORED, read_by_fresh_server
from peers import MARK, Peer, marked_lessons
from plan import Plan
from process import Refused
from prose import DAMAGE_NOTES, DAMAGE_TEXT
from report import Cell, Row, Section, counted

GARBAGE = b"\x00\x7f{not a record, not JSON}\xff" + b"garbage" * 5
OURS_MARKER, MIDDLE_MARKER, THEIRS_MARKER = b"<<<<<<< HEAD", b"=======", b">>>>>>> other-branch"
DAMAGE_ROWS = (
    f"readable of {STORED}",
    "a save afterwards",
    f"of {STORED} still in the file",
    "foreign text in the file",
)


@dataclass(frozen=True, slots=True)
class Damage:
    """One way to spoil a file: its new bytes, and foreign bytes that nobody else may remove."""

    label: str
    spoil: Callable[[bytes, bool], tuple[bytes, bytes]]
    lines_only: bool = False


def torn(data: bytes, lines: bool) -> tuple[bytes, bytes]:
    """The last 40 bytes are missing; the rest of a torn line should stay in the file."""
    return data[:-40], data[:-40].rpartition(b"\n")[2][:60] if lines else b""


def garbage(data: bytes, lines: bool) -> tuple[bytes, bytes]:
    """A line that is none in the middle; in a database, the same bytes over what was there."""
    middle = data.index(b"\n", len(data) // 2) + 1 if lines else len(data) // 2
    if lines:
        return data[:middle] + GARBAGE + b"\n" + data[middle:], GARBAGE
    return data[:middle] + GARBAGE + data[middle + len(GARBAGE) :], b""


def conflict(data: bytes, lines: bool) -> tuple[bytes, bytes]:
    """The markers that git leaves where both branches added a line at the end."""
    *shared, left, right = data.rstrip(b"\n").split(b"\n")
    marked = [*shared, OURS_MARKER, left, MIDDLE_MARKER, right, THEIRS_MARKER, b""]
    return b"\n".join(marked), OURS_MARKER


DAMAGES = (
    Damage("torn end", torn),
    Damage("garbage in the middle", garbage),
    Damage("git conflict markers", conflict, lines_only=True),
)


def after_damage(peer: Peer, store: Path, damage: Damage) -> list[Cell]:
    """Readable records, what a save is told, records and foreign bytes in the file after it."""
    before = peer.held(store)
    spoilt, foreign = damage.spoil(store.read_bytes(), peer.line_based)
    store.write_bytes(spoilt)
    seen = read_by_fresh_server(peer, store)
    [(mark, draft)] = marked_lessons(STORED, 1)
    try:
        with peer.start(store) as server:
            server.call(*peer.save(draft, mark))
        saved = "accepted"
    except Refused:
        saved = "refused"
    after = store.read_bytes()
    kept = "–" if not foreign else "kept" if foreign in after else "gone"
    there = {it for it in MARK.findall(after.decode("utf-8", "replace")) if it in before}
    readable = "none, an error" if seen is None else len(seen & before)
    return [readable, saved, len(there), kept]


def damage_section(plan: Plan) -> Section:
    """One read and one save after the file was damaged."""
    rows: list[Row] = []
    for damage in DAMAGES:
        found: dict[str, list[Cell]] = {}
        for peer in plan.peers:
            if peer.line_based or not damage.lines_only:
                found[peer.name] = after_damage(peer, plan.store(peer, STORED), damage)
        for at, what in enumerate(DAMAGE_ROWS):
            cells = {name: cells[at] for name, cells in found.items()}
            rows.append(counted(f"{damage.label}: {what}", cells))
    return Section(
        title="Damage",
        text=DAMAGE_TEXT.format(stored=STORED),
        columns=plan.names,
        rows=rows,
        notes=DAMAGE_NOTES,
    )
