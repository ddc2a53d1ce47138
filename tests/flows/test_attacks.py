"""Ways around the guarantee that somebody found by trying: each is closed, and stays so."""

import asyncio
import shutil
from typing import Any

import pyarrow.parquet as pq
import pytest
from prefect.client.orchestration import get_client
from prefect.flow_engine import load_flow_run, run_flow

from flows.command import main as command
from flows.publish import publish
from flows.showcase import showcase
from tasks.batch.budget import require_budget
from tasks.core.errors import BudgetExhausted, ParameterError
from tests.flows import pipeline
from tests.flows.pipeline import saved
from tests.flows.whole_runs import fresh_name

pytestmark = pytest.mark.server


@pytest.mark.parametrize("length", [5, -1])
def test_how_many_items_somebody_holds_is_not_told_by_how_long_the_counts_go(length, tmp_path):
    found = []
    for items in (2, 6):
        folder = tmp_path / str(items)
        folder.mkdir()
        table = [[f"p{i}", "Aberwick", "a;b" if i % 2 else "a"] for i in range(60)]
        table.append(["p60", "Aberwick", ";".join("cdefgh"[:items])])
        pipeline.write(folder / "people.csv", table, ["person", "town", "services"])
        body = pipeline.anonymous(folder, bins={}, domains={}, sensitive_zeros=[], reporting_length=length)
        assert command.main(["run", "--agg", saved(folder, body)]) == 0
        statement = pipeline.json_of(folder / "out" / "release" / "people" / "latest" / "privacy.json")
        names = [path.name for path in (folder / "out" / "measurement").rglob("*.parquet")]
        found.append((statement["guarantee"]["reporting_length"], statement["levels"], sorted(names)))
    assert found[0] == found[1]
    assert found[0][0] == (5 if length == 5 else 4), (
        "towns with two services are the longest that is reported"
    )


def test_a_k_anonymous_release_does_not_hide_that_the_ledger_was_replaced(tmp_path, monkeypatch, capfd):
    pipeline.write(tmp_path / "people.csv", pipeline.rows())
    private = saved(tmp_path, pipeline.flat(tmp_path), "private.json")
    later = saved(tmp_path, pipeline.flat(tmp_path, vintage="2026-12"), "later.json")
    anonymous = saved(tmp_path, pipeline.anonymous(tmp_path, vintage="counts"), "anonymous.json")
    for path in (private, anonymous):
        assert command.main(["run", "--agg", path]) == 0
    assert "ATTENTION: this dataset also has differentially private releases" in capfd.readouterr().err
    assert command.main(["run", "--agg", private]) == 0, "both regimes can share a dataset's name"
    with monkeypatch.context() as patch:
        patch.setenv("MARGINALIA_LEDGER", str(tmp_path / "another"))
        for path in (private, later):
            assert command.main(["run", "--agg", path]) == 1
            assert "it was cut short, or is another ledger" in capfd.readouterr().err
        (tmp_path / "out" / "release" / "people" / "latest").unlink()
        assert command.main(["run", "--agg", private]) == 1
        shutil.rmtree(tmp_path / "out" / "release" / "people" / "counts-1")
        assert command.main(["run", "--agg", private]) == 1
    assert command.main(["run", "--agg", private]) == 0


@pytest.mark.parametrize(("is_private", "measured_with"), [(True, True), (False, False)])
def test_what_was_declared_at_the_measurement_is_what_is_published(
    is_private, measured_with, tmp_path, capfd
):
    contract = pipeline.contract(tmp_path, "town")
    pipeline.write(tmp_path / "people.csv", [row[:2] for row in pipeline.rows()], ["person", "town"])
    make = pipeline.flat if is_private else pipeline.anonymous
    plain = make(tmp_path, **{key: {} for key in ("multi_value_columns", "bins", "domains")})
    plain = {key: value for key, value in plain.items() if key not in ("max_items", "sensitive_zeros")}
    under = plain | {"contract": {"path": contract, "mode": "strict"}}
    first, second = (under, plain) if measured_with else (plain, under)
    # Under k-anonymity records are drawn on the sensitive side, and handed over by a run of all stages alone.
    stage = ["--agg"] if is_private else []
    assert command.main(["run", *stage, saved(tmp_path, first)]) == 0
    capfd.readouterr()
    for other in (second, first | {"use_columns": ["town"]}):
        assert command.main(["publish", saved(tmp_path, other, "other.json")]) == 2
        assert "A measurement must be published under the configuration" in capfd.readouterr().err
    assert command.main(["publish", saved(tmp_path, first)]) == 0


def test_the_seed_of_a_mode_that_reads_raw_records_is_no_parameter_of_a_deployment(tmp_path):
    configuration = pipeline.prepared_anonymous(tmp_path, dataset=fresh_name("deployed"))
    body = configuration.model_dump(mode="json")
    with pytest.raises(ParameterError, match="must not be a parameter of a deployment"):
        seeded = body | {"synthesis": {"mode": "row_seeded", "random_seed": 2**60 + 1}}
        _run_deployed(showcase, seeded)
    assert not (tmp_path / "out" / "release" / configuration.dataset).exists()
    assert _run_deployed(showcase, body)["release"]


