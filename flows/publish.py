"""Publish: one measurement in, a release out. Its steps are in `flows.steps.publish`.

May run as another user than the measure flow.
"""

from flows.steps.guarded_flow import guarded_flow
from flows.steps.publish import BUILDERS, opened_run, release_steps
from tasks.configuration.model import RunConfiguration
from tasks.public.bundles import find_measurement, open_bundle, require_made_as_configured
from tasks.public.releases import require_not_withdrawn
from tasks.request import STAGES
from tasks.storage import Workspace


@guarded_flow("publish-{configuration.dataset}")
def publish(configuration: RunConfiguration, measurement: str | None = None) -> str:
    """Build and publish everything from a measurement; return the release's place in the workspace.

    Args:
        configuration: What the run was asked to do.
        measurement: The folder of the measurement. Without it, that of the configured vintage is taken, and
            without a vintage the newest.
    """
    workspace = Workspace.of(configuration)
    workspace.clear_leftovers(configuration.dataset)
    found = find_measurement(workspace, configuration, measurement)
    require_made_as_configured(workspace, configuration, found)
    require_not_withdrawn(workspace, configuration.dataset, open_bundle(workspace, found).vintage)
    workspace.prepare_publishing()
    with opened_run(workspace, configuration) as run:
        built = BUILDERS[configuration.protection.regime](run, configuration, found, STAGES[-1])
        return release_steps(run, configuration, found, built).key
