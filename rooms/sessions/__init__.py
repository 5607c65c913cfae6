"""The sessions of a project: what was done, what was decided, what failed, on this machine."""
