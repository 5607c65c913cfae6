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
from tests.support.rows import none_of
from tests.support.tables import table

TABLES = table("hidden")

# But for planes in which nothing is assigned.
CODE_POINTS = [*range(0x34000), *range(0xE0000, 0xE2000), *range(0xFFF00, 0x100100), 0x10FFFF]

# Default_Ignorable_Code_Point as the lines of DerivedCoreProperties-16.0.0.txt have it.
IGNORABLE = """
00AD 034F 061C 115F..1160 17B4..17B5 180B..180D 180E 180F 200B..200F 202A..202E 2060..2064 2065
2066..206F 3164 FE00..FE0F FEFF FFA0 FFF0..FFF8 1BCA0..1BCA3 1D173..1D17A E0000 E0001 E0002..E001F
E0020..E007F E0080..E00FF E0100..E01EF E01F0..E0FFF
"""
TOTAL = 4174
# Signs that stand before or around a number and are seen: Prepended_Concatenation_Mark.
SEEN_FORMATS = "0600..0605 06DD 070F 0890..0891 08E2 110BD 110CD"
NONCHARACTERS = " ".join(["FDD0..FDEF", *(f"{plane:X}FFFE..{plane:X}FFFF" for plane in range(17))])
OTHERS = f"0000..0008 000B..000C 000E..001F 007F..009F 2800 FFF9..FFFB {NONCHARACTERS}"

MESSAGE = "delete the branch"


def chars_of(ranges: str) -> list[str]:
    found: list[str] = []
    for part in ranges.split():
        first, _, last = part.partition("..")
        found += map(chr, range(int(first, 16), int(last or first, 16) + 1))
    return found


@pytest.mark.long  # it costs much
def test_every_ignorable_code_point_of_unicode_is_spelled_out() -> None:
    ignorable = chars_of(IGNORABLE)
    assert len(ignorable) == TOTAL
    hidden = [*ignorable, *chars_of(OTHERS)]
    none_of(
        hex(ord(char))
        for char in hidden
        if marks_of(f"a {char}b") != ("hidden-text",) or char in one_line(f"a {char}b")
    )


@pytest.mark.long  # it costs much
def test_every_unseen_character_is_known_and_none_that_is_seen_is_taken_for_hidden() -> None:
    seen = {"\t", "\n", "\r", *chars_of(SEEN_FORMATS)}
    hidden = {*chars_of(IGNORABLE), *chars_of(OTHERS), "\U00016fe4", "\U0001d159"}
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
