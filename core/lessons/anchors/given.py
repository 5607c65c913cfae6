"""Reads a list as a model gives it: as a list, as one text that holds JSON, or as plain text."""

import json
from collections.abc import Callable, Sequence

from core.errors import FieldTooLongError

# Of all that is given at once: as it is stored, a path below a long directory, and repeated.
MOST_GIVEN_CHARS = 65_536


def listed(
    given: str | Sequence[str],
    field: str,
    limit_bytes: int | None,
    split: Callable[[str], Sequence[str]],
) -> Sequence[str]:
    """Return the items of what is given; `split` parts a text that is no JSON.

    Raises FieldTooLongError for far more than the `limit_bytes` of `field`, before it is looked at;
    None: there is no limit.
    """
    given_chars = len(given) if isinstance(given, str) else sum(map(len, given))
    if limit_bytes is not None and given_chars > MOST_GIVEN_CHARS:
        raise FieldTooLongError(field=field, used_bytes=given_chars, limit_bytes=limit_bytes)
    if not isinstance(given, str):
        return given
    if given.lstrip().startswith("["):
        try:
            parsed = json.loads(given)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, list) and all(isinstance(text, str) for text in parsed):
            return parsed
    return split(given)
