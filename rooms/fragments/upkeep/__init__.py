"""Lets fragments age, keeps them in order and counts them, and mends what holds them."""
