"""The least that a server of this kind can be: one tool that echoes, for comparison."""

import os

os.environ.setdefault("FASTMCP_ENV_FILE", os.devnull)

from fastmcp import FastMCP

mcp = FastMCP("echo", version="1")


@mcp.tool(output_schema=None)
def echo(text: str) -> str:
    """The same text."""
    return text


if __name__ == "__main__":
    mcp.run(transport="stdio", show_banner=False, log_level="WARNING")
