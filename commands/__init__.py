"""The commands of `cli.py`: a file or folder for each, and the parts that they share."""

from typing import NamedTuple


class Command(NamedTuple):
    """One row of the table of commands; a name of two words is an action, such as `keys add`.

    function: `module:function` below commands/, from parsed options to the exit code. group: a
    heading of the help. options: names in `commands/options.py`, as in `scan_paths*/json`: `?`, `*`
    or `+` is the number of values, `/` separates exclusive arguments. error_code: the exit code for
    a SentinelError.
    """

    function: str
    group: str
    options: str = ""
    examples: tuple[str, ...] = ()
    error_code: int = 1
    has_project: bool = True  # whether it takes `--project`
