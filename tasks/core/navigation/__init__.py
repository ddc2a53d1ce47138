"""The published pages: what was released goes in, one self-contained HTML page comes out.

`report` makes that of a release of counts, and `regimes` what it says of one protection alone; `table_page`
makes that of a SynDiffix table, `comparison` that of several runs. All fill `templates`; charts belong to
`charts`. Read `report` first: a page from its inputs to its text.
"""
