"""`cli.py hook`: answers a client's event with the lessons that it needs.

`core/lessons/recall.py` chooses the records of an action, `hook.py` drops those that the session
has seen, and `core/lessons/briefing.py` those that read like orders or do not fit.
"""
