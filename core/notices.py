"""Tells people on standard error, and makes printable whatever comes from elsewhere.

A path, an argument or a message of the system may hold escape codes or a line end: a terminal would
obey the one, and what follows the other would read like a notice of ours.
"""

LOGGER = "sentinel_memory"


def shown(fact: object) -> str:
    """Return a fact as text in one line, with U+FFFD for what cannot be printed."""
    text = str(fact)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def warn(notice: str, *facts: object) -> None:
    """Log a warning. notice: a sentence with `%s` for each of the facts."""
    import logging  # a reader never needs it

    logging.getLogger(LOGGER).warning(notice, *map(shown, facts))


def tell(key: str, **facts: str | int) -> None:
    """Log a sentence of the core as a warning, in the language of the person who reads it."""
    import os  # a reader of a log that is well needs none of these

    from core.messages import language_of, say, speaking

    with speaking(language_of(os.environ, for_person=True)):
        warn("%s", say(f"errors.{key}", **facts))
