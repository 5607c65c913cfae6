"""Counts the tokens of every session and of a record, and how far the estimate is from them.

The tokenizer is `o200k_base`, from the development package bpe-openai. `--update` writes the counts
that `tests/core/text/test_plain.py` reads.
"""

import json
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from measure import ROOT, Figure, lessons, options, ours_on, reported

from commands.clients.merge import with_block
from commands.clients.table import TOOLS
from core.config import Settings, read_settings
from core.lessons.briefing import instructions_for, rules_for, session_briefing
from core.lessons.log import MemoryLog
from core.lessons.record import Draft, Record, new_record
from core.lessons.record_text import fit_all, record_block
from core.messages import Language
from core.text.plain import Budget, estimate_tokens
from rooms.sessions.rows import write_session
from rooms.sessions.store import open_sessions
from tests.support.room_tools import FAILURES
from tests.support.session_samples import sample_sessions

DATA_OF_TESTS = ROOT / "tests" / "data"
COUNTED, SURFACE = DATA_OF_TESTS / "counted_tokens.json", DATA_OF_TESTS / "tool_surface.json"
MOST_OF_ROOMS = {  # tokens of the tools of a room, by profile
    "sessions": 1_200,
    "sessions:core": 850,
    "fragments": 1_700,
    "fragments:core": 650,
}
TOOL_KEYS = ("name", "description", "inputSchema")
CREATED = "2026-02-27T10:30:00+00:00"
KINDS = ("english", "korean", "mixed")
MOST_OFF = 0.15  # of the tokens of all records of a kind
MOST_BESIDE = 12.0  # tokens of a record beside those of its texts
MOST_OF_A_SESSION: dict[Language, int] = {"en": 900, "ko": 1_050}  # by the language of the rules
STARTS = (3, 50)  # records of the memory with which a session starts
DATA = "the recorded tools, the rules and 98 lessons"

Count = Callable[[str], int]


def tokenizer() -> Count | None:
    """Counts tokens of `o200k_base`; None where the development package is not installed."""
    try:
        encoding = import_module("bpe_openai").get_encoding("o200k_base")
    except ImportError:
        return None
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def as_offered(tools: Sequence[Mapping[str, Any]]) -> str:
    """The part of these tools that a client hands to the model, as compact JSON."""
    kept = [{key: tool[key] for key in TOOL_KEYS if key in tool} for tool in tools]
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def session_costs(lang: Language, count: Count) -> dict[str, int]:
    """The tokens of every session, part by part, with the rules as setup writes them to a file."""
    texts = {
        "tools": as_offered(json.loads(SURFACE.read_text("utf-8"))),
        "instructions": instructions_for(),
        "rules": with_block("", rules_for(lang)),
    }
    return {part: count(text) for part, text in texts.items()}


def room_costs(count: Count) -> dict[str, dict[str, int]]:
    """Return the additional tokens of a session with another room, part by part, by profile."""
    costs = {}
    for profile in MOST_OF_ROOMS:
        room = profile.partition(":")[0]
        offered = json.loads((DATA_OF_TESTS / f"tool_surface_{room}.json").read_text("utf-8"))
        tools = [tool for tool in offered if tool["name"] in TOOLS[profile]]
        costs[profile] = {
            "tools": count(as_offered(tools)),
            "instructions": count(instructions_for([room])),
            **{f"rules, {lang}": count(rules_for(lang, [room])) for lang in MOST_OF_A_SESSION},
        }
    return costs


def labelled_records() -> list[Record]:
    """The records of the demonstration and of the ranking queries."""
    queries = json.loads((DATA_OF_TESTS / "ranking_queries.json").read_text("utf-8"))
    drafts = [*lessons(), *(Draft(**record) for record in queries["records"])]
    return [new_record(draft, now=CREATED) for draft in drafts]


@cache
def words() -> Sequence[str]:
    """Return the words of these in both languages, each as often as it stands there."""
    return [word for it in labelled_records() for text in it.texts for word in text.split()]


def kind_of(record: Record) -> str:
    """By the share of Latin letters beside Hangul in the texts of a record."""
    text = " ".join(record.texts[1:])
    hangul, latin = len(re.findall("[가-힣]", text)), len(re.findall("[A-Za-z]", text))
    if not hangul:
        return "english"
    return "korean" if latin < 0.15 * hangul else "mixed"


