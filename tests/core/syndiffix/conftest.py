import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def vectors():
    """Numbers that the reference's port computed; seeds and hashes are texts, as they exceed 2^53."""
    return json.loads((Path(__file__).parent / "vectors.json").read_text())
