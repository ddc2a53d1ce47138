"""``python -m tests.frozen``: see the package's own words."""

import argparse
import sys
from pathlib import Path

import tests.frozen
from tests.frozen import frozen


def main() -> int:
    """Run one command line."""
    options = _parser().parse_args()
    code: int = options.action(options)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.frozen",
        description=tests.frozen.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True)
    write = commands.add_parser("write", help="run all of it and store the hashes")
    write.set_defaults(action=_write)
    run = commands.add_parser("run", help="run all of it and keep the texts in a folder")
    run.add_argument("folder", type=Path)
    run.set_defaults(action=_run)
    for each in (write, run):
        each.add_argument("--only", nargs="+", default=[], choices=frozen.SCENARIOS, metavar="SCENARIO")
        each.add_argument("--threads", type=int, default=1)
    compare = commands.add_parser("compare", help="show how kept texts differ")
    compare.add_argument("before", type=Path, nargs="?", default=frozen.WRITTEN, metavar="FOLDER")
    compare.add_argument("after", type=Path, nargs="?", default=frozen.LAST, metavar="OTHER")
    compare.set_defaults(action=_compare)
    return parser


def _write(options: argparse.Namespace) -> int:
    found = _freeze(options, frozen.WRITTEN)
    _tell(found, options)
    frozen.store(found, options.only)
    return 0


def _run(options: argparse.Namespace) -> int:
    found = _freeze(options, options.folder)
    _tell(found, options)
    return 0


def _tell(found: dict[str, str], options: argparse.Namespace) -> None:
    before = frozen.stored(options.only)
    print("\n".join(frozen.differences(before, found)) or "All hashes are those of hashes.json.")


def _freeze(options: argparse.Namespace, folder: Path) -> dict[str, str]:
    texts, seconds = frozen.freeze(options.only, options.threads)
    frozen.keep(texts, folder)
    print(
        f"{len(texts)} texts, kept in {folder}; {seconds:.0f} CPU seconds beside the start-up.",
        file=sys.stderr,
    )
    return frozen.hashes(texts)


def _compare(options: argparse.Namespace) -> int:
    for folder in (options.before, options.after):
        if not folder.is_dir():
            print(f"There are no texts in {folder}: see python -m tests.frozen --help.", file=sys.stderr)
            return 2
    lines = list(frozen.compare(options.before, options.after))
    print("\n".join(lines) or "Nothing differs.")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
