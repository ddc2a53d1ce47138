"""The typed tables, as Parquet, that SynDiffix is measured on.

Real ones from ``$MARGINALIA_DATA``, else ``../shared/data``; where they are absent, generated ones of the
same shape, and the name says so.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq

from tests.benchmarks.data import Table, generated_codes, made_once, shared_file

_TAXI_LEFT_OUT = ("med", "hack", "lastname")
_TAXI_NUMBERS = ("trip_time_in_secs", "trip_distance", "fare_amount", "tip_amount", "total_amount")
_NATIONAL = (
    *("AGEP", "SEX", "MSP", "HISP", "RAC1P", "NPF", "HOUSING_TYPE", "OWN_RENT", "DENSITY", "INDP_CAT"),
    *("EDU", "PINCP", "POVPIP", "DVET"),
)
_CITIES = np.array([f"{name}{ward}" for name in ("Aberwick", "Brenmoor", "Caldwell") for ward in range(8)])
_CITY_SHARES = (0.8 ** np.arange(len(_CITIES))) / (0.8 ** np.arange(len(_CITIES))).sum()
_INCOMES = ("AGEP", "SEX", "MSP", "EDU", "OWN_RENT", "DENSITY", "PINCP", "POVPIP")
_ADULT_FIRST = ("age", "income>50K", "education-num", "hours-per-week", "sex")


def adult_columns(count: int) -> Table:
    """Adult's ``count`` columns, 48,842 records, whole numbers; beyond five, all 14."""
    return _real(
        "adult.csv", 48_842, list(_ADULT_FIRST[:count]) if count <= len(_ADULT_FIRST) else None, count
    )


def taxi_19() -> Table:
    """A thousand taxi rides, 19 columns: numbers, texts and times."""
    return _taxi(19, _TAXI_LEFT_OUT)


def _taxi(columns: int, left_out: Sequence[str] = (), names: Sequence[str] | None = None) -> Table:
    return _real("taxi-1000.csv", 1000, names, columns, left_out)


def national_24() -> Table:
    """A thousand people of national2019, 24 columns: numbers and texts."""
    return _real("na2019_1000.csv", 1000, None, 24, ("",))


def baselines() -> list[tuple[Table, str]]:
    """The tables of the published baselines (X5.1), and the strategy of each (`STRATEGIES`)."""
    adult = {count: adult_columns(count) for count in (1, 2, 3, 5, 14)}
    return [
        *((adult[count], "default") for count in (1, 2, 3, 5)),
        (adult[5], "single"),
        (_taxi(5, names=_TAXI_NUMBERS), "default"),
        (taxi_19(), "default"),
        (_taxi(22), "default"),
        (_taxi(20, ("hack", "lastname")), "ids=med"),
        (national_24(), "default"),
        (adult[14], "target=income>50K"),
        (adult[14], "default"),
    ]


def census_like() -> list[Table]:
    """Adult, a part of national2019 whose ``N`` is null, and a generated table whose columns depend on
    each other as a census's do: people of whom some thousand each."""
    return [
        _real("adult.csv", 48_842, None, 14, rows=10_000),
        _real("national2019.csv", 27_253, _NATIONAL, len(_NATIONAL), rows=6_000, null="N"),
        _made("census-8000", lambda: census(8_000), "generated census of 8000"),
    ]


def census(records: int, seed: int = 7) -> pa.Table:
    """Ten columns of people: schooling and income rise with age and each other, households with the area."""
    generator = np.random.default_rng(seed)
    normal = generator.standard_normal
    age = generator.integers(16, 91, records)
    sex = generator.integers(1, 3, records)
    area = generator.choice(6, records, p=(0.3, 0.25, 0.2, 0.12, 0.08, 0.05))
    talent = normal(records)
    schooling = np.clip(np.rint(9 + 2 * talent + 0.03 * np.minimum(age, 50) + 1.2 * normal(records)), 1, 16)
    hours = np.clip(np.rint(38 - 0.01 * (age - 42) ** 2 + 4 * (sex == 1) + 7 * normal(records)), 0, 80)
    income = np.exp(8.2 + 0.12 * schooling + 0.012 * hours + 0.006 * age + 0.55 * normal(records))
    household = np.clip(generator.poisson(1.2 + 0.45 * area), 0, 9) + 1
    rent = np.rint(300 + 60 * household + 0.008 * income + 90 * normal(records))
    married = generator.random(records) < 1 / (1 + np.exp(-(age - 30) / 8))
    work = np.digitize(talent + 0.3 * (sex == 2) + 0.6 * normal(records), (-1.2, -0.4, 0.4, 1.2))
    return pa.table(
        {
            "age": age,
            "sex": sex,
            "area": pa.array([f"area {code}" for code in area]),
            "schooling": schooling.astype(np.int64),
            "work": pa.array([f"work {code}" for code in work]),
            "hours": hours.astype(np.int64),
            "income": np.rint(income / 10).astype(np.int64) * 10,
            "household": household,
            "rent": rent.astype(np.int64),
            "married": pa.array(np.where(married, "yes", "no").tolist()),
        }
    )


