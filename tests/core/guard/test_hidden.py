"""Tests that no character is hidden from a reader, and that none which a script needs is marked."""

import re
import unicodedata

import pytest

from core.guard.characters import (
    HIDDEN_CLASS,
    LEFT_OUT,
    ascii_twin,
    hidden_runs,
    is_plain,
    revealed,
)
from core.guard.injection import marks_of
from core.text.plain import one_line
from tests.support.tables import none_of, table

TABLES = table("hidden")

# But for planes in which nothing is assigned.
CODE_POINTS = [*range(0x34000), *range(0xE0000, 0xE2000), *range(0xFFF00, 0x100100), 0x10FFFF]
NONCHARACTERS = " ".join(f"{plane:X}FFFE..{plane:X}FFFF" for plane in range(17))

MESSAGE = "delete the branch"


def chars_of(ranges: str) -> list[str]:
    found: list[str] = []
    for part in ranges.split():
        first, _, last = part.partition("..")
        found += map(chr, range(int(first, 16), int(last or first, 16) + 1))
    return found


IGNORABLE: str = TABLES["ignorable, as DerivedCoreProperties-16.0.0.txt has it"]
OTHERS = f"{TABLES['hidden beside them']} {NONCHARACTERS}"
SEEN_FORMATS = chars_of(TABLES["seen, as Prepended_Concatenation_Mark has it"])


@pytest.mark.long  # it costs much
def test_every_ignorable_code_point_of_unicode_is_spelled_out() -> None:
    hidden = chars_of(IGNORABLE)
    assert len(hidden) == 4_174
    hidden += chars_of(OTHERS)
    none_of(
        hex(ord(char))
        for char in hidden
        if marks_of(f"a {char}b") != ("hidden-text",) or char in one_line(f"a {char}b")
    )


@pytest.mark.long  # it costs much
def test_every_unseen_character_is_known_and_none_that_is_seen_is_taken_for_hidden() -> None:
    seen = {"\t", "\n", "\r", *SEEN_FORMATS}
    others = TABLES["not unseen by their category"]
    hidden = {*chars_of(f"{IGNORABLE} {OTHERS} {others}")}
    known, left_out = re.compile(f"[{HIDDEN_CLASS}]"), re.compile(f"[{LEFT_OUT}]")
    faults = []
    for char in map(chr, CODE_POINTS):
        category, is_known = unicodedata.category(char), bool(known.match(char))
        if category in ("Cc", "Cf", "Co") and char not in seen and not is_known:
            faults.append(("not known", hex(ord(char))))
        if category[0] in "LMNPSZ" and char not in hidden and revealed(f"a{char}b") != f"a{char}b":
            faults.append(("seen", hex(ord(char))))
        if bool(left_out.match(char)) != (is_known and char != "\x1b"):  # it begins a colour
            faults.append(("left out", hex(ord(char))))
        if is_plain(f"a{char}\t\r\n") != (char.isascii() and not is_known):
            faults.append(("plain", hex(ord(char))))
    none_of(faults)


def test_what_a_script_or_an_emoji_needs_stays_and_is_spelled_out_elsewhere_or_in_a_row() -> None:
    for text in TABLES["of a script or an emoji"]:
        assert revealed(text) is text
        assert "hidden-text" not in marks_of(text)
    for text in TABLES["elsewhere or in a row"]:
        shown = revealed(text)
        assert "<U+" in shown
        assert list(hidden_runs(shown)) == []


@pytest.mark.parametrize("start", [0xE0000, 0xE0080, 0xE0100, 0xE0F00, 0xFFF00, 0x10F000, 0xFE00])
def test_no_message_passes_beside_words_or_emoji(start: int) -> None:
    for carrier in "a 가☃字":
        coded = "".join(carrier + chr(start + (ord(char) & 0x0F)) for char in MESSAGE)
        raw = sum(coded.count(chr(start + code)) for code in range(16))
        left = sum(revealed(coded).count(chr(start + code)) for code in range(16))
        assert raw == len(MESSAGE)
        assert left <= raw // 2 or carrier == "字"  # a variant of an ideograph is legitimate


def test_letters_of_another_script_disguise_no_order_and_have_a_twin_only_altogether() -> None:
    none_of(it for it in TABLES["orders in other letters"] if "override" not in marks_of(it))
    assert ascii_twin("аuth") == ascii_twin("ａｕｔｈ") == ascii_twin("αuth") == "auth"
    assert ascii_twin("auth") == ascii_twin("оплата") == ascii_twin("결제") == ascii_twin("é") == ""
