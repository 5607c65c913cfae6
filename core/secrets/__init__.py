"""What the redactor knows: secret formats, names of secrets, and how values look.

A new format is a row of `platform_tokens.py` (code hosts, registries, clouds, databases,
monitoring) or of `service_tokens.py` (every other vendor); search both for the vendor first. A
place where secrets stand is a row of `places.py`.
"""
