"""The parser of every command, which says what was perhaps meant, and options as they are typed."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from tasks.core.hints import did_you_mean


class CommandParser(argparse.ArgumentParser):
    """The parser of the command line and of each command, which tells of its unknown options itself."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """The same as without, but nothing is left unknown."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = self._option_string_actions
            meant = [did_you_mean(word.partition("=")[0], known) for word in unknown if word.startswith("-")]
            hints = "".join(f"; {each}" for each in meant if each)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hints}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as refused:
            if isinstance(action, argparse._SubParsersAction) and str(value).endswith(".json"):
                refused.message = f"the command must come first: did you mean {self.prog} run {value}?"
            elif meant := did_you_mean(str(value), map(str, action.choices or ())):
                refused.message += f"; {meant}"
            raise

    def error(self, message: str) -> NoReturn:
        """End with 2; an option of several values may have taken the file."""
        if message.endswith("required: FILE"):
            message += ": give FILE first"
        super().error(message)


#: How a value is read, by what stands for it in a spelling; all others are texts.
_READERS: dict[str, type] = {"N": int, "E": float} | dict.fromkeys(
    ("FILE", "FOLDER", "OUTPUT", "RELEASE", "CONFIG.json", "BATCH.json", "OUT.sdxblob.zip"), Path
)


def add_option(group: argparse._ActionsContainer, spelled: str, help: str, **more: Any) -> None:
    """Declare an option or an argument as it is typed: its names, and what stands for its values.

    ``--cap EPSILON DELTA`` takes two values, ``--only NAME ...`` one or more, ``--json`` is a flag, and
    ``file FILE`` is an argument.
    """
    first, *rest = spelled.split()
    names = [first, *(word for word in rest if word.startswith("-"))]
    values = rest[len(names) - 1 :]
    found: dict[str, Any] = {}
    if values[1:] == ["..."]:
        found = {"metavar": values[0], "nargs": "+"}
    elif len(values) > 1:
        found = {"metavar": tuple(values), "nargs": len(values)}
    elif values:
        found = {"metavar": values[0]}
    elif first.startswith("-") and not more.keys() & {"choices", "nargs"}:
        found = {"action": "store_true"}
    if values:
        found["type"] = _READERS.get(values[0])
    group.add_argument(*names, help=help, **found | more)


def add_options(group: argparse._ActionsContainer, told: Mapping[str, str], **more: Any) -> None:
    """Declare several, each with what its help says."""
    for spelled, help in told.items():
        add_option(group, spelled, help, **more)
