"""Where a browser shows a flow run.

Prefect 3 serves two user interfaces. A link without a version opens the old one, which shows the lineage's
diagram as its source text; the server itself says where the new one is.
"""

import json
import urllib.error
import urllib.request


def page_of_run(run: str) -> str:
    """Address of a flow run's page, in the new interface where the server has it.

    Args:
        run: the flow run's id, at the API that Prefect's settings name.
    """
    from prefect.settings import PREFECT_UI_URL

    interface = str(PREFECT_UI_URL.value()).rstrip("/")
    return f"{interface}{_new_interface(interface)}/runs/flow-run/{run}"


def _new_interface(interface: str) -> str:
    """What leads from the interface's address to its new version: a slash and a word, or nothing."""
    try:
        with urllib.request.urlopen(f"{interface}/ui-settings", timeout=10) as answer:
            place = json.load(answer).get("v2_base_url")
    except (OSError, urllib.error.URLError, ValueError, AttributeError):
        return ""  # another kind of server, or one without pages
    version = f"/{str(place).rpartition('/')[2]}" if place else ""
    return "" if interface.endswith(version) else version
