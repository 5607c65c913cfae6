"""Keeps files with paths of this machine out of git, by the list that git has for one machine."""

import re

MARK = "# sentinel-memory setup"
_SIGN = re.compile(r"[\\*?\[]|\A[#!]| \Z")


def with_kept_out(text: str, names: list[str]) -> str:
    """Return the text of `info/exclude` with a line for each of these files, under one of ours."""
    lines = text.splitlines()
    for name in names:
        if _pattern(name) not in lines:
            pair = f"{MARK}\n{_pattern(name)}"
            text += f"{pair}\n" if text.endswith("\n") or not text else f"\n{pair}"
    return text


def without_kept_out(text: str, names: list[str]) -> str:
    """Return the text without the lines that setup has put in for these files."""
    text = f"\n{text}"
    for name in names:
        pair = f"\n{MARK}\n{_pattern(name)}"
        found = f"{pair}\n" in text
        text = text.replace(f"{pair}\n", "\n", 1) if found else text.removesuffix(pair)
    return text[1:]


def _pattern(name: str) -> str:
    """Return the pattern that means this path from the top of the work tree, and no other."""
    return "/" + _SIGN.sub(lambda found: f"\\{found[0]}", name)
