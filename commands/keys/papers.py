"""Opens the keys that a command is about, and lets go of them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from http_server.keys import Keys
from http_server.papers_here import keys_of, papers_of


@contextmanager
def open_keys() -> Iterator[Keys]:
    """Yield the keys of this user's server, or of the team's. Raises SentinelError."""
    papers = papers_of(os.environ)
    try:
        yield keys_of(os.environ, papers)
    finally:
        papers.close()
