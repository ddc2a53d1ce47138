"""SynDiffix: sticky noise, suppression and flattening over a forest of histogram trees.

Here: a typed table in, a synthetic one out. Files belong to `tables`, salts to `ledger`, promises to
`statement`. Read `synthesizer` first: the whole job; then in the order of the work `columns`, `forest`,
`microdata`, `stitching`. Loops over trees are in three files of kernels.
"""
