"""Characters that no reader sees, or reads as others; see `core/data/characters.jsonl`.

The redactor reads a text in several forms, the rules for orders in lower-case views.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple
from unicodedata import normalize

from core.data import rows, shape, with_parts

_TABLE = "characters"
_class_of = partial(with_parts, table=_TABLE)
_shape = partial(shape, table=_TABLE)

# The insides of classes of characters.
BLANKS = _class_of("{{BLANKS}}")
CONTROLS = _class_of("{{CONTROLS}}")
HIDDEN_CLASS = _class_of("{{HIDDEN}}")
LEFT_OUT_CLASS = _class_of("{{LEFT_OUT}}")
UNSEEN_CLASS = _class_of("{{UNSEEN}}")
RARE = _class_of("{{RARE}}")  # stands in front of a class of hidden characters

_LINE_BREAKS = str.maketrans("", "", "\t\n\r")
_MOST_DECODED_CHARS = 80
# Letters that look like one of ASCII, and names in HTML.
_ALPHABETS = {
    row["alphabet"]: dict(zip(map(ord, row["letters"]), row["ascii"], strict=True))
    for row in rows(_TABLE)
    if "alphabet" in row
}
_WORD_LOOKALIKES = _ALPHABETS.pop("Cyrillic within a word")
_LOOKALIKES = {code: char for letters in _ALPHABETS.values() for code, char in letters.items()}
_ENTITIES: dict[str, str] = next(row["meant"] for row in rows(_TABLE) if "entities" in row)


class Places(NamedTuple):
    """Where in a text each character of a form begins and ends."""

    starts: list[int]
    ends: list[int]

    def text_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the text of a span of the form, not an empty one."""
        return self.starts[start], self.ends[end - 1]


def is_plain(text: str) -> bool:
    """Return whether a text is printable ASCII, apart from tabs and line breaks."""
    return text.isascii() and text.translate(_LINE_BREAKS).isprintable()


def may_hide(text: str) -> bool:
    """Return whether a text holds a character that is hidden in some places."""
    return not is_plain(text) and bool(_shape("may_hide").search(text))


def may_disguise(text: str) -> bool:
    """Return whether a character may be hidden or look like another; only False is certain."""
    return not is_plain(text) and bool(_shape("may_disguise").search(text))


def hidden_runs(text: str) -> Iterator[tuple[int, int]]:
    if may_hide(text):
        for match in _shape("hidden").finditer(text):
            if match[1]:
                yield match.span(1)


def reveal_hidden(text: str) -> str:
    """Return a text with its hidden characters spelled out.

        a<U+200B>b, <tags: ignore…>

    Tag characters are a message in ASCII, cut at 80 characters; its `<`, `>`, backslashes and
    unprintable characters stand as `\\x3c`, so that it cannot close the bracket.
    """

    def spell_out(match: re.Match[str]) -> str:
        if not match[1]:
            return match[0]
        parts = list[str]()
        for run in _shape("tag_run").findall(match[1]):
            tags = [chr(ord(char) & 0x7F) for char in run if "\U000e0000" <= char <= "\U000e007f"]
            if not any(" " < char <= "~" for char in tags):
                parts.extend(f"<U+{ord(char):04X}>" for char in run)
                continue
            message = "".join(
                char if " " <= char <= "~" and char not in "<>\\" else f"\\x{ord(char):02x}"
                for char in tags[:_MOST_DECODED_CHARS]
            )
            rest = "…" if len(tags) > _MOST_DECODED_CHARS else ""
            parts.append(f"<tags: {message}{rest}>")
        return "".join(parts)

    return _shape("hidden").sub(spell_out, text) if any(hidden_runs(text)) else text


def ascii_twin(text: str) -> str:
    """Return the ASCII text that another text looks like, "" without one."""
    if text.isascii():
        return ""
    twin = normalize("NFKC", text.translate(_LOOKALIKES))
    return twin if twin.isascii() else ""


