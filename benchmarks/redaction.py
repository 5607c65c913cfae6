"""Measures what the redactor finds, what it spares and what it costs, beside other redactors.

`python benchmarks/redaction.py [--seed N] [--no-docs] [--docs DIR] [--texts DIR] [--peers]
[--markdown]` prints a table; with `--check` the exit status is 1 when a floor is missed. README.md
beside this file says how everything is counted.
"""

import argparse
import bisect
import gc
import hashlib
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.data import rules
from core.sanitizer import MARKER, Secret, find
from tests.support.secret_corpus import HANGUL, Case, cases, lookalikes, sentences
from tests.support.templates import examples, expand

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = ("token", "structure", "assignment", "prose", "edge", "sentence")
AT_LEAST = ("caught", "labels")  # these figures should be high, all others low
FLOORS = {
    "caught whole, token": 99.5,
    "caught whole, structure": 98.0,
    "caught whole, assignment": 96.0,
    "caught whole, prose": 90.0,
    "caught whole, edge": 75.0,
    "caught whole, sentence": 94.0,
    "innocent characters lost": 1.0,
    "labels kept": 98.0,
    "look-alikes changed": 0.5,
    "second redaction changes": 0.0,
    "second redaction changes, look-alikes": 0.0,
    "documentation, lines in 10,000": 5.0,
    "time, typical ~300 bytes": 0.2,
    "time, hostile 1,000 characters": 10.0,
    "time, 100 KB of text": 2_000.0,
    "time, hostile 100,000 characters": 2_000.0,
}
# The registry, name and version of each archive, the start of its SHA-256, and what to read in it.
ARCHIVES = """
pypi fastapi 0.109.2 f3817eac96fe4f65 docs/en/docs/**/*.md docs/ko/docs/**/*.md
pypi pytest 9.2.0 97c4f3b1f3c7414a doc/en/**/*.rst
pypi celery 5.7.0 6a5dfcf666228720 docs/**/*.rst
pypi keystone 30.0.0 8f3f77175a039e40 doc/source/**/*.rst api-ref/source/**/*.inc
pypi hvac 2.4.0 e0056ad9064e7923 docs/**/*.rst
npm bun-types 1.4.5 26df16425b20174f docs/**/*.mdx
npm fastify 5.12.8 459048aabd931130 docs/**/*.md
npm typescript 5.9.3 10e108c9cf7d5f28 lib/ko/diagnosticMessages.generated.json
pypi horizon 27.0.0 b1e16e3be554b543 **/locale/ko_KR/LC_MESSAGES/*.po
pypi pykrx 1.2.9 b286e91966e68d02 *.md pykrx/**/*.py
pypi python-kis 2.1.6 963a2f155510da99 *.md pykis/**/*.py
npm @portone/server-sdk 0.19.0 3f3af7202a36e76a **/*.d.ts
npm @apps-in-toss/native-modules 2.10.8 97354ed75f2688a2 src/**/*.ts dist/**/*.d.ts **/*.json
npm @tosspayments/tosspayments-sdk 2.8.1 9e57fa8c3dfb9180 **/*.d.ts
npm @node-red/nodes 5.0.7 7f7f66869382f001 locales/ko/**/*
"""
SHORTEST, LONGEST = 60, 1_000  # characters of a paragraph of own texts
LARGEST = 4_000_000  # bytes of a file of own texts
ROUNDS = 5
PIECE_BYTES, PIECES = 300, 200
LONG, LONGER = 1_000, 100_000
WORST = 20
MIXTURES = 200
GIVE_UP_S = 0.5  # at 10,000 characters: quadratic time would be a minute at 100,000
GUARD_LINE = re.compile(r"-----(?:BEGIN|END) [A-Za-z0-9 ]{3,60}-----")


@dataclass(frozen=True, slots=True)
class Redactor:
    """Finds the secrets of a text; its name heads a column."""

    name: str
    find: Callable[[str], Sequence[Secret]]

    def redacted(self, text: str) -> str:
        """The text with the marker in place of what was found."""
        parts, at = [], 0
        for start, end in sorted((it.start, it.end) for it in self.find(text)):
            if start >= at:
                parts += [text[at:start], MARKER]
            at = max(at, end)
        return "".join([*parts, text[at:]])


