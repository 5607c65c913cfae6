"""Serves what the conformance suite calls for, over HTTP on a free port of loopback.

Run it as `python -m tests.support.conformance_server ours` or `plain`; it prints its address.
`ours` is the server of `server.py` with all that it changes in FastMCP, `plain` a FastMCP as it
comes. To both the same is added.
"""

import socket
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastmcp import FastMCP


def server_of(kind: str) -> "FastMCP[Any]":
    """Import the server that is meant; `ours` before anything else imports FastMCP, as in a run."""
    if kind == "ours":
        from server import mcp

        return mcp
    from fastmcp import FastMCP

    return FastMCP("plain")


def main(kind: str) -> None:
    """Serve until the process is ended."""
    mcp = server_of(kind)
    from tests.support.conformance_offers import add_offers

    add_offers(mcp)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        print(f"http://127.0.0.1:{port}/mcp", flush=True)
        mcp.run(
            transport="http",
            host="127.0.0.1",
            port=port,
            sockets=[listener],
            show_banner=False,
            log_level="WARNING",
        )


if __name__ == "__main__":
    main(sys.argv[1])
