"""Runs a flow from the command: the Prefect API settled, the terminal's lines written, the flow called."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from flows import server
from tasks.configuration import RunConfiguration
from tasks.core.errors import MarginaliaError, ParameterError
from tasks.failures import unexpected
from tasks.progress import say
from tasks.storage import Workspace


def run_showcase(configuration: RunConfiguration, stages: Sequence[str], *, verbose: bool) -> None:
    """Run the whole job up to the last of the stages."""

    def run() -> str:
        from flows.publish import STAGES
        from flows.showcase import showcase

        return showcase(configuration, max(stages, key=STAGES.index))

    _run(configuration, run, verbose=verbose)


def run_publish(configuration: RunConfiguration, measurement: Path | None, *, verbose: bool) -> None:
    """Rebuild a release from its measurement."""

    def run() -> str:
        from flows.publish import publish

        return publish(configuration, str(measurement) if measurement else None)

    _run(configuration, run, verbose=verbose)


def run_demo(folder: Path, *, verbose: bool) -> None:
    """Run the whole job on a generated survey: table, configuration, workspace and ledger in one folder."""
    from tasks.configuration_file import read_configuration
    from tasks.core.records.sample import write_survey

    root = folder.absolute()
    os.environ.setdefault("MARGINALIA_LEDGER", str(root / "ledger"))
    path = root / "configuration.json"
    if path.exists():
        say(f"Using the demo that is in {folder}; delete the folder to start afresh.")
    else:
        root.mkdir(parents=True, exist_ok=True)
        write_survey(root / "survey.csv")
        path.write_text(json.dumps(_demo_configuration(root), indent=2) + "\n", encoding="utf-8")
    run_showcase(read_configuration(path), ("navigate",), verbose=verbose)
    say(f"Its configuration: {path}")
    command = Path(sys.executable).with_name("marginalia")
    say(f"Its ledger: MARGINALIA_LEDGER={os.environ['MARGINALIA_LEDGER']} {command} ledger")


def _demo_configuration(root: Path) -> dict[str, object]:
    """The survey's configuration, with this checkout's and this folder's paths."""
    checkout = Path(__file__).resolve().parents[1]
    survey = checkout / "deployments" / "configurations" / "survey.json"
    body: dict[str, object] = json.loads(survey.read_text(encoding="utf-8"))
    contract = checkout / str(body["contract"])
    paths = {"sensitive_microdata_path": root / "survey.csv", "output_dir": root, "contract": contract}
    return body | {key: str(value) for key, value in paths.items()}


def _run(configuration: RunConfiguration, run: Callable[[], str], *, verbose: bool) -> None:
    started = time.monotonic()
    _quieten(verbose=verbose)
    url = server.configured_api_url() or server.ensure(say)
    workspace = Workspace.of(configuration)
    explained: MarginaliaError | None = None
    key = ""
    try:
        with _prefect(url):
            key = run()
    except MarginaliaError:
        raise
    except Exception as error:
        explained = unexpected(workspace, error)
    if explained is not None:
        raise explained  # out here, where the unexplained one is not shown beside it
    say(f"Released in {time.monotonic() - started:.0f} s: {workspace.root / key}")
    report = workspace.root / key / "report.html"
    if report.exists():
        say(f"The page: {report}")
    say(f"The run and its lineage: {url.removesuffix('/api')}/runs")


def _quieten(*, verbose: bool) -> None:
    """Settings that must stand before Prefect is imported."""
    for name, value in server.OFFLINE.items():
        os.environ.setdefault(name, value)
    if not verbose:
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")


@contextmanager
def _prefect(url: str) -> Iterator[None]:
    """Prefect talking to an API."""
    import httpx
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings(updates={PREFECT_API_URL: url}):
        try:
            yield
        except (httpx.ConnectError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "Failed to reach API" not in str(error):
                raise
            raise ParameterError(
                f"The Prefect API must answer at {url}; it does not. Start it, or unset PREFECT_API_URL."
            ) from None
