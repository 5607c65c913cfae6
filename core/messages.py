"""Reads tables of sentences in two languages, and holds those of the core's errors.

Record data and field names are never translated. Both languages name the same facts in braces.
"""

from collections.abc import Mapping
from typing import Literal

from core import program
from core.data import ANSWERS, Sentences

Language = Literal["en", "ko"]
Facts = dict[str, str | int]
Table = Mapping[str, tuple[str, str]]

MESSAGES = Sentences("errors", ANSWERS)


def sentence(table: Table, lang: Language, key: str, /, **facts: str | int) -> str:
    """Return the sentence `key` of a table, facts filled in; `word` of a room binds its table.

    `{cli}` in a sentence is what begins a command of this program, for whoever started it; a
    text that others will read gives a `cli` of its own. In Korean, two forms of a particle behind
    a fact, `{path}을(를)`, become the one that fits.
    """
    text = _template(table, lang, key)
    filled_in: Facts = {"cli": program.CLI, **facts}
    if lang == "en":
        return text.format(**filled_in)
    from core.particles import filled  # only Korean sentences pay for it

    return filled(text, filled_in)


def _template(table: Table, lang: Language, key: str) -> str:
    if isinstance(table, Sentences):
        return table.template(lang, key)  # of which the other language need not be read
    return table[key][lang == "ko"]
