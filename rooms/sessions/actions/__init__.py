"""What clients do beside a session's own words: commands, edits, errors, as hooks record them.

`policy.py` says which command is recorded, `recording.py` writes an action, `adopting.py` gives it
to the session of its conversation.
"""
