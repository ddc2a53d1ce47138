"""Parts of a table: where they are, and who works on them, on one machine or on many.

What a part holds is known to whoever writes it. Nothing here reads a record or counts one.
Read `store` first, then `workers`.
"""