def _run_deployed(flow: Any, configuration: dict[str, Any]) -> Any:
    """Run a flow from a deployment, as a worker does: its parameters come from the server."""

    async def create() -> Any:
        async with get_client() as client:
            flow_id = await client.create_flow(flow)
            deployment = await client.create_deployment(
                flow_id, name="form", entrypoint="flows.showcase:showcase"
            )
            parameters = {"configuration": configuration, "last": "aggregate"}
            return await client.create_flow_run_from_deployment(deployment, parameters=parameters)

    run = load_flow_run(asyncio.run(create()).id)
    return run_flow(flow, flow_run=run, parameters=run.parameters)


def test_a_change_that_rounding_hides_makes_no_further_release(tmp_path):
    table = pipeline.rows(603)
    settings = {"synthesis_mode": "aggregate_seeded"}
    first = pipeline.run(pipeline.prepared_anonymous(tmp_path, table, **settings), "generate")
    before = pipeline.tree(first)
    hidden = [*table, ["q1", "Zedtown", "", "", "", ""]]
    assert pipeline.run(pipeline.prepared_anonymous(tmp_path, hidden, **settings), "generate") == first
    assert pipeline.tree(first) == before


def test_a_repeated_release_in_a_batch_does_not_lift_the_cap_of_the_first(tmp_path):
    runs = [
        pipeline.prepared(tmp_path, vintage=vintage, privacy={"cap": {"epsilon": cap, "delta": 1e-5}})
        for vintage, cap in (("a", 8), ("b", 8), ("c", 8), ("a", 100))
    ]
    with pytest.raises(BudgetExhausted, match="of 8"):
        require_budget(runs)


@pytest.mark.parametrize(
    ("is_private", "mode", "file"),
    [
        (True, "fitted", "counts.parquet"),
        pytest.param(True, "aggregate_seeded", "counts_1.parquet", marks=pytest.mark.slow),
        (False, "aggregate_seeded", "aggregates_1.parquet"),
    ],
)
def test_a_measurement_that_was_changed_is_not_published(is_private, mode, file, tmp_path, capfd):
    pipeline.write(tmp_path / "people.csv", pipeline.rows())
    make = pipeline.flat if is_private else pipeline.anonymous
    path = saved(tmp_path, make(tmp_path, synthesis_mode=mode))
    assert command.main(["run", "--agg", path]) == 0
    (changed,) = (tmp_path / "out" / "measurement").rglob(file)
    table = pq.read_table(changed)
    pq.write_table(table.slice(0, table.num_rows - 2), changed)
    before = sorted(each.name for each in (tmp_path / "out" / "release" / "people").iterdir())
    assert command.main(["publish", path]) == 1
    assert "was changed after it was handed over" in capfd.readouterr().err
    assert sorted(each.name for each in (tmp_path / "out" / "release" / "people").iterdir()) == before
    assert command.main(["run", "--agg", path]) == 0
    assert command.main(["publish", path]) == 0


def test_a_release_that_was_changed_is_told(tmp_path, capfd):
    release = pipeline.run(pipeline.prepared_anonymous(tmp_path), last="aggregate")
    with (release / "people_reportable_aggregates.tsv").open("a") as file:
        file.write("x")
    again = pipeline.run(pipeline.prepared_anonymous(tmp_path), last="aggregate")
    assert again != release
    assert f"the files of release {release.name} were changed" in capfd.readouterr().err


def test_what_is_emptied_by_a_declaration_or_the_resolution_is_told(tmp_path, capfd):
    pipeline.run(
        pipeline.prepared_anonymous(tmp_path, bins={"age": [0, 18], "town": [0, 1]}), last="aggregate"
    )
    told = capfd.readouterr().err
    assert (
        "ATTENTION: no value of 'town' is released. Most likely there are too many different values" in told
    )
    assert "rare for the resolution: give numbers bins" in told and "noise" not in told
    pipeline.run(pipeline.prepared_anonymous(tmp_path, reporting_resolution=5000), last="aggregate")
    assert "ATTENTION: only the number of records is released" in capfd.readouterr().err


def test_of_a_column_that_noise_swallowed_the_likeliest_cause_is_told_first(tmp_path, capfd):
    table = [[row[0], f"t{number}", *row[2:]] for number, row in enumerate(pipeline.rows(400))]
    pipeline.run(pipeline.prepared(tmp_path, table), last="aggregate")
    told = capfd.readouterr().err
    assert "no value of 'town' is released. Most likely there are too many different values" in told
    causes = (
        "told from noise",
        "give numbers bins",
        "(cut)",
        "(domains)",
        "sensitive_zeros and delimiters fit",
    )
    places = [told.index(cause) for cause in causes]
    assert places == sorted(places)


@pytest.mark.parametrize("exists", [False, True])
def test_publishing_from_a_mistyped_output_dir_says_that_no_measurement_is_there_and_makes_nothing(
    exists, tmp_path
):
    mistyped = tmp_path / "aut"
    if exists:
        mistyped.mkdir()
    configuration = pipeline.from_flat(pipeline.flat(tmp_path, output_dir=str(mistyped)))
    with pytest.raises(ParameterError, match="needs a measurement"):
        publish.fn(configuration)
    assert list(mistyped.glob("*")) == [] and mistyped.exists() == exists
