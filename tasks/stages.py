"""The stages of a run, in order: what a run is asked to go up to, every earlier one included."""

STAGES = ("aggregate", "generate", "evaluate", "navigate")


def reaches(last: str, stage: str) -> bool:
    """Whether a run up to ``last`` has a stage."""
    return STAGES.index(last) >= STAGES.index(stage)
