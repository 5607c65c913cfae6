"""Lets a client in by OAuth 2.1, and everybody by a key: the authorization server of the server.

access = Access(papers, keys, url="https://memory.example.org")
app = Watched(FastMCP("memory", auth=access).http_app(path="/mcp"), access.tries)
"""

from starlette.routing import Route

from http_server.access.endpoints import routes
from http_server.access.provider import Provider


class Access(Provider):
    """See `Provider`; this is the one object that an application needs."""

    def get_routes(self, mcp_path: str | None = None) -> list[Route]:
        """Return the routes of the protocol, the page of consent and the documents about them."""
        self.set_mcp_path(mcp_path or self.path)
        return routes(self)
