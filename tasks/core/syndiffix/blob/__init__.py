"""The blob: one file with a table of every few columns, which answers later questions without the data.

`build` alone decides what of trees and table may be in it; `answers` reads the blob and nothing else. Tables
are made by `tasks.core.syndiffix.synthesizer`. Read `file` first: what is in the zip.
"""
