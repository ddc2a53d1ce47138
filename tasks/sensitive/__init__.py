"""Steps that read the sensitive table, what was made of it, or the ledger.

Nothing in `tasks.public` imports this folder: that is the wall, and the linter holds it. Whatever a step
makes here stays in the sensitive zone, unless `protect`, `round` or `hand_over` let it out. Read `read`
first, then `protect`: the only crossing under differential privacy.
"""
