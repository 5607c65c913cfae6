"""Finds the files that a Markdown file of Claude Code or Gemini CLI takes in with `@path`.

A path counts from the directory of the file that names it. Fences, indented code, code spans and
HTML comments import nothing. In doubt a line is none: rules that stand twice do less harm than
rules that nobody reads.
"""

import posixpath
import re

_NO_IMPORT = re.compile(
    r"""
    ^(?:[ ]{4}|[ ]{0,3}\t)[^\n]*                                        # indented code
    | ^[ >]*(?:(?:[-*+]|\d+[.)])[ ]+)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})
      .*?(?:^[ >]*(?P=fence)[`~]*[ \t\r]*$|\Z)
    | <!--.*?(?:-->|\Z)
    | (?P<ticks>`+)(?:(?!\n[ \t\r]*\n).)+?(?<!`)(?P=ticks)(?!`)
    """,
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)
_IMPORT = re.compile(r"(?<!\S)@([^\s#]+)(?:#\S*)?(?!\S)")


def imported(text: str, name: str) -> list[str]:
    """The files that the file `name` with this text imports, by their names in the project.

    One above the project begins with `..`; absolute paths and those of the home are passed over.
    """
    paths = _IMPORT.findall(_NO_IMPORT.sub("`", text))
    directory = posixpath.dirname(name)
    return [posixpath.normpath(posixpath.join(directory, it)) for it in paths if it[0] not in "/~"]
