"""Measures what redaction finds, what it spares and what it costs.

--seed: other secrets of the same shapes. --texts: every paragraph below a directory, too. Times are
printed beside their aims and decide nothing, since they depend on what else the machine does.
README.md beside this file says how everything is counted.
"""

import gc
import random
import re
import statistics
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from measure import ROOT, Figure, options, reported

from core.data import rules
from core.sanitizer import MARKER, Secret, find
from tests.support.secret_corpus import HANGUL, Case, cases, lookalikes, sentences
from tests.support.templates import examples, expand

FAMILIES = ("token", "structure", "assignment", "prose", "edge", "sentence")
LEAST = {  # percent
    "caught whole, token": 99.5,
    "caught whole, structure": 98.0,
    "caught whole, assignment": 96.0,
    "caught whole, prose": 90.0,
    "caught whole, edge": 75.0,
    "caught whole, sentence": 94.0,
    "labels kept": 98.0,
}
MOST_LOST, MOST_LOOKALIKES = 1.0, 0.5  # percent
AIMS_MS = {
    "typical ~300 bytes": 0.2,
    "hostile 1,000 characters": 10.0,
    "100 KB of text": 2_000.0,
    "hostile 100,000 characters": 2_000.0,
}
SHORTEST, LONGEST = 60, 1_000  # characters of a paragraph of own texts
LARGEST = 4_000_000  # bytes of a file of own texts
ROUNDS = 5
PIECE_BYTES, PIECES = 300, 200
LONG, LONGER = 1_000, 100_000
WORST, MIXTURES = 20, 200
GIVE_UP_S = 0.5  # at 10,000 characters: quadratic time would be a minute at 100,000
GUARD_LINE = re.compile(r"-----(?:BEGIN|END) [A-Za-z0-9 ]{3,60}-----")

Find = Callable[[str], Sequence[Secret]]


def redacted(text: str, finding: Find) -> str:
    """Return the text with the marker in place of what was found."""
    parts, at = [], 0
    for start, end in sorted((it.start, it.end) for it in finding(text)):
        if start >= at:
            parts += [text[at:start], MARKER]
        at = max(at, end)
    return "".join([*parts, text[at:]])


def language_of(text: str) -> str:
    """Korean as soon as there is Hangul."""
    return "ko" if HANGUL.search(text) else "en"


# What is found and what is spared.


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


def counted(case: Case, finding: Find) -> Counter[str]:
    """What one case adds to the figures."""
    size = len(case.text)
    gone = covered(size, ((it.start, it.end) for it in finding(case.text)))
    secret = covered(size, case.secret_spans)
    aside = [one or two for one, two in zip(secret, neutral(case), strict=True)]
    once = redacted(case.text, finding)
    return Counter(
        secrets=len(case.secret_spans),
        caught=sum(all(gone[start:end]) for start, end in case.secret_spans),
        innocent=aside.count(0),
        lost=sum(lost and not spared for lost, spared in zip(gone, aside, strict=True)),
        labels=len(case.label_spans),
        kept=sum(not any(gone[start:end]) for start, end in case.label_spans),
        unstable=redacted(once, finding) != once,
    )


def percent(part: int, whole: int) -> float:
    """A share in percent; of nothing it is 0."""
    return 100 * part / whole if whole else 0.0


def on_corpus(corpus: Iterable[Case], finding: Find) -> Iterator[Figure]:
    """Yield the figures of the texts with secrets, by family; the note has them by language."""
    tallies: dict[tuple[str, str], Counter[str]] = {}
    for case in corpus:
        count = counted(case, finding)
        for family in (case.family, ""):
            for language in (case.language, ""):
                tallies.setdefault((family, language), Counter()).update(count)
    for name, part, whole in (
        ("caught whole", "caught", "secrets"),
        ("innocent characters lost", "lost", "innocent"),
        ("labels kept", "kept", "labels"),
    ):
        for family in (*FAMILIES, ""):
            of_it = [tallies.get((family, language), Counter()) for language in ("", "en", "ko")]
            if not of_it[0][whole]:
                continue
            share, english, korean = (percent(it[part], it[whole]) for it in of_it)
            label = f"{name}, {family}" if family else name
            most = MOST_LOST if label == "innocent characters lost" else None
            note = f"en {english:.2f}, ko {korean:.2f}"
            yield Figure(label, share, "%", LEAST.get(label), most, note)
    yield Figure("second redaction changes", tallies["", ""]["unstable"], most=0)


def on_lookalikes(texts: Sequence[str], finding: Find) -> Iterator[Figure]:
    """Yield the share of the harmless texts in which anything was found."""
    changed = {text: redacted(text, finding) for text in texts if finding(text)}
    share = percent(len(changed), len(texts))
    unstable = sum(redacted(once, finding) != once for once in changed.values())
    yield Figure("look-alikes changed", share, "%", most=MOST_LOOKALIKES)
    yield Figure("second redaction changes, look-alikes", unstable, most=0)


# Texts of a directory.


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


