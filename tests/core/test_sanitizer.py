"""Tests the redactor, every row of its tables, and the forms in which it reads a text.

No text here looks like a secret: templates such as {A36} are spelled out when a test runs.
"""

import random
import re
import time
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from string import ascii_letters, ascii_lowercase
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import sanitizer
from core.data import TOKENS, Rule, rules, with_parts
from core.errors import RefusedError
from core.guard.characters import forms_of
from core.sanitizer import MARKER, WINDOW_CHARS, RedactedText, find_secrets, look_at, redact
from core.store import MemoryStore
from tests.core.guard.secret_corpus import sentences
from tests.support.samples import a_draft
from tests.support.sentences import raised
from tests.support.tables import none_of, table
from tests.support.templates import ALPHABETS, examples, expand

EXAMPLES = examples()
TEMPLATES = table("redaction")
PIECES = table("redaction_pieces")
LETTERS = table("values_of_letters")


def only_marked_goes(templates: Iterable[str]) -> None:
    """In each template, the redactor hides the text between « and », and nothing else."""
    texts = [(*expand(template), template) for template in templates]
    none_of(template for text, expected, template in texts if redact(text).text != expected)


# The rows of the table.


@pytest.mark.row("001 5-2.c")
@pytest.mark.long  # it costs much
def test_of_an_example_the_secret_goes_and_its_lookalike_stays_byte_for_byte() -> None:
    faults = []
    for name, example in EXAMPLES.items():
        text, expected = expand(example.example)
        if redact(text) != RedactedText(expected, (name,)) or redact(expected).kinds:
            faults.append(name)
    none_of(faults)
    none_of(it for it in EXAMPLES.values() if "«" in it.lookalike or not it.lookalike.strip())
    only_marked_goes(it.lookalike for it in EXAMPLES.values())


def hints_of(rule: Rule) -> list[str]:
    return [*rule.hints, *rule.next_to, *rule.behind]


def test_rule_has_source_example_and_hints_that_occur_and_bounded_quantifiers() -> None:
    def has_found_hint(rule: Rule) -> bool:
        example = expand(EXAMPLES[rule.name].example)[0].casefold()
        return any(map(example.__contains__, hints_of(rule)))

    assert [*EXAMPLES] == [rule.name for rule in rules()]  # so that each name stands once
    assert sum(rule.table in TOKENS for rule in rules()) >= 400
    none_of(it for it in EXAMPLES.values() if not it.source.startswith("https://"))
    none_of(it for it in EXAMPLES.values() if "«" not in it.example or "»" not in it.example)
    none_of(rule for rule in rules() if not has_found_hint(rule))
    none_of(hint for rule in rules() for hint in hints_of(rule) if hint != hint.casefold())

    def is_unbounded(pattern: str) -> bool:
        without_classes = re.sub(r"\[(?:\\.|[^\]\\])+\]", "c", pattern)
        bare = re.sub(r"\\.|\(\?[P<:=!]", "", without_classes)
        return bool(re.search(r"[*]|\{\d+,\}|(?<!\})\+", bare))

    none_of(rule for rule in rules() if is_unbounded(with_parts(rule.pattern)))


# Whole texts.


@pytest.mark.row("001 2-1.j")
def test_of_texts_only_the_secrets_go_in_every_placement_and_wherever_one_was_named() -> None:
    for kind in TEMPLATES:
        only_marked_goes(TEMPLATES[kind])
    tokens = [f"«{token}»" for token in PIECES["placed"]]
    only_marked_goes(place.format(token) for place in PIECES["places"] for token in tokens)
    for template, kinds in PIECES["kinds in order"]:
        text, expected = expand(template)
        assert redact(text) == RedactedText(expected, tuple(kinds))
        assert [secret.kind for secret in find_secrets(text)] == kinds
    only_marked_goes(PIECES["a token written otherwise"])
    named, bare = expand("the root password is {A12}")[0], expand("connect with {A12} first")[0]
    assert redact(bare).kinds == ()
    known = sanitizer.secret_values_in([named, bare])
    assert redact(bare, known).text == f"connect with {MARKER} first"
    assert redact(expand("x{A12}x")[0], known).kinds == ()
    templates = [*(it.example for it in EXAMPLES.values()), *chain(*TEMPLATES.values())]
    texts = [expand(template)[0] for template in templates]
    looks = {it: look_at(("a topic", it, "a path")) for it in texts}
    none_of(it for it in texts if find_secrets(it) and not looks[it].may_hold)
    none_of(it for it in texts if find_secrets(it) != find_secrets(it, look=looks[it]))
    assert not look_at(("VAT differs by country", "Round at the end")).may_hold


