"""Says what is wrong with the rules in the files that clients read: old, twice, cut off, absent."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from commands.doctor.mending import setup_line, this_program
from commands.doctor.set_up import SetUp, why_left
from commands.documents.marked_block import BrokenBlockError, block_in
from commands.setup.client_machine import Machine
from commands.setup.client_table import CLIENTS
from commands.setup.files import Change, Desk, Job, Remark, Tree
from commands.setup.plan import Plan, plan
from commands.setup.rules_files import BLOCK, ROWS
from core.lessons.upkeep import Finding
from core.messages import Facts

_TWICE, _CUT, _TORN = "two_copies", "_cuts", "broken_block"  # how setup calls these


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesOf:
    """The rules of clients that are set up at one level.

    held: the files that hold rules of ours, whichever client they are for. put: what setup would
    change.
    """

    group: Sequence[SetUp]
    job: Job
    held: frozenset[Path]
    put: Plan

    @property
    def absent(self) -> dict[Path, list[SetUp]]:
        """By file, the clients that have no rules at this level, as a user may have wanted."""
        lacking = (change for change in _rules_in(self.put) if change.path not in self.held)
        return {
            change.path: [it for it in self.group if ("rules", it.client.name) in change.parts]
            for change in lacking
        }

    def command(self, meant: Sequence[SetUp]) -> str:
        """Return the line that sets these up again, without the parts that they do not have."""
        without = sorted({part for it in meant for part in it.absent})
        keys, root = [it.client.key for it in meant], str(self.job.root)
        return setup_line(keys, self.job.level, root, without)


def rules_of(machine: Machine, tree: Tree | None, set_up: Sequence[SetUp]) -> list[RulesOf]:
    """Return the rules of the clients of the project, which share files, and of each of a user."""
    of_project = [it for it in set_up if it.level != "user"]
    groups = [of_project, *([it] for it in set_up if it.level == "user")]
    return [_rules_of(group, machine, tree) for group in groups if group]


def rules_findings(rules: Sequence[RulesOf], machine: Machine) -> list[Finding]:
    """Return what somebody should know about rules."""
    of_user = {it.group[0].client.key: it.held for it in rules if it.job.level == "user"}
    findings: list[Finding] = []
    for it in rules:
        others = of_user if it.job.level != "user" else {}
        findings += _about(it, {key for key, paths in others.items() if paths})
    return [*findings, *_at_both_levels(of_user, machine)]


def _rules_of(group: Sequence[SetUp], machine: Machine, tree: Tree | None) -> RulesOf:
    keys = tuple(it.client.key for it in group)
    job = Job(
        clients=keys,
        present=frozenset(keys),
        machine=machine,
        installation=this_program(),
        hooks=False,
        approvals=False,
        level=group[0].level,
        tree=tree,
    )
    everybody = tuple(row.key for row in CLIENTS) if job.level == "project" else keys
    out = plan(replace(job, clients=everybody, present=frozenset(), remove=True))
    held = frozenset(change.path for change in _rules_in(out))
    return RulesOf(group=group, job=job, held=held, put=plan(job))


def _rules_in(planned: Plan) -> list[Change]:
    return [it for it in planned.changes if any(part == "rules" for part, _ in it.parts)]


def _about(it: RulesOf, having: Collection[str]) -> Iterator[Finding]:
    """Yield what is wrong with these rules. having: keys of clients that get their user's."""
    lacking = [one for group in it.absent.values() for one in group]
    meant = [one for one in it.group if one not in lacking] or it.group
    for change in _rules_in(it.put):
        if change.path in it.held:
            kind = "client_rules_outdated" if _has_block(change.after) else "client_rules_surplus"
            facts: Facts = {"path": str(change.path), "command": it.command(meant)}
            yield Finding(kind, "warning", facts=facts)
    for path, group in it.absent.items():
        short = [one for one in group if one.client.key not in having]
        if short:
            facts = {"path": str(path), "clients": _names(short), "command": it.command(short)}
            yield Finding("client_rules_absent", "note", facts=facts)
    for problem in _problems(it.job, it.put):
        known = why_left(problem, _names(it.group), it.command(it.group))
        yield Finding("client_left_alone", "warning", facts=known)
    for note in it.put.notes:
        if note.key == _TWICE:
            yield Finding("client_rules_twice", "note", facts=note.facts)
        elif note.key.endswith(_CUT):
            yield Finding("client_rules_cut", "warning", facts=note.facts)


def _problems(job: Job, put: Plan) -> Iterator[Remark]:
    """Yield why setup would leave files with rules alone; one with half a block looks like text."""
    others, named = plan(replace(job, rules=False)).problems, set[Path]()
    for problem in put.problems:
        if problem not in others:
            named.add(Path(str(problem.facts["path"])))
            yield problem
    desk = Desk(job.root)
    rows = [ROWS[key] for key in job.clients if key in ROWS and job.level == "project"]
    for name in dict.fromkeys(name for row in rows for name in row.reads):
        path = job.root / name
        if path not in named and _is_torn(desk.text(path) or ""):
            yield Remark(_TORN, {"path": str(path)})


def _names(group: Iterable[SetUp]) -> str:
    return ", ".join(it.client.name for it in group)


def _has_block(text: str | None) -> bool:
    return not _is_torn(text or "") and block_in(text or "", BLOCK) is not None


def _is_torn(text: str) -> bool:
    try:
        block_in(text, BLOCK)
    except BrokenBlockError:
        return True
    return False


def _at_both_levels(held: Mapping[str, Collection[Path]], machine: Machine) -> Iterator[Finding]:
    """Yield where a client reads the rules of its user and those of the project."""
    desk = Desk(machine.root)
    for row in CLIENTS:
        reads = ROWS[row.key].reads if row.key in ROWS else ()
        of_project = [name for name in reads if _has_block(desk.text(machine.root / name))]
        for path in sorted(held.get(row.key, ())) if of_project else ():
            facts: Facts = {"client": row.name, "path": str(path), "files": ", ".join(of_project)}
            yield Finding("client_rules_at_both", "note", facts=facts)
