"""Of a long log a hook reads a part: it decides as one who reads all of it."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.lessons.action import Action
from core.lessons.log import MOST_HIDDEN, MemoryLog
from core.lessons.long_log import MOST_READ, log_at_hand
from core.lessons.record import Record, new_record
from tests.support.samples import LATER, NOW, a_draft

ACTION = Action(text="quokka burrows")  # what only the older version says
OTHERS = b"".join(
    new_record(a_draft(f"what else {at}", lesson=f"nothing of it {at}"), now=NOW).to_line()
    for at in range(MOST_READ + 1)
)
OLD = new_record(a_draft("how deep it is", lesson="quokka burrows are deep"), now=NOW)
NEW = replace(OLD, lesson="it is down", updated=LATER, former=(OLD.fingerprint(),))
OTHER = replace(OLD, lesson="they are flat", updated=LATER, former=("aaaaaa",))
MANY = [
    OLD,
    *(
        new_record(a_draft(f"one {at}", lesson=f"they are {at}"), now=NOW)
        for at in range(MOST_HIDDEN)
    ),
]


def principle(*originals: Record) -> Record:
    draft = a_draft("", lesson="a rule that says none of these words", type="principle")
    return replace(new_record(draft, now=LATER), source_ids=tuple(it.token for it in originals))


def written(record: Record, **spelled: str) -> bytes:
    """Return the line of a record as another program may write it."""
    line = record.to_line()
    for plain, other in spelled.items():
        line = line.replace(plain.encode(), other.encode())
    return line


def reordered(record: Record) -> bytes:
    return json.dumps({key: it for key, it in reversed(record.as_json().items())}).encode() + b"\n"


LOGS: dict[str, Sequence[bytes]] = {
    "an older version": [OLD.to_line(), NEW.to_line()],
    "the newer version first": [NEW.to_line(), OLD.to_line()],
    "versions side by side": [OLD.to_line(), OTHER.to_line()],
    "an original that came back": [OLD.to_line(), principle(OLD).to_line()],
    "a rule before what it lists": [principle(OLD).to_line(), OLD.to_line()],
    "a list that is too long": [*(it.to_line() for it in MANY), principle(*MANY).to_line()],
    "a list that is as long as may be": [
        *(it.to_line() for it in MANY),
        principle(*MANY[:-1]).to_line(),
    ],
    "an older version in another order of keys": [reordered(OLD), NEW.to_line()],
    "a newer version in another order of keys": [OLD.to_line(), reordered(NEW)],
    "an id in escapes": [
        OLD.to_line(),
        written(NEW, **{f'"{OLD.id}"': f'"\\u00{ord(OLD.id[0]):x}{OLD.id[1:]}"'}),
    ],
    "a list under a key in escapes": [
        OLD.to_line(),
        written(principle(OLD), source_ids="source\\u005fids"),
    ],
    "two ids in a line": [
        OLD.to_line(),
        written(NEW, **{'{"id": ': '{"id": "0123456789abcdef", "id": '}),
    ],
    "the ancestor in a conflict": [
        b"<<<<<<< a\n",
        NEW.to_line(),
        b"||||||| b\n",
        OLD.to_line(),
        b"=======\n",
        b">>>>>>> c\n",
    ],
}


@pytest.mark.parametrize("place", ["before", "behind", "around"])
@pytest.mark.parametrize("label", LOGS)
def test_what_a_hook_reads_of_a_long_log_is_what_is_there(label: str, place: str) -> None:
    first, *rest = LOGS[label]
    data = {
        "before": b"".join([first, *rest, OTHERS]),
        "behind": b"".join([OTHERS, first, *rest]),
        "around": b"".join([first, OTHERS, *rest]),
    }[place]
    there = [it for it in MemoryLog.parse(data).records if it.id == OLD.id]

    assert [it for it in log_at_hand(ACTION, data).records if it.id == OLD.id] == there
