"""Counts of combinations of attributes, exact or reportable, and their files.

Here: counting, rounding, rare combinations. Noise belongs to `dp`, comparisons to `evaluation`.
"""
