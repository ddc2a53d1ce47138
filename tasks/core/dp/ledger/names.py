"""The name of a release: public configuration goes in, the three public words that name a draw come out.

Whether a draw happens depends on this name alone, never on the input's content and never on the code's
version (privacy.md, rule 1): "nothing was drawn because the data did not change" has infinite epsilon.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from tasks.core.anonymity.parameters import AnonymityParameters
from tasks.core.dp.ledger.entries import Body, canonical, sha256_of
from tasks.core.dp.parameters import DpParameters
from tasks.core.records.columns import Schema
from tasks.core.records.number_format import PLAIN

#: Of the regimes; SynDiffix's are its settings as they are.
Parameters = DpParameters | AnonymityParameters | Mapping[str, object]


@dataclass(frozen=True)
class ReleaseName:
    """What names one release.

    Attributes:
        dataset: the logical name that the budget is kept under: the same people, whatever the file.
        vintage: the label of this release, from the configuration or the schedule.
        digest: `configuration_digest` of everything public that touches the noise.
    """

    dataset: str
    vintage: str
    digest: str

    @property
    def key(self) -> str:
        """The name as part of a file's name: 32 hexadecimal digits."""
        return sha256_of(canonical([self.dataset, self.vintage, self.digest]))[:32]

    def as_body(self) -> dict[str, object]:
        """The name as an entry holds it."""
        return {"dataset": self.dataset, "vintage": self.vintage, "digest": self.digest}

    @classmethod
    def of(cls, body: Body) -> "ReleaseName":
        """The name that an entry holds."""
        return cls(str(body["dataset"]), str(body["vintage"]), str(body["digest"]))


def configuration_digest(
    schema: Schema,
    parameters: Parameters,
    preparation: Mapping[str, object] | None = None,
) -> str:
    """SHA-256 of the public configuration that touches what is counted or the noise on it.

    A whole number and the same number written as a fraction (1 and 1.0) are one. A setting that is
    added to `Schema` or `DpParameters` later must be left out here where it has the value that means
    "as before", or releases made before it would be drawn and charged again.

    Args:
        schema: the public schema.
        parameters: the release's parameters, the noise engine included.
        preparation: other public settings that change what is counted (the dialect, the contract's
            cell rules), JSON values; None and empty are the same.
    """
    return sha256_of(
        canonical(
            {
                "schema": _plain(_named(schema)),
                "parameters": _plain(parameters if isinstance(parameters, Mapping) else asdict(parameters)),
                "preparation": _plain(dict(preparation or {})),
            }
        )
    )


#: Of a column, what was added to it later, and the value that means "as before"; None: any, as a vintage
#: that was drawn under the earlier meaning is still that vintage.
_ADDED: dict[str, object] = {"zero_is_binned": None, "number_format": asdict(PLAIN)}


def _named(schema: Schema) -> Mapping[str, object]:
    """The schema as digests have it."""
    body = asdict(schema)
    for column in body["columns"]:
        for key, before in _ADDED.items():
            if before is None or column[key] == before:
                del column[key]
    return body


def _plain(value: object) -> object:
    """JSON in one spelling: numbers as text of a float where that is exact, keys as text."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and abs(value) > 2**53:
        return str(value)
    if isinstance(value, int | float):
        return {"number": repr(float(value) + 0.0)}
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted(canonical(_plain(inner)) for inner in value)
    raise TypeError(
        f"The configuration that names a release must be JSON; it holds a {type(value).__name__}."
    )