def on_own_texts(texts: Sequence[tuple[str, str]], finding: Find) -> Iterator[Figure]:
    """Yield the share of the paragraphs in which anything was found; print where each begins."""
    touched = 0
    for place, text in texts:
        if secrets := finding(text):
            touched += 1
            print(f"{place}: {', '.join({it.kind: it for it in secrets})}")
    note = f"{touched:,} of {len(texts):,}"
    yield Figure("own texts changed", percent(touched, len(texts)), "%", note=note)


# Times.


def own_documentation() -> list[str]:
    """Return the paragraphs of the project's own documents."""
    paths = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    texts = [path.read_text(encoding="utf-8") for path in sorted(paths)]
    return [paragraph for text in texts for paragraph in text.split("\n\n")]


def seconds(finding: Find, text: str) -> float:
    """The processor time of one redaction."""
    start = time.process_time()
    redacted(text, finding)
    return time.process_time() - start


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
        seeds.update(
            dict.fromkeys(
                [*rule.hints, *rule.next_to, *rule.behind, example, example[:half], example[half:]]
            )
        )
    pieces = [piece for piece in seeds if piece]
    mixtures = ["".join(rng.choices(pieces, k=LONG)) for _ in range(MIXTURES)]
    return [(piece * LONG)[:LONG] for piece in pieces] + [text[:LONG] for text in mixtures]


def pieces_of(texts: Sequence[str]) -> tuple[list[str], str]:
    """Short pieces from everywhere in 100 KB of the texts, and these 100 KB."""
    joined = "\n".join(texts)
    whole = cut(joined * (1 + LONGER // len(joined)), LONGER)
    starts = range(0, len(whole), len(whole) // PIECES)
    return [cut(whole[at:], PIECE_BYTES) for at in starts][:PIECES], whole


def in_ms(name: str, rounds: Sequence[float], note: str = "") -> Figure:
    """Return the best of several rounds beside its aim."""
    aim = f"aim {AIMS_MS[name]:g}" if name in AIMS_MS else ""
    return Figure(f"time, {name}", min(rounds) * 1000, "ms", note=f"{aim} {note}".strip())


def on_typical(name: str, pieces: Sequence[str], finding: Find) -> Iterator[Figure]:
    """Yield the time of short texts: the median, and the one slower than 99 in 100."""
    rounds = [[seconds(finding, piece) for piece in pieces] for _ in range(ROUNDS + 1)][1:]
    best = sorted(min(times) for times in zip(*rounds, strict=True))
    yield in_ms(f"{name} ~300 bytes", [statistics.median(best)])
    yield in_ms(f"{name}, 99th percentile", [best[len(best) * 99 // 100]])


def on_hostile(texts: Sequence[str], finding: Find) -> Iterator[Figure]:
    """Yield the worst text of `LONG` characters, and the worst of `LONGER` among the slow ones."""
    slow = sorted(texts, key=lambda text: seconds(finding, text), reverse=True)[:WORST]
    rounds = {text: [seconds(finding, text) for _ in range(ROUNDS)] for text in slow}
    slow.sort(key=lambda text: min(rounds[text]), reverse=True)
    yield in_ms(f"hostile {LONG:,} characters", rounds[slow[0]])
    longest, note = 0.0, ""
    for text in slow[: WORST // 4]:
        shorter = (text * 10)[: LONG * 10]
        took = seconds(finding, shorter)
        if took > GIVE_UP_S:
            longest, note = took, f"at only {len(shorter):,} characters"
            break
        longer = (text * (LONGER // len(text)))[:LONGER]
        longest = max(longest, min(seconds(finding, longer) for _ in range(3)))
    yield in_ms(f"hostile {LONGER:,} characters", [longest], note)


def on_clock(harmless: Sequence[str], seed: int, finding: Find) -> Iterator[Figure]:
    """Yield all times: of documentation, of look-alikes and of hostile texts."""
    usual = own_documentation()
    random.Random(0).shuffle(usual)
    hostile = hostile_texts(seed)
    gc.freeze()  # thousands of texts are no work for the collector while times are taken
    pieces, whole = pieces_of(usual)
    yield from on_typical("typical", pieces, finding)
    yield from on_typical("look-alikes", pieces_of(harmless)[0], finding)
    yield in_ms("100 KB of text", [seconds(finding, whole) for _ in range(ROUNDS)])
    yield from on_hostile(hostile, finding)


def main() -> int:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--seed", type=int, default=0, help="other secrets of the same shapes")
    parser.add_argument("--texts", type=Path, metavar="DIR", help="the paragraphs below it, too")
    given = parser.parse_args()
    corpus = [*cases(given.seed), *sentences(given.seed)]
    harmless = [text for _, text in lookalikes(given.seed)]
    random.Random(0).shuffle(harmless)

    def figures() -> Iterator[Figure]:
        yield Figure("rules", len(rules()))
        yield Figure("cases", len(corpus))
        yield Figure("look-alikes", len(harmless))
        yield from on_corpus(corpus, find)
        yield from on_lookalikes(harmless, find)
        if given.texts:
            yield from on_own_texts(own_texts(given.texts), find)
        yield from on_clock(harmless, given.seed, find)

    return reported(figures(), given, "redaction", f"the corpus of the tests, seed {given.seed}")


if __name__ == "__main__":
    sys.exit(main())