def costs(count: Count) -> Iterator[Figure]:
    """Yield the tokens of a session, with the rules in each language, other rooms, at a start."""
    for lang, most in MOST_OF_A_SESSION.items():
        paid = session_costs(lang, count)
        yield Figure(f"session, {lang}", sum(paid.values()), "tokens", most=most)
        for part, tokens in paid.items():
            yield Figure(f"session, {lang}, {part}", tokens, "tokens")
    for profile, parts in room_costs(count).items():
        for part, tokens in parts.items():
            most_tools = MOST_OF_ROOMS[profile] if part == "tools" else None
            yield Figure(f"{profile}, {part}", tokens, "tokens", most=most_tools)
        more = parts["tools"] + parts["instructions"] + parts["rules, en"]
        yield Figure(f"{profile}, together", more, "tokens")
    for records in STARTS:
        lines = [record.to_line() for record in labelled_records()[:records]]
        log = MemoryLog.parse(b"".join(lines))
        # All are taken to be near to the work: then the most lessons are shown.
        near, settings = partial(getattr, log, "records"), read_settings({})
        told = session_briefing(log, project="/home/dev/shop", settings=settings, find_nearest=near)
        yield Figure(f"more at a start, {records} records", count(told.text), "tokens")


def day_of_sessions(count: Count) -> Iterator[Figure]:
    """Yield the tokens of a day of the sessions: one warning, search, session and save."""
    for lang in MOST_OF_A_SESSION:
        samples = [session for session, _ in sample_sessions(400)]
        kept = [it for it in samples if bool(re.search("[가-힣]", it.goal)) == (lang == "ko")]
        with tempfile.TemporaryDirectory(prefix="sentinel-memory-") as scratch:
            store = open_sessions(Path(scratch), Settings())
            with store.writing() as connection:
                for number, session in enumerate(kept, 1):
                    write_session(connection, replace(session, number=number, parent_id=""))
            store.database.close()
            with ours_on(Path(scratch), "sessions", SENTINEL_MEMORY_LANG=lang) as server:
                hints = count(server.call("context_search", {"limit": 20}))
                day = (
                    ("context_warn", {"currentGoal": kept[-1].goal}),
                    ("context_search", {"query": kept[-1].goal}),
                    ("context_get", {"id": str(len(kept))}),
                    ("context_save", {"goal": f"{kept[-1].goal} 2", "summary": "…"}),
                )
                paid = sum(count(server.call(tool, given)) for tool, given in day)
        yield Figure(f"sessions, {lang}, a hint", round(hints / 20), "tokens")
        yield Figure(f"sessions, {lang}, a day", paid, "tokens")


def line_of_fragments(count: Count) -> Iterator[Figure]:
    """Yield the tokens of a line of a recall beside the text of the fragment."""
    with (
        tempfile.TemporaryDirectory(prefix="sentinel-memory-") as scratch,
        ours_on(Path(scratch), "fragments") as server,
    ):
        for what, why in FAILURES["en"]:
            kept = {"content": f"{what}: {why}", "type": "error", "topic": "checkout"}
            server.call("remember", kept)
        lines = server.call("recall", {"includeLinks": False}).splitlines()
    beside = [count(line) - count(line.partition(": ")[2]) for line in lines]
    yield Figure("fragments, a line", round(statistics.mean(beside)), "tokens")


def estimates(count: Count) -> Iterator[Figure]:
    """Yield how near the estimate is for the records of each kind, as shown; 1.0 is exact."""
    records = labelled_records()
    texts: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for it in records:
        texts[kind_of(it)].append(f"{record_block(it)}\n")
    texts["whole answer"] = ["\n".join(fit_all(records, Budget(10**6, 10**6)) or [])]
    for kind, some in texts.items():
        pairs = [(estimate_tokens(text), count(text)) for text in some]
        ratio = sum(ours for ours, _ in pairs) / sum(real for _, real in pairs)
        yield Figure(f"estimate / o200k_base, {kind}", ratio, "x", 1 - MOST_OFF, 1 + MOST_OFF)


def beside_the_texts(count: Count) -> Iterator[Figure]:
    """Yield the tokens of a record beside those of its texts; a topic has four."""
    beside: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for it in labelled_records():
        shown, heading = count(f"{record_block(it)}\n"), count(f"[{it.topic}]\n") / 4
        beside[kind_of(it)].append(shown + heading - sum(map(count, it.texts[1:])))
    for kind, some in beside.items():
        mean = statistics.mean(some)
        yield Figure(f"beside the texts of a record, {kind}", mean, "tokens", most=MOST_BESIDE)


def main() -> int:
    """Count and print."""
    parser = options(__doc__)
    parser.add_argument("--update", action="store_true", help=f"write {COUNTED.name}")
    given = parser.parse_args()
    count = tokenizer()
    if count is None:
        print("tokens.py: it needs the development packages: pip install -r requirements-dev.txt")
        return 2
    if given.update:
        known = ((kind_of(it), f"{record_block(it)}\n") for it in labelled_records())
        rows = [{"kind": kind, "tokens": count(text), "text": text} for kind, text in known]
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        COUNTED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    parts = costs, day_of_sessions, line_of_fragments, estimates, beside_the_texts
    return reported((it for part in parts for it in part(count)), given, "tokens", DATA)


if __name__ == "__main__":
    sys.exit(main())
