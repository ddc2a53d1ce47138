"""What the page's program reads: all that is released goes in, JSON and one block of arrays come out.

`release` makes that of a release of counts, `synthetic_table` that of a SynDiffix table. Both put codes of
records (`columns`), counts and noisy tables (`counts`) into one compressed `block`. Nothing is in it that the
release does not hold. Read `release` first.
"""
