"""What the page says of one regime alone: its context and its sections, a file a regime.

These names are one interface, kept by each file: `regime` says how counts are named, `context` is its part of
the page.
"""