@dataclass(frozen=True, slots=True)
class Figure:
    """One cell of the table; `best` is what a floor is compared with."""

    value: float
    unit: str
    note: str = ""
    best: float | None = None

    def shown(self, first: "Figure | None" = None) -> str:
        """The cell; a time without a note also says how many times that of the first it is."""
        number = f"{self.value:,.2f}" if self.unit else f"{self.value:,.0f}"
        if first and self.unit == "ms" and not self.note and first.value:
            return f"{number} ms ({self.value / first.value:,.1f} x)"
        return f"{number} {self.unit}".rstrip() + (f" ({self.note})" if self.note else "")


Figures = dict[str, Figure]


@dataclass
class Documentation:
    """Published texts with the package of each, and sentences about what is missing."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def language_of(text: str) -> str:
    """Korean as soon as there is Hangul."""
    return "ko" if HANGUL.search(text) else "en"


# What is found and what is spared


def covered(length: int, spans: Iterable[tuple[int, int]]) -> bytearray:
    """A one for every character that lies within a span."""
    mask = bytearray(length)
    for start, end in spans:
        mask[start:end] = b"\1" * (end - start)
    return mask


def neutral(case: Case) -> bytearray:
    """Ones for BEGIN and END lines of keys and for the signs and blanks that touch a secret."""
    text = case.text

    def is_sign(at: int) -> bool:
        return not text[at].isalnum() and unicodedata.category(text[at]) != "So"

    mask = covered(len(text), (found.span() for found in GUARD_LINE.finditer(text)))
    for start, end in case.secret_spans:
        while start and is_sign(start - 1):
            start -= 1
            mask[start] = 1
        while end < len(text) and is_sign(end):
            mask[end] = 1
            end += 1
    return mask


def counted(case: Case, redactor: Redactor) -> Counter[str]:
    """What one case adds to the figures."""
    size = len(case.text)
    gone = covered(size, ((it.start, it.end) for it in redactor.find(case.text)))
    secret = covered(size, case.secret_spans)
    aside = [one or two for one, two in zip(secret, neutral(case), strict=True)]
    once = redactor.redacted(case.text)
    return Counter(
        secrets=len(case.secret_spans),
        caught=sum(all(gone[start:end]) for start, end in case.secret_spans),
        innocent=aside.count(0),
        lost=sum(lost and not spared for lost, spared in zip(gone, aside, strict=True)),
        labels=len(case.label_spans),
        kept=sum(not any(gone[start:end]) for start, end in case.label_spans),
        unstable=redactor.redacted(once) != once,
    )


def percent(part: int, whole: int) -> float:
    """A share in percent; of nothing it is 0."""
    return 100 * part / whole if whole else 0.0


def on_corpus(corpus: Iterable[Case], redactor: Redactor) -> Figures:
    """The figures of the texts with secrets."""
    tallies: dict[tuple[str, str], Counter[str]] = {}
    for case in corpus:
        tally = tallies.setdefault((case.family, case.language), Counter())
        tally.update(counted(case, redactor))

    def total(family: str = "", language: str = "") -> Counter[str]:
        chosen = Counter[str]()
        for (one, two), tally in tallies.items():
            if family in ("", one) and language in ("", two):
                chosen.update(tally)
        return chosen

    figures: Figures = {}
    for name, part, whole in (
        ("caught whole", "caught", "secrets"),
        ("innocent characters lost", "lost", "innocent"),
        ("labels kept", "kept", "labels"),
    ):
        for family in (*FAMILIES, ""):
            shares = [
                percent(it[part], it[whole])
                for it in (total(family), *(total(family, language) for language in ("en", "ko")))
            ]
            label = f"{name}, {family}" if family else name
            figures[label] = Figure(shares[0], "%", f"en {shares[1]:.2f}, ko {shares[2]:.2f}")
    unstable = {family: total(family)["unstable"] for family in FAMILIES}
    note = ", ".join(f"{family} {count}" for family, count in unstable.items() if count)
    figures["second redaction changes"] = Figure(sum(unstable.values()), "", note)
    return figures


def on_lookalikes(texts: Sequence[str], redactor: Redactor) -> Figures:
    """The share of the harmless texts in which anything was found."""
    redacted = {text: redactor.redacted(text) for text in texts if redactor.find(text)}
    changed, count = Counter(map(language_of, redacted)), Counter(map(language_of, texts))
    shares = [f"{it} {percent(changed[it], count[it]):.2f}" for it in ("en", "ko")]
    share = percent(changed.total(), count.total())
    unstable = sum(redactor.redacted(once) != once for once in redacted.values())
    return {
        "look-alikes changed": Figure(share, "%", ", ".join(shares)),
        "second redaction changes, look-alikes": Figure(unstable, ""),
    }


# Documentation


def file_name(registry: str, name: str, release: str) -> str:
    """The name of the archive as the registry's client saves it."""
    if registry == "npm":
        return f"{name.removeprefix('@').replace('/', '-')}-{release}.tgz"
    return f"{name.replace('-', '_')}-{release}.tar.gz"


