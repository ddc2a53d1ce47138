"""Reportable aggregates, fitted tables or raw rows in, synthetic records out: a file a mode.

Here: the modes and their kernels. The search for fitted records belongs to `fitting`, SynDiffix to
`syndiffix`.
"""
