"""Says in sentences which arguments of a call are wrong, without the values that were sent.

The wording stands in `words.py`; what the core refuses itself has its sentence in
`core/messages.py`.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from core.errors import LoneSurrogateError, UnknownTypeError
from core.messages import Language
from core.text.printable import one_line
from protocol.half_characters import LONE_SURROGATE
from protocol.words import say

_EXPECTED = {
    "compact_threshold": "expected_number",
    "paths": "expected_paths",
    "source_ids": "expected_tokens",
    "when": "expected_pieces",
    "delete_ids": "expected_tokens",
}


def argument_sentence(
    error: ValidationError, tool: str, known: Sequence[str], lang: Language
) -> str:
    """Write one sentence for each refused argument, in the order in which they were found.

    error: what pydantic found wrong with a call of `tool`. known: the arguments that the tool has.
    """
    sentences: dict[str, str] = {}
    for detail in error.errors(include_url=False, include_context=False):
        field, kind = str(detail["loc"][0]) if detail["loc"] else "", detail["type"]
        shown = one_line(field)[:40]
        if LONE_SURROGATE in (detail["input"], *_items(detail["input"])):
            sentence = LoneSurrogateError(field=shown).text(lang)
        elif kind in ("unexpected_keyword_argument", "extra_forbidden"):
            sentence = say(lang, "unknown_argument", field=shown, tool=tool, known=", ".join(known))
        elif kind in ("missing", "missing_argument", "missing_keyword_only_argument"):
            sentence = say(lang, "missing_argument", field=shown, tool=tool)
        elif kind == "literal_error":
            sentence = UnknownTypeError().text(lang)
        else:
            expected = say(lang, _EXPECTED.get(field, "expected_text"))
            sentence = say(lang, "wrong_type", field=shown, tool=tool, expected=expected)
        sentences.setdefault(field, sentence)
    return "\n".join(sentences.values())


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