def fetch(registry: str, name: str, release: str, directory: Path) -> None:
    """Download an archive. Raises OSError or SubprocessError."""
    directory.mkdir(parents=True, exist_ok=True)
    if registry == "npm":
        npm = shutil.which("npm")
        if not npm:
            raise OSError("npm is not installed")
        command = [
            npm,
            "pack",
            "--silent",
            "--fetch-retries=1",
            "--ignore-scripts",
            "--pack-destination",
            ".",
        ]
        command += [f"{name}@{release}"]
    else:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--retries=1"]
        command += ["--no-deps", "--no-binary", name, "--dest", ".", f"{name}=={release}"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True, timeout=600)


def as_pattern(glob: str) -> re.Pattern[str]:
    """A regular expression for a glob in which `**/` is any number of folders."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    pieces = re.split(r"(\*\*/|\*\*|\*)", glob)
    return re.compile("".join(parts.get(piece, re.escape(piece)) for piece in pieces) + r"\Z")


def files_in(place: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The name of every file below the top folder of an archive, and a way to read it."""
    if place.is_dir():
        for path in sorted(path for path in place.rglob("*") if path.is_file()):
            yield path.relative_to(place).as_posix(), path.read_bytes
        return
    with tarfile.open(place) as archive:
        for member in archive:
            opened = archive.extractfile(member) if member.isfile() else None
            if opened:
                yield member.name.partition("/")[2], opened.read


def texts_of(place: Path, globs: Sequence[str]) -> Iterator[str]:
    """The different files of an archive that a glob chooses."""
    patterns = [as_pattern(glob) for glob in globs]
    seen = set()
    for name, read in files_in(place):
        if any(pattern.match(name) for pattern in patterns):
            text = read().decode("utf-8", errors="replace")
            if text not in seen:
                seen.add(text)
                yield text


def place_of(archive: str, digest: str, directory: Path) -> Path | None:
    """Where an archive, or a folder with its contents, lies. Raises OSError for a wrong digest."""
    folder = archive.removesuffix(".tgz").removesuffix(".tar.gz")
    found = [*directory.rglob(archive), *(it for it in directory.rglob(folder) if it.is_dir())]
    if not found:
        return None
    place = found[0]
    if place.is_file() and not hashlib.sha256(place.read_bytes()).hexdigest().startswith(digest):
        raise OSError(f"{place.name} is not the archive that was published")
    return place


