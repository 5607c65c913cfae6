"""What the redactor knows: secret formats, names of secrets, and how values look."""
