"""Keeps the sessions in good order: archives, checks, repairs, and what must be gone is gone."""
