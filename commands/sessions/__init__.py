"""Shows the sessions of a project to a person, and gives them out."""
