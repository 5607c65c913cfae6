"""`cli.py hook`: answers a client's event with the lessons that it needs.

`core/lessons/recall/for_action.py` chooses the records of an action, `hook.py` leaves out those
that the session has seen, and `reminders.py` those that read like orders or do not fit.
"""
