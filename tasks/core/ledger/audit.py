"""An audit: entries go in, whether every one of them was allowed comes out. A file of entries will do.

The chain tells that no entry was changed, moved or taken out. This tells that each could follow those before
it: phases in their order, no release drawn twice, every charge that of its claim and inside the caps in
force, caps inside one another. It needs nothing but the entries. Of times it only tells: a clock may be set
back, the order is the chain's.
"""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tasks.core.dp.budget import Caps, Spent, caps_of, decimal_up, mu_squared, sum_of
from tasks.core.dp.digest import canonical
from tasks.core.errors import ParameterError
from tasks.core.ledger.account import FOLLOWING, Account, account_of
from tasks.core.ledger.entries import Entry, Whereabouts, damage_error, verify_chain
from tasks.core.ledger.names import ReleaseName, registered_names

_CAPS = ("register", "lower", "raise")
#: Earlier versions may have rounded the last digits in another way.
_SLACK = Decimal("1.000001")


@dataclass(frozen=True)
class Audit:
    """Entries that were all found allowed.

    Attributes:
        entries: how many.
        set_back: places of entries whose time is before that of the entry before them.
    """

    entries: int
    head: str
    accounts: tuple[Account, ...]
    set_back: tuple[int, ...]

    @property
    def in_words(self) -> str:
        entries = "the 1 entry" if self.entries == 1 else f"all {self.entries:,} entries"
        said = f"{entries} verified"
        if self.set_back:
            places = ", ".join(map(str, self.set_back[:5])) + (", ..." if len(self.set_back) > 5 else "")
            said += f" (the clock was set back before entry {places}; their order is the chain's)"
        return said


def audit_entries(entries: list[Entry], of: Whereabouts) -> Audit:
    """Replay entries whose chain is whole.

    Raises:
        LedgerError: naming the first entry that was not allowed.
    """
    replay = _Replay()
    for entry in entries:
        problem = "it can't be read"
        with suppress(AssertionError, LookupError, ValueError, TypeError, ArithmeticError, ParameterError):
            problem = replay.problem(entry)
        if problem:
            raise damage_error(of, f"entry {entry.seq} ({entry.phase}) was not allowed: {problem}")
    accounts = tuple(account_of(entries, dataset) for dataset in registered_names(entries))
    times = [entry.text("t") for entry in entries]
    back = tuple(n + 1 for n in range(1, len(times)) if times[n] < times[n - 1])
    return Audit(len(entries), entries[-1].sha256, accounts, back)


