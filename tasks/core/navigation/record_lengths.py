"""How long synthetic records are, in a sentence for the page."""

import numpy as np

from tasks.core.synthesis.records import AnySynthetic


def lengths_told(synthetic: AnySynthetic) -> str:
    """How many attributes the synthetic records have, in a sentence; of one record or more."""
    lengths = np.concatenate([np.diff(part.offsets).astype(np.int32) for part in synthetic.parts()])
    low, middle, high = (int(each) for each in np.quantile(lengths, (0.25, 0.5, 0.75), method="inverted_cdf"))
    longest = int(lengths.max())
    if lengths.min() == longest:
        return f"Each synthetic record has {_attributes(longest)}."
    if low == high:
        rest = f"the longest has {longest}" if longest > high else "none has more"
        return f"At least half of the synthetic records have {_attributes(low)}; {rest}."
    return (
        f"Half of the synthetic records have {low} to {high} attributes; the median is {middle}, the longest "
        f"has {longest}."
    )


def _attributes(number: int) -> str:
    return "1 attribute" if number == 1 else f"{number} attributes"
