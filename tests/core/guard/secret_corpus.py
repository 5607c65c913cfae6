"""Makes texts with secrets at known places, in English and Korean, to measure a redactor with.

No secret is written down here. A row of the kinds is a template; `fill` puts random characters of
the right alphabet and length into it: `{A36}` is 36 letters and digits, `{h8-12}` between 8 and 12
small hexadecimal digits (see the alphabets of secret_kinds.json), `{n10-98}` a number between
these; `{uuid}`, `{jwt}` and the other words of MAKERS become such values. In a template the
secret stands between « and », names that must stay readable between ‹ and ›. In sentences, lines
of code and settings @@ is the place of the secret, ~~ (in the formats of assignments) the name it
is assigned to.
"""

import base64
import json
import random
import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from tests.support.tables import table

KINDS_OF, TABLES = table("secret_kinds"), table("secret_corpus")
WORDS: list[str] = KINDS_OF["words"].split()
ALPHABETS: dict[str, str] = KINDS_OF["alphabets"]
PLACEMENTS_OF_A_TOKEN, SURROUNDINGS_OF_A_STRUCTURE, CASES_OF_A_FORMAT = 16, 7, 16
VALUES_OF_A_SENTENCE, VALUES_OF_AN_EDGE = 4, 2
HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
Spans = tuple[tuple[int, int], ...]


