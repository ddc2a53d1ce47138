"""Where ``marginalia syndiffix`` may write: what is known to fail, or must not be, is refused at once.

In: the command's options. Out: nothing, or an error before a row is read or a salt is made.
"""

import argparse
import tempfile
from pathlib import Path

from tasks.core.errors import ParameterError
from tasks.core.ledger.place import ledger_place, local_folder
from tasks.core.tables.writing import is_stream, require_ending
from tasks.storage import INTERMEDIATE, MEASUREMENT, RELEASE


def require_places(options: argparse.Namespace) -> None:
    """Refuse an output that is known to fail once all is computed, or that must not be where it is.

    Raises:
        ParameterError: as said.
    """
    output: Path | None = options.blob or options.output
    # A link named so may lead to standard output.
    target = None if output is None else output.expanduser().resolve()
    if options.debug and (target is None or target.suffix.lower() != ".json" or is_stream(target)):
        raise ParameterError(
            "--debug writes the table itself, so it needs a file of its own that ends in .json: name one "
            "with --output, in a folder that nobody else can read."
        )
    if output is None:
        return
    home = output.expanduser().resolve()
    if not options.flow:
        _require_place_for_a_file(output)
        if options.blob is None and not options.debug:
            require_ending(output.expanduser())
    if home == options.table.expanduser().resolve():
        raise ParameterError("The output must not replace the table it is made from: name another file.")
    if home.is_relative_to(local_folder(ledger_place()).resolve()):
        raise ParameterError(
            f"The output {output} must not be in the ledger's folder, which is secret: name another folder."
        )
    zone = next((zone for zone in (RELEASE, INTERMEDIATE, MEASUREMENT) if zone in home.parts), None)
    if options.debug and zone:
        raise ParameterError(
            f"--debug writes the table itself, which must not be in {zone}/, and {output} is: name another "
            "folder."
        )


def _require_place_for_a_file(output: Path) -> None:
    """Refuse what is known to fail once all is computed. Raises ParameterError."""
    path = output.expanduser()
    if is_stream(path):
        return
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise ParameterError(f"The output {output} must be a file in a folder that exists: name another.")
    problem = ""
    try:
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass
    except OSError as error:
        problem = f"The output {output} can't be written ({error.strerror}): name another place."
    if problem:
        raise ParameterError(problem)
