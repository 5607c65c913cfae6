"""What MCP needs around a tool: offering it, the frame of one call, sentences about arguments."""
