"""Records fitted to noisy marginals: tables of noisy counts in, records whose counts come close to them out.

Here belongs what works on noisy tables alone, after the draw: least squares, shrinkage, targets, the search
for records. What counts, draws noise or spends budget belongs to `tasks.core.dp`, values and files of the
records to `tasks.core.synthesis`. Read `fit` first: the whole in one function; then `noisy_tables`.
"""
