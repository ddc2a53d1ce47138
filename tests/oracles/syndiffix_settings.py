"""Parameters that tests of SynDiffix share: the defaults, none of the noise, much of it, small thresholds."""

from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    BucketizationParameters,
    FlatteningInterval,
    SuppressionParameters,
)
from tests.oracles.syndiffix import SALT

NAN = float("nan")
TWO = FlatteningInterval(2, 2)
NOISY = AnonymizationParameters(SALT)
NOISELESS = AnonymizationParameters(SALT, SuppressionParameters(3, 0.0, 2.0), TWO, TWO, 0.0)
GAPLESS = AnonymizationParameters(SALT, SuppressionParameters(3, 0.0, 0.0), TWO, TWO, 0.0)
LOUD = AnonymizationParameters(SALT, SuppressionParameters(2, 2.0, 0.5), layer_noise_sd=4.0)
# Small thresholds, so that branches, stubs, nulls and outliers all occur in small tables.
LIMITS = BucketizationParameters(3, 6)
