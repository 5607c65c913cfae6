"""What a face of the program needs and no store does."""
