"""The privacy budget of each dataset, and the measurement of each release: drawn once, charged once."""

from tasks.core.dp.ledger.account import Account, Reservation
from tasks.core.dp.ledger.budget import Caps, Charge, Spent, default_threshold_delta_cap
from tasks.core.dp.ledger.drawing import Measured, draw_once
from tasks.core.dp.ledger.ledger import Admission, Ledger, open_ledger
from tasks.core.dp.ledger.names import ReleaseName, configuration_digest
from tasks.core.dp.ledger.place import ledger_place
from tasks.core.dp.ledger.registration import Registration
from tasks.core.dp.ledger.store import LedgerStore, SqliteStore

__all__ = [
    "Account",
    "Admission",
    "Caps",
    "Charge",
    "Ledger",
    "LedgerStore",
    "Measured",
    "Registration",
    "ReleaseName",
    "Reservation",
    "Spent",
    "SqliteStore",
    "configuration_digest",
    "default_threshold_delta_cap",
    "draw_once",
    "ledger_place",
    "open_ledger",
]