def without_hidden(text: str) -> tuple[str, Places]:
    """Return a text without hidden characters, and the places of the others."""
    return _rewrite(text, "unseen")


def views_of(text: str) -> Iterator[str]:
    """Yield a text in lower case, as the rules for orders read it.

    A second view has blanks for hidden characters: these may split a word or part two.
    """
    if is_plain(text):
        yield text.lower()
        return
    text = _shape("lookalike").sub(_ascii_of, text.translate(_LOOKALIKES))
    lower_text = "İ".join(map(str.lower, text.split("İ")))  # it would become two characters
    yield _rewrite(lower_text, "unseen_or_jamo")[0]
    if _shape("unseen").search(lower_text):
        yield _rewrite(lower_text, "unseen_as_blank")[0]


def has_other_forms(text: str) -> bool:
    """Return whether `forms_of` may yield several forms."""
    return bool(_shape("written_otherwise").search(text))


def forms_of(text: str) -> Iterator[tuple[str, Places | None]]:
    """Yield a text as the redactor reads it: as it is, then the forms that differ.

    Places come only with a form of another length.
    """
    yield text, None
    if not has_other_forms(text):
        return
    yield from _other_forms(text)
    if may_hide(text):
        visible_text, places = without_hidden(text)
        yield visible_text, places
        for form, inner_places in _other_forms(visible_text):
            if inner_places:
                spans = [places.text_span(*span) for span in zip(*inner_places, strict=True)]
                inner_places = Places([start for start, _ in spans], [end for _, end in spans])
            yield form, inner_places or places


def _other_forms(text: str) -> Iterator[tuple[str, Places | None]]:
    """Yield a form with blanks for all that parts two words, and one with escapes read."""
    plain_form = text
    if not text.isascii():
        if _shape("mixed_scripts").search(text):
            plain_form = plain_form.translate(_WORD_LOOKALIKES)
        plain_form = _shape("other_shape").sub(_ascii_of, plain_form)
    spaced_form = _shape("blank_or_nothing").sub(" ", _with_blanks(plain_form))
    if spaced_form != text:
        yield spaced_form, None
    decoded_form, places = _rewrite(plain_form, "written")
    if decoded_form not in (text, spaced_form):
        yield _with_blanks(decoded_form), places


def _with_blanks(text: str) -> str:
    return _shape("escape").sub(lambda match: " " * len(match[0]), text)


def _ascii_of(match: re.Match[str]) -> str:
    form = normalize("NFKC", match[0])
    return form if len(form) == 1 and form.isascii() else match[0]


def _rewrite(text: str, shape_name: str) -> tuple[str, Places]:
    parts: list[str] = []
    places = Places([], [])
    rest_start = 0
    for match in _shape(shape_name).finditer(text):
        part, kind = match[0], str(match.lastgroup)
        value = match[kind]
        if kind == "nothing":
            part = ""
        elif kind == "blank":
            part = " "
        elif kind == "jamo":
            part = normalize("NFC", part)
        elif kind == "sign":
            part = value
        elif kind == "named":
            part = _ENTITIES.get(value, part)
        else:
            code = int(value, 10 if kind == "decimal" else 16)
            if code <= 0x10FFFF and not 0xD800 <= code < 0xE000:
                char = _shape("left_out").sub("", chr(code))
                part = _shape("other_shape").sub(_ascii_of, char)
        if part == match[0]:
            continue
        start, end = match.span()
        parts += [text[rest_start:start], part]
        places.starts.extend([*range(rest_start, start), *[start] * len(part)])
        places.ends.extend([*range(rest_start + 1, start + 1), *[end] * len(part)])
        rest_start = end
    places.starts.extend(range(rest_start, len(text)))
    places.ends.extend(range(rest_start + 1, len(text) + 1))
    return "".join([*parts, text[rest_start:]]), places
