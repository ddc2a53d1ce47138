from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.figures import format_down, format_percent_up, format_up, format_whole, plain_down, plain_up

POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def read(text: str) -> Decimal:
    """The number that a text shows."""
    text = text.replace(",", "").replace("\u2212", "-")
    mantissa, _, power = text.rpartition("10") if any(c in text for c in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹") else (text, "", "0")
    mantissa = mantissa.rstrip("·") or "1"
    return Decimal(mantissa) * Decimal(10) ** int(power.translate(POWERS))


@given(st.floats(min_value=1e-300, max_value=1e300), st.integers(1, 9))
def test_a_loss_is_never_shown_smaller_nor_what_remains_larger_and_by_less_than_a_unit(value, digits):
    exact = Decimal(repr(value))
    assert read(format_down(value, digits)) <= exact
    assert exact <= read(format_up(value, digits)) <= exact * (1 + Decimal(10) ** (1 - digits))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "1"),
        (1e-6, "10⁻⁶"),
        (3.4878892115, "3.49"),
        (0.8682000372, "0.869"),
        (0.1 + 0.2, "0.301"),
        (4.07e-4, "4.07·10⁻⁴"),
        (23.375, "23.4"),
        (99999.9, "100,000"),
        (0.0, "0"),
        (float("inf"), "∞"),
        (2.5e12, "2.5·10¹²"),
    ],
)
def test_figures_read_as_a_person_would_write_them(value, shown):
    assert format_up(value) == shown


def test_whole_numbers_have_commas_and_a_true_minus():
    assert format_whole(-1234567) == "\u22121,234,567"


@given(st.floats(1e-12, 1e6), st.floats(1e-12, 1e6), st.sampled_from([0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1.0]))
def test_what_fits_is_never_shown_as_more_than_what_it_fits_into(cost, other, near):
    """Also where the two differ beyond the digits that are shown."""
    cap = cost * (1 + near) if near < 1 else max(cost, other)
    assert float(plain_up(min(cost, cap))) <= float(plain_up(cap))
    assert float(plain_down(cost)) <= cost <= float(plain_up(cost))


@pytest.mark.parametrize("value", [4, 0.1, Decimal("0.1"), 1e-6, 3.25, 12])
def test_a_round_number_is_shown_as_it_is(value):
    assert plain_up(value) == plain_down(value) == f"{float(value):g}"


def test_shares_are_rounded_up():
    assert format_percent_up(0.0123456) == "1.3\u202f%"
