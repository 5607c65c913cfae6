"""Says what is behind a name, what is a value, and what reads like an order to a model."""
