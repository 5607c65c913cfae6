"""Writes the report as data for scripts: the same facts, every list whole, no secret."""

from commands.report.comparison import Changed, Compacted, Entry, Renamed, Returned
from commands.report.findings import Damage, Figures, Marked, Report
from commands.report.markdown import summary
from commands.scan.lines import finding_json, shown_path


def as_json(report: Report) -> dict[str, object]:
    """Return the object that `--json` prints; `docs/report.md` lists its keys."""
    revisions, records = report.revisions, report.records
    return {
        "summary": summary(report),
        "path": shown_path(revisions.path),
        "before": _side(revisions.before.name, revisions.before.is_there, report.before),
        "after": _side(revisions.after.name, revisions.after.is_there, report.after),
        "shallow": revisions.is_cut,
        "secrets": [finding_json(it) for it in report.secrets],
        "passing_secrets": [finding_json(it) for it in report.passing],
        "earlier_secrets": report.earlier,
        "damage": [_damage(it) for it in report.damage],
        "marked": [_marked(it) for it in report.marked],
        "added": [_entry(it) for it in records.added],
        "changed": [_changed(it) for it in records.changed],
        "came_back": [_returned(it) for it in records.returned],
        "compacted": [_compacted(it) for it in records.compacted],
        "undone": [_compacted(it) for it in records.undone],
        "renamed": [_renamed(it) for it in records.renamed],
        "removed": [_entry(it) for it in records.removed],
        "compaction": {"need": report.need, "threshold": report.threshold},
        "refused": report.is_refused,
    }


def _side(name: str, is_there: bool, figures: Figures) -> dict[str, object]:
    return {
        "version": name,
        "present": is_there,
        "records": figures.records,
        "principles": figures.principles,
        "topics": figures.topics,
        "tokens": figures.tokens,
        "bytes": figures.size,
    }


def _damage(damage: Damage) -> dict[str, object]:
    return {"path": shown_path(damage.path), "line": damage.line, "kind": damage.kind}


def _marked(marked: Marked) -> dict[str, object]:
    findings = [finding_json(it) for it in marked.found]
    return {**_entry(marked.entry), "findings": findings}


def _entry(entry: Entry) -> dict[str, object]:
    return {"token": entry.token, "record": entry.record.as_json()}


def _changed(changed: Changed) -> dict[str, object]:
    return {
        "before": [entry.token for entry in changed.before],
        **_entry(changed.after),
        "changed": {key: [old, new] for key, old, new in changed.values},
    }


def _returned(returned: Returned) -> dict[str, object]:
    return {**_entry(returned.after), "seen_before": returned.before}


def _compacted(compacted: Compacted) -> dict[str, object]:
    return {
        **_entry(compacted.principle),
        "originals": [_entry(it) for it in compacted.originals],
        "kept": [_entry(it) for it in compacted.kept],
        "unknown": compacted.unknown,
    }


def _renamed(renamed: Renamed) -> dict[str, object]:
    return {
        "before": renamed.before.token,
        "former_topic": renamed.before.record.topic,
        **_entry(renamed.after),
    }
