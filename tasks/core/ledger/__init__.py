"""The privacy budget of each dataset, and the measurement of each release: drawn once, charged once.

Here: the chain of entries, accounts, names, the tables of a dataset, salts. What a charge is worth belongs to
`dp`, and how noise is drawn as well: the ledger gets a function that draws. Read `drawing` first: what
happens in which order, and what a crash leaves; then `account`.
"""
