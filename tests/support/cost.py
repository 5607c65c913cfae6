"""Adds up the processor time of every item of a run: its own, its children's and its servers'.

    python -m pytest -n 0 -p tests.support.cost tests/core

The dearest items and files are printed at the end. `COST_FILE=PATH` writes all items there, one
JSON object a line (`item`, `own`, `children`, `running`, `postgres`; seconds). Linux alone; the
servers of other runs on the machine count as well.
"""

import json
import os
import time
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


def _seconds(*, begins: bool = False) -> dict[str, float]:
    """Return the processor time so far, by kind. begins: what this takes is not to be counted."""
    own = time.process_time()
    times = os.times()
    processes = _processes()
    own = time.process_time() if begins else own
    running, ours = 0.0, {os.getpid()}
    servers = {pid for pid, it in processes.items() if it[0] == "postgres" and it[1] == 1}
    theirs = (it[2] for pid, it in processes.items() if pid in servers or it[1] in servers)
    for pid, (_, parent, seconds) in sorted(processes.items()):
        if parent in ours and pid not in ours:
            ours.add(pid)
            running += seconds
    children = times.children_user + times.children_system
    return {"own": own, "children": children, "running": running, "postgres": sum(theirs)}


class _Costs:
    def __init__(self) -> None:
        self.items: list[tuple[str, dict[str, float]]] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = _seconds(begins=True)
        result = yield
        after = _seconds()
        self.items.append((item.nodeid, {kind: after[kind] - before[kind] for kind in after}))
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        sums = {item: sum(kinds.values()) for item, kinds in self.items}
        files = dict.fromkeys((item.partition("::")[0] for item in sums), 0.0)
        for item, seconds in sums.items():
            files[item.partition("::")[0]] += seconds
        for title, costs in (("items", sums), ("files", files)):
            terminalreporter.section(f"processor time: {sum(sums.values()):.1f} s, dearest {title}")
            dearest = sorted(costs.items(), key=lambda it: it[1], reverse=True)[:_MOST_SHOWN]
            for name, seconds in dearest:
                terminalreporter.write_line(f"{seconds:8.2f} s  {name}")
        if path := os.environ.get("COST_FILE"):
            rows = (json.dumps({"item": item, **kinds}) for item, kinds in self.items)
            Path(path).write_text("\n".join(rows) + "\n", encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count."""
    config.pluginmanager.register(_Costs(), "costs")
