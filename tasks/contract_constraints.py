"""Which schema the records of a run hold: that of its counts, with its contract's constraints or without."""

from pathlib import Path

from tasks.configuration import RunConfiguration
from tasks.core.contracts.constraints import with_constraints
from tasks.core.contracts.contract import load_contract
from tasks.core.records.columns import Schema


def held_schema(configuration: RunConfiguration, schema: Schema) -> Schema:
    """The schema with the constraints that every synthetic record holds.

    Under differential privacy they are in the schema of what is drawn, as records are repaired before they
    are counted. Under k-anonymity counts are those of the table as it is, and fitted records alone hold them.

    Args:
        configuration: the run's.
        schema: of what is counted.

    Raises:
        ParameterError: constraints that can't be held.
    """
    path = configuration.input.contract
    if path is None or configuration.is_private or not configuration.is_fitted:
        return schema
    return with_constraints(schema, load_contract(Path(path)), fills=False)
