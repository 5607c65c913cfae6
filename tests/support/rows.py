"""Fails a test with all bad rows of a table at once."""

from collections.abc import Iterable


def none_of(faults: Iterable[object]) -> None:
    """Fail with every fault, each in a line of its own, whatever pytest would shorten."""
    lines = [str(fault) for fault in faults]
    assert not lines, f"{len(lines)} faults:\n" + "\n".join(lines)
