"""Tests the server with the clients of FastMCP and of the protocol's own library, over HTTP."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.auth import OAuth
from mcp import ClientSession
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp.types import TextContent
from pydantic import AnyUrl

from tests.support.consent_browser import agree, answered
from tests.support.http_server import HttpServer

BACK = "http://localhost:33418/callback"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with HttpServer(tmp_path_factory.mktemp("http")) as running:
        yield running


class LoggingIn(OAuth):
    """FastMCP's own login, with a key instead of a window. pages: how many it opened."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key, self.pages = key, 0

    async def redirect_handler(self, authorization_url: str) -> None:
        self.pages += 1
        asyncio.get_running_loop().run_in_executor(None, agree, authorization_url, self.key)


class Kept:
    """What a client of the library has been given."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def provider(url: str, key: str, kept: Kept, pages: list[str]) -> OAuthClientProvider:
    """The login of the protocol's own library."""

    async def open_page(address: str) -> None:
        pages.append(await asyncio.to_thread(answered, address, key))

    async def come_back() -> AuthorizationCodeResult:
        found = {name: it[0] for name, it in parse_qs(urlsplit(pages[-1]).query).items()}
        return AuthorizationCodeResult(**found)

    asked = OAuthClientMetadata(
        redirect_uris=[AnyUrl(BACK)],
        client_name="Library",
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(url, asked, kept, open_page, come_back)


async def remember(client: Client[Any], content: str) -> str:
    answer = await client.call_tool("remember", {"content": content})
    [said] = answer.content
    assert isinstance(said, TextContent)
    return said.text


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_client_of_fastmcp_comes_in_with_a_key(server: HttpServer, mode: Any) -> None:
    async def use() -> str:
        async with Client(server.url, auth=server.key, mode=mode) as client:
            assert len(await client.list_tools()) == 13
            return await remember(client, f"FastMCP speaks {mode}")

    assert asyncio.run(use()).startswith("Remembered: ")


@pytest.mark.long  # it costs much
@pytest.mark.filterwarnings("ignore:Using in-memory token storage")
def test_the_client_of_fastmcp_logs_in_once_and_renews_its_token(server: HttpServer) -> None:
    async def use(login: LoggingIn) -> list[str]:
        tokens = []
        async with Client(server.url, auth=login) as client:
            for number in range(2):
                await remember(client, f"FastMCP logs in {number}")
                assert login.context.current_tokens
                tokens.append(login.context.current_tokens.access_token)
                login.context.token_expiry_time = time.time() - 1
        return tokens

    login = LoggingIn(server.key)
    first, second = asyncio.run(use(login))
    assert (login.pages, first == second, first[:4]) == (1, False, "smt_")
    for token in (first, second):
        assert server.call("tools/list", key=token)[0] == 200


@pytest.mark.long  # it costs much
def test_the_client_of_the_library_logs_in_once_and_renews_its_token(server: HttpServer) -> None:
    kept, pages, tokens = Kept(), list[str](), list[str]()

    async def use() -> None:
        login = provider(server.url, server.key, kept, pages)
        async with (
            httpx2.AsyncClient(auth=login) as http,
            streamable_http_client(server.url, http_client=http) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            for number in range(2):
                given = {"content": f"The library logs in {number}"}
                assert not (await session.call_tool("remember", given)).is_error
                assert kept.tokens
                tokens.append(kept.tokens.access_token)
                login.context.token_expiry_time = time.time() - 1

    asyncio.run(use())
    assert (len(pages), len(set(tokens))) == (1, 2)
