"""The account of a dataset: the chain's entries go in, its caps and each release's state come out.

A release passes through phases; after ``void`` or ``lost`` the same name may be reserved anew.

    reserve ──▶ drawing ──▶ commit      charged, and the measurement is kept
       │           └──────▶ lost        charged, and nothing is kept
       ├─────────────────▶ lost
       └─────────────────▶ void         no noise was drawn: not charged

Caps that an operator asks for go in too, and those that may stand in the chain come out. R7 fixes two
limits in advance, B^2 for the noise and D for the thresholds. Whoever could move budget between them after
seeing releases would spend along the joint frontier, up to twice the delta that was promised; so all caps
that a dataset ever has lie inside one another, and the widest are the guarantee.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from tasks.core.dp.budget import DOWN, Caps, Spent, caps_of, runs_left, sum_of
from tasks.core.errors import LedgerError, ParameterError
from tasks.core.ledger.dataset_notes import Stop, stops_of
from tasks.core.ledger.entries import Entry
from tasks.core.ledger.names import ReleaseName

#: What may follow what.
FOLLOWING = {
    "reserve": ("drawing", "void", "lost"),
    "drawing": ("commit", "lost"),
    "commit": (),
    "void": (),
    "lost": (),
}


@dataclass(frozen=True)
class Reservation:
    """One reservation of a release and what became of it.

    Attributes:
        seq: the place of its ``reserve`` entry, which names its measurement.
        mu_squared, threshold_delta: its charge.
        epsilon, delta: the claim that was asked for.
        time: of its last entry, UTC.
        measurement_sha256: of the committed measurement, else None.
        head: hash of its last entry.
    """

    seq: int
    name: ReleaseName
    phase: str
    mu_squared: Decimal
    threshold_delta: Decimal
    epsilon: float
    delta: float
    engine: str
    time: str
    measurement_sha256: str | None
    head: str

    @property
    def is_charged(self) -> bool:
        """Everything stays charged but what was provably never drawn."""
        return self.phase not in ("void", "replaced")

    @property
    def measurement_name(self) -> str:
        return f"{self.name.key}.{self.seq}"


@dataclass(frozen=True)
class Account:
    """A dataset as the ledger knows it at one head; all of it public.

    Attributes:
        unit: ``subject`` or ``row``.
        population: whose data these are, in words.
        caps: in force now.
        guarantee: the widest caps that were ever in force: what holds for all releases together.
        reasons: the written reasons of raised caps and of its having a budget of its own, in order.
        head: hash of the last entry that was read.
        stops: runs that their table stopped: exact answers, of which every release tells.
    """

    dataset: str
    unit: str
    population: str
    caps: Caps
    guarantee: Caps
    reservations: tuple[Reservation, ...]
    reasons: tuple[str, ...]
    head: str
    stops: tuple[Stop, ...] = ()

    @property
    def spent(self) -> Spent:
        """All charges together, lost releases and open reservations included."""
        return sum_of((r.mu_squared, r.threshold_delta) for r in self.reservations if r.is_charged)

    @property
    def charged_releases(self) -> int:
        return sum(r.is_charged for r in self.reservations)

    @property
    def epsilon_spent(self) -> float:
        return self.spent.epsilon(self.caps.delta)

    @property
    def remaining(self) -> tuple[Decimal, Decimal]:
        """What is left of B^2 and of D (that a single release may still take), never below zero."""
        spent, zero = self.spent, Decimal(0)
        mu_squared = DOWN.subtract(self.caps.mu_squared, spent.mu_squared)
        rest = DOWN.subtract(self.caps.threshold_delta, spent.threshold_delta)
        return max(zero, mu_squared), max(zero, DOWN.divide(rest, spent.clean))

    def remaining_runs(self, mu_squared: Decimal, threshold_delta: Decimal) -> int:
        """How many more releases of this charge fit, at most `budget.MOST_RUNS`."""
        return runs_left(self.caps, self.spent, mu_squared, threshold_delta)

    def latest(self, name: ReleaseName) -> Reservation | None:
        return next((r for r in reversed(self.reservations) if r.name == name), None)


def reasons_of(entries: Iterable[Entry], dataset: str) -> tuple[str, ...]:
    """All that was written down about a dataset, which may have no account, in order."""
    return tuple(
        entry.text("reason")
        for entry in entries
        if dataset in map(entry.body.get, ("dataset", "apart", "subject_of")) and entry.body.get("reason")
    )


def account_of(entries: Iterable[Entry], dataset: str) -> Account:
    """The account after these entries.

    Raises:
        LedgerError: the dataset is not registered.
    """
    entries = list(entries)
    account: Account | None = None
    reservations: dict[int, Reservation] = {}
    head = ""
    for entry in entries:
        head = entry.sha256
        if entry.body.get("dataset") != dataset:
            continue
        if entry.phase == "register":
            caps = Caps.of(entry.body)
            account = Account(
                dataset, entry.text("unit"), entry.text("population"), caps, caps, (), (), entry.sha256
            )
        elif entry.phase in ("lower", "raise"):
            account = _apply_caps(account, entry)
        else:
            _advance(reservations, entry)
    if account is None:
        raise LedgerError(
            f"Only a registered dataset may be drawn from; '{dataset}' is not registered in this ledger. "
            "Register it once with the cap of all its releases: "
            f"marginalia ledger '{dataset}' --cap EPSILON DELTA."
        )
    return replace(
        account,
        reservations=tuple(reservations.values()),
        reasons=reasons_of(entries, dataset),
        head=head,
        stops=stops_of(entries, dataset),
    )


def _apply_caps(account: Account | None, entry: Entry) -> Account:
    assert account is not None, "caps are changed after registration"
    caps = Caps.of(entry.body)
    guarantee = caps if account.guarantee <= caps else account.guarantee
    return replace(account, caps=caps, guarantee=guarantee)


def _advance(reservations: dict[int, Reservation], entry: Entry) -> None:
    body = entry.body
    if entry.phase == "reserve":
        replaced = body.get("replaces")
        if isinstance(replaced, int):
            reservations[replaced] = replace(reservations[replaced], phase="replaced")
        asked = body["eps_delta_requested"]
        assert isinstance(asked, list), "a reservation names its claim"
        reservations[entry.seq] = Reservation(
            seq=entry.seq,
            name=ReleaseName.of(body),
            phase="reserve",
            mu_squared=Decimal(entry.text("mu2")),
            threshold_delta=Decimal(entry.text("delta_t")),
            epsilon=float(asked[0]),
            delta=float(asked[1]),
            engine=entry.text("engine"),
            time=entry.text("t"),
            measurement_sha256=None,
            head=entry.sha256,
        )
        return
    number = body["reserve"]
    assert isinstance(number, int), "an entry of a release names its reservation"
    reservations[number] = replace(
        reservations[number],
        phase=entry.phase,
        time=entry.text("t"),
        head=entry.sha256,
        measurement_sha256=str(body["measurement_sha256"]) if entry.phase == "commit" else None,
    )


@dataclass(frozen=True)
class Registration:
    """A dataset's registration (R7).

    Attributes:
        dataset: its logical name; next month's refresh of the same people is the same dataset.
        epsilon_cap, delta_cap: what all its releases together may cost.
        threshold_delta_cap: D, the part of delta_cap that thresholds may use, see
            `budget.default_threshold_delta_cap`.
        population: whose data these are, in words; may be empty.
        unit: ``subject`` or ``row``.
        reason: why it has a budget of its own, where its tables resemble another dataset's; may be empty.
        subject_id: the column that tells subjects apart in the run that asks; its entry is one of its own.
    """

    dataset: str
    epsilon_cap: float
    delta_cap: float
    threshold_delta_cap: float
    population: str = ""
    unit: str = "subject"
    reason: str = ""
    subject_id: str = ""

    def as_body(self) -> dict[str, object]:
        """As an entry holds it.

        Raises:
            ParameterError: a cap is out of range, or the unit is unknown.
        """
        if self.unit not in ("subject", "row"):
            raise ParameterError(
                f"A dataset's unit must be subject or row, not '{self.unit}': give one of them."
            )
        body = {"population": self.population, "unit": self.unit} | self._caps().as_body()
        return body | ({"reason": self.reason.strip()} if self.reason.strip() else {})

    def account(self) -> Account:
        caps = self._caps()
        return Account(self.dataset, self.unit, self.population, caps, caps, (), (), "")

    def _caps(self) -> Caps:
        return caps_of(self.epsilon_cap, self.delta_cap, self.threshold_delta_cap)


def lower_caps(
    account: Account, epsilon_cap: float, delta_cap: float, threshold_delta_cap: float | None
) -> Caps:
    """Caps inside those in force. D keeps its share of the delta cap unless it is given; B^2 never rises.

    Raises:
        ParameterError: a cap would rise.
    """
    now = account.caps
    share = min(float(now.threshold_delta), delta_cap * float(now.threshold_delta / now.delta))
    caps = caps_of(epsilon_cap, delta_cap, share if threshold_delta_cap is None else threshold_delta_cap)
    higher = (caps.epsilon > now.epsilon, caps.delta > now.delta, caps.threshold_delta > now.threshold_delta)
    if any(higher):
        raise ParameterError(
            f"Lowered caps of '{account.dataset}' must be at most {_words(now)}. To raise one, add --reason."
        )
    return Caps(caps.epsilon, caps.delta, caps.threshold_delta, min(caps.mu_squared, now.mu_squared))


def raise_caps(
    account: Account, epsilon_cap: float, delta_cap: float, threshold_delta_cap: float | None
) -> Caps:
    """Caps around those in force. D keeps its share of the delta cap unless it is given.

    Raises:
        ParameterError: a cap would fall, or one of B^2 and D would lie above the widest caps that were
            ever in force and the other below.
    """
    now, widest = account.caps, account.guarantee
    share = max(float(now.threshold_delta), delta_cap * float(now.threshold_delta / now.delta))
    caps = caps_of(epsilon_cap, delta_cap, share if threshold_delta_cap is None else threshold_delta_cap)
    lower = (caps.epsilon < now.epsilon, caps.delta < now.delta, caps.threshold_delta < now.threshold_delta)
    if any(lower):
        raise ParameterError(
            f"Raised caps of '{account.dataset}' must be at least {_words(now)}. To lower one, "
            "leave --reason out."
        )
    if not (caps <= widest or widest <= caps):
        raise ParameterError(
            f"Raised caps of '{account.dataset}' must not move budget between the noise and the thresholds: "
            f"the widest caps so far are {_words(widest)}. Raise epsilon, delta and the part for thresholds "
            "together."
        )
    return caps


def _words(caps: Caps) -> str:
    return (
        f"epsilon {float(caps.epsilon)!r}, delta {float(caps.delta)!r} ({float(caps.threshold_delta)!r} of "
        "it for thresholds)"
    )
