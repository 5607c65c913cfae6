"""A folder of rooms beside ours: who puts it on `rooms.__path__` has a fourth room."""
