"""Tests the forms in which a text is read: what is written otherwise is found, and all of it."""

import json
import re
import time
import unicodedata

import pytest

from core.guard.characters import LEFT_OUT, forms_of
from core.sanitizer import MARKER, find, redact
from tests.support.rows import none_of

TOKEN = "ghp_" + "a7Kq9ZxB3mTr0LwYc5HnVe8PdJf2GsUo1234"
PASSWORD = "hunter2-" + "blueX9"
SENTENCES = (
    f"x {TOKEN} y",
    f"password: {PASSWORD}",
    f"비밀번호는 {PASSWORD} 이다",
    f"DB_PASSWORD={PASSWORD} # prod",
    f"postgres://app:{PASSWORD}@db.internal/x",
)
UNSEEN = "\u200b \xad \u034f \u115f \u17b4 \u180b \u200e \u202e \u2060 \u3164 \ufe0f \ufeff \uffa0"
UNSEEN += " \ufff0 \U0001bca0 \U0001d173 \U000e0041 \U000e0100 \U000e0fff \0 \x7f \x85"
SPLITTING = (
    *UNSEEN.split(" "),
    *("\u200b" * 5, "\x1b[0m", r"\u200b", r"\\u200b", "&#8203;", "&#x200b;", "&shy;"),
    *("&ZeroWidthSpace;", "<wbr>", "</b>", "**"),
)


def shifted(text: str, capital: int, small: int, digit: int) -> str:
    """The text with its letters and digits taken from other blocks of Unicode."""
    starts = {"A": capital, "a": small, "0": digit}
    out = ""
    for char in text:
        first = "A" if char.isupper() else "a" if char.islower() else "0" if char.isdigit() else ""
        out += chr(starts[first] + ord(char) - ord(first)) if first else char
    return out


WRITTEN_OTHERWISE = (
    shifted(TOKEN, 0xFF21, 0xFF41, 0xFF10).replace("_", "＿"),
    shifted(TOKEN, 0x1D400, 0x1D41A, 0x1D7CE),
    shifted(TOKEN, 0x1D670, 0x1D68A, 0x1D7F6),
    *(TOKEN.replace("_", form) for form in (r"\u005f", r"\\u005f", r"\x5f", r"\u{005f}")),
    *(TOKEN.replace("_", form) for form in ("%5F", "%5f", "&#95;", "&#x5F;", "&lowbar;", r"\_")),
    TOKEN.replace("p", "р"),
    TOKEN[:24] + "\\\n" + TOKEN[24:],
    TOKEN[:24] + "\\\r\n    " + TOKEN[24:],
    "x" * 60 + " " + TOKEN[:20] + "=\n" + TOKEN[20:],
)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("sentence", SENTENCES)
def test_nothing_unseen_hides_a_secret_or_stays_of_it(sentence: str) -> None:
    start, end, _ = find(sentence)[0]
    shown = sentence[:start] + MARKER + sentence[end:]
    faults = []
    for splitter in SPLITTING:
        for at in range(start + 1, end):
            split = sentence[:at] + splitter + sentence[at:]
            if redact(split).text != shown:
                faults.append((split, redact(split).text))
    none_of(faults)


def test_nothing_unseen_in_a_name_hides_its_secret() -> None:
    faults = []
    for sentence, name in zip(SENTENCES[1:4], ("password", "비밀번호", "PASSWORD"), strict=True):
        for splitter in UNSEEN.split(" "):
            split = sentence.replace(name, name[:2] + splitter + name[2:])
            if PASSWORD in redact(split).text:
                faults.append(split)
    none_of(faults)


def test_a_token_in_other_letters_or_escapes_is_found_whole() -> None:
    for written in WRITTEN_OTHERWISE:
        text = redact(f"it uses {written} now").text
        assert MARKER in text, written
        assert text.startswith("it uses "), text
        assert text.endswith(f"{MARKER} now"), text


def test_names_and_signs_in_other_letters_or_escapes_are_read() -> None:
    for before, after in (
        ("password%3D", "%26next%3D1"),
        ("password&#61;", ""),
        ("password&equals;", ""),
        (r"password\=", ""),
        (r"https:\/\/app:", r"@host.example.io\/x"),
        ("https%3A%2F%2Fapp%3A", "%40host.example.io%2Fx"),
        (r'{"password\u0022: \u0022', r"\u0022}"),
        (json.dumps({"비밀번호": PASSWORD}).partition(PASSWORD)[0], '"}'),
        (unicodedata.normalize("NFD", "비밀번호는 "), unicodedata.normalize("NFD", " 이다")),
        ("раssword: ", ""),
        ("ＰＡＳＳＷＯＲＤ＝", ""),
    ):
        assert redact(before + PASSWORD + after).text == before + MARKER + after


def test_harmless_texts_in_other_letters_and_escapes_come_back_as_they_are() -> None:
    for text in (
        "⚠️ 배포 실패 🎉️ 다시",
        r"C:\Users\me\_src\x41 and a pattern \d+\.\w",
        "50% of it, 20%20off, a%5Fb & co &amp; &#39;quoted&#39; &nbsp;",
        "2**10 and **bold**, a<b>c</b>d",
        "Слово passwordless и пароль",
        "naïve café\xad ①②③ x²",
        "\x1b[31mpassword\x1b[0m is required",
        "비\u200b밀번호를 입력하세요",
    ):
        assert redact(text).text == text


def test_plain_text_is_read_once_and_every_place_of_a_form_is_known() -> None:
    assert list(forms_of("The build failed: x = [1] (twice)\n")) == [
        ("The build failed: x = [1] (twice)\n", None)
    ]
    for splitter in SPLITTING:
        text = f"pass{splitter}word: x"
        form, places = next(it for it in forms_of(text) if it[0] == "password: x")
        assert places is not None
        assert [text[at] for at in places.starts] == [*form]


@pytest.mark.long  # it costs much
def test_unseen_characters_are_those_of_unicode() -> None:
    """All whose category is control or format, and those that Unicode lets a program ignore."""
    left_out = re.compile(f"[{LEFT_OUT}]")
    known = {at for at in range(0x110000) if left_out.match(chr(at))}
    format_signs = {at for at in range(0x110000) if unicodedata.category(chr(at)) == "Cf"}
    visible = {
        *range(0x600, 0x606),
        *(0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD),
        *range(0x13430, 0x13460),
    }
    assert format_signs - known <= visible
    assert {*range(0xE0000, 0xE1000), *range(0xFE00, 0xFE10), 0x34F, 0x3164, 0xFFA0} <= known
    assert not known & {0x9, 0xA, 0xD, 0x1B}


@pytest.mark.long  # it measures the time
@pytest.mark.parametrize(
    "piece",
    [
        "pass\u200bword ",
        r"\u0041",
        "\\",
        "%41",
        "%",
        "a**b",
        "a<b",
        "ㄱ\u1100\u1161",
        "=\n",
        "\x1b[",
    ],
)
def test_forms_take_time_in_proportion_to_the_text(piece: str) -> None:
    def took(size: int) -> float:
        text = (piece * size)[:size]
        rounds = []
        for _ in range(5):
            start = time.process_time()
            list(forms_of(text))
            rounds.append(time.process_time() - start)
        return min(rounds)

    took(1_000)
    assert took(80_000) < 12 * took(16_000) + 0.005
