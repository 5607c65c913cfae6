"""What is known across projects: facts, decisions, errors, preferences, procedures, relations."""
