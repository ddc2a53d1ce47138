"""A table's rows as coded records, under a public schema.

Here: the schema's columns and constraints, and rows to codes. Files belong to `tables`, declarations to
`contracts`.
"""
