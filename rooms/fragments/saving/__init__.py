"""Saves fragments, links, corrects and forgets them."""
