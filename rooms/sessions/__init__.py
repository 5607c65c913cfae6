"""The sessions of a project: its work, decisions and failures, on this machine."""
