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

_LINE_BREAKS = str.maketrans("", "", "\t\n\r")
_MOST_DECODED_CHARS = 80
# Letters that look like one of ASCII, and names in HTML.
_ALPHABETS = {
    row["alphabet"]: dict(zip(map(ord, row["letters"]), row["ascii"], strict=True))
    for row in rows(_TABLE)
    if "alphabet" in row
}
_IN_A_WORD = _ALPHABETS.pop("Cyrillic within a word")
_IN_ASCII = {code: char for letters in _ALPHABETS.values() for code, char in letters.items()}
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

    def spelled_out(found: re.Match[str]) -> str:
        if not found[1]:
            return found[0]
        parts = list[str]()
        for run in _shape("tag_run").findall(found[1]):
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

    return _shape("hidden").sub(spelled_out, text) if any(hidden_runs(text)) else text


def ascii_twin(text: str) -> str:
    """Return the ASCII text that another text looks like, "" without one."""
    if text.isascii():
        return ""
    twin = normalize("NFKC", text.translate(_IN_ASCII))
    return twin if twin.isascii() else ""


def without_hidden(text: str) -> tuple[str, Places]:
    """Return a text without hidden characters, and the places of the others."""
    return _read(text, "unseen")


def views_of(text: str) -> Iterator[str]:
    """Yield a text in lower case, as the rules for orders read it.

    A second view has blanks for hidden characters: these may split a word or part two.
    """
    if is_plain(text):
        yield text.lower()
        return
    text = _shape("lookalike").sub(_in_ascii, text.translate(_IN_ASCII))
    lowered = "İ".join(map(str.lower, text.split("İ")))  # it would become two characters
    yield _read(lowered, "unseen_or_jamo")[0]
    if _shape("unseen").search(lowered):
        yield _read(lowered, "unseen_as_blank")[0]


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
    yield from _forms_otherwise(text)
    if may_hide(text):
        seen, places = without_hidden(text)
        yield seen, places
        for form, within in _forms_otherwise(seen):
            if within:
                spans = [places.text_span(start, end) for start, end in zip(*within, strict=True)]
                within = Places([start for start, _ in spans], [end for _, end in spans])
            yield form, within or places


def _forms_otherwise(text: str) -> Iterator[tuple[str, Places | None]]:
    """Yield a form with blanks for all that parts two words, and one with escapes read."""
    plain = text
    if not text.isascii():
        if _shape("mixed_scripts").search(text):
            plain = plain.translate(_IN_A_WORD)
        plain = _shape("other_shape").sub(_in_ascii, plain)
    level = _shape("blank_or_nothing").sub(" ", _with_blanks(plain))
    if level != text:
        yield level, None
    read, places = _read(plain, "written")
    if read not in (text, level):
        yield _with_blanks(read), places


def _with_blanks(text: str) -> str:
    return _shape("escape").sub(lambda found: " " * len(found[0]), text)


def _in_ascii(found: re.Match[str]) -> str:
    form = normalize("NFKC", found[0])
    return form if len(form) == 1 and form.isascii() else found[0]


def _read(text: str, name: str) -> tuple[str, Places]:
    parts: list[str] = []
    places = Places([], [])
    done = 0
    for found in _shape(name).finditer(text):
        part, kind = found[0], str(found.lastgroup)
        written = found[kind]
        if kind == "nothing":
            part = ""
        elif kind == "blank":
            part = " "
        elif kind == "jamo":
            part = normalize("NFC", part)
        elif kind == "sign":
            part = written
        elif kind == "named":
            part = _ENTITIES.get(written, part)
        else:
            code = int(written, 10 if kind == "decimal" else 16)
            if code <= 0x10FFFF and not 0xD800 <= code < 0xE000:
                char = _shape("left_out").sub("", chr(code))
                part = _shape("other_shape").sub(_in_ascii, char)
        if part == found[0]:
            continue
        start, end = found.span()
        parts += [text[done:start], part]
        places.starts.extend([*range(done, start), *[start] * len(part)])
        places.ends.extend([*range(done + 1, start + 1), *[end] * len(part)])
        done = end
    places.starts.extend(range(done, len(text)))
    places.ends.extend(range(done + 1, len(text) + 1))
    return "".join([*parts, text[done:]]), places
