"""Noise tables of the tests are kept apart from the user's."""

from tests.core.dp.conftest import noise_table_cache as noise_table_cache
