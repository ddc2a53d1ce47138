"""What the learners share: features as columns of numbers, one seed, no more threads than the run may use."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

Features = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]

#: With fewer rows on either side nothing is learned.
LEAST_ROWS = 50


def features_of(*sides: npt.NDArray[np.int32]) -> Features:
    """Rows of all sides, one below the other; codes (f, n) become numbers (n, f)."""
    return np.concatenate([side.T for side in sides]).astype(np.float32)


def labels_of(real: int, synthetic: int) -> Labels:
    """0 for each raw row, then 1 for each synthetic one."""
    return np.repeat(np.array([0, 1], np.int64), [real, synthetic])


@contextmanager
def learning(threads: int) -> Iterator[None]:
    """Fit in so many threads, 0 for all cores, and without warnings, which could name values."""
    import sklearn.ensemble  # noqa: F401 - limits hold for libraries that are loaded
    from threadpoolctl import threadpool_limits  # scikit-learn comes with it

    with warnings.catch_warnings(), threadpool_limits(threads or None):
        warnings.simplefilter("ignore")
        yield