def chars(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def mixed(rng: random.Random, length: int, symbols: str = "!@#%^*-_+=?") -> str:
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
    return bytes(rng.randrange(256) for _ in range(count))


def base64_of(rng: random.Random, count: int) -> str:
    """The base64 text of so many random bytes, with its padding."""
    return base64.b64encode(bytes_of(rng, count)).decode()


def url_base64(data: bytes) -> str:
    """The url-safe base64 text of some bytes, without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def a_jwt(rng: random.Random) -> str:
    head = {"alg": rng.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"}
    born = 1_700_000_000 + rng.randrange(80_000_000)
    body = {"sub": chars(rng, string.digits, 8), "iat": born, "exp": born + 3600}
    parts = [json.dumps(it, separators=(",", ":")).encode() for it in (head, body)]
    return ".".join(map(url_base64, [*parts, bytes_of(rng, 32)]))


def key_lines(rng: random.Random, newline: str = "\n") -> str:
    """The base64 lines between the first and the last line of a PEM block."""
    text = "MII" + base64_of(rng, rng.randrange(300, 700))
    return newline.join(text[at : at + 64] for at in range(0, len(text), 64))


CHOICES = {
    **KINDS_OF["choices"],
    "seed_word": KINDS_OF["words of BIP 39"].split(),
    "typed_korean": KINDS_OF["Korean words on a Latin keyboard"].split(),
    "word": WORDS,
}
SWAPPED = str.maketrans({"a": "@", "e": "3", "o": "0"})
NESTED = {"uuid": "{h8}-{h4}-4{h3}-{v1}{h3}-{h12}", "host": "{host_name}{host_end}"}
MAKERS: dict[str, Callable[[random.Random], str]] = {
    **{name: partial(random.Random.choice, seq=it) for name, it in CHOICES.items()},
    "jwt": a_jwt,
    "pw": lambda rng: plain(rng, rng.randrange(12, 21)),
    "spw": lambda rng: mixed(rng, rng.randrange(12, 19), "!#%^*-_+"),
    "human": lambda rng: two_words(rng) if rng.random() < 0.5 else plain(rng, 10),
    "pem": key_lines,
    "pem_escaped": partial(key_lines, newline="\\n"),
    "pem_spaces": partial(key_lines, newline=" "),
    "pem_indented": partial(key_lines, newline="\n    "),
    "basic": lambda rng: base64.b64encode(
        f"{rng.choice(['admin', 'deploy', 'svc-api', 'ci'])}:{mixed(rng, 16)}".encode()
    ).decode(),
    **{f"bytes{it}": partial(base64_of, count=it) for it in (16, 32, 48, 64)},
    "url_bytes32": lambda rng: url_base64(bytes_of(rng, 32)),
    **{f"plain{it}": partial(plain, length=it) for it in (8, 12, 20, 32)},
    **{f"mixed{it}": partial(mixed, length=it) for it in (10, 12, 16, 24)},
    "Word": lambda rng: rng.choice(WORDS).title(),
    "swapped_word": lambda rng: rng.choice(WORDS).title().translate(SWAPPED),
    "two_words": two_words,
    "dashed_words": lambda rng: "-".join(rng.sample(WORDS, 3)),
    "two_words_with_symbol": lambda rng: "$".join(rng.sample(WORDS, 2)),
}
HOLE = re.compile(r"\{(?:([A-Za-z])(\d+)(?:-(\d+))?|(" + "|".join((*MAKERS, *NESTED)) + r"))\}")


def fill(template: str, rng: random.Random) -> str:
    """The template with fresh random text in each of its holes."""

    def put(hole: re.Match[str]) -> str:
        letter, low, high, word = hole.groups()
        if word:
            return fill(NESTED[word], rng) if word in NESTED else MAKERS[word](rng)
        number = rng.randint(int(low), int(high)) if high else int(low)
        return str(number) if letter == "n" else chars(rng, ALPHABETS[letter], number)

    return HOLE.sub(put, template)


def unmark(marked: str) -> tuple[str, Spans, Spans]:
    """The text without its marks, the places of the secrets, the places of the labels."""
    out, at, opened = list[str](), 0, list[int]()
    secrets, labels = list[tuple[int, int]](), list[tuple[int, int]]()
    for piece in re.split("([«»‹›])", marked):
        if piece and piece in "«‹":
            opened.append(at)
        elif piece and piece in "»›":
            (secrets if piece == "»" else labels).append((opened.pop(), at))
        else:
            out.append(piece)
            at += len(piece)
    return "".join(out), tuple(secrets), tuple(labels)


class Kind(NamedTuple):
    """One kind of secret; family is token, structure, assignment or prose.

    template: without marks the whole text is the secret.
    """

    name: str
    family: str
    template: str

    def make(self, rng: random.Random) -> str:
        """A fresh one, marked as the templates are."""
        return fill(self.template if "«" in self.template else f"«{self.template}»", rng)


def structures() -> Iterator[tuple[str, str]]:
    """The name and the template of every kind of snippet."""
    for name, label in KINDS_OF["pems"].items():
        begin, end = (f"{'-' * 5}{it} {label}{'-' * 5}" for it in ("BEGIN", "END"))
        yield f"pem-{name}", f"{begin}\n«{{pem}}»\n{end}"
    for name, (scheme, user, rest) in KINDS_OF["urls"].items():
        login = f"‹{user}›" if user else ""
        yield f"url-{name}", f"{scheme}://{login}:«{{pw}}»@‹{{host}}›{rest}"
    yield from KINDS_OF["snippets"].items()


KINDS = [
    *(Kind(name, "token", it) for name, it in KINDS_OF["tokens"].items()),
    *(Kind(name, "structure", it) for name, it in structures()),
    *(Kind(name, "assignment", it) for name, it in KINDS_OF["values"].items()),
    *(Kind(name, "prose", it) for name, it in KINDS_OF["made up"].items()),
]
# A template of every value that can be assigned or told.
GENERIC: dict[str, str] = {**KINDS_OF["values"], **KINDS_OF["made up"]}
KEY_LIKE = [name for name in KINDS_OF["values"] if not name.startswith("mixed")]
PASSWORD_LIKE = [*KINDS_OF["made up"], "mixed-12", "mixed-16", "mixed-24", "alphanumeric-20"]


class Case(NamedTuple):
    """A text, the places of its secrets, and the places of labels that must stay readable."""

    family: str
    kind: str
    placement: str
    language: str
    text: str
    secret_spans: Spans
    label_spans: Spans


def a_case(family: str, kind: str, placement: str, marked: str) -> Case:
    """A case from a marked text; the language is Korean as soon as there is Hangul."""
    text, secrets, labels = unmark(marked)
    language = "ko" if HANGUL.search(text) else "en"
    return Case(family, kind, placement, language, text, secrets, labels)


class Format(NamedTuple):
    """How a language or tool assigns a value: its line, its style of names, its comment sign."""

    line: str
    style: str
    comment: str = ""
    closing: str = ""
    quoted: bool = True


FORMATS = {name: Format(**form) for name, form in TABLES["formats"].items()}
KOREAN_NAMES = TABLES["Korean names"].split()


def named(words: list[str], style: str) -> str:
    """The words of a name as one name in a style."""
    titled = "".join(word.title() for word in words)
    return {
        "snake": "_".join(words),
        "upper": "_".join(words).upper(),
        "camel": words[0] + titled[len(words[0]) :],
        "pascal": titled,
        "kebab": "-".join(words),
        "dotted": ".".join(words),
        "spaced": " ".join(words),
    }[style]


def some_values(rng: random.Random, names: list[str], count: int) -> list[tuple[str, str]]:
    """`count` kinds of value, each with a fresh value of it between its marks."""
    return [(name, fill(f"«{GENERIC[name]}»", rng)) for name in rng.sample(names, count)]


def placed_cases(rng: random.Random) -> Iterator[Case]:
    """Every kind of token and of snippet in some places, half of them Korean."""
    tables = TABLES["places of a token"], TABLES["Korean places of a token"]
    english, korean = ([*table.items()] for table in tables)
    half = PLACEMENTS_OF_A_TOKEN // 2
    for number, kind in enumerate(it for it in KINDS if it.family == "token"):
        for at in range(half):
            for places in (english, korean):
                name, place = places[(number * half + at) % len(places)]
                text = fill(place, rng).replace("@@", kind.make(rng))
                yield a_case("token", kind.name, name, text)
    tables = TABLES["places of a structure"], TABLES["Korean places of a structure"]
    surroundings = [it for table in tables for it in table.items()]
    half = len(surroundings) // 2
    for number, kind in enumerate(it for it in KINDS if it.family == "structure"):
        for at in range(SURROUNDINGS_OF_A_STRUCTURE):
            is_korean = (at + number) % 2
            name, place = surroundings[(number * 3 + at // 2) % half + half * is_korean]
            text = fill(place, rng).replace("@@", kind.make(rng))
            yield a_case("structure", kind.name, name, text)


def around(line: str, form: Format, korean: bool, turn: int) -> tuple[str, str]:
    """A line of code in one of its surroundings: the name of the surrounding and the text."""
    note = TABLES["Korean comments" if korean else "comments"][turn // 4 % 4]
    comment = f"{form.comment}{note}{form.closing}"
    intro = "설정 파일에 이렇게 되어 있다:" if korean else "The settings file says:"
    inline = "코드에 `{}` 라고 박혀 있었다" if korean else "It has `{}` hard-coded, which is bad."
    where = turn % 4
    if where == 0 and (not korean or HANGUL.search(line)):
        return "alone", line
    if where <= 1 and form.comment:
        return "comment-above", f"{comment}\n{line}"
    if where == 2 and form.comment and form.quoted and "\n" not in line:
        return "comment-behind", f"{line}  {comment}"
    if where == 3 and "\n" not in line:
        return "inline", inline.format(line)
    return "introduced", f"{intro}\n{line}"


def assignment_cases(rng: random.Random) -> Iterator[Case]:
    """Every format with several names, values and surroundings, half of them Korean."""
    kinds, names = list(GENERIC), TABLES["names"]
    careful = [name for name in kinds if name not in ("letters-swapped", "words-with-symbol")]
    for number, (place, form) in enumerate(FORMATS.items()):
        allowed = kinds if form.quoted else careful
        for turn in range(CASES_OF_A_FORMAT):
            korean = bool((turn + number) % 2)
            name = named(names[(number * 7 + turn * 5) % len(names)], form.style)
            if korean and place in KINDS_OF["Korean formats"] and turn % 3:
                name = KOREAN_NAMES[(number + turn) % len(KOREAN_NAMES)]
            kind = allowed[(number * 5 + turn) % len(allowed)]
            line = form.line.replace("~~", f"‹{name}›", 1).replace("~~", name)
            surrounding, text = around(line, form, korean, turn // 2 + number)
            value = fill(f"«{GENERIC[kind]}»", rng)
            yield a_case("assignment", kind, f"{place}/{surrounding}", text.replace("@@", value))
    for place, line in TABLES["fixed lines"].items():
        for turn, (kind, value) in enumerate(some_values(rng, careful, 8)):
            _, text = around(line, Format(line, "snake", "# "), bool(turn % 2), turn)
            yield a_case("assignment", kind, place, text.replace("@@", value))


def prose_cases(rng: random.Random) -> Iterator[Case]:
    """Sentences that give a password or a key away."""
    for name, texts in KINDS_OF["kinds of a sentence"].items():
        kinds = PASSWORD_LIKE if name.startswith("password") else KEY_LIKE
        notes = TABLES["Korean notes" if name.endswith("ko") else "notes"]
        for number, sentence in enumerate(TABLES[texts]):
            values = some_values(rng, kinds, VALUES_OF_A_SENTENCE)
            for note, (kind, value) in zip(notes, values, strict=True):
                marked = note.format(sentence).replace("@@", value)
                yield a_case("prose", kind, f"{name}-{number}", marked)


def edge_cases(rng: random.Random) -> Iterator[Case]:
    """Awkward texts: odd signs, several secrets, markup, quotes in quotes, wrapped values.

    And Korean sentences with their Hangul decomposed, as macOS writes file names.
    """
    kinds = ["alphanumeric-20", "mixed-12", "two-words-digits-bang", "hex-32", "short-10"]
    for place, marked in TABLES["edges"].items():
        for kind in rng.sample(kinds, VALUES_OF_AN_EDGE):
            first, *pieces = marked.split("@@")
            text = first + "".join(fill(f"«{GENERIC[kind]}»", rng) + piece for piece in pieces)
            yield a_case("edge", kind, place, text)
    for place, template in TABLES["edges with a value of their own"].items():
        for _ in range(VALUES_OF_AN_EDGE):
            yield a_case("edge", place, place, fill(template, rng))
    for number, text in enumerate(TABLES["Korean passwords"][:12] + TABLES["Korean keys"][:12]):
        kind, decomposed = kinds[number % 3], unicodedata.normalize("NFD", text)
        marked = decomposed.replace("@@", fill(f"«{GENERIC[kind]}»", rng))
        yield a_case("edge", kind, f"decomposed-{number}", marked)


def cases(seed: int = 0) -> list[Case]:
    """All cases; the same seed gives the same cases, another one fresh secrets."""
    rng = random.Random(seed)
    families = placed_cases, assignment_cases, prose_cases, edge_cases
    return [case for family in families for case in family(rng)]


LEAST_CHARS = 12  # of a secret, or its bytes could be somebody else's by chance


def sampled(places: Sequence[str], count: int, seed: int) -> list[tuple[str, Case, list[str]]]:
    """A place for each of some tokens, and the secrets in it."""
    chance, found = random.Random(seed), list[tuple[Case, list[str]]]()
    for case in cases(seed):
        secrets = [case.text[start:end] for start, end in case.secret_spans]
        if secrets and min(map(len, secrets)) >= LEAST_CHARS and case.family == "token":
            found.append((case, secrets))
    return [(chance.choice(places), *it) for it in chance.sample(found, count)]


# Sentences in words of their own, written without a look at the rules, to measure how the rules
# do on sentences that nobody had in mind.

SENTENCES = table("secret_sentences")
VALUES_OF_AN_UNSEEN = 6
THOUGHT_OF, SHAPES = (SENTENCES[f"{it} of a password"].split() for it in ("words", "shapes"))


def a_password(rng: random.Random) -> str:
    """A password as people think one up, or, one time in three, as a program makes one."""
    if rng.random() < 1 / 3:
        return fill(rng.choice(["{pw}", "{spw}"]), rng)
    made = {"w": lambda: rng.choice(THOUGHT_OF), "W": lambda: rng.choice(THOUGHT_OF).title()}
    return "".join(
        made[sign]() if sign in made else fill(f"{{d{sign}}}", rng) if sign.isdigit() else sign
        for sign in rng.choice(SHAPES)
    )


def sentences(seed: int = 0) -> Iterator[Case]:
    """Every sentence with several secrets; the same seed gives the same ones."""
    rng, keys = random.Random(seed), KINDS_OF["keys that do not name themselves"]
    for kind, name in KINDS_OF["kinds of a sentence"].items():
        is_password = kind.startswith("password")
        for number, text in enumerate(SENTENCES[name]):
            for _ in range(VALUES_OF_AN_UNSEEN):
                value = a_password(rng) if is_password else fill(rng.choice(keys), rng)
                marked = text.replace("@@", f"«{value}»")
                yield a_case("sentence", kind, f"{kind}-{number}", marked)


# Harmless texts that a careless redactor would damage: identifiers, references, settings and
# sentences that only look like secrets. The sign ¦ is left out of the text: it only keeps a sample
# of some manual from standing here whole.

LOOKALIKES = table("lookalikes")
TEXTS_OF_A_FRAGMENT = 4  # two English, two Korean


def lookalikes(seed: int = 0) -> list[tuple[str, str]]:
    """Harmless texts with their kind; the same seed gives the same texts."""
    rng = random.Random(seed)
    places = LOOKALIKES["places"], LOOKALIKES["Korean places"]
    fragments = [(kind, it) for kind, lines in LOOKALIKES["fragments"].items() for it in lines]
    texts: dict[str, str] = {}
    for number, (kind, template) in enumerate(fragments):
        for turn in range(TEXTS_OF_A_FRAGMENT):
            wrapper = places[turn % 2][(number + turn * 2) % len(places[turn % 2])]
            text = fill(template.replace("¦", ""), rng)
            texts.setdefault(wrapper.replace("{}", text), kind)
    for sentence in (*LOOKALIKES["sentences"], *LOOKALIKES["Korean sentences"]):
        texts.setdefault(sentence, "sentence")
    return [(kind, text) for text, kind in texts.items()]
