"""Steps that read the sensitive table, what was made of it, or the ledger.

Nothing in `tasks.public` imports this folder: that is the wall, and the linter holds it.
"""
