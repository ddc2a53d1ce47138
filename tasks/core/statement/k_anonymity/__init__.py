"""The statement of a release under k-anonymity.

What rounding promises, and the attacks that it does not stop; rounding itself belongs to
`tasks.core.aggregates`. Read `claims` first: which sentences are said, and when; `statement` makes the JSON.
"""
