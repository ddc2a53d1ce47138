"""The parser of every command: it refuses what it does not know, and says what was perhaps meant."""

import argparse
from collections.abc import Sequence
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
