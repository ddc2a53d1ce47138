"""The statement of a release under differential privacy."""
