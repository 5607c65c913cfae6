"""Says every sentence of the program in the language of the call, with Korean particles.

`core/data/words.*.answers.json` is for models, `words.*.people.json` for commands; the HTTP server
and each room keep theirs. Both languages name the same facts in braces. Record data and field names
are never translated.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Literal

from core import program

Language = Literal["en", "ko"]
Facts = dict[str, str | int]

LANG_VARIABLE = "SENTINEL_MEMORY_LANG"
_LOCALES = "LC_ALL", "LC_MESSAGES", "LANG"  # the first that is set holds
_ROOT = Path(__file__).resolve().parents[1]
_LANGUAGE: ContextVar[Language | None] = ContextVar("language", default=None)
# How sentences on a project elsewhere begin commands of `cli` and `git`, until `use_language` ends.
COMMANDS: ContextVar[Mapping[str, str]] = ContextVar("commands", default={})  # noqa: B039


def say(key: str, /, **facts: str | int) -> str:
    """Return the sentence of a key, facts filled in. Raises KeyError for a key without one.

        say("sessions.answers.saved_at", date="2026-03-01")

    `{cli}` begins a command for whoever started the program, `{program}` in a text that others
    read, `{git}` one of git in the project.
    """
    lang = language()
    text = _find_template(key, lang)
    filled_in: Facts = {"cli": program.CLI, "program": program.NAME, "git": "git"}
    filled_in |= {**COMMANDS.get(), **facts}
    if lang == "en":
        return text.format(**filled_in)
    return fill_template(text, filled_in)


def log_warning(key: str, /, **facts: str | int) -> None:
    """Log a sentence of `errors` as a warning, in the operator's language."""
    with use_language(language_of(os.environ, for_person=True)):
        program.warn("%s", say(f"errors.{key}", **facts))


def has_sentence(key: str) -> bool:
    return any(key in _read_sentences(path) for path in _files_for(key, "en"))


def language() -> Language:
    """Return the language of this call: of `use_language`, else of the environment."""
    return _LANGUAGE.get() or language_of(os.environ)


@contextmanager
def use_language(lang: Language) -> Iterator[None]:
    """Say the sentences of this context in one language."""
    token, commands = _LANGUAGE.set(lang), COMMANDS.set(COMMANDS.get())
    try:
        yield
    finally:
        _LANGUAGE.reset(token)
        COMMANDS.reset(commands)


def language_of(environment: Mapping[str, str], *, for_person: bool = False) -> Language:
    """Return the language that SENTINEL_MEMORY_LANG names, English without it.

    for_person: then the locale counts. A model gets English, whoever starts its server.
    """
    name = environment.get(LANG_VARIABLE, "").strip().lower()
    if for_person and (not name or "${" in name):  # a client did not fill the variable in
        locale = next(filter(None, map(environment.get, _LOCALES)), "")
        code = locale.lower().replace("-", "_").partition(".")[0].partition("_")[0]
        return "ko" if code in ("ko", "korean") else "en"  # ko_KR.UTF-8, Korean_Korea.949
    return "ko" if name.startswith("ko") else "en"


@cache
def _find_template(key: str, lang: Language) -> str:
    for path in (*_files_for(key, lang), *_files_for(key, "en")):  # operators may lack Korean
        if key in (sentences := _read_sentences(path)):
            return sentences[key]
    raise KeyError(key)


def _files_for(key: str, lang: Language) -> tuple[Path, ...]:
    owner = key.partition(".")[0]
    folder = "http_server" if owner == "http" else f"rooms/{owner}"
    room_file = _ROOT / folder / f"words.{lang}.json"
    if room_file.is_file():  # a room may have none
        return (room_file,)
    data = _ROOT / "core" / "data"
    return data / f"words.{lang}.answers.json", data / f"words.{lang}.people.json"


@cache
def _read_sentences(path: Path) -> dict[str, str]:
    sentences: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return sentences


# Particles. A hook mostly speaks English, so the patterns are compiled at the first Korean sentence.
# How a spoken text ends: in a vowel, in ㄹ, or in another consonant.
Ending = Literal["vowel", "rieul", "consonant"]

