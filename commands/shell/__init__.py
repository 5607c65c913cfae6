"""The commands about the command line itself: help, and completion for a shell."""
