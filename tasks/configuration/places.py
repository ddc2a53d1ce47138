"""Where each key of the flat file stands in the model: each field carries its key (`sections.Key`)."""

from pydantic import BaseModel

from tasks.configuration.model import Input, Report, RunConfiguration
from tasks.configuration.protections.differential_privacy import DifferentialPrivacy, Thresholds
from tasks.configuration.resources import Resources
from tasks.configuration.sections import keys_of
from tasks.configuration.synthesis import AggregateSeeded, Fitted, RowSeeded, Unseeded, ValueSeeded
from tasks.core.metadata.described import Publication

_NESTED: dict[tuple[str, ...], tuple[type[BaseModel], ...]] = {
    (): (RunConfiguration,),
    ("input",): (Input,),
    ("protection",): (DifferentialPrivacy,),
    ("protection", "thresholds"): (Thresholds,),
    ("synthesis",): (RowSeeded, Unseeded, ValueSeeded, AggregateSeeded, Fitted),
    ("resources",): (Resources,),
    ("report",): (Report,),
    ("publication",): (Publication,),
}


def _places(section: str = "") -> dict[str, tuple[str, ...]]:
    return {
        key: (*place, field)
        for place, kinds in _NESTED.items()
        for kind in kinds
        for key, field in keys_of(kind, section).items()
        if place or (field,) not in _NESTED
    }


#: Flat key -> place in the model. `privacy` has keys of its own below.
PLACES = _places() | {"synthesis_mode": ("synthesis", "mode")}
#: Keys of the `privacy` section -> place in the model.
PRIVACY_PLACES = _places("privacy")
#: Read by `tasks.configuration.flat_file` itself.
SECTIONS = ("dp_aggregates", "privacy", "syndiffix")