# How a template writes a particle, and its forms after a consonant and after a vowel.
_FORMS = {
    **{"은(는)": ("은", "는"), "이(가)": ("이", "가"), "을(를)": ("을", "를")},
    **{"와(과)": ("과", "와"), "과(와)": ("과", "와"), "(이)": ("이", ""), "(으)": ("으", "")},
}
_BEHIND_FACT = (
    r"""(?P<placeholder>\{(?P<name>\w++)[^{}]*+\})(?P<closing>[`"'”’»」』)\]}>*]*+)"""
    r"(?P<particle>[은이을]\([는가를]\)|와\(과\)|과\(와\)|\([이으]\)(?=[가-힣]))"
)
_CONSONANT_DIGITS, _RIEUL_DIGITS = "036", "178"  # 영, 삼, 육 and 일, 칠, 팔

_LAST_WORD = r"(?:[A-Z][a-z]++|(?<![A-Za-z])[a-z]++|(?<![A-Z])[A-Z]++)$"
# Placeholders of the command line: capitals that people read as the word, not by letters.
_PLACEHOLDERS = set("CLIENT COMMAND DIR EVENT FILE NAME SHELL TEXT TOPIC WORDS".split())
_LETTERS: dict[str, Ending] = {"l": "rieul", "r": "rieul", "m": "consonant", "n": "consonant"}
# Endings of English words that Korean writes with a final consonant: 폼, 라인, 파일, 스택, 맵.
_CLOSED_ENDING = (
    r"(?:m|n|ng|l|me|ne|le|ck|ook|(?<!n)c|type|(?<![aeiou])[aeiou]p|app|oup"
    r"|(?<![aeo])[aeiou]t|out|web|job|tab)$"
)
# Words that the rules read otherwise than people do: 리드미, 체크, 어웨이트, 에디트, 엑시트.
_OPEN_WORDS = {"readme", "check", "await", "edit", "visit", "exit", "pip"}


def fill_template(template: str, facts: Mapping[str, str | int]) -> str:
    """Return a Korean template with its facts, each particle in one form.

    >>> fill_template("{file}을(를)", {"file": "로그"})
    '로그를'
    """

    def fit_particle(match: re.Match[str]) -> str:
        if match["name"] not in facts:
            return match[0]
        end = ending_sound_of(match["placeholder"].format(**facts))
        if end is None:
            return match[0]
        after_consonant, after_vowel = _FORMS[match["particle"]]
        is_open = end == "vowel" or (end == "rieul" and match["particle"] == "(으)")
        form = after_vowel if is_open else after_consonant
        return match["placeholder"] + match["closing"] + form

    return re.sub(_BEHIND_FACT, fit_particle, template).format(**facts)


def ending_sound_of(text: str) -> Ending | None:
    """Return how the last spoken sound of a text ends; None if that cannot be known."""
    from unicodedata import normalize  # as the patterns above, at the first Korean sentence

    text = normalize("NFKC", text[-80:])
    while text and not (text[-1].isalnum() or text[-1] == "%"):  # which ends like a letter
        text = text[:-1]
    if not text:
        return None
    last_char = text[-1]
    if "가" <= last_char <= "힣":
        coda = (ord(last_char) - ord("가")) % 28
        return "vowel" if coda == 0 else "rieul" if coda == 8 else "consonant"
    if not last_char.isascii():
        return None
    if last_char.isdecimal():
        if last_char in _CONSONANT_DIGITS:
            return "consonant"
        return "rieul" if last_char in _RIEUL_DIGITS else "vowel"
    match = re.search(_LAST_WORD, text)
    word = match[0] if match else last_char
    is_spelled = word.isupper() and word not in _PLACEHOLDERS
    if is_spelled or len(word) == 1 or not re.search("[aeiouy]", word.lower()):
        return _LETTERS.get(last_char.lower(), "vowel")
    word = word.lower()
    if word in _OPEN_WORDS or not re.search(_CLOSED_ENDING, word):
        return "vowel"
    return "rieul" if word.endswith(("l", "le")) else "consonant"