def documentation(directory: Path | None) -> Documentation:
    """Everything from `directory`, or fetched into a cache; a registry is given up at a failure."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = directory or Path(home, "sentinel-memory-benchmark")
    found, failed = Documentation(), set()
    for line in ARCHIVES.split("\n"):
        if not line:
            continue
        registry, name, release, digest, *globs = line.split()
        archive = file_name(registry, name, release)
        try:
            place = place_of(archive, digest, cache)
            if not place and not directory and registry not in failed:
                fetch(registry, name, release, cache)
                place = place_of(archive, digest, cache)
        except (OSError, subprocess.SubprocessError) as error:
            failed.add(registry)
            offline = isinstance(error, subprocess.SubprocessError)
            reason = f"it could not be downloaded from {registry}" if offline else error
            found.missing.append(f"{name} {release} is left out: {reason}")
            continue
        if place:
            found.texts += [(f"{name} {release}", text) for text in texts_of(place, globs)]
        else:
            reason = f"{registry} failed before" if registry in failed else f"no {archive}"
            found.missing.append(f"{name} {release} is left out: {reason}")
    if not found.texts:
        found.missing.append(
            "The documentation is not measured; offline, give --docs or --no-docs."
        )
    return found


def own_documentation() -> list[str]:
    """The paragraphs of the project's own documents, for the times of a run without others."""
    paths = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    texts = [path.read_text(encoding="utf-8") for path in sorted(paths)]
    return [paragraph for text in texts for paragraph in text.split("\n\n")]


@dataclass
class Altered:
    """How many lines a redactor altered, by package and language, and the kinds it found."""

    lines: Counter[tuple[str, str]] = field(default_factory=Counter)
    altered: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)

    def rate(self, *groups: tuple[str, str]) -> float:
        """Altered lines among 10,000 of some groups, of all when none is named."""
        chosen = groups or tuple(self.lines)
        count = sum(self.lines[group] for group in chosen)
        return 10_000 * sum(self.altered[group] for group in chosen) / count if count else 0.0


def on_documentation(texts: Iterable[tuple[str, str]], redactor: Redactor) -> Altered:
    """The lines with anything in them, and those of them in which a character is replaced."""
    out = Altered()
    for package, text in texts:
        lines = text.split("\n")
        groups = [(package, language_of(line)) for line in lines]
        out.lines.update(group for line, group in zip(lines, groups, strict=True) if line.strip())
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        hit: set[int] = set()
        for secret in redactor.find(text):
            first = bisect.bisect_right(starts, secret.start) - 1
            last = bisect.bisect_left(starts, secret.end) - 1
            hit.update(at for at in range(first, last + 1) if lines[at].strip())
            out.kinds.setdefault(groups[first], Counter())[secret.kind] += 1
        out.altered.update(groups[at] for at in hit)
    return out


def in_lines(altered: Altered) -> Figures:
    """The figure of the documentation."""
    shares = []
    for language in ("en", "ko"):
        groups = [group for group in altered.lines if group[1] == language]
        shares.append(f"{language} {altered.rate(*groups) if groups else 0:.2f}")
    note = f"{altered.altered.total():,} of {altered.lines.total():,}; {', '.join(shares)}"
    return {"documentation, lines in 10,000": Figure(altered.rate(), "lines", note)}


# Own texts


def own_texts(directory: Path) -> list[tuple[str, str]]:
    """The different paragraphs below a directory, each with the file and line that it begins at.

    Binary files, hidden ones and very large ones are left out.
    """
    found: dict[str, str] = {}
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory)
        hidden = any(part.startswith(".") for part in name.parts)
        if hidden or not path.is_file() or path.stat().st_size > LARGEST:
            continue
        data = path.read_bytes()
        if b"\0" in data:
            continue
        line = 1
        for part in re.split(r"((?:\r?\n[ \t]*){2,})", data.decode("utf-8", errors="replace")):
            if SHORTEST <= len(part) <= LONGEST and part.strip():
                found.setdefault(part, f"{name.as_posix()}:{line}")
            line += part.count("\n")
    return [(place, text) for text, place in found.items()]


