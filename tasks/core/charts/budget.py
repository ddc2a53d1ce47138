"""The bar of a dataset's budget: what the ledger says goes in, a chart comes out."""

from tasks.core.charts.chart import Chart
from tasks.core.charts.shares import gauge
from tasks.core.figures import up


def budget_gauge(used: float, epsilon_spent: float, epsilon_cap: float) -> Chart:
    """The bar, filled as far as the budget is used.

    Args:
        used: the share of the cap's mu² that is spent. Releases add up in mu², and not in epsilon.
        epsilon_spent: at the cap's delta.
        epsilon_cap: at the same.
    """
    share = f"{min(used, 1.0):.0%}"
    return gauge(
        (min(used, 1.0), f"{share} used: ε = {up(epsilon_spent)}"),
        (1.0, f"cap: ε = {up(epsilon_cap)}"),
        "Budget of the dataset",
        f"{share} of the budget is used: epsilon {up(epsilon_spent)} of {up(epsilon_cap)}",
    )
