"""Counts of combinations of attributes, exact or reportable, and their files.

Here: counting (by DuckDB, or in memory), rounding down, rare combinations, files in SDS's form. Noise belongs
to `dp`, comparisons to `evaluation`. Read `stored_marginals` first: the form of all counts; then `marginals`,
which counts, also by workers, and `wide_form`, which turns codes into attributes such as ``sex:female``.
"""
