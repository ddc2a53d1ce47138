"""DAX of a template: its columns and charts go in, the measures come out.

What is selected is a set of attribute numbers: one of each column or chart that is filtered to one value. The
reported count is looked up by these numbers, ascending. Where a column is filtered to several values, or to
none, there is no one count, and the look-up is left blank.
"""

from collections.abc import Mapping

from tasks.core.navigation.power_bi.showcase import Header, ShowcaseChart
from tasks.core.navigation.power_bi.texts import dax_column, dax_table, filled_text

KEY = "Key of the selection"
ESTIMATED, ACTUAL, AT_LEAST, AT_MOST = "Estimated", "Actual", "At least", "At most"
#: Indentation of the choices in their template.
_BETWEEN = ",\n" + " " * 12


def measures_of(
    columns: Mapping[Header, str], groups: Mapping[ShowcaseChart, str], records: str
) -> dict[str, str]:
    """The measures by name.

    Args:
        columns: the headers that have a column in the table of records, and that column's name.
        groups: the charts that have a table of their own, and its name.
        records: the name of the table of records.
    """
    choices = [filled_text("choice_compared.dax")]
    choices += [
        filled_text("choice_column.dax", column=dax_column(records, name), place=str(header.place))
        for header, name in columns.items()
    ]
    choices += [filled_text("choice_group.dax", table=dax_table(name)) for name in groups.values()]
    return {
        ESTIMATED: filled_text("estimated.dax"),
        ACTUAL: filled_text("reported.dax", column="Count"),
        AT_LEAST: filled_text("reported.dax", column="At least"),
        AT_MOST: filled_text("reported.dax", column="At most"),
        KEY: filled_text("key.dax", choices=_BETWEEN.join(choices)),
    }
