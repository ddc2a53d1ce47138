"""The demonstration keeps what it shows: a strong association survives noise, thresholds and synthesis."""

from argparse import Namespace

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from flows.command.run import demo


def cramers_v(table: pd.DataFrame, one: str, other: str) -> float:
    counts: npt.NDArray[np.float64] = pd.crosstab(table[one], table[other]).to_numpy().astype(float)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    chi_square = ((counts - expected) ** 2 / expected).sum()
    return float(np.sqrt(chi_square / counts.sum() / (min(counts.shape) - 1)))


@pytest.mark.server
def test_the_demonstration_keeps_its_strongest_pairs(tmp_path):
    demo(Namespace(folder=tmp_path / "demo", verbose=False))
    release = tmp_path / "demo" / "release" / "survey" / "latest"
    synthetic = pd.read_csv(release / "survey_synthetic_microdata.tsv", sep="\t", dtype=str)
    survey = pd.read_csv(tmp_path / "demo" / "survey.csv", dtype=str).drop_duplicates("respondent")
    # The noise of the number of records has a standard deviation of 13.
    assert abs(len(synthetic) - len(survey)) < 100
    # .67 and .58 in the survey. Four runs lowered the first by .001 to .019, the second by .007 to .033; each
    # has noise of its own, so there is room for more.
    for pair, most in ((("health", "satisfaction"), 0.045), (("district", "travel"), 0.08)):
        assert abs(cramers_v(synthetic, *pair) - cramers_v(survey, *pair)) < most
