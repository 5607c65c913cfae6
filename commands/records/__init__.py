"""The commands for records: list, search, show, edit, forget, topics, restore and more."""
