"""Reads the documents that users and contributors read, and pairs their two editions."""

import re

from tests.support.tables import ROOT

KOREAN_ONLY = {"docs/README.ko.md": "README.md", "docs/cursorrules.ko.md": ".cursorrules"}


def _names(pattern: str) -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))


# Of these the Korean page tells how to use the room, and leaves the reference to the English one.
OF_USE = ("docs/sessions.ko.md", "docs/fragments.ko.md")
# [English, Korean] of every other document that has both; the README and the rules lie elsewhere.
EDITIONS = [
    [name.replace(".ko.md", ".md"), name]
    for name in _names("docs/*.ko.md")
    if name not in (*KOREAN_ONLY, *OF_USE)
]
DOCUMENTS = [
    *("README.md", "AGENTS.md", ".cursorrules", "CHANGELOG.md", "benchmarks/README.md"),
    *_names("docs/*.md"),
]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def prose(text: str) -> str:
    """The text without code blocks, code, targets of links and examples in italics."""
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    text = re.sub(r"``.+?``|`[^`\n]+`", "`code`", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"(?<!\*)\*[^*\n]+\*(?!\*)", "example", text)
