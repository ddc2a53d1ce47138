"""What may be published from is found by its own vintage, never by how its name begins."""

import os
from pathlib import Path

import pytest

from tasks.configuration.flat_file import from_flat
from tasks.core.errors import ParameterError
from tasks.public.bundles import find_measurement, seal
from tasks.storage import Workspace
from tests.flows import pipeline


def handed_over(home: Path, vintage: str, digest: str, moment: int) -> Path:
    place = home / f"{vintage}-{digest}"
    place.mkdir(parents=True)
    declared: dict[str, object] = {"dataset": "people", "vintage": vintage, "digest": digest}
    seal(place, declared | {"regime": "k_anonymity", "input": {}})
    os.utime(place, (moment, moment))
    return place


def test_a_year_is_published_also_when_its_months_were_measured_later(tmp_path):
    workspace = Workspace(tmp_path)
    home = tmp_path / "measurement" / "people"
    year = handed_over(home, "2026", "0a1b2c3d", 1)
    month = handed_over(home, "2026-11", "0a1b2c3d", 2)
    handed_over(home, "2026-11-b", "0a1b2c3d", 3)
    for vintage, place in (("2026", year), ("2026-11", month)):
        asked = from_flat(pipeline.anonymous(tmp_path, vintage=vintage))
        assert find_measurement(workspace, asked, None).key == place.relative_to(tmp_path).as_posix()
    with pytest.raises(ParameterError, match="a measurement of vintage '202'"):
        find_measurement(workspace, from_flat(pipeline.anonymous(tmp_path, vintage="202")), None)
    asked = from_flat(pipeline.anonymous(tmp_path, vintage="2026-1"))
    with pytest.raises(ParameterError, match="there is none"):
        find_measurement(workspace, asked, None)
