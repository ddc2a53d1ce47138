"""``marginalia init FILE``: from a table to a configuration and a contract that run as they are.

It reads the table because it is asked to. What it prints may show names and values of the table: it goes to
the terminal of the person who has the table, never to Prefect or a log. What it writes follows from the
table, though hardly from any single row, and says so (`drafted_from_table`). Read `command` first.
"""
