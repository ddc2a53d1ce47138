"""What tests compare with: algorithms once more, slow and obvious, and what several tests share.

An oracle is written from the definition and stays plain, however slow. Tests of a file are in the folder that
mirrors it, whole runs in `tests/flows`. Read `marginals` first: counting, as anybody would write it.
"""
