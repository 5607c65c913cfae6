"""Regular expressions, compiled when they are first used."""

import re
from functools import cache


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern, compiled once: there are more of them than `re` itself keeps."""
    return re.compile(pattern)
