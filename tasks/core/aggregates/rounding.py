"""Rounding down to the reporting resolution (sds.md, floor_res)."""


def rounded_down(count: int, resolution: int) -> int:
    """The largest multiple of the resolution (at least 1) that the count reaches."""
    return count - count % resolution
