"""Says which files setup edits: for the project, or for all projects of a user."""

from collections.abc import Iterable

from commands.setup.client_table import (
    CLIENTS,
    THE_PROJECT,
    Approvals,
    Client,
    Directory,
    Place,
)
from commands.setup.files import Level
from core.config import CONTEXT_DIRECTORY
from core.lessons.file import COMPANIONS


def at_level(client: Client, level: Level) -> Client | None:
    """Return the row with the files of a level; None for a client that has none for a user."""
    hooks = client.hooks
    if level != "user":
        return client
    if client.of_user is None:
        return None
    place = next(place for place in client.places if place.directory != "root")
    directory, file = client.of_user.hooks
    return client._replace(
        places=(Place(place.directory, place.file, place.keys[-1:]),),
        takes=client.takes if place.takes is None else place.takes,
        last=tuple(pair for pair in client.last if pair[0] not in client.of_user.left_out),
        hooks=hooks
        and hooks._replace(directory=directory, file=file, names_project=False, merged_with=""),
        approvals=client.approvals and _for_all(client.approvals, directory, file),
    )


def _for_all(approvals: Approvals, directory: Directory, file: str) -> Approvals | None:
    """Return approvals for all projects: in the user's settings, None where each needs its own."""
    if THE_PROJECT in approvals.keys:
        return None
    return approvals._replace(directory=directory, file=file) if approvals.file else approvals


def known_files() -> list[str]:
    """Return the files of a project of which setup and the doctor ask whether git has them."""
    files = {f"{CONTEXT_DIRECTORY}/{name}" for name in COMPANIONS} | machine_files(CLIENTS)
    for client in CLIENTS:
        files |= {place.file for place in client.places[:1] if place.directory == "root"}
        files |= {client.hooks.file} if client.hooks else set()
    return sorted(files)


def machine_files(clients: Iterable[Client]) -> set[str]:
    """Return the files of a project that are for this machine alone: approvals of one person."""
    found = [client.approvals for client in clients if client.approvals]
    return {approvals.file for approvals in found if approvals.directory == "root"} - {""}
