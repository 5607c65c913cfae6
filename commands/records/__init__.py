"""The commands for records: list, show, edit, forget, topics, history, restore and others."""
