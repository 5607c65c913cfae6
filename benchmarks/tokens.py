"""Counts what records cost a model, in several formats, and how far the estimate is from it.

`python benchmarks/tokens.py [--check | --update]` prints two tables. The tokenizer is `o200k_base`,
from the development package bpe-openai. With `--check` the exit status is 1 when the estimate or
the format misses its target; `--update` writes the counts that
`tests/core/text/test_tokens.py` reads, so
that the tests need no tokenizer.
"""

import argparse
import json
import re
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.lessons.answers.fitting import records_within
from core.lessons.answers.rendering import record_block
from core.lessons.record import Draft, Record, new_record
from core.text.budget import Budget
from core.text.tokens import estimate_tokens

ROOT = Path(__file__).resolve().parent.parent
COUNTED = ROOT / "tests" / "data" / "counted_tokens.json"
CREATED = "2026-02-27T10:30:00+00:00"
KINDS = ("english", "korean", "mixed")
MOST_OFF = 0.15  # of the tokens of all records of a kind
MOST_BESIDE = 12.0  # tokens of a record beside those of its texts

Count = Callable[[str], int]


def tokenizer() -> Count | None:
    """Counts tokens of `o200k_base`; None where the development package is not installed."""
    try:
        encoding = import_module("bpe_openai").get_encoding("o200k_base")
    except ImportError:
        return None
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def labelled_records() -> Iterator[Record]:
    """The records of the demonstration, of the ranking queries and of the labelled actions."""
    lines = (ROOT / "commands/demo/lessons.jsonl").read_text("utf-8").splitlines()
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
    return record_block(record, "en") + "\n"


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
    whole = "\n".join(records_within(records, "", Budget(10**6, 10**6), "en"))
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
    missed = False
    columns = ("all", "5 %", "50 %", "95 %")
    print(f"{'estimate / o200k_base':<26} {'records':>8}", *(f"{name:>6}" for name in columns))
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
