"""Counts what a model pays: in every session, for a record, and how far the estimate is from it.

`python benchmarks/tokens.py [--check | --update]` prints three tables. The tokenizer is
`o200k_base`, from the development package bpe-openai. With `--check` the exit status is 1 when a
session, the estimate or the format misses its target; `--update` writes the counts that
`tests/core/text/test_plain.py` reads.
"""

import argparse
import json
import re
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from commands.clients.merge import with_block
from commands.clients.table import TOOLS
from core.config import read_settings
from core.lessons.briefing import session_briefing
from core.lessons.log import MemoryLog
from core.lessons.record import Draft, Record, new_record
from core.lessons.record_text import fit_all, record_block
from core.lessons.rules import instructions, rules
from core.messages import Language
from core.text.plain import Budget, estimate_tokens

ROOT = Path(__file__).resolve().parent.parent
COUNTED = ROOT / "tests" / "data" / "counted_tokens.json"
SURFACE = ROOT / "tests" / "data" / "tool_surface.json"
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

Count = Callable[[str], int]


def tokenizer() -> Count | None:
    """Counts tokens of `o200k_base`; None where the development package is not installed."""
    try:
        encoding = import_module("bpe_openai").get_encoding("o200k_base")
    except ImportError:
        return None
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def as_offered(tools: Sequence[Mapping[str, Any]]) -> str:
    """What a client hands to the model of these tools, as compact JSON."""
    kept = [{key: tool[key] for key in TOOL_KEYS if key in tool} for tool in tools]
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def session_costs(lang: Language, count: Count) -> dict[str, int]:
    """What every session pays, part by part, with the rules as setup writes them into a file."""
    texts = {
        "tools": as_offered(json.loads(SURFACE.read_text("utf-8"))),
        "instructions": instructions(),
        "rules": with_block("", rules(lang)),
    }
    return {part: count(text) for part, text in texts.items()}


def room_costs(count: Count) -> dict[str, dict[str, int]]:
    """What a session pays more where another room is offered, part by part, by profile."""
    costs = {}
    for profile in MOST_OF_ROOMS:
        room = profile.partition(":")[0]
        surface = ROOT / "tests" / "data" / f"tool_surface_{room}.json"
        offered = json.loads(surface.read_text("utf-8"))
        tools = [tool for tool in offered if tool["name"] in TOOLS[profile]]
        costs[profile] = {
            "tools": count(as_offered(tools)),
            "instructions": count(instructions([room])),
            **{f"rules, {lang}": count(rules(lang, [room])) for lang in MOST_OF_A_SESSION},
        }
    return costs


def start_cost(records: int, count: Count) -> int:
    """What the hook adds when a session starts with so many of the labelled records.

    Where not all fit, all are taken to be near to the work: then the most lessons are shown.
    """
    lines = [record.to_line() for record in islice(labelled_records(), records)]
    log, settings = MemoryLog.parse(b"".join(lines)), read_settings({})
    briefing = session_briefing(
        log, project="/home/dev/shop", settings=settings, near=lambda: log.records
    )
    return count(briefing.text)


def labelled_records() -> Iterator[Record]:
    """The records of the demonstration, of the ranking queries and of the labelled actions."""
    lines = (ROOT / "benchmarks/lessons.jsonl").read_text("utf-8").splitlines()
    drafts = [Draft(**json.loads(line)) for line in lines]
    queries = json.loads((ROOT / "tests" / "data" / "ranking_queries.json").read_text("utf-8"))
    drafts += [Draft(**record) for record in queries["records"]]
    for draft in drafts:
        yield new_record(draft, now=CREATED)


def kind_of(record: Record) -> str:
    """By the share of Latin letters beside Hangul in the texts of a record."""
    text = " ".join(record.texts[1:])
    hangul, latin = len(re.findall("[가-힣]", text)), len(re.findall("[A-Za-z]", text))
    if not hangul:
        return "english"
    return "korean" if latin < 0.15 * hangul else "mixed"


def as_stored(record: Record) -> str:
    """The line of the file."""
    return record.to_line().decode("utf-8")


def as_in_the_specification(record: Record) -> str:
    """The example of the specification, a blank line after each record."""
    return (
        f"#1 type={record.type} | topic={record.topic} | {record.created[:10]}\n"
        f"missing_context: {record.missing_context}\nlesson: {record.lesson}\n"
        f"ask_next_time: {record.ask_next_time}\n\n"
    )


def with_labels(record: Record) -> str:
    """A label in words before every field, and a number."""
    return (
        f"#1 {record.type} {record.created[:10]}\nmissing: {record.missing_context}\n"
        f"lesson: {record.lesson}\nask: {record.ask_next_time}\n"
    )


def with_signs_only(record: Record) -> str:
    """As it is shown, but with a sign for the question and the date without hyphens."""
    date = record.created[:10].replace("-", "")
    return f"{date} {record.missing_context}\n→ {record.lesson}\n? {record.ask_next_time}\n"


def as_shown(record: Record) -> str:
    """What an answer shows, below its topic."""
    return record_block(record) + "\n"


FORMATS = (as_stored, as_in_the_specification, with_labels, as_shown, with_signs_only)


