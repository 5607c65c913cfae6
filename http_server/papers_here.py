"""Opens the papers of this machine or this team, where the fragments are kept as well."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from core.config import FRAGMENTS_PLACE, data_directory
from core.postgres.server import is_server, server_of
from http_server.keys import HttpServerError, Keys, master_of
from http_server.papers import Papers
from http_server.papers_sqlite import FILE_NAME, SqlitePapers

_MOST_CONNECTIONS = 4  # a paper is read in a fraction of a millisecond


def papers_of(environment: Mapping[str, str]) -> Papers:
    """Return the papers: on the server of the fragments, else in a file of the user's own.

    Nothing is created or connected yet. Raises HttpServerError where there is no place.
    """
    place = environment.get(FRAGMENTS_PLACE, "").strip()
    if is_server(place):
        from core.postgres.pool import Pool
        from http_server.papers_postgres import PostgresPapers

        server = replace(server_of(place, environment), most_connections=_MOST_CONNECTIONS)
        return PostgresPapers(Pool(server))
    base = data_directory(environment)
    if not base:
        raise HttpServerError("no_place")
    return SqlitePapers(Path(base, FILE_NAME))


def keys_of(environment: Mapping[str, str], papers: Papers) -> Keys:
    """Return the keys among the papers, and the one of the environment. Raises HttpServerError."""
    is_apart = is_server(environment.get(FRAGMENTS_PLACE, "").strip())
    return Keys(papers, master_of(environment), keeps_agents_apart=is_apart)
