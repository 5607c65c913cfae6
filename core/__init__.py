"""The memory of a project: what one record is, where it is kept, and what a model reads of it."""
