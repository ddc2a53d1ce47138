"""What the privacy statement of a fitted release says of its draw: a measurement goes in, its law comes out.

What every statement has (claim, account, conditions) is in
`tasks.core.statement.differential_privacy.statement`. Here stand the tables that were measured, the noise of
each, what each costs, and the formulas that join them: whoever adds up the charges finds that they don't
exceed mu^2, which is the whole of the proof that can be checked by numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tasks.core.arrays import ColumnNumbers, Json
from tasks.core.dp.workload.cells import cells_of_all_columns
from tasks.core.dp.workload.measurement import NoisyScores, WorkloadMeasurement
from tasks.core.dp.workload.tables import MeasuredTable, sensitivity
from tasks.core.errors import InternalError
from tasks.core.sentences import sentences_of
from tasks.core.statement.differential_privacy.draw import (
    StatedDraw,
    error_bar_of,
    exactness,
    inputs,
    joining,
    meaning,
    noise_law,
    sample_of,
)

_TEXT = sentences_of("differential_privacy")

#: Numbers that follow from the data (`draw.inputs`).
_DRAWN = (
    "choices[].candidates",
    "choices[].chosen",
    "choices[].sensitivity_squared",
    "columns[].cells",
    "columns[].noisy_total.survivors",
    "columns[].noisy_total.value",
    "noisy_count.value",
    "tables[].cells",
    "tables[].score",
    "tables[].sensitivity",
    "tables[].total",
    "values.counts[][]",
    "values.open.survivors",
)


@dataclass(frozen=True)
class FittedDraw(StatedDraw):
    """A draw of a workload's tables, for records that are fitted to them."""

    measurement: WorkloadMeasurement

    def guarantee(self) -> Json:
        """What the claim says of its accountant."""
        measurement, delta_t = self.measurement, self.measurement.threshold_delta
        parameters = measurement.parameters
        tables = [table.sensitivity for table in (*measurement.values[:1], *measurement.tables)]
        scores = [len(each.candidates) for _, each in self._choices()]
        rule = _TEXT.say("law.exactness_of_tables")
        return {
            "delta_given": {"rule": _TEXT.say("claim.delta_constant")},
            "delta_applied": parameters.delta,
            "delta_threshold_applied": delta_t,
            "delta_noise": (parameters.delta - delta_t) / (1 - delta_t),
            "identity": _TEXT.say("claim.delta_identity.gdp"),
            "accountant": {
                "name": "gdp",
                "theorem": _TEXT.say("fitted.theorem"),
                "conversion": _TEXT.say("accountant.gdp_conversion"),
                "rule": _TEXT.say("fitted.rule"),
                "text": _TEXT.say("fitted.shares"),
            },
            "sampling_exactness": exactness(parameters.epsilon, [*tables, *scores], rule),
        }

    def parts(self, unit: str) -> Json:
        """The statement's parts on the draw.

        Raises:
            InternalError: the noise does not carry the nominal charge (rule 9).
        """
        realised, measurement = self._require_covered(), self.measurement
        law, lattice = _TEXT.say("law.tables"), _TEXT.say("law.lattice_of_tables")
        limit = measurement.parameters.record_limit
        return {
            "inputs": inputs(_TEXT.say("fitted.inputs"), _DRAWN),
            "parameters": self._parameters(),
            "noisy_count": self._count(),
            "values": self._values(),
            "tables": self._tables(),
            "choices": [self._choice(*each) for each in self._choices()],
            "mu_squared_realised": float(realised),
            "cells": _TEXT.say("fitted.cells"),
            "shares": _TEXT.say("fitted.shares"),
            "noise": noise_law(law, lattice, private=measurement.private),
            "contribution": {
                "how": joining(unit),
                **meaning(measurement.schema, unit),
                "rule": _TEXT.say("fitted.cells"),
                "width": measurement.schema.measured.width,
            },
            "sampling": sample_of(limit, _TEXT.say("sampling.text_of_tables")),
        }

    def columns(self, stated: Sequence[Json]) -> list[Json]:
        """The columns of the public schema, and how many cells each has."""
        every = cells_of_all_columns(self.measurement.schema, self.measurement.cells)
        return [column | {"cells": cells.size} for column, cells in zip(stated, every, strict=True)]

    def _charges(self) -> Iterator[tuple[int, float]]:
        """Square of the sensitivity and noise scale of everything that was drawn."""
        measurement = self.measurement
        yield 1, measurement.count_scale
        if measurement.values:
            yield measurement.values[0].sensitivity, measurement.values[0].scale
        for table in measurement.tables:
            yield table.sensitivity, table.scale
        for _, scores in self._choices():
            yield self._squares(scores), scores.scale

    def _require_covered(self) -> Fraction:
        """The sum of all charges, in exact fractions, refused above the nominal one."""
        spent = sum((square / Fraction(scale) ** 2 for square, scale in self._charges()), Fraction(0))
        if spent > Fraction(self.measurement.mu_squared):
            raise InternalError("The noise of a release must cover its charge: sum of Delta / s^2 <= mu^2.")
        return spent

    def _choices(self) -> list[tuple[str, NoisyScores]]:
        """The private choices that were made, by what was chosen: ``pairs`` or ``longer``."""
        both = (("pairs", self.measurement.pair_scores), ("longer", self.measurement.scores))
        return [(what, scores) for what, scores in both if scores is not None]

    def _squares(self, scores: NoisyScores) -> int:
        return sum(sensitivity(self.measurement.cells, columns) ** 2 for columns in scores.candidates)

    def _parameters(self) -> Json:
        """Every parameter of the draw, columns by name."""
        parameters = self.measurement.parameters
        body: dict[str, Any] = parameters.as_settings()
        names = [column.name for column in self.measurement.schema.columns]
        target, tables = parameters.target, parameters.tables
        for longer in (body["longer"], *(step["longer"] for step in body["steps"])):
            longer["holding"] = None if longer["holding"] is None else names[longer["holding"]]
        return body | {
            "expected_size": body.pop("record_limit"),
            "target": None if target is None else names[target],
            "tables": None if tables is None else [[names[column] for column in each] for each in tables],
            "filled": [names[column] for column in parameters.filled],
        }

    def _count(self) -> Json:
        scale = self.measurement.count_scale
        return {
            "value": self.measurement.number_of_records,
            "scale": scale,
            "mu_squared": 1 / scale**2,
            "law": _TEXT.say("law.gaussian"),
            **error_bar_of(scale),
            "signal": self.measurement.signal,
            "signal_rule": _TEXT.say("fitted.signal"),
        }

    def _values(self) -> Json | None:
        """Length 1."""
        measurement, first = self.measurement, self.measurement.length_one
        if first is None:
            return None
        columns = measurement.schema.measured.columns
        opened = [place for place, column in enumerate(columns) if column.is_open]
        items = sum(columns[place].max_items for place in opened)
        return {
            "scale": first.scale,
            "sensitivity": first.sensitivity,
            "mu_squared": first.sensitivity / first.scale**2,
            "error_bar": error_bar_of(first.scale),
            "threshold": first.threshold if opened else None,
            "threshold_rule": _TEXT.say("fitted.threshold") if opened else _TEXT.say("threshold.none"),
            "counts": [table.counts.tolist() for table in measurement.values],
            "counts_rule": _TEXT.say("fitted.counts"),
            "open": {
                "columns": len(opened),
                "items": items,
                "sensitivity": min(first.sensitivity, items),
                "survivors": sum(len(measurement.cells[place].values) for place in opened),
                "suppressed": None,
                "why": _TEXT.say("fitted.other"),
            },
        }

    def _stages(self) -> Iterator[str]:
        """In which stage each table was measured: ``workload``, ``chosen`` (for its score) or ``second``."""
        scored = set(self.measurement.scores.candidates if self.measurement.scores else ())
        before: set[ColumnNumbers] = set()
        for columns in (table.columns for table in self.measurement.tables):
            # A single column is a table only where there was no other to measure again.
            again = columns in before or len(columns) == 1
            yield "second" if again else "chosen" if columns in scored else "workload"
            before.add(columns)

    def _tables(self) -> list[Json]:
        """The tables in the order in which they were measured."""
        scores = {
            columns: score
            for _, each in self._choices()
            for columns, score in zip(each.candidates, each.scores, strict=True)
        }
        return [
            {"stage": stage, "score": scores.get(table.columns)} | self._table(table)
            for table, stage in zip(self.measurement.tables, self._stages(), strict=True)
        ]

    def _table(self, table: MeasuredTable) -> Json:
        counts_once = all(self.measurement.cells[column].cap == 1 for column in table.columns)
        return {
            "columns": [self.measurement.schema.columns[column].name for column in table.columns],
            "total": int(table.counts.sum()) if counts_once else None,
            "cells": int(table.counts.size),
            "sensitivity": table.sensitivity,
            "scale": table.scale,
            "mu_squared": table.sensitivity / table.scale**2,
            "error_bar": error_bar_of(table.scale),
        }

    def _choice(self, what: str, scores: NoisyScores) -> Json:
        drawn = {table.columns for table in self.measurement.tables}
        square, against = self._squares(scores), _TEXT.say(f"fitted.against.{what}")
        return {
            "what": _TEXT.say(f"published.chosen_from.{what}"),
            "candidates": len(scores.candidates),
            "chosen": sum(columns in drawn for columns in scores.candidates),
            "sensitivity_squared": square,
            "scale": scores.scale,
            "mu_squared": square / scores.scale**2,
            "against": against,
            "rule": _TEXT.say("fitted.score", against=against),
        }