TEXTS = [*(expand(it.example)[0] for it in EXAMPLES.values()), *PIECES["signs"]]


@pytest.mark.row("I9")
@given(st.lists(st.sampled_from(TEXTS) | st.text(st.characters(), max_size=8), max_size=6))
def test_redaction_is_idempotent_on_any_mixture(pieces: list[str]) -> None:
    once = redact("".join(pieces)).text
    assert redact(once).text == once


@pytest.mark.row("I9")
@pytest.mark.long  # it costs much
def test_time_is_linear_in_the_length_of_hostile_text() -> None:
    for piece in (*PIECES["hostile"], *PIECES["hostile forms"]):
        text = piece * (40_000 // len(piece))  # more than a window
        began = time.process_time()
        redact(text)
        assert time.process_time() - began < 2
    chain = expand("v1.0-{h24}-{h146}")[0] * 100
    hints = " ".join(["ghp_", "glpat-", "xoxb-", "sk_live_", "npm_", "hvs.", "dop_v1_", "SG."] * 9)
    began = time.process_time()
    assert "v1.0-" not in redact(f"{hints} {chain} {hints}").text
    assert time.process_time() - began < 2


EDGELESS = ("{h8}-{h4}-{h4}-{h4}-{h12}:fx", "p8e-{A32}", "AKIA{U16}", "ghp_{A36}", "SK{h32}")
WHOLE_CHAINS = {"{A52}JQQJ99{A18}AZDO{A4}": 3, "ATATT3{A170}={H8}": 4, "v1.0-{h24}-{h146}": 17}


@pytest.mark.parametrize("count", [5_000, pytest.param(25_000, marks=pytest.mark.long)])
def test_a_chain_of_tokens_without_edges_is_redacted_at_once(count: int) -> None:
    """The longer one of the last is longer than a window."""
    for text in (expand(token)[0] * times for token in EDGELESS for times in (2, 9, 12)):
        once = redact(f"{text}\n").text
        assert redact(once).text == once
    for token, times in WHOLE_CHAINS.items():
        text = expand(token)[0] * times  # nothing of it is left, and all else stays
        assert redact(f"keys={text},end").text == f"keys={MARKER},end"
    # One that bares a secret at a time goes with its whole word.
    assert redact(f"left {'p8e-' * count} stays").text == f"left {MARKER} stays"


# Values without a shape.


def only_values_go(lines: Iterable[str], values: Iterable[str]) -> None:
    """Of each line, the redactor hides the value at its place, and nothing else."""
    texts = [(line.format(value), line.format(MARKER)) for line in lines for value in values]
    none_of(text for text, expected in texts if redact(text).text != expected)


def letters(alphabet: str, size: int, count: int = 40) -> list[str]:
    chance = random.Random(size)
    return ["".join(chance.choices(alphabet, k=size)) for _ in range(count)]


@pytest.mark.long  # it costs much
def test_a_value_of_letters_is_found_behind_a_setting_and_of_both_cases_behind_any_name() -> None:
    values = [*letters(ascii_letters, 16), *letters(ascii_lowercase, 16), "correcthorse"]
    only_values_go(LETTERS["settings"], values)
    lines = [*LETTERS["settings"], *LETTERS["behind any name"], *LETTERS["loose"]]
    only_values_go(lines, letters(ascii_letters, 20))


def test_an_app_password_goes_with_all_its_groups() -> None:
    groups = zip(*[iter(letters(ascii_lowercase, 4, 160))] * 4, strict=True)
    only_values_go(LETTERS["in quotes"], map(" ".join, groups))
    only_values_go(("pass: '{}'", "MAIL_PASSWORD={}"), ["qwzk rtxb mnpl ghvd"])


LEAST_FOUND = {"password-en": 0.94, "password-ko": 0.94, "key-en": 0.95, "key-ko": 0.97}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("seed", [0, 1])
def test_most_secrets_in_sentences_are_found_whole_and_the_rest_stays(seed: int) -> None:
    found, count, faults = Counter[str](), Counter[str](), []
    for case in sentences(seed):
        secrets = [*find_secrets(case.text)]
        ((start, end),) = case.secret_spans
        count[case.kind] += 1
        found[case.kind] += any(it.start <= start and end <= it.end for it in secrets)
        if any(it.end < start or it.start > end for it in secrets):
            faults.append(case.text)
    shares = {kind: found[kind] / count[kind] for kind in count}
    assert min(count.values()) > 150
    assert not {kind: share for kind, share in shares.items() if share < LEAST_FOUND[kind]}, shares
    none_of(faults if seed == 0 else ())


# A secret in another notation is found, and all of it.

TOKEN = expand("ghp_{A36}")[0]
PASSWORD = "hunter2-" + "blueX9"
SENTENCES = (
    f"x {TOKEN} y",
    f"password: {PASSWORD}",
    f"비밀번호는 {PASSWORD} 이다",
    f"DB_PASSWORD={PASSWORD} # prod",
    f"postgres://app:{PASSWORD}@db.internal/x",
)
UNSEEN = PIECES["unseen"]
SPLITTING = [*UNSEEN, *PIECES["splitting"]]


@pytest.mark.long  # it costs much
def test_nothing_unseen_hides_a_secret_or_stays_of_it() -> None:
    for sentence in SENTENCES:
        start, end, _ = find_secrets(sentence)[0]
        shown = sentence[:start] + MARKER + sentence[end:]
        places = range(start + 1, end)
        split = [sentence[:at] + it + sentence[at:] for it in SPLITTING for at in places]
        none_of((text, redact(text).text) for text in split if redact(text).text != shown)


def test_nothing_in_a_name_hides_its_secret_nor_do_other_letters_or_escapes() -> None:
    named = zip(SENTENCES[1:4], ("password", "비밀번호", "PASSWORD"), strict=True)
    split = [text.replace(it, it[:2] + at + it[2:]) for text, it in named for at in UNSEEN]
    none_of(text for text in split if PASSWORD in redact(text).text)
    for text in (*PIECES["written otherwise"], normalize("NFD", "비밀번호는 § 이다")):
        assert redact(text.replace("§", PASSWORD)).text == text.replace("§", MARKER)
    text, expected = expand("비밀번호는 «{A12}»이다")
    assert redact(normalize("NFD", text)).text == normalize("NFD", expected)


def test_plain_text_is_read_once_and_every_place_of_a_form_is_known() -> None:
    plain = "The build failed: x = [1] (twice)\n"
    assert list(forms_of(plain)) == [(plain, None)]
    for splitter in SPLITTING:
        text = f"pass{splitter}word: x"
        form, places = next(it for it in forms_of(text) if it[0] == "password: x")
        assert places is not None
        assert [text[at] for at in places.starts] == [*form]


# No text of any length holds the redactor up, and none is cut where a secret stands.

LETTERS_ALONE = expand("{A60}")[0] * 200  # 12,000 characters


def test_a_text_far_above_its_limit_is_refused_before_any_rule_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for field in ["topic", "missing_context", "lesson", "ask_next_time", "paths", "when"]:

        def unexpected(*_: object) -> None:
            raise AssertionError("a rule was run")

        monkeypatch.setattr("core.sanitizer.find_secrets", unexpected)
        with raised(RefusedError, "field_too_long") as caught:
            MemoryStore(tmp_path / "log").upsert_log(a_draft(**{field: "password = '" * 800_000}))
        assert caught.value.facts["field"] == field
        assert not (tmp_path / "log").exists()


ENDLESS: list[str | list[str]] = [
    *("{a," * 15_000 + "}" * 15_000, "{,}" * 15_000, "{" + "a," * 30_000, "," * 60_000),
    *("./" * 30_000, ["{a,b}{c,d}"] * 5_000, "[" * 60_000),
]


@pytest.mark.long  # it measures the time
def test_no_list_of_paths_holds_a_save_up(tmp_path: Path) -> None:
    for paths in ENDLESS:
        began = time.process_time()
        try:
            MemoryStore(tmp_path / "log.jsonl").upsert_log(a_draft(paths=paths))
        except RefusedError as error:
            assert error.key in ("field_too_long", "too_many_paths")
        assert time.process_time() - began < 3


@pytest.mark.long  # it costs much
def test_a_long_secret_or_many_values_are_found_again_wherever_a_window_ends() -> None:
    secret = f"eyJhbGciOiJIUzI1NiJ9.eyJ{LETTERS_ALONE[:8_000]}.{LETTERS_ALONE[:43]}"
    for fill in ("some words in a line\n", "word ", "x/"):
        for before_end in (100, 3_000, 6_000, 7_900):
            before = (fill * WINDOW_CHARS)[: WINDOW_CHARS - before_end] + " "
            [found] = find_secrets(before + secret + " " + fill * 3_000)
            assert (found.start, found.end) == (len(before), len(before) + len(secret))
    rng = random.Random(5)
    values = ["x9" + "".join(rng.choices(ALPHABETS["A"], k=14)) for _ in range(200)]
    named = "\n".join(f"DB_PASSWORD='{value}'" for value in values)
    for gap in ("", "lorem ipsum dolor " * 5_000):  # in one window, and in two
        end = f", and {values[0]}tail stays"
        clean = redact(f"{named}\n{gap}\n{', '.join(values)}{end}").text
        assert clean.endswith(", ".join([MARKER] * 200) + end)
