"""SynDiffix: sticky noise, suppression and flattening over a forest of histogram trees.

Here: a typed table in, a synthetic one out. Files belong to `tables`, salts to `ledger`, promises to
`statement`.
"""