@dataclass(frozen=True, slots=True)
class Estimate:
    """How near the estimate is for the records of one kind; 1.0 is exact."""

    kind: str
    records: int
    ratio: float
    lowest: float
    median: float
    highest: float

    @classmethod
    def of(cls, kind: str, texts: Sequence[str], count: Count) -> "Estimate":
        """Compare both counts of these texts; lowest and highest leave out 5 % on either side."""
        pairs = [(estimate_tokens(text), count(text)) for text in texts]
        ratios = sorted(ours / real for ours, real in pairs)
        edge = len(ratios) // 20
        return cls(
            kind=kind,
            records=len(texts),
            ratio=sum(ours for ours, _ in pairs) / sum(real for _, real in pairs),
            lowest=ratios[edge],
            median=statistics.median(ratios),
            highest=ratios[-1 - edge],
        )


def estimates(count: Count) -> list[Estimate]:
    """One row for each kind of record, as an answer shows it, and one for a whole answer."""
    records = list(labelled_records())
    rows = []
    for kind in KINDS:
        texts = [as_shown(record) for record in records if kind_of(record) == kind]
        rows.append(Estimate.of(kind, texts, count))
    whole = "\n".join(fit_all(records, Budget(10**6, 10**6)) or [])
    return [*rows, Estimate.of("whole answer", [whole], count)]


def formats(count: Count) -> list[tuple[str, list[float], list[float]]]:
    """For each format the mean tokens of a record of each kind, and those beside its texts.

    A record in a topic of four costs a quarter of the line of its topic as well, where the format
    has such a line.
    """
    by_kind = {kind: [it for it in labelled_records() if kind_of(it) == kind] for kind in KINDS}
    rows = []
    for layout in FORMATS:
        whole, beside = [], []
        for kind in KINDS:
            tokens, bare = [], []
            for record in by_kind[kind]:
                heading = count(f"[{record.topic}]\n") / 4 if layout in FORMATS[2:] else 0.0
                tokens.append(count(layout(record)) + heading)
                bare.append(sum(map(count, record.texts[1:])))
            whole.append(statistics.mean(tokens))
            beside.append(statistics.mean(map(float.__sub__, tokens, map(float, bare))))
        rows.append((str(layout.__name__).replace("_", " "), whole, beside))
    return rows


def counted(count: Count) -> list[dict[str, str | int]]:
    """What the tests compare the estimate with."""
    return [
        {"kind": kind_of(record), "tokens": count(as_shown(record)), "text": as_shown(record)}
        for record in labelled_records()
    ]


def sessions_are_short(count: Count) -> bool:
    """Print what a session pays with the rules in each language; whether all are in the limits."""
    paid = {lang: session_costs(lang, count) for lang in MOST_OF_A_SESSION}
    print(f"{'tokens of a session':<26}", *(f"{lang:>8}" for lang in paid))
    for part in paid["en"]:
        print(f"{part:<26}", *(f"{costs[part]:>8,}" for costs in paid.values()))
    sums = {lang: sum(costs.values()) for lang, costs in paid.items()}
    print(f"{'together':<26}", *(f"{total:>8,}" for total in sums.values()))
    print(f"{'at most':<26}", *(f"{most:>8,}" for most in MOST_OF_A_SESSION.values()))
    for records in STARTS:
        print(f"{f'more at a start, {records} records':<26} {start_cost(records, count):>8,}")
    return all(sums[lang] <= most for lang, most in MOST_OF_A_SESSION.items())


def rooms_are_short(count: Count) -> bool:
    """Print what a session pays more with other rooms; whether their tools are in the limits."""
    costs = room_costs(count)
    print(f"\n{'more with the room':<26}", *(f"{profile:>14}" for profile in costs))
    for part in costs["sessions"]:
        print(f"{part:<26}", *(f"{parts[part]:>14,}" for parts in costs.values()))
    return all(parts["tools"] <= MOST_OF_ROOMS[it] for it, parts in costs.items())


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Tokens of records, counted and estimated")
    parser.add_argument("--check", action="store_true", help="status 1 when a target is missed")
    parser.add_argument("--update", action="store_true", help=f"write {COUNTED.name}")
    arguments = parser.parse_args()
    count = tokenizer()
    if count is None:
        print("tokens.py: it needs the development packages: pip install -r requirements-dev.txt")
        return 2
    if arguments.update:
        lines = [json.dumps(it, ensure_ascii=False) for it in counted(count)]
        COUNTED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    missed = not sessions_are_short(count)
    missed |= not rooms_are_short(count)
    columns = ("all", "5 %", "50 %", "95 %")
    print(f"\n{'estimate / o200k_base':<26} {'records':>8}", *(f"{name:>6}" for name in columns))
    for row in estimates(count):
        missed |= abs(row.ratio - 1) > MOST_OFF
        figures = (row.ratio, row.lowest, row.median, row.highest)
        print(f"{row.kind:<26} {row.records:>8}", *(f"{figure:6.2f}" for figure in figures))
    print(f"\n{'tokens of a record':<26}", *(f"{kind:>9} {'(beside)':>9}" for kind in KINDS))
    for name, whole, beside in formats(count):
        if name == as_shown.__name__.replace("_", " "):
            missed |= max(beside) > MOST_BESIDE
        pairs = zip(whole, beside, strict=True)
        print(f"{name:<26}", *(f"{all_of_it:9.1f} {more:9.1f}" for all_of_it, more in pairs))
    return int(missed and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
