"""What looks like an identifier of a person, in Python and in DuckDB alike."""

import re

import duckdb
import pytest

from tasks.core.contracts.odcs import pattern_problem
from tasks.core.records.dropped import TEXT_KINDS

EXAMPLES = {
    "email": ["jane@x.org", "write to jane.doe+x@mail.example.co.uk today"],
    "telephone": [
        *("+44 20 7946 0000", "+4530123456", "020 7946 0123", "(030) 1234-5678", "01.23.45.67.89"),
        "212-555-0100",
    ],
    "identityNumber": [
        *("078-05-1120", "123456789", "4111 1111 1111 1111", "12345678Z", "QQ 12 34 56 C"),
        "RSSMRA85T10A562S",
    ],
}
HARMLESS = [
    *("", "0", "well", "12.5", "0.123456789", "-3", "2024-01-31", "31/01/2024", "31.01.2024", "01.02.2024"),
    *("01/02/2024", "01-01301", "N", "R00001", "1,234,567", "12345678", "10<colon>30", "a@b", "18 - 24"),
]


def looks_like(text: str) -> set[str]:
    return {kind for kind, (_, patterns) in TEXT_KINDS.items() for each in patterns if re.search(each, text)}


def test_identifiers_are_found_and_ordinary_values_are_not():
    missed = [text for kind, texts in EXAMPLES.items() for text in texts if kind not in looks_like(text)]
    assert missed == [] == [text for text in HARMLESS if looks_like(text)]


def test_duckdb_reads_every_pattern_as_python_does():
    texts = HARMLESS + [text for found in EXAMPLES.values() for text in found]
    with duckdb.connect() as connection:
        for _, patterns in TEXT_KINDS.values():
            for pattern in patterns:
                assert pattern_problem(pattern) == ""
                rows = connection.execute(
                    "select regexp_matches(unnest($texts), $pattern)", {"texts": texts, "pattern": pattern}
                ).fetchall()
                assert [found for (found,) in rows] == [bool(re.search(pattern, text)) for text in texts]


@pytest.mark.parametrize(
    "pattern", ["(", "(?=a)", "(?<!a)b", r"(a)\1", "(?i)a", "a++", "a{2000}", r"a\Z", "(?P<n>a)", "[z-a]"]
)
def test_what_the_two_read_differently_is_refused(pattern):
    assert pattern_problem(pattern)
    assert pattern_problem(r"^\(?a{2,3}[+*]$") == ""
