"""What rows of fragments are like, whatever keeps them."""
