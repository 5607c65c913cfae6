"""Says where an export of sessions may be written: inside the project, beside its own files."""

from pathlib import Path

from core.disk.configuration import CONFIG_NAME
from core.exchange.document import Target
from core.text.printable import shown_path
from rooms.sessions.exchange.document import Form
from rooms.sessions.exchange.errors import ExchangeError
from rooms.sessions.projection import NAME as PROJECTION_NAME

_OWN = frozenset((CONFIG_NAME, PROJECTION_NAME))


def target_of(root: Path, output: str, form: Form, name: str) -> Target:
    """Return the file that an export may become. Raises ExchangeError.

    root: of the project. name: of the form, for a sentence.
    """

    def refused(key: str, **facts: str) -> ExchangeError:
        suffix, suffixes = form.suffixes[0].lstrip("."), ", ".join(form.suffixes)
        about = {"path": shown_path(output), "form": name, "suffix": suffix, "suffixes": suffixes}
        return ExchangeError(key, **about, **facts)

    return Target(
        root, output, suffixes=form.suffixes, begins=form.begins, refused=refused, own=_OWN
    )
