"""For the fork server of `processes`: what every run needs is imported once, set as the command sets it."""

from flows.command.run import quieten

quieten(verbose=False)

import flows.showcase  # noqa: E402, F401
import tests.flows.processes  # noqa: E402, F401
