"""The Power BI template: a release's columns and configured pages go in, the bytes of a ``.pbit`` come out.

A template has no data: opened, it asks for the folder of the release and the prefix of its files, and reads
the synthetic records and the reportable aggregates there. What it holds is column names, configured texts and
the layout.

    showcase    what is on which page, within SDS's limits, and what is left out
    queries     Power Query (M): how the two files become tables; every attribute gets a number
    measures    DAX: what is selected, as numbers; the estimated and the actual count of it
    names, texts    how both write names and values, whatever is in them
    model       the tabular model of both
    layout      the pages
    package     all parts as one file

Texts of M, DAX and JSON are in ``templates``, and the sentences that people read in ``texts.toml``. Read
`showcase` first. Nothing here computes a count: Power BI does, from the released files alone.
"""
