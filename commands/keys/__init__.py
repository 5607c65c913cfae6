"""The commands for the keys of a server over HTTP."""
