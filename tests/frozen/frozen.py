"""All that comes out of all scenarios as plain texts by path; their hashes; where both are kept."""

import difflib
import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.frozen import anonymous, private, refused, told, trees
from tests.frozen.plain_text import Plain
from tests.frozen.running import ROOT, Answer, Runner, runner
from tests.frozen.scenario import Scenario

SCENARIOS: dict[str, Scenario] = (
    told.SCENARIOS | refused.SCENARIOS | private.SCENARIOS | anonymous.SCENARIOS | trees.SCENARIOS
)
HASHES = Path(__file__).with_name("hashes.json")
#: Where texts are kept: of the hashes as they were written here, and of the last run of the test.
KEPT = ROOT / ".frozen"
WRITTEN, LAST = KEPT / "written", KEPT / "last"
#: Folders of what is kept for later runs alone, and logs.
_LEFT_OUT = frozenset(
    {"ledger", "intermediate", "coded_records", "synthetic_records", "trees", "dependence", "logs"}
)

#: Path below a scenario's name -> plain text.
Texts = dict[str, str]


def freeze(names: Iterable[str] = (), threads: int = 1) -> tuple[Texts, float]:
    """Run scenarios, all or some; return what came out, and the CPU seconds of the commands."""
    texts: Texts = {}
    seconds = 0.0
    with runner() as (found, home):
        for name in names or SCENARIOS:
            folder = home / "work" / name
            answers = _run(found, SCENARIOS[name], folder, threads)
            seconds += sum(answer.seconds for _, answer in answers)
            for path, text in _texts(folder, SCENARIOS[name], answers):
                assert f"{name}/{path}" not in texts, (
                    f"two files are {name}/{path}: plain_text hides too much"
                )
                texts[f"{name}/{path}"] = text
    return texts, seconds


def hashes(texts: Texts) -> dict[str, str]:
    """SHA-256 of each text, by path."""
    return {path: hashlib.sha256(texts[path].encode()).hexdigest() for path in sorted(texts)}


def keep(texts: Texts, folder: Path) -> None:
    """Write the texts below a folder, in place of those of the same scenarios."""
    for scenario in {path.partition("/")[0] for path in texts}:
        shutil.rmtree(folder / scenario, ignore_errors=True)
    for path, text in texts.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())


def stored(names: Iterable[str] = ()) -> dict[str, str]:
    """The hashes that were written, of all scenarios or of some."""
    found = json.loads(HASHES.read_text(encoding="utf-8")) if HASHES.exists() else {}
    return {path: known for path, known in found.items() if not names or _scenario(path) in names}


def store(found: Mapping[str, str], names: Iterable[str]) -> None:
    """Write hashes, those of scenarios that were not run as they are."""
    others = SCENARIOS.keys() - (set(names) or SCENARIOS.keys())
    kept = stored(others) if others else {}
    HASHES.write_text(json.dumps(kept | dict(found), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """A line for each path that changed, came or went."""
    lines = [f"changed  {path}" for path in sorted(before.keys() & after) if before[path] != after[path]]
    lines += [f"new      {path}" for path in sorted(after.keys() - before)]
    return lines + [f"gone     {path}" for path in sorted(before.keys() - after)]


def compare(before: Path, after: Path) -> Iterator[str]:
    """The lines of a unified difference between two folders of texts, of scenarios that both have."""
    old, new = _kept(before), _kept(after)
    both = {_scenario(path) for path in old} & {_scenario(path) for path in new}
    for path in sorted(old.keys() | new):
        if _scenario(path) in both and old.get(path) != new.get(path):
            sides = [_lines(path, each.get(path, "")) for each in (old, new)]
            yield from difflib.unified_diff(*sides, f"before/{path}", f"after/{path}", lineterm="")


def _lines(path: str, text: str) -> list[str]:
    """As they are shown: JSON in a single line as many."""
    if path.endswith(".json") and text and "\n" not in text.rstrip("\n"):
        text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    return text.splitlines()


def _kept(folder: Path) -> Texts:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in files}


def _scenario(path: str) -> str:
    return path.partition("/")[0]


def _run(found: Runner, scenario: Scenario, folder: Path, threads: int) -> list[tuple[str, Answer]]:
    scenario.write(folder, threads)
    return [(line, found.run(folder, shlex.split(line))) for line in scenario.commands]


def _texts(folder: Path, scenario: Scenario, answers: list[tuple[str, Answer]]) -> Iterator[tuple[str, str]]:
    """Paths, plain as well, and plain texts: of the files that came out, and a file for each command."""
    plain = Plain(folder, ROOT)
    files = sorted(path for path in _files(folder) if path.as_posix() not in scenario.files)
    by_time = sorted(files, key=lambda path: (folder / path).lstat().st_mtime_ns)
    plain.know_runs([path.as_posix() for path in by_time])
    for path in files:
        place = folder / path
        text = f"-> {place.readlink()}\n" if place.is_symlink() else None
        yield plain.text(path.as_posix()), plain.file(place) if text is None else plain.text(text)
    for number, (line, answer) in enumerate(answers, 1):
        words = line.split()
        name = "-".join(word for word in words[:2] if "/" not in word)
        said = (
            f"$ marginalia {line}\nexit {answer.code}\n--- printed\n{answer.printed}--- said\n{answer.said}"
        )
        yield f"commands/{number:02}-{name or 'nothing'}.txt", plain.text(said)


def _files(folder: Path) -> Iterator[Path]:
    """Every file that came out, relative; a link is one, and not followed."""
    for place, folders, names in os.walk(folder):
        here = Path(place).relative_to(folder)
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in links and not _is_left_out(name))
        yield from (here / name for name in sorted([*names, *links]) if not name.startswith("."))


def _is_left_out(folder: str) -> bool:
    return folder in _LEFT_OUT or folder.startswith(".")
