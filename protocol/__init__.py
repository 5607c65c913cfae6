"""Everything between an MCP client and the functions that are its tools."""
