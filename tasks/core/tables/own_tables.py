"""What this project keeps closed is no input: a path goes in, whose closed folder it is in comes out.

A table that a run made of the raw one is about the same people. Read as an input it would have a path and
columns that no ledger knows, and so a budget of its own. A folder is known by what every run leaves in it.
"""

from pathlib import Path


def closed_folder_of(path: Path) -> str:
    """In words, the closed folder that a file is in; empty where it is in none, or can't be looked for."""
    try:
        parents = path.resolve().parents
    except (OSError, RuntimeError, ValueError):  # whoever opens it says what is wrong
        return ""
    for folder in parents:
        is_named = folder.name == "sensitive" or (folder / ".secret").exists()
        if is_named and (folder / ".results").is_dir():
            return "the sensitive/ folder of a workspace"
        if (folder / "ledger.sqlite").exists() or _is_copied_ledger(folder):
            return "a ledger's folder"
    return ""


def _is_copied_ledger(folder: Path) -> bool:
    """What this machine keeps of a ledger in a database."""
    return (folder / "head.json").is_file() and (folder / "measurements").is_dir()
