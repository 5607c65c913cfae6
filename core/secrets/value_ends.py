"""Finds the end of a value that begins at some place of a text."""

from core.secrets.rules import compiled

CLOSERS = dict(zip("“‘„「『《〈«", "”’“」』》〉»", strict=True))
LONGEST = 512
TRAILING = ".,;:?)]}>|*(["  # what ends a sentence or an enclosure, not a value

_ENTITY = "&"
_BARE = rf"[!-~]{{1,{LONGEST}}}"
_CODE = r"[A-Za-z_][A-Za-z0-9_.?]{0,80}(?:[(\[][!-~]|->|::|=>)"
_CUT = (  # its class of first characters lets `re` skip quickly
    r"""["'`<)\]},;&%\\|](?:(?<=\])\(|(?<=["'`|])|(?<=<)(?:/|br)|(?<=\\)[nrt"]|(?<=%)2[26]|(?<=[)\]}])[,;.)\]}]|"""
    r"(?<=&)(?:quot|lt|gt|apos|#[0-9]{2});|"
    r"(?<=[,;&])(?:amp;)?[ ]?[A-Za-z_][A-Za-z0-9_.\-]{0,40}[=:])"
)
_BLOB_LINES = r"[A-Za-z0-9+/=_.\-]{16,200}(?:\\?\r?\n[ \t]{0,16}[A-Za-z0-9+/=_.\-]{4,200}){1,60}"


def value_end(text: str, start: int, quote: str) -> int:
    """Return where a value that begins at `start`, behind `quote` if that is not empty, ends."""
    return (quoted_end(text, start, quote) if quote else 0) or bare_end(text, start)


def quoted_end(text: str, start: int, quote: str) -> int:
    """Return where a quoted value ends, or 0 if the quote is never closed."""
    if quote.startswith(_ENTITY):
        end = text.find(quote, start, start + LONGEST)
        return max(end, 0) if "\n" not in text[start : max(end, start)] else 0
    quote = quote[-1:]
    closer = CLOSERS.get(quote, quote)
    blob = compiled(_BLOB_LINES).match(text, start)
    if blob and text[blob.end() : blob.end() + 1] == closer:
        return blob.end()
    inner = rf"[^{closer}\\\r\n]|\\[^\r\n{closer}]|\\{closer}(?=[^\s,;:)}}\]])"
    found = compiled(f"(?:{inner}){{1,{LONGEST}}}+").match(text, start)
    if not found or text[found.end() : found.end() + 2].lstrip("\\")[:1] != closer:
        return 0
    return start + len(found[0].rstrip("\\"))


def bare_end(text: str, start: int) -> int:
    """Return where a value without quotes ends: a Korean particle, space or closing mark."""
    run = compiled(_BARE).match(text, start)
    if not run:
        return start
    value = run[0]
    if compiled(_CODE).match(value):
        return start
    cut = compiled(_CUT).search(value)
    value = value[: cut.start()] if cut else value
    return start + len(value.rstrip(TRAILING))
