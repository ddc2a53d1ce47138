"""Steps that read what was handed over and public configuration, and nothing else.

Imports nothing of `tasks.sensitive`, and nothing that can read the table.
"""
