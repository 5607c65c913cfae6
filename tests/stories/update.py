"""Records the answers of stories anew: `python -m tests.stories.update FILE …`.

All other lines stay. A story of which a written line does not hold, or that would record too much,
is named and stays as it was. Continuous integration never records.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import conftest as conftest  # before anything else of the program
from tests.stories.story import (
    MOST_RECORDED_LINES,
    Story,
    StoryError,
    Wire,
    lines_of,
    missing_parts,
    play,
    read_stories,
)
from tests.stories.wires import InProcess


def recorded(story: Story, wire: Wire) -> dict[int, list[str]]:
    """Return the new lines for each recorded line of a story. Raises StoryError."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        project, home = Path(folder).resolve() / "shop", Path(folder).resolve() / "home"
        project.mkdir()
        home.mkdir()
        answers = play(story, project, home, wire)
    found: dict[int, list[str]] = {}
    for step, answer in zip(story.steps, answers, strict=True):
        if missing := missing_parts(step, answer):
            raise StoryError("\n".join(missing))
        for at in step.recorded_at:
            found[at] = []
        if step.recorded_at:
            found[step.recorded_at[0]] = [f"| {line}".rstrip() for line in lines_of(answer)]
    if (count := sum(map(len, found.values()))) > MOST_RECORDED_LINES:
        raise StoryError(f"{story.place}: {count} lines to record, {MOST_RECORDED_LINES} may be")
    return found


def update(path: Path, other: Wire | None = None) -> list[str]:
    """Record the answers of a file anew; return the errors in its stories.

    other: how the steps are done where they call no tools of a server.
    """
    stories, changed, wrong = read_stories(path), dict[int, list[str]](), list[str]()
    wire = other or InProcess(stories[0].rooms)
    for story in stories:
        try:
            changed |= recorded(story, wire)
        except StoryError as error:
            wrong.append(str(error))
    if isinstance(wire, InProcess):
        wire.close()
    lines = path.read_text(encoding="utf-8").splitlines()
    now = [it for at, line in enumerate(lines, 1) for it in changed.get(at, [line])]
    path.write_text("\n".join(now) + "\n", encoding="utf-8")
    return wrong


def main(names: Sequence[str], other: Wire | None = None) -> int:
    """Update these files. other: see `update`."""
    if os.environ.get("CI"):
        print("CI records nothing: read and commit what it would change.", file=sys.stderr)
        return 2
    wrong = [it for name in names for it in update(Path(name).resolve(), other)]
    print("\n\n".join(wrong) or "Recorded: read the difference before you commit it.")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
