"""Power Query (M) of a template: what it shows goes in, expressions and the queries of its tables come out.

Two files are read, as UTF-8, every cell as text. Attributes are numbered in the order in which the file of
counts has them, and everything else is done by number: a combination's key is its numbers, ascending. So no
comparison of texts by Power BI, which does not tell upper from lower case, decides which count is found.

    Records file, Aggregates file          the released files, line by line
    Headers                                the columns that the template was made for
    Record cells                           a row a record, numbered; refused where the columns are others
    Attribute list                         a row an attribute: number, column, value, and how it is shown
    Long attributes                        a row a value of a record: the record's number, the attribute's
"""

from tasks.core.navigation.power_bi.showcase import TEXTS, Header, Showcase, ShowcaseChart, ShowcaseInputs
from tasks.core.navigation.power_bi.texts import filled_text, m_list, m_rows, m_text

FOLDER = TEXTS.say("parameters.folder")
PREFIX = TEXTS.say("parameters.prefix")


def shared_queries(inputs: ShowcaseInputs) -> dict[str, str]:
    """What the tables' queries have in common, by name; the two parameters first."""
    return {
        FOLDER: filled_text("parameter.pq", value="null"),
        PREFIX: filled_text("parameter.pq", value=m_text(inputs.prefix)),
        "Headers": filled_text("headers.pq", rows=m_rows(_row(header) for header in inputs.headers)),
        "Records file": _file("_synthetic_microdata.tsv"),
        "Aggregates file": _file("_reportable_aggregates.tsv"),
        "Record cells": filled_text("record_cells.pq", message=m_text(TEXTS.say("errors.columns"))),
        "Attribute list": filled_text("attribute_list.pq"),
        "Attribute numbers": filled_text("attribute_numbers.pq"),
        "Long attributes": filled_text("long_attributes.pq"),
    }


def records_query(showcase: Showcase) -> str:
    """A row a record, and a column for each header that has a chart."""
    return filled_text("records.pq", columns=m_list(source_column(header) for header in showcase.columns))


def reportable_query(inputs: ShowcaseInputs) -> str:
    """A row a reported combination: key, count, and where the true one lies, if the release says so."""
    count, at_least, at_most = _number_in(2), "null", "null"
    if inputs.has_ranges:
        # The reported counts are those of the records themselves. Beside them stands what all noisy tables
        # say, where they say anything; the page shows the same. The number of records has no range.
        told, at_least, at_most = (f'if [Column{n}] = "" then null else {_number_in(n)}' for n in (5, 6, 7))
        count = f'if [Key] = "0" then {count} else {told}'
    elif inputs.resolution is not None:
        at_least, at_most = "[Count]", f"[Count] + {inputs.resolution - 1}"
    return filled_text("reportable.pq", count=count, at_least=at_least, at_most=at_most)


def group_query(chart: ShowcaseChart) -> str:
    """A row a record and attribute of a chart that is of no single header."""
    if chart.column:
        return filled_text("group.pq", condition=f"[Column] = {m_text(chart.column)}", label="[Label]")
    condition = f"List.Contains({m_list(chart.chosen)}, [Text])"
    return filled_text("group.pq", condition=condition, label='[Column] & ":" & [Label]')


def source_column(header: Header) -> str:
    """What M calls a column of a file whose first line is read as any other."""
    return f"Column{header.place}"


def _number_in(column: int) -> str:
    return f'Number.FromText([Column{column}], "en-US")'


def _row(header: Header) -> str:
    item = "null" if header.item is None else m_text(header.item)
    return f"{{{m_text(header.name)}, {header.place}, {m_text(header.column)}, {item}}}"


def _file(ending: str) -> str:
    folder, prefix = (f'#"{name}"' for name in (FOLDER, PREFIX))
    return filled_text("file.pq", folder=folder, prefix=prefix, ending=m_text(ending))
