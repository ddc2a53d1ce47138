"""The statement of a release under k-anonymity."""
