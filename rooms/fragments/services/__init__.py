"""Asks services that the user has named; without a name nothing leaves the machine."""
