"""The statement of a SynDiffix release."""
