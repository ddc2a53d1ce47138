"""What a release promises, and what it does not, as JSON and as sentences; a file or folder a protection.

Public facts in, ``privacy.json`` and its words out; nothing here reads a table. Each protection has a
function that makes the JSON (`accounted_statement`, `anonymity_statement`, `syndiffix_statement`) and a class
of `PlainWords` that says it to people. The sentences are text, a file a protection, in ``sentences/``: read
one of these first.
"""
