"""Says what is remembered beside a team's fragments, makes it anew, or removes it."""

import argparse
from typing import TYPE_CHECKING

from commands.fragments.cache.words import word
from commands.fragments.room import add_json, open_fragments
from commands.terminal.console import add_examples, explain
from commands.terminal.printing import print_lines
from commands.terminal.progress import progress
from commands.terminal.safe_text import complain, plain, plain_json
from core.messages import Language

if TYPE_CHECKING:
    from rooms.fragments.redis.engine import CachedEngine

ACTIONS = ("state", "rebuild", "clear")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments cache`."""
    about = explain("fragments_cache_action")
    parser.add_argument("what", metavar="ACTION", nargs="?", choices=ACTIONS, help=about)
    add_json(parser)
    add_examples(parser, "fragments cache", "fragments cache rebuild")


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; 1 where the server does not answer. Raises SentinelError."""
    from rooms.fragments.redis.engine import CachedEngine

    opened = open_fragments()
    engine = opened.room.engine
    if not isinstance(engine, CachedEngine):
        _say(arguments.json, {"on": False}, [word(opened.lang, "off")])
        return 0
    act = {"rebuild": _rebuild, "clear": _clear}.get(arguments.what, _state)
    return act(engine, opened.lang, arguments.json)


def _state(engine: "CachedEngine", lang: Language, is_json: bool) -> int:
    kept = engine.cache.kept()
    if kept is None:
        return _away(engine, lang, is_json)
    name = engine.cache.place.name
    data = {
        "on": True,
        "server": name,
        "reachable": True,
        "answers": kept.answers,
        "agents": kept.keyword_sets,
        "hits": kept.hits,
        "misses": kept.misses,
    }
    lines = [
        word(lang, "reached", name=plain(name)),
        word(lang, "kept", answers=kept.answers, sets=kept.keyword_sets),
        word(lang, "figures", hits=kept.hits, misses=kept.misses),
    ]
    _say(is_json, data, lines)
    return 0


def _rebuild(engine: "CachedEngine", lang: Language, is_json: bool) -> int:
    from rooms.fragments.redis.rebuilding import rebuild

    if engine.cache.kept() is None:
        return _away(engine, lang, is_json)
    with progress(lang) as tell:

        def told(done: int, count: int) -> None:
            tell(word(lang, "rebuilding", done=done, count=count))

        done = rebuild(engine, is_whole=True, progress=told)
    lines = [word(lang, "rebuilt", made=done.made, current=done.current)]
    _say(is_json, {"on": True, "reachable": not done.failed, **done._asdict()}, lines)
    if done.failed:
        name = plain(engine.cache.place.name)
        complain(word(lang, "failed", name=name, failed=done.failed))
    return int(bool(done.failed))


def _clear(engine: "CachedEngine", lang: Language, is_json: bool) -> int:
    count = engine.cache.clear()
    if count is None:
        return _away(engine, lang, is_json)
    _say(
        is_json, {"on": True, "reachable": True, "removed": count},
        [word(lang, "cleared", count=count)],
    )  # fmt: skip
    return 0


def _away(engine: "CachedEngine", lang: Language, is_json: bool) -> int:
    from rooms.fragments.redis.client import is_installed

    name = engine.cache.place.name
    if is_json:
        print(plain_json({"on": True, "server": name, "reachable": False}))
    else:
        complain(word(lang, "away" if is_installed() else "no_package", name=plain(name)))
    return 1


def _say(is_json: bool, data: dict[str, object], lines: list[str]) -> None:
    if is_json:
        print(plain_json(data))
    else:
        print_lines(lines)
