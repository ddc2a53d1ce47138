"""The thin boundary between Prefect and the core."""
