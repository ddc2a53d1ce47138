"""The part of a page that one regime alone has.

`regime` is the interface, and each other file implements it for one regime. What every page has belongs to
`tasks.core.navigation`, what is promised to `tasks.core.statement`. Read `regime` first.
"""
