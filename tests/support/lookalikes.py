"""Lists harmless texts, in English and Korean, that a careless redactor would damage.

The table holds identifiers, references, settings and sentences that only
look like secrets. Templates are filled with fresh random text as those of `secret_kinds` are; the
sign ¦ is left out of the text, it only keeps a sample of some manual from standing here whole.
"""

import random
from collections.abc import Iterator

from tests.support.secret_kinds import fill
from tests.support.tables import table

TABLES = table("lookalikes")

TEXTS_OF_A_FRAGMENT = 4  # two English, two Korean
FRAGMENTS = TABLES["fragments"]
WRAPPERS_EN = TABLES["places"]
WRAPPERS_KO = TABLES["Korean places"]
SENTENCES_EN = TABLES["sentences"]
SENTENCES_KO = TABLES["Korean sentences"]


def fragments() -> Iterator[tuple[str, str]]:
    """The kind and the template of every fragment."""
    for kind, lines in FRAGMENTS.items():
        for line in lines:
            yield kind, line.replace("¦", "")


def lookalikes(seed: int = 0) -> list[tuple[str, str]]:
    """Harmless texts with their kind; the same seed gives the same texts."""
    rng = random.Random(seed)
    texts: dict[str, str] = {}
    for number, (kind, template) in enumerate(fragments()):
        for turn in range(TEXTS_OF_A_FRAGMENT):
            wrappers = (WRAPPERS_EN, WRAPPERS_KO)[turn % 2]
            wrapper = wrappers[(number + turn * 2) % len(wrappers)]
            texts.setdefault(wrapper.replace("{}", fill(template, rng)), kind)
    for sentence in (*SENTENCES_EN, *SENTENCES_KO):
        texts.setdefault(sentence, "sentence")
    return [(kind, text) for text, kind in texts.items()]
