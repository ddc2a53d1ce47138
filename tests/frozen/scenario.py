"""A scenario: in a folder of its own some files, and then command lines, one after another."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: A text, bytes, or a configuration, which is written as JSON.
Content = str | bytes | dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """What is run.

    Attributes:
        files: by name.
        commands: command lines of ``marginalia``, each as a person would type it, without quotes.
    """

    files: Mapping[str, Content]
    commands: tuple[str, ...]

    def write(self, folder: Path, threads: int) -> None:
        """Write the files; configurations ask for so many threads."""
        folder.mkdir(parents=True)
        for name, content in self.files.items():
            if isinstance(content, dict):
                content = json.dumps(_with_threads(content, threads), indent=1, ensure_ascii=False)
            data = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(data)


def _with_threads(body: dict[str, Any], threads: int) -> dict[str, Any]:
    """The same configuration, or batch of them, with a number of threads where it names none."""
    asked = {"parallel_jobs": threads}
    return body | {"base_config": asked | body["base_config"]} if "base_config" in body else asked | body
