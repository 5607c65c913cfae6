"""Measures the secrets that redaction finds, the text that it spares, and its time.

--seed: other secrets of the same shapes. Of times only the growth decides: a rule that takes more
than linear time would stop a save of a long text.
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

from measure import ROOT, Figure, options, reported

from core.data import rules
from core.sanitizer import MARKER, Secret, find_secrets
from tests.core.guard.secret_corpus import Case, cases, lookalikes, sentences
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
SHARES = (  # each with its count, and the count of all
    ("caught whole", "caught", "secrets"),
    ("innocent characters lost", "lost", "innocent"),
    ("labels kept", "kept", "labels"),
)
SHORT, LONG, LONGEST = 1_000, 10_000, 100_000  # characters of hostile texts
WORST, MIXTURES = 20, 200
MOST_GROWTH = 25.0  # ten for linear time, a hundred for quadratic
GIVE_UP_S = 0.5  # at 10,000 characters: quadratic time would be a minute at 100,000
GUARD_LINE = re.compile(r"-----(?:BEGIN|END) [A-Za-z0-9 ]{3,60}-----")

Find = Callable[[str], Sequence[Secret]]


def redacted(text: str, finding: Find) -> str:
    """Return the text with the marker in place of each secret that was found."""
    parts, at = [], 0
    for start, end in sorted((it.start, it.end) for it in finding(text)):
        if start >= at:
            parts += [text[at:start], MARKER]
        at = max(at, end)
    return "".join([*parts, text[at:]])


# Secrets found and text spared.


def covered(length: int, spans: Iterable[tuple[int, int]]) -> bytearray:
    """A one for every character that lies within a span."""
    mask = bytearray(length)
    for start, end in spans:
        mask[start:end] = b"\1" * (end - start)
    return mask


def counted(case: Case, finding: Find) -> Counter[str]:
    """The counts that one case adds to the figures."""
    text, size = case.text, len(case.text)

    def is_sign(at: int) -> bool:
        return not text[at].isalnum() and unicodedata.category(text[at]) != "So"

    # Not innocent: secrets, BEGIN and END lines of keys, and signs and blanks that touch a secret.
    guards = (found.span() for found in GUARD_LINE.finditer(text))
    aside = covered(size, [*case.secret_spans, *guards])
    for start, end in case.secret_spans:
        while start and is_sign(start - 1):
            start -= 1
            aside[start] = 1
        while end < size and is_sign(end):
            aside[end] = 1
            end += 1
    gone = covered(size, ((it.start, it.end) for it in finding(text)))
    once = redacted(text, finding)
    return Counter(
        secrets=len(case.secret_spans),
        caught=sum(all(gone[start:end]) for start, end in case.secret_spans),
        innocent=aside.count(0),
        lost=sum(lost and not spared for lost, spared in zip(gone, aside, strict=True)),
        labels=len(case.label_spans),
        kept=sum(not any(gone[start:end]) for start, end in case.label_spans),
        unstable=redacted(once, finding) != once,
    )


def on_corpus(corpus: Iterable[Case], finding: Find) -> Iterator[Figure]:
    """Yield the figures of the texts with secrets, by family; the note has them by language."""
    tallies: dict[tuple[str, str], Counter[str]] = {}
    for case in corpus:
        count = counted(case, finding)
        for family in (case.family, ""):
            for language in (case.language, ""):
                tallies.setdefault((family, language), Counter()).update(count)
    for name, part, whole in SHARES:
        for family in (*FAMILIES, ""):
            of_it = [tallies.get((family, language), Counter()) for language in ("", "en", "ko")]
            if not of_it[0][whole]:
                continue
            # Of nothing it is 0.
            share, english, korean = (100 * it[part] / (it[whole] or 1) for it in of_it)
            label = f"{name}, {family}" if family else name
            most = MOST_LOST if label == "innocent characters lost" else None
            note = f"en {english:.2f}, ko {korean:.2f}"
            yield Figure(label, share, "%", LEAST.get(label), most, note)
    yield Figure("second redaction changes", tallies["", ""]["unstable"], most=0)


def on_lookalikes(texts: Sequence[str], finding: Find) -> Iterator[Figure]:
    """Yield the share of the harmless texts in which anything was found."""
    changed = {text: redacted(text, finding) for text in texts if finding(text)}
    share = 100 * len(changed) / len(texts)
    unstable = sum(redacted(once, finding) != once for once in changed.values())
    yield Figure("look-alikes changed", share, "%", most=MOST_LOOKALIKES)
    yield Figure("second redaction changes, look-alikes", unstable, most=0)


# Times.


def seconds(finding: Find, text: str) -> float:
    """The processor time of one redaction."""
    start = time.process_time()
    redacted(text, finding)
    return time.process_time() - start


def hostile_texts(seed: int) -> list[str]:
    """Texts of `SHORT` characters that wake many rules: hints and examples, over and over."""
    rng = random.Random(seed)
    parts = list[str]()
    for rule in rules():
        example = expand(examples()[rule.name].example)[0]
        half = len(example) // 2
        parts += [*rule.hints, *rule.next_to, *rule.behind, example, example[:half], example[half:]]
    pieces = list(filter(None, dict.fromkeys(parts)))
    mixtures = ["".join(rng.choices(pieces, k=SHORT)) for _ in range(MIXTURES)]
    return [(text * (SHORT // len(text) + 1))[:SHORT] for text in (*pieces, *mixtures)]


def on_clock(seed: int, finding: Find) -> Iterator[Figure]:
    """Yield the time of paragraphs of our documents, and of the slowest of the hostile texts."""
    documents = [path.read_text("utf-8") for path in sorted(ROOT.glob("docs/*.md"))]
    usual = [it[:300] for text in documents for it in text.split("\n\n") if len(it) >= 300]
    hostile = hostile_texts(seed)
    gc.freeze()  # thousands of texts are no work for the collector while times are taken
    typical = statistics.median(min(seconds(finding, it) for _ in range(3)) for it in usual)
    yield Figure("time, 300 characters of documents", 1000 * typical, "ms")
    slow = sorted(hostile, key=lambda text: seconds(finding, text), reverse=True)[:WORST]
    longer = {text: seconds(finding, text * (LONG // SHORT)) for text in slow}
    worst = max(slow, key=longer.__getitem__)
    growth = 0.0
    if longer[worst] < GIVE_UP_S:
        longest = seconds(finding, worst * (LONGEST // SHORT))
        growth = longest / longer[worst]
        yield Figure("time, hostile 100,000 characters", longest, "s")
    yield Figure("hostile: ten times the text takes", growth or 100.0, "x", most=MOST_GROWTH)


def main() -> int:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--seed", type=int, default=0, help="other secrets of the same shapes")
    given = parser.parse_args()
    corpus = [*cases(given.seed), *sentences(given.seed)]
    harmless = [text for _, text in lookalikes(given.seed)]

    def figures() -> Iterator[Figure]:
        yield Figure("rules", len(rules()))
        yield Figure("cases", len(corpus))
        yield Figure("look-alikes", len(harmless))
        yield from on_corpus(corpus, find_secrets)
        yield from on_lookalikes(harmless, find_secrets)
        yield from on_clock(given.seed, find_secrets)

    return reported(figures(), given, "redaction", f"the corpus of the tests, seed {given.seed}")


if __name__ == "__main__":
    sys.exit(main())
