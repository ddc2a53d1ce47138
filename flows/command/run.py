"""Runs a flow from the command: the Prefect API settled, the terminal's lines written, the flow called.

It also says where a browser shows the run. Prefect 3 serves two user interfaces, and the old one shows the
lineage's diagram as its source text. The server itself says where the new one is.
"""

import argparse
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from flows.command import server
from flows.command.main import hide_pandas_from_pyarrow
from tasks.configuration.flat_file import read_configuration
from tasks.configuration.model import RunConfiguration
from tasks.core.errors import MarginaliaError, ParameterError
from tasks.core.figures import count_of
from tasks.core.hints import did_you_mean
from tasks.failures import log_unexpected
from tasks.messages import Progress, say
from tasks.public.releases import page_file
from tasks.request import STAGES, UNCHANGED
from tasks.storage import Workspace

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State


def page_of(kind: str, name: str) -> str:
    """Address of a page of the server's, in the new interface where the server has it."""
    from prefect.settings import PREFECT_UI_URL

    interface = str(PREFECT_UI_URL.value()).rstrip("/")
    return f"{interface}{_new_interface(interface)}/{kind}/{name}"


def _new_interface(interface: str) -> str:
    """What leads from the interface's address to its new version: a slash and a word, or nothing."""
    try:
        with urllib.request.urlopen(f"{interface}/ui-settings", timeout=10) as answer:
            place = json.load(answer).get("v2_base_url")
    except (OSError, urllib.error.URLError, ValueError, AttributeError):
        return ""  # another kind of server, or one without pages
    version = f"/{str(place).rpartition('/')[2]}" if place else ""
    return "" if interface.endswith(version) else version


Result = TypeVar("Result")
#: Where a run put things, relative to the workspace, by what they are.
OutputPlaces = dict[str, str]


def start_runs(options: argparse.Namespace) -> int:
    stages = [stage for stage in STAGES if getattr(options, stage)] or list(STAGES)
    run_showcase(read_configuration(options.configuration), stages, verbose=options.verbose)
    return 0


def check(options: argparse.Namespace) -> int:
    configuration = read_configuration(options.configuration)
    from flows.command.checking import report  # slow: a slip in the file is told before

    report(configuration)
    return 0


def purge_workspace(options: argparse.Namespace) -> int:
    configuration = read_configuration(options.configuration)
    from tasks.sensitive.retention import purge_configured

    purge_configured(configuration, dry=options.dry_run)
    return 0


def export_listings(options: argparse.Namespace) -> int:
    from tasks.sensitive.export import export

    names = [_find_listing(name) for name in options.only]
    with closing(Progress("export")) as progress:
        written = export(options.run, names, options.output, progress)
    for path in written:
        say(f"Exported: {path}")
    say("These files hold true counts. They must stay on this machine; delete them after use.")
    return 0


def _find_listing(name: str) -> str:
    from tasks.sensitive.export import FILES

    known = {file.partition(".")[0]: file for files in FILES.values() for file in files}
    found = known.get(name.partition(".")[0])
    if found is None:
        meant = did_you_mean(name, known) or "correct the name."
        raise ParameterError(f"--only takes {', '.join(known)}; {name} is none of them: {meant}")
    return found


def run_showcase(configuration: RunConfiguration, stages: Sequence[str], *, verbose: bool) -> OutputPlaces:
    """Run the whole job up to the last of the stages; what the header refuses is told before it starts."""
    from tasks.plan.describe import refuse_early

    def run() -> OutputPlaces:
        from flows.showcase import flow_of

        flow = flow_of(configuration)
        return _follow(flow(configuration, max(stages, key=STAGES.index), return_state=True))

    with refuse_early(configuration):
        return _run_and_report(configuration, run, verbose=verbose)


def publish_measurement(options: argparse.Namespace) -> int:
    configuration = read_configuration(options.configuration)

    def run() -> OutputPlaces:
        from flows.publish import publish

        folder = str(options.measurement) if options.measurement else None
        return {"release": _follow(publish(configuration, folder, return_state=True))}

    _run_and_report(configuration, run, verbose=options.verbose)
    return 0


