"""Adds up the processor time of every item of a run: its own, its children's and its servers'.

    python -m pytest -n 0 -p tests.support.cost tests/core

The dearest items and files are printed at the end. Linux alone; the servers of other runs on the
machine count as well.
"""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

_TICKS = os.sysconf("SC_CLK_TCK")
_MOST_SHOWN = 20


def _processes() -> dict[int, tuple[str, int, float]]:
    """Return name, parent and seconds of every process, with the children that it waited for."""
    found = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            text = Path(entry.path, "stat").read_text()
        except OSError:  # it has ended
            continue
        name, _, rest = text.partition("(")[2].rpartition(")")
        cells = rest.split()
        found[int(entry.name)] = (name, int(cells[1]), sum(map(int, cells[11:15])) / _TICKS)
    return found


def _seconds() -> float:
    """Return the processor time so far."""
    times, processes = os.times(), _processes()
    ours = {os.getpid()}
    servers = {pid for pid, it in processes.items() if it[0] == "postgres" and it[1] == 1}
    found = times.user + times.system + times.children_user + times.children_system
    for pid, (_, parent, seconds) in sorted(processes.items()):
        if parent in ours and pid not in ours:
            ours.add(pid)
            found += seconds
        elif pid in servers or parent in servers:
            found += seconds
    return found


class _Costs:
    def __init__(self) -> None:
        self.items: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = _seconds()
        result = yield
        self.items[item.nodeid] = _seconds() - before
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        files = defaultdict[str, float](float)
        for item, seconds in self.items.items():
            files[item.partition("::")[0]] += seconds
        whole = sum(self.items.values())
        for title, costs in (("items", self.items), ("files", files)):
            terminalreporter.section(f"processor time: {whole:.1f} s, dearest {title}")
            dearest = sorted(costs.items(), key=lambda it: it[1], reverse=True)[:_MOST_SHOWN]
            for name, seconds in dearest:
                terminalreporter.write_line(f"{seconds:8.2f} s  {name}")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count."""
    config.pluginmanager.register(_Costs(), "costs")
