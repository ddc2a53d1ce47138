import ast
from pathlib import Path

import pytest

import tasks.core

FOLDER = Path(tasks.core.__file__).parent
#: What draws, and what it is drawn through. Salts are no noise: they come from the operating system.
DRAWING = [*(FOLDER / "dp").rglob("*.py"), *(FOLDER / "ledger").rglob("*.py")]
BANNED = ("random", "numpy.random", "scipy", "secrets")


def uses(source):
    """Every dotted name that a module imports or reads from."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Attribute):
            yield ast.unparse(node).replace("np.", "numpy.", 1)


def banned_uses(source):
    return {name for name in uses(source) if any(name == bad or name.startswith(f"{bad}.") for bad in BANNED)}


@pytest.mark.parametrize(
    "path",
    sorted(path for path in DRAWING if path.name != "new_salt.py"),
    ids=lambda path: str(path.relative_to(FOLDER)),
)
def test_noise_comes_from_the_stream_alone(path):
    assert not banned_uses(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "from random import gauss",
        "import numpy as np\nnp.random.default_rng()",
        "from numpy.random import default_rng",
        "from numpy import random",
        "import numpy.random",
        "from scipy import stats",
        "import scipy.stats as stats",
    ],
)
def test_another_source_of_noise_would_be_seen(source):
    assert banned_uses(source)
