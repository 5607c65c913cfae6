"""Offers the tools of the fragments to a client in the same process."""

from core.cancellation import NO_CANCELLATION
from protocol.tools import SessionlessServer
from rooms.fragments import tools


def offered(*, core_only: bool = False, has_lessons: bool = False) -> SessionlessServer:
    """A server that offers the tools of the fragments alone."""
    server = SessionlessServer("fragments", version="1", instructions="")
    tools.offer(server, NO_CANCELLATION, core_only=core_only, has_lessons=has_lessons)
    return server
