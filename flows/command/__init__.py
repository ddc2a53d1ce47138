"""The command ``marginalia``: a folder of its own, as nothing that runs knows it.

Here: arguments, exit codes, what is printed, the server. What a run does belongs to `flows` and `tasks`.
"""
