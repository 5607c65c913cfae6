"""Lists kinds of secrets for the tests, one row per kind, each able to build a fresh one.

No secret is written down here. A row is a template; `fill` puts random characters of the right
alphabet and length into it: `{A36}` is 36 letters and digits, `{h8-12}` between 8 and 12 small
hexadecimal digits (see ALPHABETS), `{uuid}`, `{jwt}` and the other words of MAKERS what they say.
In a template the secret stands between « and », names that must stay readable between ‹ and ›.
"""

import base64
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from tests.support.tables import table

TABLES = table("secret_kinds")

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Kind:
    """One kind of secret; family is token, structure, assignment or prose.

    make: builds a fresh one, marked as the templates are.
    """

    name: str
    family: str
    make: Callable[[random.Random], str]


ALPHABETS = {
    "d": string.digits,
    "l": string.ascii_lowercase,
    "U": string.ascii_uppercase,
    "L": string.ascii_letters,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "a": string.ascii_lowercase + string.digits,
    "u": string.ascii_uppercase + string.digits,
    "A": string.ascii_letters + string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "s": string.ascii_uppercase + "234567",
    "q": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "Q": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "z": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "k": "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
}
WORDS = TABLES["words"].split()
TYPED_KOREAN = TABLES["Korean words on a Latin keyboard"].split()
SEED_WORDS = TABLES["words of BIP 39"].split()
SYMBOLS = "!@#%^*-_+=?"


def chars(rng: random.Random, alphabet: str, count: int) -> str:
    """`count` random characters of an alphabet."""
    return "".join(rng.choice(alphabet) for _ in range(count))


def mixed(rng: random.Random, length: int, symbols: str = SYMBOLS) -> str:
    """A password of letters, digits and symbols that begins and ends with a letter or digit."""
    must = [rng.choice(string.ascii_lowercase), rng.choice(string.ascii_uppercase)]
    must += [rng.choice(string.digits), rng.choice(symbols), rng.choice(symbols)]
    rest = string.ascii_letters + string.digits + symbols
    middle = must + [rng.choice(rest) for _ in range(length - len(must) - 2)]
    rng.shuffle(middle)
    edge = ALPHABETS["A"]
    return rng.choice(edge) + "".join(middle) + rng.choice(edge)


def plain(rng: random.Random, length: int) -> str:
    """A password of letters and digits, with at least two of each."""
    must = list(chars(rng, string.ascii_letters, 2) + chars(rng, string.digits, 2))
    middle = must + [rng.choice(ALPHABETS["A"]) for _ in range(length - len(must))]
    rng.shuffle(middle)
    return "".join(middle)


def two_words(rng: random.Random) -> str:
    """A password people make up: two words, digits and an exclamation mark."""
    first, second = rng.sample(WORDS, 2)
    return f"{first.title()}{second.title()}{rng.randrange(10, 999)}!"


def bytes_of(rng: random.Random, count: int) -> bytes:
    """`count` random bytes."""
    return bytes(rng.randrange(256) for _ in range(count))


def base64_of(rng: random.Random, count: int) -> str:
    """The base64 text of `count` random bytes, with its padding."""
    return base64.b64encode(bytes_of(rng, count)).decode()


