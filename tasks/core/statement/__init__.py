"""What a release promises, and what it does not, as JSON and as sentences.

Public facts in, ``privacy.json`` and its words out; a folder a protection. Nothing here reads a table.
"""
