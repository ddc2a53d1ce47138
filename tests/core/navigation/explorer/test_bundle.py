"""The bundle in the checkout is what its sources give, and its words and colours are whole."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tasks.core.charts import theme
from tests.core.navigation.explorer.packages import EXPLORER

LANGUAGES = ("en", "de")
FOLDERS = (
    (EXPLORER / "messages", "{}.json"),
    (EXPLORER / "source" / "answers", "messages.{}.json"),
    (EXPLORER.parent / "messages", "{}.json"),
)

_PROGRAM = sorted(set((EXPLORER / "source").glob("*.js*")) - {EXPLORER / "source" / "messages.js"})


def texts(folder: Path, pattern: str, language: str) -> dict[str, str | dict[str, str]]:
    return json.loads((folder / pattern.format(language)).read_text(encoding="utf-8"))


def places(text: str | dict[str, str]) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", json.dumps(text, ensure_ascii=False))) - {"n"}


@pytest.mark.parametrize(("folder", "pattern"), FOLDERS)
def test_every_language_says_all_with_the_same_figures(folder, pattern):
    english, *others = (texts(folder, pattern, language) for language in LANGUAGES)
    for other in others:
        assert set(other) == set(english)
        assert {key: places(text) for key, text in other.items()} == {
            key: places(text) for key, text in english.items()
        }


def test_every_text_is_said_and_every_text_said_is_there():
    program = "".join(path.read_text(encoding="utf-8") for path in _PROGRAM)
    known = set(texts(*FOLDERS[0], "en"))
    said = set(re.findall(r'(?:say|say\.value|tell|PageError)\(\s*"([a-z_]+)"', program))
    assert said <= known
    stems = re.findall(r"`([a-z]+_)\$\{", program)
    # A key with `@owner` behind it is said in place of the one without.
    plain = {key.partition("@")[0] for key in known}
    assert plain <= known
    unsaid = {key for key in plain if f'"{key}"' not in program and not key.startswith(tuple(stems))}
    assert unsaid <= {"language"}


def test_the_colours_are_those_of_all_charts():
    colours = json.loads((EXPLORER / "source" / "colours.json").read_text(encoding="utf-8"))["light"]
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
    sheet = (EXPLORER / "source" / "style.css").read_text(encoding="utf-8")
    light, dark = re.findall(r"--estimated: (\S+); --estimated-ink: (\S+); --actual: (\S+);", sheet)
    assert light == (theme.SYNTHETIC, theme.SYNTHETIC_INK, theme.RELEASED)
    assert dark == tuple(theme.DARK[colour] for colour in light)


@pytest.mark.needs_node
def test_the_sources_give_the_bundle_byte_for_byte(packages, tmp_path):
    node = shutil.which("node")
    subprocess.run([node, "build.js", str(tmp_path)], cwd=packages.parent, check=True)
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert built == {path.name: path.read_bytes() for path in (EXPLORER / "bundle").iterdir()}


@pytest.mark.needs_node
def test_the_licences_of_all_libraries_in_the_program_go_with_it(packages):
    text = (EXPLORER / "bundle" / "LICENSES.txt").read_text(encoding="utf-8")
    lock = json.loads((EXPLORER / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    libraries = {"preact", "@preact/signals", "@preact/signals-core", "@tanstack/virtual-core", "d3-array"}
    for name in libraries:
        assert f"{name} {lock[f'node_modules/{name}']['version']} (" in text
    assert "Permission is hereby granted" in text and "Permission to use, copy" in text
    assert text in (EXPLORER / "bundle" / "explorer.js").read_text(encoding="utf-8")


@pytest.mark.needs_node
def test_the_types_hold(packages):
    subprocess.run([packages / ".bin" / "tsc", "--project", "."], cwd=packages.parent, check=True)