def mixed(records: int, columns: int) -> Table:
    """A generated table of whole numbers, texts and reals in turn; one cell in ten is null."""
    title = f"generated {records} x {columns}"
    return _made(f"mixed-{records}x{columns}", lambda: _generated(records, columns), title)


def _real(
    file: str,
    records: int,
    names: Sequence[str] | None,
    columns: int,
    without: Sequence[str] = (),
    *,
    rows: int = 0,
    null: str = "",
) -> Table:
    source = shared_file(file)
    if not source.is_file():
        return mixed(rows or records, columns)

    def read() -> pa.Table:
        options = pv.ConvertOptions(null_values=[null], strings_can_be_null=True)
        table = pv.read_csv(source, convert_options=options)
        kept = names or [header for header in table.column_names if header not in without]
        return _microseconds(_spaced(table.select(kept), rows))

    return _made(f"{source.stem}_{columns}" + (f"_{rows}" if rows else ""), read)


def _spaced(table: pa.Table, rows: int) -> pa.Table:
    """So many rows, from all of the table; 0 for all."""
    return table.take(np.arange(rows) * table.num_rows // rows) if rows else table


def _microseconds(table: pa.Table) -> pa.Table:
    """Times in a unit that both sides read from Parquet."""
    fields = [
        field.with_type(pa.timestamp("us")) if pa.types.is_timestamp(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def _generated(records: int, columns: int) -> pa.Table:
    generator = np.random.default_rng(4)
    found = {}
    for place, codes in enumerate(generated_codes(records, columns)):
        is_null = codes == 0
        if place % 3 == 1:
            names = np.array([f"v{code:02d}" for code in range(256)], object)
            found[f"c{place}"] = pa.array(names[codes], mask=is_null)
        elif place % 3 == 2:
            reals = np.round(codes * 10 + generator.normal(0, 4, records), 2)
            found[f"c{place}"] = pa.array(reals, mask=is_null)
        else:
            found[f"c{place}"] = pa.array(codes.astype(np.int64), mask=is_null)
    return pa.table(found)


def orders() -> Table:
    """8,000 orders of 3,000 customers, generated: 16 amounts are 200 times what they would be."""
    return _made("orders", generated_orders)


def tails() -> Table:
    """8,000 generated records of 4,000 people: lognormal, Pareto, spiked, of both signs, times, texts."""
    return _made("tails", generated_tails)


def national_8() -> Table:
    """8,000 people of national2019, 8 columns, incomes among them."""
    return _real("national2019.csv", 27_253, _INCOMES, len(_INCOMES), rows=8000, null="N")


def _made(name: str, make: Callable[[], pa.Table], title: str = "") -> Table:
    return Table(title or name, made_once(f"{name}.parquet", lambda path: pq.write_table(make(), path)))


def generated_orders() -> pa.Table:
    """Amounts, items, cities, ages and customers; `orders` keeps it."""
    draw, rows = np.random.default_rng(12), 8000
    items = draw.geometric(0.4, rows)
    amount = draw.lognormal(2.6, 0.95, rows) * items**0.5
    amount[draw.choice(rows, 16, replace=False)] *= 200
    return pa.table(
        {
            "amount": pa.array(amount.round(2)),
            "items": pa.array(items),
            "city": pa.array(draw.choice(_CITIES, rows, p=_CITY_SHARES)),
            "age": pa.array(np.clip(draw.normal(46, 15, rows), 18, 95).astype(np.int64)),
            "customer": pa.array(draw.integers(0, 3000, rows)),
        }
    )


def generated_tails() -> pa.Table:
    """Incomes, claims, fees, balances, moments, ages, cities and people; `tails` keeps it."""
    draw, rows = np.random.default_rng(12), 8000
    age = np.clip(draw.normal(46, 15, rows), 18, 95).astype(np.int64)
    spikes = draw.choice([0.0, 25.0, 49.9, np.nan], rows, p=[0.55, 0.2, 0.1, 0.15])
    seconds = draw.exponential(40 * 86_400, rows).astype(np.int64)
    return pa.table(
        {
            "income": pa.array((draw.lognormal(7, 1.2, rows) * (age / 46)).round(2)),
            "claim": pa.array((100 * (1 + draw.pareto(1.3, rows))).round()),
            "fee": pa.array(np.where(np.isnan(spikes), draw.lognormal(4, 1, rows).round(2), spikes)),
            "balance": pa.array((draw.standard_t(2, rows) * 500).round(), mask=draw.random(rows) < 0.1),
            "seen": pa.array(np.datetime64("2024-03-01", "us") - seconds.astype("timedelta64[s]")),
            "age": pa.array(age),
            "city": pa.array(draw.choice(_CITIES, rows, p=_CITY_SHARES)),
            "person": pa.array(draw.integers(0, 4000, rows)),
        }
    )
