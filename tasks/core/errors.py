"""Errors by cause, each with the exit code that a command ends with.

A message says what was required, what was given and what to do, and never carries an attribute value, a count
read off the data, or a header that nobody declared.
"""


class MarginaliaError(Exception):
    """Anything that stops a run and that we can explain."""

    exit_code = 1


class ParameterError(MarginaliaError):
    """The configuration or the command line can't be used as it stands."""

    exit_code = 2

    def __init__(self, problems: str | list[str]) -> None:
        """Args: problems: every problem found, one sentence each."""
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(self.problems))


class InputError(ParameterError):
    """The input file can't be read as the configuration says it should be.

    Attributes:
        operator_detail: what only the operator may see (such as a row's position): it goes to the
            terminal and to the sensitive log, never to a state, an artifact or a release.
    """

    def __init__(self, problems: str | list[str], operator_detail: str = "") -> None:
        """Args: problems: safe to show anywhere. operator_detail: for the operator alone."""
        super().__init__(problems)
        self.operator_detail = operator_detail

    def __reduce__(self) -> tuple[type, tuple[list[str]]]:
        """Pickled without what only the operator may see: Prefect keeps a failed run's exception."""
        return type(self), (self.problems,)


class LateInput(InputError):
    """The file of this vintage is not there yet: nothing was drawn, and the same run may be tried again."""

    exit_code = 5


class ResourceLimit(ParameterError):
    """The run would need more memory or disk than there is."""


class StorageError(MarginaliaError):
    """Storage that is no folder does not answer, or refuses."""


class ClusterLost(MarginaliaError):
    """The cluster that works on the table is gone, or its workers are lost again and again."""


class BudgetExhausted(MarginaliaError):
    """The dataset's privacy budget does not cover this release."""

    exit_code = 3


class ContractViolation(MarginaliaError):
    """The table breaks its data contract, and the contract is one that stops the run."""

    exit_code = 4


class StoredTableMismatch(MarginaliaError):
    """A stored table is not what its reference says: somebody changed it."""


class LedgerError(MarginaliaError):
    """The ledger is damaged, or does not know the dataset: nothing may be drawn."""


class MeasurementLost(MarginaliaError):
    """A run died while drawing noise: its charge stands and its measurement is gone."""


class BatchFailed(MarginaliaError):
    """Runs of a batch failed; the others, if there are any, are done."""


class InternalError(MarginaliaError):
    """A promise of our own code is broken: our fault, not the user's."""
