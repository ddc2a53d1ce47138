"""The statement of a SynDiffix release.

What protects in it and what is known not to; how the tables are made belongs to `tasks.core.syndiffix`. Read
`claims` first: which sentences are said, and when; `statement` makes the JSON.
"""
