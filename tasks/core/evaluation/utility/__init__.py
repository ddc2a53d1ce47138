"""What synthetic records are worth to whoever analyses them, against the raw table: for ``sensitive/`` alone.

Here: a pair of tables of equal features, the measures of how far they are apart, and the files that say so.
Not here: what a release says of itself (`tasks.core.evaluation.release`), and counts of combinations (`raw`).
"""
