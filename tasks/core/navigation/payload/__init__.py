"""What the page's program reads: all that is released goes in, JSON and one block of arrays come out.

`release` makes that of a release of counts, `synthetic_table` that of a SynDiffix table. Both number a
column's values once (`columns`), and put codes of records (`codes`), counts (`counts`) and noisy tables
(`tables`) into one compressed `block`. Nothing is in it that the release does not hold, and of very many
records a `sample`. Read `release` first.
"""
