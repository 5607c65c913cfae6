"""Tests the redactor and every row of its table.

No text here looks like a secret: templates such as {A36} are spelled out when a test runs.
"""

import re
import time
from collections.abc import Iterable
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import TOKENS, Rule, rules, rules_of, spelled
from core.sanitizer import MARKER, Redaction, find, redact, values_in
from tests.support.rows import none_of
from tests.support.tables import table
from tests.support.templates import examples, expand

EXAMPLES = examples()
TEMPLATES = table("redaction")
TABLES = table("redaction_pieces")


PLACEMENTS = TABLES["places"]
PLACED = TABLES["placed"]


def only_marked_goes(templates: Iterable[str]) -> None:
    """Of each template, the redactor hides what stands between « and », and nothing else."""
    texts = [(*expand(template), template) for template in templates]
    none_of(template for text, expected, template in texts if redact(text).text != expected)


@pytest.mark.long  # it costs much
@pytest.mark.row("001 5-2.c")
def test_example_of_rule_changes_to_exactly_the_expected_text() -> None:
    only_marked_goes(it.example for it in EXAMPLES.values())
    none_of(it for it in EXAMPLES.values() if redact(expand(it.example)[0]).kinds != (it.name,))


@pytest.mark.long  # it costs much
def test_lookalike_of_rule_stays_byte_for_byte() -> None:
    none_of(it for it in EXAMPLES.values() if "«" in it.lookalike or not it.lookalike.strip())
    only_marked_goes(it.lookalike for it in EXAMPLES.values())
    none_of(it for it in EXAMPLES.values() if redact(expand(it.lookalike)[0]).kinds)


def test_rule_has_source_example_and_hints_that_occur() -> None:
    assert [*EXAMPLES] == [rule.name for rule in rules()]
    none_of(it for it in EXAMPLES.values() if not it.source.startswith("https://"))
    none_of(it for it in EXAMPLES.values() if "«" not in it.example or "»" not in it.example)
    none_of(rule for rule in rules() if not rule.hints or not has_found_hint(rule))
    none_of(hint for rule in rules() for hint in rule.hints if hint != hint.casefold())


def has_found_hint(rule: Rule) -> bool:
    hints = [hint.lstrip("^‹") if rule.table == "keyed" else hint for hint in rule.hints]
    return any(hint in expand(EXAMPLES[rule.name].example)[0].casefold() for hint in hints)


def test_every_quantifier_of_a_pattern_is_bounded() -> None:
    def is_unbounded(pattern: str) -> bool:
        without_classes = re.sub(r"\[(?:\\.|[^\]\\])+\]", "c", pattern)
        bare = re.sub(r"\\.|\(\?[P<:=!]", "", without_classes)
        return bool(re.search(r"[*]|\{\d+,\}|(?<!\})\+", bare))

    none_of(rule for rule in rules() if is_unbounded(spelled(rule.pattern)))


def test_names_of_rules_are_unique_and_the_families_are_large_enough() -> None:
    assert len({rule.name for rule in rules()}) == len(rules())
    assert len(rules_of(*TOKENS)) >= 400


@pytest.mark.row("001 2-1.j")
@pytest.mark.parametrize("kind", TEMPLATES)
def test_of_a_text_only_the_secrets_go(kind: str) -> None:
    only_marked_goes(TEMPLATES[kind])


def test_token_is_found_in_every_placement_and_nothing_else_changes() -> None:
    only_marked_goes(place.format(f"«{token}»") for place in PLACEMENTS for token in PLACED)


def test_decomposed_korean_label_is_understood() -> None:
    text, expected = expand("비밀번호는 «{A12}»이다")
    assert redact(normalize("NFD", text)).text == normalize("NFD", expected)


def test_kinds_stand_in_order_of_place_one_for_each_secret() -> None:
    text, expected = expand("a «npm_{A36}» b «ghp_{A36}» c «npm_{A36}»")
    result = redact(text)
    assert result.text == expected
    assert result.kinds == ("npm-token", "github-token", "npm-token")


def test_overlapping_rules_give_one_marker_and_the_most_specific_name() -> None:
    text, expected = expand('GITHUB_TOKEN="«ghp_{A36}»"')
    assert redact(text) == redact(text)
    assert (redact(text).text, redact(text).kinds) == (expected, ("github-token",))


@pytest.mark.long  # it costs much
def test_second_redaction_of_an_example_changes_nothing() -> None:
    redacted = [redact(expand(it.example)[0]).text for it in EXAMPLES.values()]
    none_of(text for text in redacted if redact(text) != Redaction(text, ()))


