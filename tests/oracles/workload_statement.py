"""The privacy statement of a fitted release worked out again from itself alone, in mpmath.

As `tests.oracles.statement`, whose account it shares: nothing of ours but the statement's text is used.
"""

import itertools
import math

from mpmath import mp, mpf

from tests.oracles.statement import (
    Statement,
    ceiling,
    first_threshold,
    gaussian_mu,
    half_width,
)


def share(text):
    """A share, which is written as a fraction."""
    top, _, bottom = str(text).partition("/")
    return mpf(top) / mpf(bottom or 1)


def grid(square, charge):
    return mpf(ceiling(64 * mp.sqrt(mpf(square) / charge))) / 64


def nearest(values, total):
    """The counts >= 0 with this sum that are nearest: the same is taken off all that have so much."""
    positive = list(values)
    while True:
        taken = (mp.fsum(positive) - total) / len(positive)
        left = [value for value in positive if value > taken]
        if left == positive:
            return [max(value - taken, mpf(0)) for value in values]
        positive = left


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
        scales = self.scales()
        for place, table in enumerate(self.body["tables"]):
            self.table(f"tables.{place}.", table, scales[place])
        for place, choice in enumerate(self.body["choices"]):
            self.choice(f"choices.{place}.", choice)
        self.put("mu_squared_realised", mp.fsum(self.charges()))
        self.put("contribution.width", sum(self.items.values()))
        self.totals(self.found.get("values.scale"))
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
        sensitivities = [sum(self.items.values())] if self.columns else []
        sensitivities += [self.sensitivity(table) for table in self.body["tables"]]
        sensitivities += [choice["candidates"] for choice in self.body["choices"]]
        self.promise(mu, nominal["threshold"], sensitivities)

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
            threshold = first_threshold(scale, opened, self.nominal["threshold"])
        self.put(name + "threshold", threshold)

    def sensitivity(self, table):
        """Delta_T = max(1, prod C(w_c, k_c)); w_c is at most all cells of a column but `absent`."""
        found = 1
        for name in set(table["columns"]):
            items = self.items[name]
            most = 1 if items == 1 else max(1, min(items, self.columns[name]["cells"] - 1))
            found *= math.comb(most, table["columns"].count(name))
        return max(1, found)

    def scales(self):
        """s_T of every table, stage by stage; what is drawn later goes by what was drawn before."""
        tables, spent = self.body["tables"], self.spent_before_tables()
        found = {}
        for stage in ("workload", "chosen", "second"):
            places = [place for place, table in enumerate(tables) if table["stage"] == stage]
            if not places:
                continue
            charge = self.mu_squared - spent if stage == "second" else self.charge_of(stage)
            for place, part in zip(places, self.parts(stage, places, charge, found), strict=True):
                found[place] = grid(self.sensitivity(tables[place]), charge * part)
                spent += self.sensitivity(tables[place]) / found[place] ** 2
        return found

    def spent_before_tables(self):
        """1 / s_0^2 + W / s_1^2 + what the scores cost."""
        width = sum(self.items.values())
        spent = 1 / grid(1, self.shares["count"] * self.mu_squared) ** 2
        if self.columns:
            spent += width / grid(width, self.shares["values"] * self.mu_squared) ** 2
        return spent + mp.fsum(
            choice["sensitivity_squared"] / self.scale_of_scores(choice) ** 2
            for choice in self.body["choices"]
        )

    def charge_of(self, stage):
        if stage == "chosen":
            return self.shares["chosen"] * self.mu_squared
        paired = any(choice["what"] == "pairs" for choice in self.body["choices"])
        left = 1 - share(self.chosen["pair_scores"]) if paired else 1
        return left * self.shares["tables"] * self.mu_squared

    def parts(self, stage, places, charge, found):
        """p_T of the tables of one stage."""
        tables = [self.body["tables"][place] for place in places]
        workload = [t for t in self.body["tables"] if t["stage"] == "workload"]
        if stage == "second" and workload:
            assert [t["columns"] for t in tables] == [t["columns"] for t in workload]
            first = [place for place, t in enumerate(self.body["tables"]) if t["stage"] == "workload"]
            return self.parts("workload", first, self.charge_of("workload"), {})
        sizes = [self.size(stage, table, mp.sqrt(len(tables) / charge), found) for table in tables]
        factor = mpf(self.chosen["target_factor"]) if stage != "chosen" else mpf(1)
        target = self.chosen["target"]
        worth = [
            size ** (mpf(2) / 3) * (factor if target in table["columns"] else 1)
            for size, table in zip(sizes, tables, strict=True)
        ]
        whole, least = mp.fsum(worth), mpf(1) / (20 * max(1, len(worth)))
        raised = [max(each / whole if whole else mpf(1) / len(worth), least) for each in worth]
        return [mp.floor(2**20 * each / mp.fsum(raised)) / 2**20 for each in raised]

    def size(self, stage, table, flat, found):
        """e_T."""
        if stage == "chosen":
            return mpf(max(0, table["score"]))
        if self.chosen["allocation"] == "equal":
            return mpf(1)
        if self.chosen["allocation"] == "size":
            return mpf(math.prod(self.columns[name]["cells"] for name in table["columns"]))
        records = self.records(found)
        parts = [[each / records for each in self.margin(name, records)] for name in table["columns"]]
        above = mp.fsum(min(mpf(1), records * math.prod(cell) / flat) for cell in itertools.product(*parts))
        return above / 2 if len(set(table["columns"])) < len(table["columns"]) else above

    def counts(self):
        """The noisy counts of each column, by its name."""
        return dict(zip(self.columns, self.body["values"]["counts"], strict=True))

    def margin(self, name, records):
        """n_c of the cells of one column."""
        values, column = list(map(mpf, self.counts()[name])), self.columns[name]
        several = self.items[name] > 1
        if column["domain"] == "open":
            values.insert(len(values) - 1, mpf(0) if several else records - mp.fsum(values))
        assert len(values) == column["cells"]
        if not several:
            return nearest(values, records)
        within = [min(max(value, mpf(0)), records) for value in values]
        return within if any(within) else [records / len(values)] * len(values)

    def records(self, found):
        """N, by what was drawn before."""
        scale = grid(sum(self.items.values()), self.shares["values"] * self.mu_squared)
        totals = [
            (sum(counts), len(counts) * (scale**2 + mpf(1) / 12))
            for name, counts in self.counts().items()
            if self.items[name] == 1 and self.columns[name]["domain"] != "open"
        ]
        for place, table in enumerate(self.body["tables"]):
            if place in found and all(self.items[name] == 1 for name in table["columns"]):
                cells = math.prod(self.columns[name]["cells"] for name in table["columns"])
                totals.append((table["total"], cells * (found[place] ** 2 + mpf(1) / 12)))
        noisy, most = self.body["noisy_count"]["value"], self.chosen["expected_size"]
        kept = mpf(1) if most is None or noisy <= most else mpf(most) / noisy
        if kept == 1 or not totals:
            of_noise = grid(1, self.shares["count"] * self.mu_squared) ** 2 + mpf(1) / 12
            totals.append((kept * noisy, kept**2 * of_noise + max(0, noisy) * kept * (1 - kept)))
        weights = [1 / variance for _, variance in totals]
        mean = mp.fsum(w * total for w, (total, _) in zip(weights, totals, strict=True)) / mp.fsum(weights)
        return max(mpf(1), mp.nint(mean))

    def table(self, name, table, scale):
        sensitivity = self.sensitivity(table)
        self.put(name + "scale", scale)
        self.put(name + "cells", math.prod(self.columns[each]["cells"] for each in table["columns"]))
        self.put(name + "sensitivity", sensitivity)
        self.put(name + "mu_squared", sensitivity / scale**2)
        self.bars(name + "error_bar.", scale)

    def scale_of_scores(self, choice):
        charge = self.shares["scores"]
        if choice["what"] == "pairs":
            charge = share(self.chosen["pair_scores"]) * self.shares["tables"]
        return grid(choice["sensitivity_squared"], charge * self.mu_squared)

    def choice(self, name, choice):
        scale = self.scale_of_scores(choice)
        self.put(name + "scale", scale)
        self.put(name + "mu_squared", choice["sensitivity_squared"] / scale**2)

    def charges(self):
        yield self.found["noisy_count.mu_squared"]
        if self.columns:
            yield self.found["values.mu_squared"]
        for part in ("tables", "choices"):
            for place in range(len(self.body[part])):
                yield self.found[f"{part}.{place}.mu_squared"]

    def rows(self):
        for key in ("threshold", "scale", "open.sensitivity"):
            self.found["levels.0." + key] = self.found.get("values." + key)
        super().rows()
        for key in ("threshold", "scale", "open.sensitivity"):
            del self.found["levels.0." + key]
