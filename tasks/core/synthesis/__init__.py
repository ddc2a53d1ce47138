"""Reportable aggregates, fitted tables or raw rows in, synthetic records out: a file a mode.

Here: the modes and their kernels. The search for fitted records belongs to `fitting`, SynDiffix to
`syndiffix`. Each mode's file has one function that draws, named after the mode. Read `records`
first: the form of what comes out; then a mode, such as `row_seeded`.
"""
