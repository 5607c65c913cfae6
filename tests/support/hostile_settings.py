"""Lists every way in which a repository or an environment can name a program that git starts.

A value may hold `{run}`, a program that leaves a mark and is named after the key; `{run:NAME}`,
one of another name; `{here}`, the folder of the traps; `{other}`, another repository.
"""

from dataclasses import dataclass
from typing import Any

from tests.support.tables import table

TABLES = table("hostile_settings")
HOOKS = list(TABLES["hooks"])


@dataclass(frozen=True)
class Setting:
    """One hostile key.

    fires: the words of a plain git that start the program, behind `tty` where it must believe that
    somebody looks; "" where no installed git or none without a person does. given: its input.
    """

    key: str
    value: str = "{run}"
    fires: str = ""
    given: str = ""


def settings(rows: list[dict[str, Any]]) -> tuple[Setting, ...]:
    """The settings of rows of the table."""
    return tuple(Setting(**row) for row in rows)


GROUPS: dict[str, tuple[Setting, ...]] = {
    **{name: settings(TABLES[name]) for name in ("programs", "process", "rest")},
    "hooks": tuple(Setting(f"hook {name}", fires=it) for name, it in TABLES["hooks"].items()),
}
ENVIRONMENT = settings(TABLES["environment"])
# How the remote from which a partial clone fetches a missing object may name a program.
PROMISORS: dict[str, tuple[tuple[str, str], ...]] = {
    name: tuple(pairs.items()) for name, pairs in TABLES["promisors"].items()
}
