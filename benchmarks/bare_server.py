"""The server of the FastMCP tutorial: one tool that echoes, everything else as it comes."""

from fastmcp import FastMCP

mcp = FastMCP("echo")


@mcp.tool
def echo(text: str) -> str:
    return text


if __name__ == "__main__":
    mcp.run()
