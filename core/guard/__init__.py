"""Names of secrets, their values, and texts that read like orders to a model."""
