"""Reads which judges look at fragments that may contradict each other.

SENTINEL_MEMORY_JUDGE        chat, gemini, onnx:DIRECTORY: one, or several in order
SENTINEL_MEMORY_JUDGE_URL    of chat: the address of a service of OpenAI's form
SENTINEL_MEMORY_JUDGE_MODEL  of chat: its model
OPENAI_API_KEY               of chat: its key, where it wants one
"""

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from core.config import data_directory
from core.errors import SentinelError
from rooms.fragments.errors import ServiceError
from rooms.fragments.models.services import (
    KEY_VARIABLE,
    check_address,
    check_key,
    endpoint,
    value_of,
)

VARIABLE = "SENTINEL_MEMORY_JUDGE"
CHAT_VARIABLE, CHAT_MODEL_VARIABLE = "SENTINEL_MEMORY_JUDGE_URL", "SENTINEL_MEMORY_JUDGE_MODEL"
CHAT, GEMINI, ONNX = "chat", "gemini", "onnx"
_KNOWN = f"{ONNX}:DIRECTORY, {CHAT}, {GEMINI}"


class JudgeSettings(NamedTuple):
    """One judge. kind: which. place: an address or a directory. path: where programs are.

    The place of `gemini` is the directory in which it gets one of its own.
    """

    kind: str
    place: str = ""
    model: str = ""
    key: str = ""
    path: str = ""

    def __repr__(self) -> str:
        return f"JudgeSettings({self.kind})"  # no address, no key


def read(environment: Mapping[str, str]) -> tuple[JudgeSettings, ...]:
    """Return the judges in order, () for none. Raises ServiceError for what `check` names."""
    for error in check(environment):
        raise error
    return tuple(_of_word(word, environment) for word in _words(environment))


def has_judge(environment: Mapping[str, str]) -> bool:
    """Return whether a judge is named, even a wrong one: it decides when somebody asks for it."""
    return bool(_words(environment))


def check(environment: Mapping[str, str]) -> list[SentinelError]:
    """Return what is wrong with the settings; nothing is asked, started or loaded for it."""
    return [error for word in _words(environment) for error in _errors(word, environment)]


def _words(environment: Mapping[str, str]) -> list[str]:
    given = value_of(environment, VARIABLE).split(",")
    return list(dict.fromkeys(word for word in map(str.strip, given) if word))


def _of_word(word: str, environment: Mapping[str, str]) -> JudgeSettings:
    kind, _, folder = word.partition(":")
    kind = kind.lower()
    if kind == CHAT:
        address = endpoint(value_of(environment, CHAT_VARIABLE), "/chat/completions")
        model = value_of(environment, CHAT_MODEL_VARIABLE)
        return JudgeSettings(kind, address, model, value_of(environment, KEY_VARIABLE))
    if kind == ONNX:
        return JudgeSettings(kind, os.path.expanduser(folder.strip()))
    return JudgeSettings(kind, data_directory(environment), path=environment.get("PATH", ""))


def _errors(word: str, environment: Mapping[str, str]) -> Iterator[SentinelError]:
    kind, colon, folder = word.partition(":")
    kind = kind.lower()
    if kind not in (CHAT, GEMINI, ONNX) or bool(colon) != (kind == ONNX):
        yield ServiceError("bad_judge", known=_KNOWN)
    elif kind == ONNX and not os.path.isabs(os.path.expanduser(folder.strip())):
        yield ServiceError("bad_directory")
    elif kind == CHAT:
        for variable in (CHAT_VARIABLE, CHAT_MODEL_VARIABLE):
            if not value_of(environment, variable):
                yield ServiceError("not_set", judge=kind, variable=variable)
        if value_of(environment, CHAT_VARIABLE):
            yield from check_address(environment, CHAT_VARIABLE)
            yield from check_key(environment)
