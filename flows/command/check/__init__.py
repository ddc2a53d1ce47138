"""``marginalia check``: what a configuration would do and cost, before anything is read or drawn.

Only the printing is here. The figures come from `tasks.plan`, which reads the header and public files. Read
`command` first, then `report`, which has the order of what is printed.
"""
