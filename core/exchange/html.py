"""Writes one page of HTML without a script, in which texts stay texts. Pure.

It loads nothing, and its policy allows only its own style. Hidden characters are spelled out.
"""

import base64
import re
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from core.messages import language
from core.text.plain import LINE_ENDS, one_line, printable

_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")
END = "</main>\n</body>\n</html>\n"


@cache
def _style() -> str:
    return files("core.exchange").joinpath("page.css").read_text(encoding="utf-8")


def begins_with(mark: str) -> str:
    """Return with what a page begins, by which a later export knows it. mark: of the room."""
    return f"<!doctype html>\n<!-- {mark}:"


def head_of(mark: str, title: str, intro: str) -> str:
    """Return the page up to its content. title, intro: unescaped, in this language."""
    title, style = escape(one_line(title)), _style()
    allowed = f"sha256-{base64.b64encode(sha256(style.encode('utf-8')).digest()).decode('ascii')}"
    policy = f"default-src 'none'; style-src '{allowed}'; base-uri 'none'; form-action 'none'"
    lines = [
        f"{begins_with(mark)} the next export may replace this file -->",
        f'<html lang="{language()}">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{title}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        f"<header><h1>{title}</h1>",
        f"<p>{escape(intro)}</p></header>",
        "<main>",
    ]
    return "\n".join([*lines, ""])


def text_element(tag: str, text: str) -> str:
    """Return an element with a text of somebody, all of its lines."""
    return f'<{tag} class="text" {spoken(text)}>{block(text)}</{tag}>'


def line(text: str) -> str:
    """Return a text as one line."""
    return escape(one_line(text))


def block(text: str) -> str:
    """Return a text with its line ends, a lone carriage return among them."""
    return escape("\n".join(map(printable, LINE_ENDS.split(text.strip("\r\n")))))


def spoken(text: str) -> str:
    """Return the attributes for direction and language of an element with this text."""
    own = "ko" if _HANGUL.search(text) else "en"
    return 'dir="auto"' if own == language() else f'dir="auto" lang="{own}"'
