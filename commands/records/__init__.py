"""The commands for records: list, search, show, edit, forget, topics, history, restore and more."""
