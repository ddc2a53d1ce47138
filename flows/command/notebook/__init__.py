"""What the module `marginalia` starts in a process of its own: a request and a table in, an answer out.

Here belongs how a function of a notebook becomes what the command does. What people call, and how a table
becomes Parquet and back, does not: that is `marginalia`, which imports nothing from here. Read `process`.
"""