def run_batch(options: argparse.Namespace) -> int:
    from tasks.batch.file import read_batch, require_inputs

    asked = read_batch(options.file)
    require_inputs(asked)
    started = time.monotonic()
    workspace = Workspace.of(asked.runs[0].configuration)
    with on_server(workspace, verbose=options.verbose):
        from flows.batch import batch
        from tasks.batch.group import COMPARISON

        places = _follow(batch(str(options.file.absolute()), return_state=True))
    say(f"Did {count_of(len(asked.runs), 'run')} in {time.monotonic() - started:.0f} s.")
    for group, place in places.items():
        home = workspace.root / place
        page, closed = home / COMPARISON, home / "sensitive" / COMPARISON
        say(f"{group}: {page if page.exists() else home}")
        if closed.exists():
            say(f"Must stay on this machine, {group} against the raw table: {closed}")
    return 0


def demo(options: argparse.Namespace) -> int:
    from flows.demo_survey import write_survey

    folder: Path = options.folder
    root = folder.absolute()
    os.environ.setdefault("MARGINALIA_LEDGER", str(root / "ledger"))
    path = root / "configuration.json"
    if path.exists():
        say(f"Using the demo in {folder}. Delete the folder to start afresh.")
    else:
        root.mkdir(parents=True, exist_ok=True)
        write_survey(root / "survey.csv")
        checkout = Path(__file__).resolve().parents[2]
        body = json.loads((checkout / "deployments" / "configurations" / "survey.json").read_text("utf-8"))
        body |= {"sensitive_microdata_path": str(root / "survey.csv"), "output_dir": str(root)}
        body["contract"] = str(checkout / body["contract"])
        path.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
    run_showcase(read_configuration(path), ("navigate",), verbose=options.verbose)
    say(f"Its configuration: {path}")
    command = Path(sys.executable).with_name("marginalia")
    say(f"Its ledger: MARGINALIA_LEDGER={os.environ['MARGINALIA_LEDGER']} {command} ledger")
    return 0


def _run_and_report(
    configuration: RunConfiguration, run: Callable[[], OutputPlaces], *, verbose: bool
) -> OutputPlaces:
    started = time.monotonic()
    workspace = Workspace.of(configuration)
    with on_server(workspace, verbose=verbose):
        made = run()
    places = dict(made)
    release = workspace.root / places.pop("release")
    done = "Nothing new was released" if places.pop(UNCHANGED, None) else "Released"
    say(f"{done} in {time.monotonic() - started:.0f} s: {release}")
    page = release / page_file(configuration.prefix)
    if page.exists():
        say(f"The page: {page}")
    for stage, place in places.items():
        say(f"Must stay on this machine, from the {stage} stage: {workspace.root / place}")
    if not page.exists():
        say(
            "This release has no page, and latest now links to it. For a page, add --navigate or name no "
            "stage: both run all stages."
        )
    return made


def _follow(state: "State[Result]") -> Result:
    say(f"The run and its lineage: {page_of('runs/flow-run', str(state.state_details.flow_run_id))}")
    return state.result(raise_on_failure=True)


@contextmanager
def on_server(workspace: Workspace, *, verbose: bool) -> Iterator[str]:
    """Prefect at work; what nobody explains becomes an error that says where its log is."""
    quieten(verbose=verbose)
    hide_pandas_from_pyarrow()
    url = server.configured_api_url() or server.ensure(say)
    explained: MarginaliaError | None = None
    try:
        with _prefect(url):
            yield url
    except MarginaliaError:
        raise
    except Exception as error:
        explained = log_unexpected(workspace, error)
    if explained is not None:
        raise explained  # out here, where the unexplained one is not shown beside it


def quieten(*, verbose: bool) -> None:
    """Settings that must stand before Prefect is imported."""
    for name, value in server.OFFLINE.items():
        os.environ.setdefault(name, value)
    if not verbose:
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")


@contextmanager
def _prefect(url: str) -> Iterator[None]:
    import httpx
    from prefect.settings import PREFECT_API_URL, PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    settings: dict[Any, Any] = {PREFECT_API_URL: url}
    # Whoever typed the command sees whether it lives; to end what tells the server so takes up to a second.
    if PREFECT_FLOWS_HEARTBEAT_FREQUENCY.name not in os.environ:
        settings[PREFECT_FLOWS_HEARTBEAT_FREQUENCY] = None
    with temporary_settings(updates=settings):
        try:
            yield
        except httpx.HTTPStatusError as error:
            if error.response.status_code not in (401, 403):
                raise
            raise ParameterError(
                f"The Prefect API at {url} must know you; it refuses. Set PREFECT_API_AUTH_STRING (or "
                "PREFECT_API_KEY) to what its operator gave you."
            ) from None
        except (httpx.ConnectError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "Failed to reach API" not in str(error):
                raise
            raise ParameterError(
                f"The Prefect API must answer at {url}; it does not. Start it, or unset PREFECT_API_URL."
            ) from None
