"""Says how many records no hook can show, and how many one would show at nearly every change."""

from pathlib import Path

from commands.stats.figures import Stats
from commands.stats.words import word
from commands.terminal.columns import wrapped
from core.lessons.git.project.common import tracked_files
from core.lessons.recall.showable import can_be_shown, shown_everywhere
from core.messages import Language


def reach_section(stats: Stats, lang: Language) -> list[str]:
    """Return a heading and the counts; [] where there are no such records."""
    records = stats.log.records
    never = sum(not can_be_shown(record) for record in records)
    anchored = [record for record in records if record.paths]
    files = tracked_files(Path(stats.frame.project)) if anchored else []
    everywhere = len(list(shown_everywhere(anchored, files)))
    if not never and not everywhere:
        return []
    return [word(lang, "reach"), *wrapped(word(lang, "in_reach", never=never, wide=everywhere))]
