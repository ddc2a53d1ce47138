"""DAX of a template: its columns and charts go in, the measures come out.

What is selected is a set of attribute numbers: one of each column or chart that is filtered to one value. The
reported count is looked up by these numbers, ascending. Where a column is filtered to several values, or to
none, there is no one count, and the look-up is left blank.
"""

from collections.abc import Mapping

from tasks.core.navigation.power_bi.showcase import Chart, Header
from tasks.core.navigation.power_bi.texts import dax_column, dax_table, filled

KEY = "Key of the selection"
ESTIMATED, ACTUAL, AT_LEAST, AT_MOST = "Estimated", "Actual", "At least", "At most"
#: Indentation of the choices in their template.
_BETWEEN = ",\n" + " " * 12


def measures(columns: Mapping[Header, str], groups: Mapping[Chart, str], records: str) -> dict[str, str]:
    """The measures by name.

    Args:
        columns: the headers that have a column in the table of records, and that column's name.
        groups: the charts that have a table of their own, and its name.
        records: the name of the table of records.
    """
    choices = [filled("choice_compared.dax")]
    choices += [
        filled("choice_column.dax", column=dax_column(records, name), place=str(header.place))
        for header, name in columns.items()
    ]
    choices += [filled("choice_group.dax", table=dax_table(name)) for name in groups.values()]
    return {
        ESTIMATED: filled("estimated.dax"),
        ACTUAL: filled("reported.dax", column="Count"),
        AT_LEAST: filled("reported.dax", column="At least"),
        AT_MOST: filled("reported.dax", column="At most"),
        KEY: filled("key.dax", choices=_BETWEEN.join(choices)),
    }
