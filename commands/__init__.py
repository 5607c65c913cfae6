"""What `cli.py` can do, a folder for each command, and beside them what the commands share."""

from typing import NamedTuple


class Command(NamedTuple):
    """One row of the table of commands; a name of two words is an action, such as `keys add`.

    function: where it is below commands/, as `module:function`; it takes the parsed arguments and
    returns the exit code. group: the heading below which `help` lists it. takes: the names of its
    arguments in `commands/options.py`; `?`, `*` or `+` behind one says how many values it has, and
    `/` stands between those that exclude each other. failed: the exit code of a SentinelError.
    """

    function: str
    group: str
    takes: str = ""
    examples: tuple[str, ...] = ()
    failed: int = 1
    of_project: bool = True  # whether it takes `--project`
