"""A table in a file, on its way in and out: header, dialect, batches, texts as typed cells, written files.

Here alone the operator's file is opened. What columns are declared to be belongs to `records`, and what their
values mean, too. Read `header` first: the public face of a file; then `batches`: its rows.
"""
