"""Lists sentences that give a password or a key away in words of their own.

They were written without a look at the rules, to measure what those make of sentences that no one
had in mind; `@@` is where the secret goes.
"""

import random
from collections.abc import Callable, Iterator

from tests.support.secret_corpus import Case, a_case
from tests.support.secret_kinds import fill
from tests.support.tables import table

TABLES = table("secret_sentences")

VALUES_OF_A_SENTENCE = 6
WORDS = """hunter winter tiger maple rocket kimchi monkey coffee orange dragon summer puppy castle
    seoul busan mango pepper turtle banana galaxy hammer violet thunder falcon meadow copper rabbit
    sunset pickle garden lemon noodle wizard penguin jeju walnut comet ladder spider velvet
    """.split()
SHAPES = """w1-w w4! W!2 w2 wW2 W@4 w-w-w-w w#w1 w_w_3 2w2 WW4 w.w.2 w+w=2 w3w W2w""".split()
PASSWORDS_EN = TABLES["passwords"]
PASSWORDS_KO = TABLES["Korean passwords"]
KEYS_EN = TABLES["keys"]
KEYS_KO = TABLES["Korean keys"]


def a_password(rng: random.Random) -> str:
    """A password as people think one up, or, one time in three, as a program makes one."""
    if rng.random() < 1 / 3:
        return fill(rng.choice(["{pw}", "{spw}"]), rng)
    made = {"w": lambda: rng.choice(WORDS), "W": lambda: rng.choice(WORDS).title()}
    return "".join(
        made[sign]() if sign in made else fill(f"{{d{sign}}}", rng) if sign.isdigit() else sign
        for sign in rng.choice(SHAPES)
    )


def a_key(rng: random.Random) -> str:
    """A key or a token that does not name itself."""
    return fill(rng.choice(["{h32}", "{A20}", "{A32}", "{A40}", "{A24}", "{a32}"]), rng)


def sentences(seed: int = 0) -> Iterator[Case]:
    """Every sentence with several secrets; the same seed gives the same ones."""
    rng = random.Random(seed)
    made: Callable[[random.Random], str]
    for kind, texts, made in (
        ("password-en", PASSWORDS_EN, a_password),
        ("password-ko", PASSWORDS_KO, a_password),
        ("key-en", KEYS_EN, a_key),
        ("key-ko", KEYS_KO, a_key),
    ):
        for number, text in enumerate(texts):
            for _ in range(VALUES_OF_A_SENTENCE):
                marked = text.replace("@@", f"«{made(rng)}»")
                yield a_case("sentence", kind, f"{kind}-{number}", marked)
