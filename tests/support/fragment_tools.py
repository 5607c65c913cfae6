"""Offers the tools of the fragments to a client in the same process."""

from protocol.tools import SessionlessServer
from rooms.fragments import tools
from tests.support.session_tools import OfferedOnce

_FRAGMENTS = OfferedOnce("fragments", tools.offer)


def offered(*, core_only: bool = False) -> SessionlessServer:
    """A server that offers the tools of the fragments alone."""
    return _FRAGMENTS.server(core_only=core_only)
