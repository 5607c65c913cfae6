"""What the redactor knows: secret formats, names of secrets, and how values look.

A new format is a line of `core/data/rules.jsonl`; search that file for the vendor first.
"""
