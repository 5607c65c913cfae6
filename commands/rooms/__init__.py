"""The commands that read and change what the rooms hold, each for all of them."""
