"""Finds text that reads like an order to the model, so that readers see it as data."""
