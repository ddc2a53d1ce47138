"""What synthetic records are worth to whoever analyses them, against the raw table: for ``sensitive/`` alone.

Here: a pair of tables of equal features, the measures of how far they are apart, and the files that say so.
What a release says of itself is in `tasks.core.evaluation.release`, counts of combinations are in `raw`. Read
`table_pair` first, then `measures`.
"""
