"""Steps that read what was handed over and public configuration, and nothing else.

Imports nothing of `tasks.sensitive`, nor of the ledger, nor what can open the table: the linter holds that
wall. Whatever needs a row or a true count belongs on the other side. Read `publish` first: how files become a
release, whole or not at all; then `bundles`, where this side begins.
"""
