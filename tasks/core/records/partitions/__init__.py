"""A table in partitions: blocks of the input go in, coded records by a keyed hash of the subject come out.

    input ──▶ blocks ──read──▶ pieces, a partition each ──join──▶ records ──settle──▶ coded records
                       └─────▶ values ──unite──▶ one dictionary ─┘  └─▶ values held ─┘

Every arrow is work on one block or one partition, wherever it is done. What comes out holds the same records
as the whole table's, coded alike: a record's rows meet in one partition, whatever block they were in, and
what is chosen of them is chosen by the keyed hashes that choose in the whole (`keyed_choices`). How many
blocks and partitions there are is declared, and no number of the table: who sees the steps of a run counts
nobody.
"""
