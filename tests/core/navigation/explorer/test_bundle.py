"""The bundle in the checkout is what its sources give; no source imports itself, and its words are whole."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tasks.core.charts import theme
from tests.core.navigation.explorer.conftest import EXPLORER

SOURCE = EXPLORER / "source"
PROGRAM = {
    path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.js*")) if path.suffix != ".json"
}
TEXTS = json.loads((SOURCE / "messages.json").read_text(encoding="utf-8"))


def imported(path: Path) -> set[Path]:
    """The files that one names, for code or for types."""
    named = re.findall(r"""(?:from\s|import[\s(])\s*"(\.[^"]+\.jsx?)\"""", PROGRAM[path])
    return {(path.parent / name).resolve() for name in named}


def test_no_file_imports_itself_by_way_of_others():
    left = {path.resolve(): imported(path) for path in PROGRAM}
    assert set().union(*left.values()) <= set(left), "every file that is named is there"
    while ends := {path for path, named in left.items() if not named & set(left)}:
        left = {path: named for path, named in left.items() if path not in ends}
    assert not left, "these import one another in a circle"


def test_every_text_is_said_and_every_text_said_is_there():
    program = "".join(PROGRAM.values())
    said = set(re.findall(r'(?:say|tell|PageError)\(\s*"([a-z_.]+)"', program))
    said |= set(re.findall(r'"((?:answer|question|difference|shares)\.[a-z_.]+)"', program))
    for file in ("difference", "shares"):
        reasons = re.findall(
            r'reason(?:: | = )(?:[^,\n"]*\? )?"(\w+)"', PROGRAM[SOURCE / f"answers/{file}.js"]
        )
        said |= {f"{file}.reason.{reason}" for reason in reasons}
    assert said <= set(TEXTS) and "difference.reason.two_releases" in said and len(said) > 100
    stems = tuple(stem for stem in re.findall(r"`([a-z_.]+[_.])\$\{", program))
    # A key with `@owner` behind it is said in place of the one without.
    plain = {key.partition("@")[0] for key in TEXTS}
    assert plain <= set(TEXTS)
    assert {key for key in plain - said if f'"{key}"' not in program and not key.startswith(stems)} == set()


def test_the_colours_are_those_of_all_charts():
    colours = json.loads((SOURCE / "colours.json").read_text(encoding="utf-8"))["light"]
    assert colours == {
        "ink": theme.INK,
        "soft": theme.SOFT,
        "line": theme.FAINT,
        "paper": theme.PAPER,
        "actual": theme.RELEASED,
        "estimated": theme.SYNTHETIC,
        "estimatedInk": theme.SYNTHETIC_INK,
        "stripe": theme.STRIPE,
    }
    sheet = (SOURCE / "style.css").read_text(encoding="utf-8")
    light, dark = re.findall(r"--estimated: (\S+); --estimated-ink: (\S+); --actual: (\S+);", sheet)
    assert light == (theme.SYNTHETIC, theme.SYNTHETIC_INK, theme.RELEASED)
    assert dark == tuple(theme.DARK[colour] for colour in light)


@pytest.mark.needs_node
def test_the_sources_give_the_bundle_byte_for_byte_and_the_types_hold(packages, tmp_path):
    subprocess.run([shutil.which("node"), "build.js", str(tmp_path)], cwd=packages.parent, check=True)
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert built == {path.name: path.read_bytes() for path in (EXPLORER / "bundle").iterdir()}
    subprocess.run([packages / ".bin" / "tsc", "--project", "."], cwd=packages.parent, check=True)


def test_the_licences_of_all_libraries_in_the_program_go_with_it():
    text = (EXPLORER / "bundle" / "LICENSES.txt").read_text(encoding="utf-8")
    lock = json.loads((EXPLORER / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    libraries = {"preact", "@preact/signals", "@preact/signals-core", "@tanstack/virtual-core", "d3-array"}
    for name in libraries:
        assert f"{name} {lock[f'node_modules/{name}']['version']} (" in text
    assert "Permission is hereby granted" in text and "Permission to use, copy" in text
    assert text in (EXPLORER / "bundle" / "explorer.js").read_text(encoding="utf-8")
