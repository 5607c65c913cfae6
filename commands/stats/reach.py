"""Names the records that no hook can show, and those that one would show at nearly every change."""

from collections.abc import Sequence
from pathlib import Path

from commands.stats.figures import Stats
from commands.stats.parts import Page, last_day, named, section
from commands.stats.words import word
from core.lessons.git.project.common import tracked_files
from core.lessons.recall.showable import can_be_shown, shown_everywhere
from core.lessons.record import Record


def reach_sections(stats: Stats, page: Page) -> list[list[str]]:
    """Return a table of each kind, and how to mend them; [] where there are no such records."""
    records = stats.log.records
    never = [record for record in records if not can_be_shown(record)]
    anchored = [record for record in records if record.paths]
    files = tracked_files(Path(stats.frame.project)) if anchored else []
    wide = [record for record, _ in shown_everywhere(anchored, files)]
    found = [
        _named(listed, word(page.lang, key, count=len(listed)), page)
        for key, listed in (("out_of_reach", never), ("everywhere", wide))
        if listed
    ]
    return [*found, [word(page.lang, "reach")]] if found else []


def _named(records: Sequence[Record], title: str, page: Page) -> list[str]:
    rows = ([last_day(it), *named(it, it.key_text)] for it in records)
    return section(page, title, "last id record", rows, len(records))