def on_own_texts(
    texts: Sequence[tuple[str, str]], redactor: Redactor
) -> tuple[Figures, list[list[str]]]:
    """The share of the paragraphs in which anything was found, and where each of those begins."""
    found = [(place, text, redactor.find(text)) for place, text in texts]
    touched = [(place, language_of(text), secrets) for place, text, secrets in found if secrets]
    count = Counter(language_of(text) for _, text in texts)
    altered = Counter(language for _, language, _ in touched)
    shares = [f"{it} {percent(altered[it], count[it]):.2f}" for it in ("en", "ko")]
    note = f"{len(touched):,} of {len(texts):,}; {', '.join(shares)}"
    share = percent(len(touched), len(texts))
    rows = [[place, ", ".join({it.kind: it for it in secrets})] for place, _, secrets in touched]
    return {"own texts changed": Figure(share, "%", note)}, rows


# Times


def seconds(redactor: Redactor, text: str) -> float:
    """The processor time of one redaction."""
    start = time.process_time()
    redactor.redacted(text)
    return time.process_time() - start


def in_ms(rounds: Sequence[float], note: str = "") -> Figure:
    """The median of several rounds, and the best of them for a floor."""
    return Figure(statistics.median(rounds) * 1000, "ms", note, min(rounds) * 1000)


def cut(text: str, size: int) -> str:
    """The start of a text, in bytes."""
    return text.encode("utf-8")[:size].decode("utf-8", errors="ignore")


def hostile_texts(seed: int) -> list[str]:
    """Texts of `LONG` characters that wake many rules: what they look for, over and over."""
    rng = random.Random(seed)
    seeds: dict[str, None] = {}
    for rule in rules():
        example = expand(examples()[rule.name].example)[0]
        half = len(example) // 2
        seeds.update(dict.fromkeys([*rule.hints, example, example[:half], example[half:]]))
    pieces = [piece for piece in seeds if piece]
    mixtures = ["".join(rng.choices(pieces, k=LONG)) for _ in range(MIXTURES)]
    return [(piece * LONG)[:LONG] for piece in pieces] + [text[:LONG] for text in mixtures]