def url_base64(data: bytes) -> str:
    """The url-safe base64 text of some bytes, without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def a_jwt(rng: random.Random) -> str:
    """A signed JSON web token."""
    kind = rng.choice(["HS256", "RS256", "ES256"])
    head = {"alg": kind, "typ": "JWT"}
    born = 1_700_000_000 + rng.randrange(80_000_000)
    body = {"sub": chars(rng, string.digits, 8), "iat": born, "exp": born + 3600}
    parts = [json.dumps(it, separators=(",", ":")).encode() for it in (head, body)]
    parts.append(bytes_of(rng, 32))
    return ".".join(url_base64(part) for part in parts)


def a_uuid(rng: random.Random) -> str:
    """A random UUID of version 4."""
    hexa = ALPHABETS["h"]
    groups = [chars(rng, hexa, 8), chars(rng, hexa, 4), "4" + chars(rng, hexa, 3)]
    return "-".join([*groups, rng.choice("89ab") + chars(rng, hexa, 3), chars(rng, hexa, 12)])


def key_lines(rng: random.Random, newline: str = "\n") -> str:
    """The base64 lines between the first and the last line of a PEM block."""
    text = "MII" + base64_of(rng, rng.randrange(300, 700))
    return newline.join(text[at : at + 64] for at in range(0, len(text), 64))


def a_basic_pair(rng: random.Random) -> str:
    """What HTTP Basic sends: the base64 text of user:password."""
    user = rng.choice(["admin", "deploy", "svc-api", "ci"])
    return base64.b64encode(f"{user}:{mixed(rng, 16)}".encode()).decode()


def a_host(rng: random.Random) -> str:
    """A host name inside a company."""
    return rng.choice(["db", "cache", "mq", "git", "mail", "repo"]) + rng.choice(
        [".internal", "-stg.corp.kr", "1.prod.svc.local", ".team.co.kr", ".example.com"]
    )


MAKERS: dict[str, Callable[[random.Random], str]] = {
    "uuid": a_uuid,
    "jwt": a_jwt,
    "pw": lambda rng: plain(rng, rng.randrange(12, 21)),
    "spw": lambda rng: mixed(rng, rng.randrange(12, 19), "!#%^*-_+"),
    "human": lambda rng: two_words(rng) if rng.random() < 0.5 else plain(rng, 10),
    "pem": key_lines,
    "pem_escaped": lambda rng: key_lines(rng, "\\n"),
    "pem_spaces": lambda rng: key_lines(rng, " "),
    "pem_indented": lambda rng: key_lines(rng, "\n    "),
    "basic": a_basic_pair,
    **{f"bytes{it}": partial(base64_of, count=it) for it in (16, 32, 48, 64)},
    "url_bytes32": lambda rng: url_base64(bytes_of(rng, 32)),
    **{f"plain{it}": partial(plain, length=it) for it in (12, 20, 32)},
    **{f"mixed{it}": partial(mixed, length=it) for it in (12, 16, 24)},
    "host": a_host,
    "user": lambda rng: rng.choice(["admin", "app_rw", "deploy", "svc_batch", "readonly", "ops"]),
    "seed_word": lambda rng: rng.choice(SEED_WORDS),
    "word": lambda rng: rng.choice(WORDS),
}
HOLE = re.compile(r"\{(?:([A-Za-z])(\d+)(?:-(\d+))?|(" + "|".join(MAKERS) + r"))\}")


def fill(template: str, rng: random.Random) -> str:
    """The template with fresh random text in each of its holes."""

    def put(hole: re.Match[str]) -> str:
        letter, low, high, word = hole.groups()
        if word:
            return MAKERS[word](rng)
        count = rng.randint(int(low), int(high)) if high else int(low)
        return chars(rng, ALPHABETS[letter], count)

    return HOLE.sub(put, template)


def unmark(marked: str) -> tuple[str, Spans, Spans]:
    """The text without its marks, the places of the secrets, the places of the labels."""
    out: list[str] = []
    at = 0
    opened: list[int] = []
    secrets: list[tuple[int, int]] = []
    labels: list[tuple[int, int]] = []
    for piece in re.split("([«»‹›])", marked):
        if piece and piece in "«‹":
            opened.append(at)
        elif piece and piece in "»›":
            (secrets if piece == "»" else labels).append((opened.pop(), at))
        else:
            out.append(piece)
            at += len(piece)
    return "".join(out), tuple(secrets), tuple(labels)


def from_template(template: str) -> Callable[[random.Random], str]:
    """A maker of what a template describes; without marks the whole text is the secret."""
    marked = template if "«" in template else f"«{template}»"
    return lambda rng: fill(marked, rng)


def as_secret(make: Callable[[random.Random], str], rng: random.Random) -> str:
    """What a maker makes, all of it the secret."""
    return f"«{make(rng)}»"


DASHES = "-" * 5
VALUES: dict[str, Callable[[random.Random], str]] = {
    name: partial(fill, it) for name, it in TABLES["values"].items()
}
HUMAN: dict[str, Callable[[random.Random], str]] = {
    "two-words-digits-bang": two_words,
    "word-year-bang": lambda rng: f"{rng.choice(WORDS).title()}{rng.randrange(2018, 2027)}!",
    "word-digits": lambda rng: f"{rng.choice(WORDS)}{rng.randrange(100, 9999)}",
    "word-hash-digits": lambda rng: f"{rng.choice(WORDS).title()}#{rng.randrange(1000, 9999)}",
    "word-at-digits": lambda rng: f"{rng.choice(WORDS)}@{rng.randrange(100, 9999)}",
    "letters-swapped": lambda rng: (
        rng.choice(WORDS).title().replace("a", "@").replace("e", "3").replace("o", "0")
        + f"{rng.randrange(10, 99)}$"
    ),
    "short-8": lambda rng: plain(rng, 8),
    "short-10": lambda rng: mixed(rng, 10),
    "typed-korean": lambda rng: f"{rng.choice(TYPED_KOREAN)}{rng.randrange(10, 9999)}!",
    "typed-korean-at": lambda rng: f"{rng.choice(TYPED_KOREAN)}@{rng.randrange(1000, 9999)}",
    "dashed-words-digits": lambda rng: "-".join(
        [*rng.sample(WORDS, 3), str(rng.randrange(10, 99))]
    ),
    "words-with-symbol": lambda rng: "$".join(rng.sample(WORDS, 2)) + str(rng.randrange(10, 99)),
    "digits-8": lambda rng: str(rng.randrange(20_000_000, 99_999_999)),
}


def structures() -> Iterator[tuple[str, str]]:
    """The name and the template of every kind of snippet."""
    for name, label in TABLES["pems"].items():
        begin, end = (f"{DASHES}{it} {label}{DASHES}" for it in ("BEGIN", "END"))
        yield f"pem-{name}", f"{begin}\n«{{pem}}»\n{end}"
    for name, (scheme, user, rest) in TABLES["urls"].items():
        login = f"‹{user}›" if user else ""
        yield f"url-{name}", f"{scheme}://{login}:«{{pw}}»@‹{{host}}›{rest}"
    yield from TABLES["snippets"].items()


def all_kinds() -> list[Kind]:
    """Every kind, tokens first."""
    return [
        *(Kind(name, "token", from_template(it)) for name, it in TABLES["tokens"].items()),
        *(Kind(name, "structure", from_template(it)) for name, it in structures()),
        *(Kind(name, "assignment", from_template(it)) for name, it in TABLES["values"].items()),
        *(Kind(name, "prose", partial(as_secret, it)) for name, it in HUMAN.items()),
    ]


KINDS = all_kinds()
