"""Runs a flow from the command: the Prefect API settled, the terminal's lines written, the flow called."""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from flows import server
from tasks.configuration import RunConfiguration
from tasks.core.errors import ParameterError
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
    """Run the whole job on a generated survey: table, workspace and ledger all in one folder."""
    from tasks.core.records.sample import write_survey

    from tasks.configuration_file import from_flat

    root = folder.absolute()
    if (root / "survey.csv").exists():
        say(f"Using the demo that is in {folder}; delete the folder to start afresh.")
    root.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("MARGINALIA_LEDGER", str(root / "ledger"))
    checkout = Path(__file__).resolve().parents[1]
    if not (root / "survey.csv").exists():
        write_survey(root / "survey.csv")
        for name in ("data_contracts/survey.yaml", "deployments/configurations/survey.json"):
            shutil.copy(checkout / name, root)
    os.chdir(root)
    configuration = from_flat(_demo_configuration(root))
    run_showcase(configuration, ("navigate",), verbose=verbose)


def _demo_configuration(root: Path) -> dict[str, object]:
    import json

    body: dict[str, object] = json.loads((root / "survey.json").read_text(encoding="utf-8"))
    return body


def _run(configuration: RunConfiguration, run: Callable[[], str], *, verbose: bool) -> None:
    started = time.monotonic()
    _quieten(verbose=verbose)
    url = server.configured_api_url() or server.ensure(say)
    with _prefect(url):
        key = run()
    workspace = Workspace.of(configuration)
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
        except httpx.ConnectError:
            raise ParameterError(
                f"The Prefect API must answer at {url}; it does not. Start it, or unset PREFECT_API_URL."
            ) from None
