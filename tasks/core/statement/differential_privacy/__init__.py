"""The statement of a release under differential privacy.

Public constants and noisy counts in, what is proved of them out; accounting itself belongs to
`tasks.core.dp`. Read `statement` first: it has the JSON's parts in their order; `words` says the same as
sentences.
"""
