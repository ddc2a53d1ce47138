"""Counts of combinations of attributes, exact or reportable."""