def pieces_of(texts: Sequence[str]) -> tuple[list[str], str]:
    """Short pieces from everywhere in 100 KB of the texts, and these 100 KB."""
    joined = "\n".join(texts)
    whole = cut(joined * (1 + LONGER // len(joined)), LONGER)
    starts = range(0, len(whole), len(whole) // PIECES)
    return [cut(whole[at:], PIECE_BYTES) for at in starts][:PIECES], whole


def on_typical(name: str, pieces: Sequence[str], redactor: Redactor) -> Figures:
    """Short texts: the median, and the one that is slower than 99 in 100."""
    rounds = [[seconds(redactor, piece) for piece in pieces] for _ in range(ROUNDS + 1)][1:]
    medians = sorted(statistics.median(times) for times in zip(*rounds, strict=True))
    best = statistics.median(min(times) for times in zip(*rounds, strict=True))
    slow = medians[len(medians) * 99 // 100]
    typical = Figure(statistics.median(medians) * 1000, "ms", best=best * 1000)
    return {
        f"time, {name} ~300 bytes": typical,
        f"time, {name}, 99th percentile": Figure(slow * 1000, "ms"),
    }


def on_hostile(texts: Sequence[str], redactor: Redactor) -> Figures:
    """The worst text of `LONG` characters, and the worst of `LONGER` among the slow ones."""
    slow = sorted(texts, key=lambda text: seconds(redactor, text), reverse=True)[:WORST]
    rounds = {text: [seconds(redactor, text) for _ in range(ROUNDS)] for text in slow}
    slow.sort(key=lambda text: min(rounds[text]), reverse=True)
    longest: list[Figure] = []
    for text in slow[: WORST // 4]:
        shorter = (text * 10)[: LONG * 10]
        took = seconds(redactor, shorter)
        if took > GIVE_UP_S:
            longest = [Figure(took * 1000, "ms", f"at only {len(shorter):,} characters")]
            break
        longer = (text * (LONGER // len(text)))[:LONGER]
        longest.append(in_ms([seconds(redactor, longer) for _ in range(3)]))
    return {
        "time, hostile 1,000 characters": in_ms(rounds[slow[0]]),
        "time, hostile 100,000 characters": max(longest, key=lambda it: it.best or it.value),
    }


def on_clock(
    usual: Sequence[str], harmless: Sequence[str], hostile: Sequence[str], redactor: Redactor
) -> Figures:
    """All times: of documentation, of look-alikes and of hostile texts."""
    pieces, whole = pieces_of(usual)
    return {
        **on_typical("typical", pieces, redactor),
        **on_typical("look-alikes", pieces_of(harmless)[0], redactor),
        "time, 100 KB of text": in_ms([seconds(redactor, whole) for _ in range(ROUNDS)]),
        **on_hostile(hostile, redactor),
    }


# Redactors


def places(line: str, value: str) -> Iterator[tuple[int, int]]:
    """Every occurrence of a value in a line."""
    at = line.find(value)
    while value and at >= 0:
        yield at, at + len(value)
        at = line.find(value, at + 1)


class DetectSecrets:
    """detect-secrets, line by line and without asking any service whether a secret is alive."""

    def __init__(self, *, named: bool, unquoted: bool) -> None:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

        classes: dict[str, type] = get_mapping_from_secret_type_to_class()
        guessing = ("KeywordDetector", "Base64HighEntropyString", "HexHighEntropyString")
        names = [it.__name__ for it in classes.values()]
        self._plugins = [{"name": name} for name in names if named or name not in guessing]
        self._unquoted = unquoted

    def find(self, text: str) -> list[Secret]:
        """What it reports, at every place of the line where the value stands."""
        from detect_secrets.core.scan import scan_line
        from detect_secrets.settings import get_plugins, get_settings

        if list(get_settings().plugins) != [it["name"] for it in self._plugins]:
            get_settings().clear()
            get_settings().configure_plugins(self._plugins)
        plugins = {plugin.secret_type: plugin for plugin in get_plugins()}
        out: list[Secret] = []
        at = 0
        for line in text.split("\n"):
            for hit in scan_line(line.rstrip()):
                value, plugin = hit.secret_value or "", plugins[hit.type]
                if self._is_noise(plugin, value, line):
                    continue
                found = {*places(line, value), *self._whole(plugin, value, line)}
                out += [Secret(at + start, at + end, hit.type) for start, end in found]
            at += len(line) + 1
        return out

    def _is_noise(self, plugin: Any, value: str, line: str) -> bool:
        """A string below the limit of entropy, which a typed-in line also lists, or without quotes.

        Without quotes it counts for a typed-in line only, not when a file is scanned.
        """
        limit = getattr(plugin, "entropy_limit", None)
        if limit is None:
            return False
        if plugin.calculate_shannon_entropy(value) <= limit:
            return True
        return not (self._unquoted or any(f"{it}{value}{it}" in line for it in "'\""))

    def _whole(self, plugin: Any, value: str, line: str) -> Iterator[tuple[int, int]]:
        """The tokens of which only the prefix is reported, because it is a group of the pattern."""
        patterns: Iterable[re.Pattern[str]] = getattr(plugin, "denylist", ())
        for pattern in patterns:
            for found in pattern.finditer(line):
                if found[0].startswith(value):
                    yield found.span()


def peers() -> list[Redactor]:
    """The other redactors. Raises ImportError when they are not installed."""
    return [
        Redactor("detect-secrets, formats", DetectSecrets(named=False, unquoted=False).find),
        Redactor("detect-secrets, default", DetectSecrets(named=True, unquoted=False).find),
        Redactor("detect-secrets, unquoted", DetectSecrets(named=True, unquoted=True).find),
    ]


# The table


def printed(rows: Sequence[Sequence[str]], markdown: bool) -> str:
    """The rows as a table, the first of them as its head."""
    if markdown:
        head, *rest = ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([head, "|---" * len(rows[0]) + "|", *rest])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def missed(figures: Figures) -> list[str]:
    """The floors that a redactor does not reach."""
    out = []
    for name, floor in FLOORS.items():
        if name in figures:
            figure = figures[name]
            value = figure.value if figure.best is None else figure.best
            if value < floor if name.startswith(AT_LEAST) else value > floor:
                out.append(f"{name}: {value:.3f}, floor {floor:g}")
    return out


def main_table(columns: dict[str, Figures]) -> list[list[str]]:
    """One row for each figure, one column for each redactor, and the floor."""
    ours, *_ = columns.values()
    rows = [["", *columns, "floor"]]
    for name, first in ours.items():
        cells = [it[name].shown(first if it is not ours else None) for it in columns.values()]
        sign = "≥" if name.startswith(AT_LEAST) else "≤"
        floor = f"{sign} {FLOORS[name]:,g} {first.unit}".rstrip() if name in FLOORS else ""
        rows.append([name, *cells, floor])
    return rows


def lines_table(columns: dict[str, Altered]) -> list[list[str]]:
    """Altered lines in 10,000 by package and language, and what the first redactor found."""
    ours, *_ = columns.values()
    rows = [["package", "language", "lines", *columns, "kinds"]]
    for group, count in ours.lines.items():
        rates = [f"{it.rate(group):.2f}" for it in columns.values()]
        kinds = ours.kinds.get(group, Counter()).most_common()
        told = ", ".join(f"{kind} {times}" for kind, times in kinds)
        rows.append([*group, f"{count:,}", *rates, told])
    return rows


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="Benchmark of the redactor")
    parser.add_argument("--seed", type=int, default=0, help="other secrets of the same shapes")
    parser.add_argument("--no-docs", action="store_true", help="without published documentation")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="where its archives already are")
    parser.add_argument(
        "--texts", type=Path, metavar="DIR", help="measure the paragraphs below it, too"
    )
    parser.add_argument("--peers", action="store_true", help="measure detect-secrets, too")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--check", action="store_true", help="1 below a floor, times apart")
    return parser.parse_args()


def main() -> int:
    """Measure and print."""
    options = arguments()
    redactors = [Redactor("Sentinel-Memory", find), *(peers() if options.peers else [])]
    corpus = [*cases(options.seed), *sentences(options.seed)]
    own = own_texts(options.texts) if options.texts else []
    harmless = [text for _, text in lookalikes(options.seed)]
    documents = Documentation() if options.no_docs else documentation(options.docs)
    for sentence in documents.missing:
        print(sentence, file=sys.stderr)
    usual = [text for _, text in documents.texts] or own_documentation()
    random.Random(0).shuffle(usual)
    random.Random(0).shuffle(harmless)
    hostile = hostile_texts(options.seed)
    gc.freeze()  # thousands of texts are no work for the collector while times are taken
    columns: dict[str, Figures] = {}
    altered: dict[str, Altered] = {}
    touched: list[list[str]] = []
    for redactor in redactors:
        figures = {**on_corpus(corpus, redactor), **on_lookalikes(harmless, redactor)}
        if documents.texts:
            altered[redactor.name] = on_documentation(documents.texts, redactor)
            figures.update(in_lines(altered[redactor.name]))
        if own:
            own_figures, places_of_own = on_own_texts(own, redactor)
            figures.update(own_figures)
            touched = touched or places_of_own
        columns[redactor.name] = {**figures, **on_clock(usual, harmless, hostile, redactor)}
        print(f"{redactor.name}: {time.process_time():.0f} s", file=sys.stderr)
    versions = f"Python {platform.python_version()}, {len(rules())} rules, {len(corpus):,} cases"
    versions += f", detect-secrets {version('detect-secrets')}" if options.peers else ""
    print(f"{date.today()}, seed {options.seed}, {versions}, {len(harmless):,} look-alikes\n")
    print(printed(main_table(columns), options.markdown))
    if altered:
        print("\n" + printed(lines_table(altered), options.markdown))
    if touched:
        print("\n" + printed([["own text", "kinds"], *touched], options.markdown))
    # A time depends on the machine and on what else it does: it is printed beside its aim.
    below = [it for it in missed(columns[redactors[0].name]) if not it.startswith("time,")]
    for sentence in below if options.check else ():
        print(f"below the floor: {sentence}")
    return int(bool(below and options.check))


if __name__ == "__main__":
    sys.exit(main())
