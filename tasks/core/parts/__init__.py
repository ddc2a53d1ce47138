"""Parts of a table: where they are, and who works on them, on one machine or on many.

Here belongs what knows parts as files and shards as numbers. What is in them, and what is done with them,
belongs to the packages above; who the workers are, to whoever calls.
Read `store` first, then `workers`.
"""