SIGNS = TABLES["signs"]
PIECES = st.sampled_from([*(expand(it.example)[0] for it in EXAMPLES.values()), *SIGNS])


@pytest.mark.row("I9")
@given(st.lists(PIECES | st.text(max_size=8), max_size=6))
def test_redaction_is_idempotent_on_any_mixture(pieces: list[str]) -> None:
    once = redact("".join(pieces)).text
    assert redact(once).text == once


@pytest.mark.long  # it costs much
@given(st.text(st.characters(), max_size=200))
def test_no_text_raises(text: str) -> None:
    assert isinstance(redact(text).text, str)


HOSTILE = TABLES["hostile"]


@pytest.mark.row("I9")
@pytest.mark.long  # it measures the time
@pytest.mark.parametrize("seed", HOSTILE)
def test_time_is_linear_in_the_length_of_hostile_text(seed: str) -> None:
    text = (seed * 20_000)[:20_000]
    began = time.perf_counter()
    redact(text)
    assert time.perf_counter() - began < 3


def test_secrets_are_found_at_their_places_in_the_text_as_it_was_given() -> None:
    text, _ = expand("a «npm_{A36}» b\n비번은 «{A12}»이다")
    first, second = find(text)
    assert (text[first.start : first.end], first.kind) == (expand("npm_{A36}")[0], "npm-token")
    assert (text[second.start : second.end], second.kind) == (
        expand("{A12}")[0],
        "keyed-korean-prose",
    )


def test_a_secret_that_only_a_second_look_finds_stands_at_its_place_too() -> None:
    text = expand("x {A13}ghp_{A36}AKIA{U16} y")[0]
    places = [(secret.start, secret.end) for secret in find(text)]
    assert places == [(15, 75)]
    assert redact(text).text == f"x {text[2:15]}{MARKER} y"


def test_a_secret_that_only_shows_behind_a_marker_goes_from_its_own_place() -> None:
    text = expand("x .key-{A32}ghp_{A36}:key-{A32} y")[0]
    token, key = text.index("ghp_"), text.rindex("key-")
    places = [(secret.start, secret.end) for secret in find(text)]
    assert places == [(token, token + 40), (key, key + 36)]
    assert redact(text).text == f"{text[:token]}{MARKER}:{MARKER} y"


def test_a_value_that_was_found_is_found_wherever_it_stands_alone() -> None:
    text, expected = expand("the password is «{A12}». I repeat, «{A12}»; not x{A12}x")
    assert redact(text).text == expected


def test_the_beginning_of_a_key_in_a_sample_stays() -> None:
    assert redact('appkey="PSED321z...", secretkey="RR0sFMVB..."').kinds == ()


@pytest.mark.parametrize(
    "token", ["{h8}-{h4}-{h4}-{h4}-{h12}:fx", "p8e-{A32}", "AKIA{U16}", "ghp_{A36}", "SK{h32}"]
)
def test_a_chain_of_tokens_without_edges_is_redacted_at_once(token: str) -> None:
    for count in (2, 9, 12):
        once = redact(expand(token)[0] * count + "\n").text
        assert redact(once).text == once


@pytest.mark.parametrize(
    ("token", "count"),
    [("{A52}JQQJ99{A18}AZDO{A4}", 3), ("ATATT3{A170}={H8}", 4), ("v1.0-{h24}-{h146}", 17)],
)
def test_of_a_chain_of_tokens_nothing_is_left_and_all_else_stays(token: str, count: int) -> None:
    chain = expand(token)[0] * count
    assert redact(f"keys={chain},end").text == f"keys={MARKER},end"


def test_a_chain_that_bares_one_secret_at_a_time_goes_with_its_whole_word() -> None:
    chain = "p8e-" * 5_000
    assert redact(f"left {chain} stays").text == f"left {MARKER} stays"


@pytest.mark.long  # it costs much
def test_of_a_chain_longer_than_a_window_nothing_is_left() -> None:
    clean = redact(f"left {'p8e-' * 25_000} stays").text
    assert clean == f"left {MARKER} stays"


def test_what_one_text_calls_a_secret_is_found_in_another() -> None:
    named, bare = expand("the root password is {A12}")[0], expand("connect with {A12} first")[0]
    assert redact(bare).kinds == ()
    known = values_in([named, bare])
    assert redact(bare, known).text == f"connect with {MARKER} first"
    assert redact(expand("x{A12}x")[0], known).kinds == ()
