"""The tabular model of a template: its charts go in, the JSON of ``DataModelSchema`` comes out.

    Records          a row a synthetic record, a column a header that has a chart; here are the measures
    Attributes       a row a value of a record
    one a chart      the same for charts that are of no single header; selecting there selects records
    Compare          every attribute with a reported count, tied to nothing: what the list on the right shows
    Attribute values the same, never filtered: where a shown value has its number
    Reportable       the reported counts by key, never filtered

Attributes and charts hang on Records by the record's number. The form is Microsoft's tabular model scripting
language; its compatibility level is one that every Power BI Desktop since 2021 reads.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tasks.core.arrays import Json
from tasks.core.navigation.power_bi.measures import ACTUAL, AT_LEAST, AT_MOST, ESTIMATED, KEY, measures_of
from tasks.core.navigation.power_bi.names import model_names
from tasks.core.navigation.power_bi.queries import (
    FOLDER,
    PREFIX,
    group_query,
    records_query,
    reportable_query,
    shared_queries,
    source_column,
)
from tasks.core.navigation.power_bi.showcase import Header, Showcase, ShowcaseChart, ShowcaseInputs
from tasks.core.navigation.power_bi.texts import filled_json, filled_text, json_template

RECORDS, COMPARE = "Records", "Compare"
#: Columns that the layout names.
COLUMN, LABEL, NAME = "Column", "Label", "Name"
_RECORD = "Record"
_TEXT, _WHOLE = "string", "int64"
_NUMBERS = "#,0"


@dataclass(frozen=True)
class TabularModel:
    """The model of one template.

    Attributes:
        inputs: what it is made of.
        showcase: what it shows.
    """

    inputs: ShowcaseInputs
    showcase: Showcase

    @cached_property
    def columns(self) -> Mapping[Header, str]:
        """The headers that have a column in the table of records, and that column's name."""
        shown = self.showcase.columns
        taken = (_RECORD, KEY, ESTIMATED, ACTUAL, AT_LEAST, AT_MOST)
        return dict(zip(shown, model_names((header.name for header in shown), taken), strict=True))

    @cached_property
    def groups(self) -> Mapping[ShowcaseChart, str]:
        """The charts that have a table of their own, and its name."""
        charts = self.showcase.groups
        # A table's query is among the shared ones, so it has none of their names.
        taken = [*(table["name"] for table in self._fixed_tables()), *shared_queries(self.inputs)]
        return dict(zip(charts, model_names((chart.title for chart in charts), taken), strict=True))

    def to_json(self) -> Json:
        """As ``DataModelSchema`` has it."""
        tables = [*self._fixed_tables(), *self._group_tables()]
        tables[0] |= {
            "columns": [*tables[0]["columns"], *self._record_columns()],
            "measures": self._measures(),
        }
        queries = shared_queries(self.inputs)
        body: Json = filled_json(
            json_template("database.json"),
            name=self.inputs.prefix,
            tables=tables,
            relationships=self._relationships(),
            expressions=[_expression(name, text) for name, text in queries.items()],
            order=json.dumps([*queries, *(table["name"] for table in tables)], ensure_ascii=False),
        )
        return body

    def _fixed_tables(self) -> list[Json]:
        whole, text = _column(_WHOLE), _column(_TEXT)
        hidden, numbered = _column(_WHOLE, hidden=True), _column(_WHOLE, hidden=True)
        return [
            _table(RECORDS, records_query(self.showcase), {_RECORD: hidden}),
            _table(
                "Attributes", filled_text("attributes.pq"), {_RECORD: whole, "Number": whole}, hidden=True
            ),
            _table(COMPARE, filled_text("compare.pq"), {"Number": numbered, COLUMN: text, LABEL: text}),
            _table(
                "Attribute values",
                filled_text("attribute_values.pq"),
                {"Number": whole, "Place": whole, COLUMN: text, LABEL: text},
                hidden=True,
            ),
            _table(
                "Reportable",
                reportable_query(self.inputs),
                {"Key": text, "Count": whole, AT_LEAST: whole, AT_MOST: whole},
                hidden=True,
            ),
        ]

    def _group_tables(self) -> list[Json]:
        hidden, text = _column(_WHOLE, hidden=True), _column(_TEXT)
        columns = {_RECORD: hidden, "Number": hidden, NAME: text}
        return [_table(name, group_query(chart), columns) for chart, name in self.groups.items()]

    def _record_columns(self) -> list[Json]:
        return [
            {"name": name, "sourceColumn": source_column(header), **_column(_TEXT)}
            for header, name in self.columns.items()
        ]

    def _measures(self) -> list[Json]:
        found = measures_of(self.columns, self.groups, RECORDS)
        return [
            {"name": name, "expression": _lines(text)}
            | ({"isHidden": True} if name == KEY else {"formatString": _NUMBERS})
            for name, text in found.items()
        ]

    def _relationships(self) -> list[Json]:
        """Everything that holds records' numbers hangs on the records; charts filter them, too."""
        return [_relationship("Attributes")] + [
            _relationship(name) | {"crossFilteringBehavior": "bothDirections"}
            for name in self.groups.values()
        ]


def _column(kind: str, *, hidden: bool = False) -> Json:
    """What a column has beside its name. Nothing is added up by itself."""
    return {"dataType": kind, "summarizeBy": "none"} | ({"isHidden": True} if hidden else {})


def _table(name: str, query: str, columns: Mapping[str, Json], *, hidden: bool = False) -> Json:
    """A table that a query of its own name fills."""
    source = {"type": "m", "expression": _lines(query)}
    return ({"name": name} | ({"isHidden": True} if hidden else {})) | {
        "columns": [{"name": each, "sourceColumn": each, **about} for each, about in columns.items()],
        "partitions": [{"name": name, "mode": "import", "source": source}],
        "annotations": [{"name": "PBI_ResultType", "value": "Table"}],
    }


def _relationship(table: str) -> Json:
    return {
        "name": f"{table} of {RECORDS}",
        "fromTable": table,
        "fromColumn": _RECORD,
        "toTable": RECORDS,
        "toColumn": _RECORD,
    }


def _expression(name: str, text: str) -> Json:
    kind = "Text" if name in (FOLDER, PREFIX) else "Table"
    return {
        "name": name,
        "kind": "m",
        "expression": _lines(text),
        "annotations": [{"name": "PBI_ResultType", "value": kind}],
    }


def _lines(text: str) -> Sequence[str]:
    """As the model's JSON has texts of several lines."""
    return text.split("\n")
