"""The command ``marginalia``: arguments, exit codes, what is printed, the server on loopback.

It is a folder of its own, as nothing that runs knows it. What a run does belongs to `flows` and `tasks`.
`check` and `syndiffix` are commands of several files. Read `main` first: it has every command. The
exit codes are with the errors, in `tasks/core/errors.py`.
"""
