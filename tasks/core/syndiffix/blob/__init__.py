"""The blob: one file with a table of every few columns, which answers later questions without the data."""
