"""What is remembered of answers beside the fragments of a team; without it they are only slower."""
