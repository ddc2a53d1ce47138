"""The privacy budget of each dataset, and the measurement of each release: drawn once, charged once.

Here: the chain of entries, accounts, names, the tables of a dataset, salts. What a charge is worth belongs to
`dp`.
"""
