"""A table's rows as coded records, under a public schema.

Here: the schema's columns and constraints, and rows to codes. Files belong to `tables`, declarations to
`contracts`, counting to `aggregates`. Read `columns` first: what is public of a column; then `coded`, the
form in which all later code sees records; then `encoding`, which makes it.
"""