class _Replay:
    def __init__(self) -> None:
        self._caps: dict[str, Caps] = {}
        self._widest: dict[str, Caps] = {}
        self._releases: dict[int, tuple[ReleaseName, str]] = {}
        self._latest: dict[ReleaseName, int] = {}
        self._charges: dict[str, dict[int, tuple[Decimal, Decimal]]] = {}
        self._spent: dict[str, Spent] = {}

    def problem(self, entry: Entry) -> str:
        """Why this entry can't follow those before it; empty where it can. It is then taken in."""
        if (entry.phase == "open") != (entry.seq == 1):
            return "a chain is opened once, by its first entry"
        if entry.phase in _CAPS:
            return self._changed(entry, entry.text("dataset"))
        if entry.phase == "reserve":
            return self._reserved(entry, entry.text("dataset"))
        if entry.phase in FOLLOWING:
            return self._advanced(entry)
        return ""

    def _changed(self, entry: Entry, dataset: str) -> str:
        caps, now = Caps.of(entry.body), self._caps.get(dataset)
        if (now is None) != (entry.phase == "register"):
            return "a dataset is registered once, and first"
        of_claim = caps_of(float(caps.epsilon), float(caps.delta), float(caps.threshold_delta))
        if caps.mu_squared > of_claim.mu_squared * _SLACK:
            return "its B^2 is above that of its epsilon and delta"
        if now is not None:
            widest = self._widest[dataset]
            if entry.phase == "lower" and not caps <= now:
                return "a cap rose without a reason"
            if entry.phase == "raise" and not entry.body.get("reason"):
                return "a cap was raised without a reason"
            if entry.phase == "raise" and not (caps <= widest or widest <= caps):
                return "budget was moved between the noise and the thresholds"
        self._caps[dataset] = caps
        self._widest[dataset] = (
            caps if now is None or self._widest[dataset] <= caps else self._widest[dataset]
        )
        return ""

    def _reserved(self, entry: Entry, dataset: str) -> str:
        if dataset not in self._caps:
            return "its dataset is not registered"
        name, replaced = ReleaseName.of(entry.body), entry.body.get("replaces")
        before = self._latest.get(name)
        phase = "" if before is None else self._releases[before][1]
        if phase in ("drawing", "commit"):
            return "its release was drawn already"
        if (before if phase == "reserve" else None) != replaced:
            return "it must replace the open reservation of its release, and nothing else"
        mu, threshold_delta = charge = _charge(entry)
        if mu < 0 or not 0 <= threshold_delta < 1:
            return "its charge is no charge"
        if _is_below_its_claim(entry):
            return "its charge is below that of its claim"
        if before is not None and phase == "reserve":
            self._releases[before] = (name, "replaced")
            self._give_back(dataset, before)
        self._releases[entry.seq], self._latest[name] = (name, "reserve"), entry.seq
        self._charges.setdefault(dataset, {})[entry.seq] = charge
        self._spent[dataset] = self._spent.get(dataset, Spent()).plus(*charge)
        return (
            "" if self._spent[dataset].within(self._caps[dataset]) else "its charge is above the cap in force"
        )

    def _give_back(self, dataset: str, number: int) -> None:
        del self._charges[dataset][number]
        self._spent[dataset] = sum_of(self._charges[dataset].values())

    def _advanced(self, entry: Entry) -> str:
        number = entry.body["reserve"]
        assert isinstance(number, int), "an entry of a release names its reservation"
        name, phase = self._releases[number]
        if ReleaseName.of(entry.body) != name:
            return "it is of another release than its reservation"
        if entry.phase not in FOLLOWING.get(phase, ()):
            return f"a release must not go from {phase} to {entry.phase}"
        if entry.phase == "commit" and len(entry.text("measurement_sha256")) != 64:
            return "it names no measurement"
        self._releases[number] = (name, entry.phase)
        if entry.phase == "void":
            self._give_back(name.dataset, number)
        return ""


def _is_below_its_claim(entry: Entry) -> bool:
    """Whether a release was charged less than its epsilon and delta are worth; known of ``gdp`` alone."""
    if entry.body.get("accountant") != "gdp":
        return False
    asked, (charged, threshold_delta) = entry.body["eps_delta_requested"], _charge(entry)
    assert isinstance(asked, list), "a reservation names its claim"
    epsilon, delta = (decimal_up(float(number)) for number in asked)
    return charged * _SLACK < mu_squared(epsilon, delta, threshold_delta)


def _charge(entry: Entry) -> tuple[Decimal, Decimal]:
    return Decimal(entry.text("mu2")), Decimal(entry.text("delta_t"))


def export_text(entries: Iterable[Entry]) -> str:
    """All entries as text, one a line: its hash, and its body in the spelling that is hashed."""
    return "".join(f'{{"sha256":"{each.sha256}","body":{canonical(each.body)}}}\n' for each in entries)


def write_export(entries: Iterable[Entry], path: Path) -> None:
    """Write them into a new file that only its owner can read."""
    problem = ""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(export_text(entries))
    except OSError as error:
        problem = os.strerror(error.errno or 0)
    if problem:
        raise ParameterError(
            f"The export must be a new file; {path} can't be made ({problem}): name another."
        )


def read_export(path: Path) -> list[Entry]:
    """The entries of an export, their chain verified.

    Raises:
        ParameterError: the file can't be read.
        LedgerError: it holds no whole chain.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = None
    if lines is None:
        raise ParameterError(f"The export {path} must be a text file that you may read. Correct the name.")
    return verify_chain((_row(line) for line in lines), export_at(path))


def export_at(path: Path) -> Whereabouts:
    return Whereabouts(str(path), "file")


def _row(line: str) -> tuple[int, str, str]:
    try:
        row = json.loads(line)
        return int(row["body"]["seq"]), canonical(row["body"]), str(row["sha256"])
    except (ValueError, TypeError, KeyError):
        return 0, "", ""
