"""The privacy statement of a fitted release worked out again from itself alone, in mpmath.

As `tests.oracles.statement`, whose account it shares: nothing of ours but the statement's text is used.
"""

import math

from mpmath import mp, mpf

from tests.oracles.statement import (
    Statement,
    ceiling,
    gaussian_mu,
    half_width,
    quantile,
    upper,
)


def share(text):
    """A share, which is written as a fraction."""
    top, _, bottom = str(text).partition("/")
    return mpf(top) / mpf(bottom or 1)


def grid(square, charge):
    return mpf(ceiling(64 * mp.sqrt(mpf(square) / charge))) / 64


class WorkloadStatement(Statement):
    """One statement, and what its own formulas give."""

    def __init__(self, body):
        self.body, self.chosen, self.found = body, body["parameters"], {}
        self.columns = {column["name"]: column for column in body["columns"]}
        self.items = {name: column["max_items"] for name, column in self.columns.items()}
        opened = [name for name, column in self.columns.items() if column["domain"] == "open"]
        self.open_columns, self.open_items = len(opened), sum(self.items[name] for name in opened)
        self.delta = mpf(self.chosen["delta"])
        threshold = share(self.chosen["threshold_delta_share"]) * self.delta if opened else mpf(0)
        rest = (self.delta - threshold) / (1 - threshold)
        whole = gaussian_mu(mpf(self.chosen["epsilon"]), rest)
        self.mu_squared = (whole * (1 - mpf("1e-9"))) ** 2
        self.signal = self.found_signal()
        self.shares = {key: share(text) for key, text in self.applied("shares").items()}
        self.nominal = {"threshold": threshold, "rest": rest, "charged": whole**2}

    def found_signal(self):
        """The noisy number of records that are looked at, times mu."""
        looked_at = max(0, self.body["noisy_count"]["value"])
        most = self.chosen["expected_size"]
        return (looked_at if most is None else min(looked_at, most)) * mp.sqrt(self.mu_squared)

    def applied(self, key):
        """What the last step that is reached says, else the parameters themselves."""
        reached = [step for step in self.chosen["steps"] if step["signal"] <= self.signal]
        return (reached[-1] if reached else self.chosen)[key]

    def everything(self):
        """Path to value, for every number that follows from others."""
        self.claim()
        self.count()
        self.first()
        for place, table in enumerate(self.body["tables"]):
            self.table(f"tables.{place}.", table)
        for place, choice in enumerate(self.body["choices"]):
            self.choice(f"choices.{place}.", choice)
        self.put("mu_squared_realised", mp.fsum(self.charges()))
        self.put("contribution.width", sum(self.items.values()))
        self.totals()
        self.account()
        self.uniques()
        self.rows()
        return self.found

    def claim(self):
        name, nominal = "guarantee.", self.nominal
        mu = mp.sqrt(self.mu_squared)
        self.put(name + "epsilon", mpf(self.chosen["epsilon"]))
        for key in ("delta", "delta_applied"):
            self.put(name + key, self.delta)
        for key in ("delta_threshold", "delta_threshold_applied"):
            self.put(name + key, nominal["threshold"])
        self.put(name + "delta_noise", nominal["rest"])
        self.put(name + "mu_squared", self.mu_squared)
        self.put(name + "mu", mu)
        alarm, missed = mpf(self.body["guarantee"]["attack"]["false_alarm"]), 1 - nominal["threshold"]
        power = nominal["threshold"] + 1 - upper(-quantile(alarm / missed) + mu)
        self.put(name + "attack.power", min(mpf(1), power))
        exact = self.body["guarantee"]["sampling_exactness"]
        sensitivities = [sum(self.items.values())] if self.columns else []
        sensitivities += [self.sensitivity(table) for table in self.body["tables"]]
        sensitivities += [choice["candidates"] for choice in self.body["choices"]]
        draws = 1 + sum(each + 2 for each in sensitivities)
        term = (1 + mp.exp(mpf(self.chosen["epsilon"]))) * draws * mpf(exact["distance"])
        self.put(name + "sampling_exactness.delta_sampling", term)

    def bars(self, name, scale):
        self.put(name + "sd", mp.sqrt(scale**2 + mpf(1) / 12))
        self.put(name + "half_width_95", half_width(scale))

    def count(self):
        scale = grid(1, self.shares["count"] * self.mu_squared)
        self.put("noisy_count.scale", scale)
        self.put("noisy_count.signal", self.signal)
        self.put("noisy_count.mu_squared", 1 / scale**2)
        self.bars("noisy_count.", scale)
        self.bar = half_width(scale)

    def first(self):
        if not self.columns:
            return
        width, name = sum(self.items.values()), "values."
        scale = grid(width, self.shares["values"] * self.mu_squared)
        self.put(name + "scale", scale)
        self.put(name + "sensitivity", width)
        self.put(name + "mu_squared", width / scale**2)
        self.bars(name + "error_bar.", scale)
        opened = min(width, self.open_items)
        self.put(name + "open.columns", self.open_columns)
        self.put(name + "open.items", self.open_items)
        self.put(name + "open.sensitivity", opened)
        threshold = None
        if opened:
            z = quantile(-mp.expm1(mp.log1p(-self.nominal["threshold"]) / opened))
            threshold = max(1, ceiling(mpf("1.5") + scale * z + mpf("1e-9")))
        self.put(name + "threshold", threshold)

    def sensitivity(self, table):
        """Delta_T = max(1, prod C(w_c, k_c)); w_c is at most all cells of a column but `absent`."""
        found = 1
        for name in set(table["columns"]):
            items = self.items[name]
            most = 1 if items == 1 else max(1, min(items, self.columns[name]["cells"] - 1))
            found *= math.comb(most, table["columns"].count(name))
        return max(1, found)

    def table(self, name, table):
        scale, sensitivity = mpf(table["scale"]), self.sensitivity(table)
        self.put(name + "cells", math.prod(self.columns[each]["cells"] for each in table["columns"]))
        self.put(name + "sensitivity", sensitivity)
        self.put(name + "mu_squared", sensitivity / scale**2)
        self.bars(name + "error_bar.", scale)

    def choice(self, name, choice):
        charge = self.shares["scores"]
        if choice["what"] == "pairs":
            charge = share(self.chosen["pair_scores"]) * self.shares["tables"]
        scale = grid(choice["sensitivity_squared"], charge * self.mu_squared)
        self.put(name + "scale", scale)
        self.put(name + "mu_squared", choice["sensitivity_squared"] / scale**2)

    def charges(self):
        yield self.found["noisy_count.mu_squared"]
        if self.columns:
            yield self.found["values.mu_squared"]
        for part in ("tables", "choices"):
            for place in range(len(self.body[part])):
                yield self.found[f"{part}.{place}.mu_squared"]

    def totals(self):
        scale = self.found.get("values.scale")
        for place, column in enumerate(self.body["columns"]):
            name, total = f"columns.{place}.noisy_total.", column["noisy_total"]
            values = total["survivors"] if column["domain"] == "open" else column["domain_size"]
            spread = mp.sqrt(values * (scale**2 + mpf(1) / 12))
            self.put(name + "survivors", values)
            self.put(name + "half_width_95", ceiling(quantile(mpf("0.025")) * spread))

    def rows(self):
        for key in ("threshold", "scale", "open.sensitivity"):
            self.found["levels.0." + key] = self.found.get("values." + key)
        super().rows()
        for key in ("threshold", "scale", "open.sensitivity"):
            del self.found["levels.0." + key]
