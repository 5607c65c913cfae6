"""Sends the requests of a table to a server, and says which are answered otherwise than told.

A row is a line of JSON in tests/data; `methods`, `paths`, `headers` and `bodies` stand for all
their combinations. Of the answer it tells the `status`, by header in `told` the words that it has,
if any, in `untold` the headers that it has not, and in `said` and `unsaid` texts. `key` is that of
the server unless a row has one, and "" for a stranger.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

from tests.support.servers import HttpServer
from tests.support.tables import DATA


class Request(NamedTuple):
    """One request, and the row that tells how it is answered."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes | None
    row: dict[str, Any]


def requests_in(name: str, facts: dict[str, str], **every: Any) -> list[Request]:
    """Return the requests of a table, with a fact in the place of each `{name}`.

    every: fields of each row that does not have them itself.
    """
    text, found = (DATA / f"{name}.jsonl").read_text("utf-8"), list[Request]()
    for fact, value in facts.items():
        text = text.replace(f"{{{fact}}}", value)
    for line in text.splitlines():
        row = {**every, **json.loads(line)}
        bodies = [
            it if it is None else (it if isinstance(it, str) else json.dumps(it)).encode("latin-1")
            for it in row.get("bodies", [None])
        ]
        each = product(row["methods"], row["paths"], row.get("headers", [{}]), bodies)
        found += [Request(*it, row) for it in each]
    assert len({repr(it) for it in found}) == len(found)
    return found


def wrong_answers(server: HttpServer, requests: Iterable[Request]) -> Iterator[str]:
    """Send requests, and yield how each wrong answer differs from its row."""
    for request in requests:
        method, path, headers, body, row = request
        status, found, answer = server.ask(method, path, body, key=row.get("key"), headers=headers)
        said, wrong = f"{found} {answer.decode('utf-8', 'replace')}", list[str]()
        for name, words in row.get("told", {}).items():
            if not {*words} <= {it.strip().lower() for it in found.get(name, "").split(",")}:
                wrong.append(f"{name} is told as {found.get(name)!r}")
            if name not in found:
                wrong.append(f"{name} is not told")
        wrong += [f"{name} is told" for name in row.get("untold", ()) if name in found]
        wrong += [f"{text} is not said" for text in row.get("said", ()) if text not in said]
        wrong += [f"{text} is said" for text in row.get("unsaid", ()) if text in said]
        is_told = status in (200, 204) or method == "HEAD" or answer.startswith((b"{", b"<!doc"))
        if status != row["status"] or not is_told or "evil.example" in str(found):
            wrong.append(f"{status} instead of {row['status']}, without a sentence, or elsewhere")
        if wrong:
            yield f"{row['what']}: {request[:4]}: {wrong}: {said[:200]}"
