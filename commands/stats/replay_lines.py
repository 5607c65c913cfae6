"""Prints what a replay found, as a page and as JSON."""

from commands.stats.data import moment_data, record_data, share_data
from commands.stats.intervals import Share
from commands.stats.parts import day_text, last_day, named, section, share_text
from commands.stats.replay import FLOODING, Replay
from commands.stats.words import word
from commands.terminal.columns import wrapped
from commands.terminal.safe_text import plain
from core.lessons.record import Record
from core.messages import Language


def replay_lines(found: Replay, project: str, lang: Language, *, seconds: int) -> list[str]:
    """Return the sections of a replay that had so many seconds, a blank line between them."""
    head = [word(lang, "project", path=plain(project)), "", word(lang, "replay")]
    cut = [] if found.is_whole else wrapped(word(lang, "replay_cut", seconds=seconds))
    if found.since_s is None:
        return [*head, *(cut or wrapped(word(lang, "replay_none")))]
    shares = {"commits": share_text(found.commits, lang), "hunks": share_text(found.hunks, lang)}
    about = word(lang, "replay_about", day=day_text(found.since_s), **shares)
    flooding = _shown(found.flooding, word(lang, "flooding", count=len(found.flooding)), lang)
    if found.flooding:
        flooding += wrapped(word(lang, "flooding_about", percent=round(100 * FLOODING)))
    never = ([last_day(it), *named(it, it.key_text)] for it in found.never)
    never_title = word(lang, "unreached", count=len(found.never))
    reached = word(lang, "reached", count=found.reach.count, of=found.reach.of)
    sections = [
        wrapped(about) + wrapped(word(lang, "intervals")) + cut,
        ["", *flooding],
        ["", *_shown(found.shown, reached, lang)],
        ["", *section(lang, never_title, "last id record", never, len(found.never))],
        ["", *wrapped(word(lang, "replay_limits"), "")],
    ]
    return [*head, *(line for lines in sections for line in lines)]


def _shown(shown: list[tuple[Record, Share]], title: str, lang: Language) -> list[str]:
    rows = (
        [f"{share.count:,}", f"{round(100 * share.value)}", *named(record, record.key_text)]
        for record, share in shown
    )
    return section(lang, title, "commits % id record", rows, len(shown))


def replay_data(found: Replay, project: str) -> dict[str, object]:
    """Return all figures of a replay by key; docs/stats.md describes them."""
    return {
        "project": project,
        "replay": {
            "commits": share_data(found.commits),
            "hunks": share_data(found.hunks),
            "since": moment_data(found.since_s),
            "whole": found.is_whole,
            "reach": share_data(found.reach),
            "shown": [_data(*it) for it in found.shown],
            "flooding": [_data(*it) for it in found.flooding],
            "never_shown": [record_data(it) for it in found.never],
        },
    }


def _data(record: Record, share: Share) -> dict[str, object]:
    return {**record_data(record), "commits": share_data(share)}
