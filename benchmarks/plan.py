"""What one comparison works with: the servers, how often, and stores that hold so many records."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from peers import Echo, Peer, marked_lessons

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """How often each thing is done, and with how much."""

    starts: int
    calls: int
    memory: int
    races: int
    saves_each: int
    kills: int
    counts: Sequence[int]


FULL = Rounds(
    starts=9,
    calls=40,
    memory=3,
    races=3,
    saves_each=100,
    kills=12,
    counts=(50, 1_000),
)
QUICK = Rounds(
    starts=1,
    calls=5,
    memory=1,
    races=1,
    saves_each=10,
    kills=1,
    counts=(50,),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One run of the comparison. The first server is the one that the others are compared with."""

    scratch: Path
    rounds: Rounds
    peers: Sequence[Peer]
    echo: Echo = field(default_factory=Echo)

    @property
    def names(self) -> list[str]:
        """The columns of a section about memory servers."""
        return [peer.name for peer in self.peers]

    @property
    def names_and_echo(self) -> list[str]:
        """The columns where a server that only echoes takes part."""
        return [*self.names, self.echo.name]

    def store(self, peer: Peer, count: int) -> Path:
        """A store of its own with so many marked records, filled through the server's tools."""
        template = self.scratch / "filled" / peer.name / str(count)
        if not template.is_dir():
            template.mkdir(parents=True)
            peer.fill(peer.place(template), (draft for _, draft in marked_lessons(0, count)))
        copy = self.directory()
        shutil.copytree(template, copy, dirs_exist_ok=True)
        return peer.place(copy)

    def directory(self) -> Path:
        """A new empty directory."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        taken = sum(1 for _ in self.scratch.iterdir())
        new = self.scratch / f"project-{taken}"
        new.mkdir()
        return new


def rotated(items: Sequence[T], turn: int) -> list[T]:
    """The items in an order that begins with another one in each turn."""
    first = turn % len(items)
    return [*items[first:], *items[:first]]
