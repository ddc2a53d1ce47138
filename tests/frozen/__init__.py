"""What goes out, frozen: whoever moves code shows here that no released byte and no printed word has changed.

Small, messy tables, configurations of all protections and modes, and command lines on them are scenarios, a
module a kind (`private`, `anonymous`, `trees`, `told`, `refused`). `frozen.freeze` runs them all as a person
does, through ``python -m flows``, and takes down what came out: every file of releases, hand-overs, sensitive
outputs, exports, comparisons and blobs, and of each command what it printed and its exit code. What can't be
equal in two runs or on two machines is made plain first (`plain_text`). The SHA-256 of each text stands in
``hashes.json``; the texts themselves are kept in ``.frozen/`` of the checkout, which git ignores.

    make frozen                              run all of it, compare with hashes.json; the texts: .frozen/last
    python -m tests.frozen write             run all of it, store the hashes; the texts: .frozen/written
    python -m tests.frozen run FOLDER        run all of it, compare, keep the texts there, store nothing
    python -m tests.frozen compare           what differs between .frozen/written and .frozen/last
    python -m tests.frozen compare FOLDER    what differs between FOLDER and .frozen/last
    python -m tests.frozen compare FOLDER OTHER

``write`` and ``run`` take ``--only SCENARIO ...`` (others keep their hashes) and ``--threads N``: the number
of threads must change nothing.

When `make frozen` fails, it names the files. Where the old texts are not at hand (in ``.frozen/written``),
make them in a worktree of the commit that the hashes are of, ``python -m tests.frozen run /tmp/before``, and
come back: ``python -m tests.frozen compare /tmp/before``. Read the whole difference. If every line of it is
meant, ``write``, and commit ``hashes.json`` with the change that altered the outputs.

Chance is taken out from outside: the system's entropy, where the project asks for it, is a constant (`host`).
So noise, seeds and salts are drawn on the path that a release takes, and nothing in the product knows of it.

Left out is what later runs take up again and no person reads (``intermediate/``, coded records, trees, the
ledger's own files), as it may take another form; what is made of it is frozen.

The hashes hold for the packages of the lock and for Python 3.11; other versions print ``--help`` otherwise.
"""
