"""Compiles every kernel, so that the first run does not wait for it: ``python -m tasks.warm_up``.

Runs the core once on a table of a few made-up rows and keeps nothing but the user's cache.
"""

import tempfile
from pathlib import Path

from tasks.core.aggregates.marginals import count_marginals
from tasks.core.dp.normalization import normalise
from tasks.core.dp.parameters import AccountantName, ContributionName, DpParameters
from tasks.core.dp.release import measure
from tasks.core.dp.stream import WordStream
from tasks.core.evaluation.raw import RawInputs, evaluate_raw
from tasks.core.queries import Resources
from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.reading import InputFile
from tasks.core.synthesis.aggregate_seeded import AggregateSeeded, synthesize
from tasks.core.synthesis.assembly import write_wide_tsv

_ROWS = "id,a,b,c\n1,x,p;q,1\n1,y,p,2\n2,x,q,30\n3,,,\n"
_SCHEMA = Schema(
    (
        Column("a", domain=("x", "y")),
        Column("b", domain=("p", "q"), delimiter=";", max_items=2),
        Column("c", domain=("<0", "[0,9]", ">9"), bins=(0.0, 9.0)),
    ),
    subject_id="id",
)
_WAYS: tuple[tuple[AccountantName, ContributionName], ...] = (
    ("gdp", "schema"),
    ("gdp", "profile"),
    ("zcdp", "percentile"),
)


def main() -> None:
    """Run the core once, every way that a release can be drawn."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for folder in ("coded", "marginals"):
            (root / folder).mkdir()
        (root / "table.csv").write_text(_ROWS, encoding="utf-8")
        resources = Resources(scratch=root)
        options = EncodingOptions(total=True, key=b"warm-up", tags=True, resources=resources)
        records = encode(InputFile(root / "table.csv"), _SCHEMA, options)
        records.write(root / "coded")
        for accountant, contribution in _WAYS:
            parameters = DpParameters(
                1e3, 1e-6, 3, accountant=accountant, contribution=contribution, threshold_delta_share=0.0
            )
            measurement = measure(records, parameters, WordStream(), before_first_word=lambda: None)
        aggregates = normalise(measurement)
        synthetic = synthesize(aggregates, AggregateSeeded(), 1)
        write_wide_tsv(synthetic, root / "synthetic.tsv")
        counted = count_marginals(root / "coded", root / "marginals", 3, resources)
        inputs = RawInputs(root / "coded", counted, aggregates, synthetic, 1)
        evaluate_raw(inputs, resources)


if __name__ == "__main__":
    main()
