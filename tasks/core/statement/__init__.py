"""What a release promises, and what it does not, as JSON and as sentences.

Public facts in, ``privacy.json`` and its words out; a folder a protection. Nothing here reads a table.

These names are one interface, kept by each folder: `statement` makes the JSON, `topics` its words under
headings, `sentences` the same words in a row.
"""
