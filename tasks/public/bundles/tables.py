"""What synthetic tables were handed over with: SynDiffix.

schema.json       the public schema
synthetic_table/  stitched and shuffled
tables/           one a question
"""

from typing import ClassVar

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import syndiffix_parameters
from tasks.core.dp.digest import Parameters
from tasks.core.records.columns import Schema
from tasks.core.statement.syndiffix import LABEL
from tasks.public.bundles.bundle import Bundle


class TablesBundle(Bundle):
    """Synthetic tables."""

    crossing: ClassVar[str] = "noise, suppression, stitching"
    made_of: ClassVar[str] = "synthetic tables, stitched and shuffled"

    @staticmethod
    def parameters(configuration: RunConfiguration, schema: Schema) -> Parameters:
        return syndiffix_parameters(configuration, schema)

    def strength(self, configuration: RunConfiguration) -> str:
        """That it has no number."""
        return LABEL
