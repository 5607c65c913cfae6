"""The commands on the contents of the rooms, each for all rooms."""
