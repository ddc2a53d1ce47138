"""What a release promises, and what it does not, as JSON and as sentences.

Public facts in, ``privacy.json`` and its words out; a folder a protection. Nothing here reads a table.

Each folder has a function that makes the JSON (`accounted_statement`, `anonymity_statement`,
`syndiffix_statement`) and a class of `PlainWords` that says it to people. The sentences are text, a file a
protection, in ``sentences/``. Read `plain_words` first, then one of these files of text.
"""
