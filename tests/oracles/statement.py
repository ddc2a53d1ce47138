"""A privacy statement worked out again from itself alone: every number that is no declared input.

Nothing of ours but the statement's text is used: the formulas are those that it gives, in mpmath.
"""

import functools
import itertools
import math
from fractions import Fraction

from mpmath import mp, mpf

mp.prec = 110
MOST_SPURIOUS, MOST_RUNS = 2e7, 10_000


def upper(x):
    """Q(x) = 1 - Phi(x)."""
    return mp.erfc(mpf(x) / mp.sqrt(2)) / 2


@functools.cache
def quantile(tail):
    """The z with Q(z) = tail, by bisection."""
    low, high = mpf(-60), mpf(60)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if upper(middle) > tail else (low, middle)
    return low


def solved(excess, low, high):
    """The root of a rising function between two numbers."""
    low, high = mpf(low), mpf(high)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return low


def gaussian_delta(mu, epsilon):
    return upper(epsilon / mu - mu / 2) - mp.exp(epsilon) * upper(epsilon / mu + mu / 2)


@functools.cache
def gaussian_mu(epsilon, delta):
    return solved(lambda mu: gaussian_delta(mu, mpf(epsilon)) - delta, mpf("1e-12"), 200)


@functools.cache
def gaussian_epsilon(mu, delta):
    if mu == 0 or gaussian_delta(mu, mpf(0)) <= delta:
        return mpf(0)
    return solved(lambda epsilon: delta - gaussian_delta(mu, epsilon), 0, 20_000)


@functools.cache
def pure_mu(epsilon):
    """m(e) = 2 Phi^-1(e^e / (1 + e^e))."""
    return 2 * quantile(1 / (1 + mp.exp(mpf(epsilon))))


def ceiling(x):
    """Ceiling, where a hair of floating point above a whole number is that number."""
    nearest = mp.nint(x)
    return int(nearest) if abs(x - nearest) < mpf("1e-13") * (1 + abs(x)) else int(mp.ceil(x))


def scale_of(sigma, sensitivity):
    return mpf(ceiling(64 * mpf(sigma) * mp.sqrt(sensitivity))) / 64


def half_width(scale):
    return max(0, ceiling(mpf(scale) * quantile(mpf("0.025")) - mpf("0.5")))


def first_threshold(scale, opened, delta):
    z = quantile(-mp.expm1(mp.log1p(-delta) / opened))
    return max(1, ceiling(mpf("1.5") + scale * z + mpf("1e-9")))


class Statement:
    """One statement, and what its own formulas give."""

    def __init__(self, body):
        self.body, self.chosen, self.found = body, body["parameters"], {}
        self.levels = body["levels"]
        self.length = len(self.levels)
        columns = body["columns"]
        self.width = sum(column["max_items"] for column in columns)
        self.open_items = sum(c["max_items"] for c in columns if c["domain"] == "open")
        self.delta = mpf(self.chosen["delta"])
        self.delta_applied = self.applied_delta()
        self.nominal = self.planned(self.delta)
        self.applied = self.planned(self.delta_applied)

    def applied_delta(self):
        factor, n = self.chosen["delta_factor"], self.body["noisy_count"]["value"]
        return min(self.delta, 1 / (mpf(factor) * n)) if factor is not None and n >= 1 else self.delta

    def planned(self, delta):
        """The constants of the accountant for one delta."""
        epsilon, count = mpf(self.chosen["epsilon"]), mpf(self.chosen["count_share"])
        inverse = [1 / mpf(p) ** 2 for p in self.chosen["sigma_proportions"]]
        share = mpf(self.chosen["percentile_share"])
        bounded = self.chosen["contribution"] != "schema"
        if self.chosen["accountant"] == "gdp":
            threshold = mpf(self.chosen["threshold_delta_share"]) * delta if self.open_items else mpf(0)
            rest = (delta - threshold) / (1 - threshold)
            whole = gaussian_mu(epsilon, rest)
            mu_squared = (whole * (1 - mpf("1e-9"))) ** 2
            of_bounds = self.length * share if bounded else 0
            parts = [mu_squared * (1 - count - of_bounds) * each / sum(inverse) for each in inverse]
            bound = mu_squared * share if bounded else mpf(0)
            count_charge = mu_squared * count
            more = {"rest": rest, "charged": whole**2, "mu_squared": mu_squared}
        else:
            threshold, rest, log = delta / 2, delta / 2, mp.log(2 / delta)
            count_epsilon = count * epsilon
            rho = (mp.sqrt(epsilon - count_epsilon + log) - mp.sqrt(log)) ** 2
            percentile = mp.sqrt(2 * rho * share / self.length) if bounded else None
            parts = [2 * rho * (1 - share * bounded) * each / sum(inverse) for each in inverse]
            bound = pure_mu(percentile) ** 2 if bounded else mpf(0)
            count_charge = pure_mu(count_epsilon) ** 2
            total = count_charge + sum(parts) + self.length * bound
            more = {"rest": rest, "charged": total, "mu_squared": total, "rho": rho}
            more |= {"count_epsilon": count_epsilon, "percentile": percentile}
        sigmas = [1 / mp.sqrt(part) for part in parts]
        return more | {"threshold": threshold, "sigmas": sigmas, "bound": bound, "count": count_charge}

    def everything(self):
        """Path to value, for every number that follows from others."""
        self.guarantee()
        self.noisy_count()
        for place in range(self.length):
            self.level(place)
        self.put("contribution.width", self.width)
        self.totals(self.found["levels.0.scale"])
        self.account()
        self.uniques()
        self.rows()
        return self.found

    def put(self, path, value):
        self.found[path] = value

    def guarantee(self):
        name, nominal = "guarantee.", self.nominal
        mu = mp.sqrt(nominal["mu_squared"])
        threshold = nominal["threshold"]
        for key in ("epsilon", "delta", "reporting_length"):
            self.put(name + key, self.chosen[key])
        if self.chosen["delta_factor"] is not None:
            self.put(name + "delta_given.delta_factor", self.chosen["delta_factor"])
            self.put(name + "delta_given.delta_max", self.delta)
        self.put(name + "delta_applied", self.delta_applied)
        self.put(name + "delta_threshold", threshold)
        self.put(name + "delta_threshold_applied", self.applied["threshold"])
        self.put(name + "delta_noise", nominal["rest"])
        self.put(name + "mu_squared", nominal["mu_squared"])
        self.put(name + "mu", mu)
        if "rho" in nominal:
            self.put(name + "accountant.rho", nominal["rho"])
            self.put(name + "accountant.epsilon_count", nominal["count_epsilon"])
        self.promise(mu, threshold, [level["sensitivity"] for level in self.levels])

    def promise(self, mu, threshold, sensitivities):
        """An attack's power, and what inexact sampling adds."""
        name, given = "guarantee.", self.body["guarantee"]
        distance = mpf(given["sampling_exactness"]["distance"])
        power = threshold + 1 - upper(-quantile(mpf(given["attack"]["false_alarm"]) / (1 - threshold)) + mu)
        self.put(name + "attack.power", min(mpf(1), power))
        draws = 1 + sum(each + 2 for each in sensitivities)
        term = (1 + mp.exp(mpf(self.chosen["epsilon"]))) * draws * distance
        self.put(name + "sampling_exactness.delta_sampling", term)

    def noisy_count(self):
        name = "noisy_count."
        self.put(name + "mu_squared", self.nominal["count"])
        if self.chosen["accountant"] == "gdp":
            sigma = 1 / mp.sqrt(self.nominal["count"])
            scale = scale_of(sigma, 1)
            self.put(name + "sigma", sigma)
            self.put(name + "sd", mp.sqrt(scale**2 + mpf(1) / 12))
            self.bar = half_width(scale)
        else:
            scale = 1 / self.nominal["count_epsilon"]
            r = mp.exp(-1 / scale)
            self.put(name + "epsilon", self.nominal["count_epsilon"])
            self.put(name + "sd", mp.sqrt(mp.exp(1 / (2 * scale)) * r * (1 + r) / (1 - r) ** 2))
            self.bar = max(0, ceiling(scale * mp.log(20) - mpf("0.5")))
        self.put(name + "scale", scale)
        self.put(name + "half_width_95", self.bar)

    def level(self, place):
        name, level, length = f"levels.{place}.", self.levels[place], place + 1
        sigma = max(self.applied["sigmas"][place], self.nominal["sigmas"][place])
        candidates, most = self.candidates(place), math.comb(self.width, length)
        self.put(name + "length", length)
        self.put(name + "candidates", candidates)
        self.put(name + "sigma", sigma)
        self.put(name + "sigma_charged", self.nominal["sigmas"][place])
        self.put(name + "mu_squared", 1 / self.nominal["sigmas"][place] ** 2)
        self.bound(name + "sensitivity_bound.", most, length)
        sensitivity = level["sensitivity"]
        if self.chosen["contribution"] == "schema" or candidates == 0:
            sensitivity = most if candidates is None else min(most, candidates)
        in_range = sensitivity == 0 if candidates == 0 else 1 <= sensitivity <= most
        self.put(name + "sensitivity", sensitivity if in_range else None)
        scale = scale_of(sigma, sensitivity)
        self.put(name + "scale", scale)
        threshold = self.threshold(place, scale, sensitivity)
        self.put(name + "threshold", threshold)
        self.outcome(place, scale, threshold)

    def candidates(self, place):
        """|V_k|: of declared columns at length 1 it follows from the domains."""
        if place:
            return self.levels[place]["candidates"]
        return None if self.open_items else sum(c["domain_size"] for c in self.body["columns"])

    def bound(self, name, most, length):
        self.put(name + "most", most)
        self.put(name + "mu_squared", self.nominal["bound"])
        if self.chosen["contribution"] == "percentile":
            self.put(name + "epsilon", self.applied["percentile"])
            self.put(name + "epsilon_charged", self.nominal["percentile"])
            choices = [1]
            while choices[-1] < most:
                choices.append(min(most, math.ceil(Fraction(7, 5) * choices[-1])))
            for i, choice in enumerate(choices):
                self.put(f"{name}choices.{i}", choice)
        if self.chosen["contribution"] == "profile":
            applied, nominal = (1 / mp.sqrt(plan["bound"]) for plan in (self.applied, self.nominal))
            self.put(name + "sigma", applied)
            self.put(name + "sigma_charged", nominal)
            self.put(name + "scale", scale_of(applied, 1))
            edges = list(range(most + 1))
            if most >= 32:
                edges = [math.comb(width, length) for width in range(length - 1, self.width + 1)]
                count = min(len(edges), 32)
                step = Fraction(len(edges) - 1, count - 1)
                edges = [edges[place] for place in sorted({round(step * i) for i in range(count)})]
            for i, edge in enumerate(edges):
                self.put(f"{name}edges.{i}", edge)

    def threshold(self, place, scale, sensitivity):
        if place == 0:
            if not self.open_items or not sensitivity:
                return None
            return first_threshold(scale, min(sensitivity, self.open_items), self.applied["threshold"])
        candidates = self.levels[place]["candidates"]
        if not candidates:
            return None
        least = self.least(place, scale, mpf(candidates))
        # The rule that no more than 2e7 spurious survivors are expected, by bisection.
        low, high = least - 1, least
        while candidates * upper((high - mpf("0.5")) / scale) > MOST_SPURIOUS:
            low, high = high, 2 * high + 1
        while high - low > 1:
            middle = (low + high) // 2
            passes = middle >= least and candidates * upper((middle - mpf("0.5")) / scale) <= MOST_SPURIOUS
            low, high = (low, middle) if passes else (middle, high)
        return high

    def least(self, place, scale, candidates):
        rule = self.chosen["thresholds"]
        value = mpf(rule["values"][str(place + 1)])
        if rule["kind"] == "fixed":
            return max(1, ceiling(value + mpf("0.5")))
        before = self.levels[place - 1]["survivors"]
        eta = value / 2 if rule["kind"] == "adaptive" else value * min(mpf(1), before / candidates)
        return 1 if eta >= mpf("0.5") else max(1, ceiling(scale * quantile(eta) + mpf("0.5")))

    def outcome(self, place, scale, threshold):
        name, level, candidates = f"levels.{place}.", self.levels[place], self.candidates(place)
        if place:
            self.put(name + "suppressed.value", candidates - level["survivors"])
        if candidates is not None:
            expected = candidates * upper(((threshold or 1) - mpf("0.5")) / scale) if scale else mpf(0)
            self.put(name + "spurious.expected_spurious", expected)
            if level["survivors"]:
                share = min(mpf(1), expected / level["survivors"])
                self.put(name + "spurious.expected_spurious_share", share)
        if scale:
            self.put(name + "error_bar.sd", mp.sqrt(scale**2 + mpf(1) / 12))
            self.put(name + "error_bar.half_width_95", half_width(scale))
        if place == 0:
            self.first(name, level)

    def first(self, name, level):
        declared = [column for column in self.body["columns"] if column["domain"] != "open"]
        cells = sum(column["domain_size"] for column in declared)
        self.put(name + "declared.columns", len(declared))
        for key in ("domain_size", "survivors"):
            self.put(f"{name}declared.{key}", cells)
        self.put(name + "declared.suppressed", 0)
        self.put(name + "open.columns", len(self.body["columns"]) - len(declared))
        self.put(name + "open.items", self.open_items)
        self.put(name + "open.sensitivity", min(level["sensitivity"], self.open_items))
        self.put(name + "survivors", cells + level["open"]["survivors"])

    def totals(self, scale):
        for place, column in enumerate(self.body["columns"] if scale else []):
            name, total = f"columns.{place}.noisy_total.", column["noisy_total"]
            values = total["survivors"] if column["domain"] == "open" else column["domain_size"]
            spread = mp.sqrt(values * (scale**2 + mpf(1) / 12))
            self.put(name + "survivors", values)
            self.put(name + "half_width_95", ceiling(quantile(mpf("0.025")) * spread))

    def account(self):
        ledger, name = self.body["ledger"], "ledger."
        self.put(name + "this_release.releases", 1)
        self.put(name + "this_release.mu_squared", self.nominal["charged"])
        self.put(name + "this_release.delta_threshold", self.nominal["threshold"])
        spent = sum(mpf(c["mu_squared"]) * c["releases"] for c in ledger["charges"])
        clean = mp.fprod((1 - mpf(c["delta_threshold"])) ** c["releases"] for c in ledger["charges"])
        epsilon, delta, part = (
            mpf(ledger[key]) for key in ("epsilon_cap", "delta_cap", "delta_threshold_cap")
        )
        self.put(name + "mu_squared_cap", gaussian_mu(epsilon, (delta - part) / (1 - part)) ** 2)
        self.put(name + "mu_squared_spent", spent)
        self.put(name + "delta_threshold_spent", 1 - clean)
        self.put(name + "epsilon_spent", gaussian_epsilon(mp.sqrt(spent), (delta - (1 - clean)) / clean))
        self.put(name + "releases", sum(c["releases"] for c in ledger["charges"]))
        self.put(name + "remaining_releases", self.remaining(ledger, spent, clean))

    def remaining(self, ledger, spent, clean):
        """How many more such releases fit: n mu^2 and (1 - delta_t)^n of what is left."""
        # What a full account is rounded by is far below a release.
        most, most_delta = (
            mpf(ledger["in_force"][key]) * (1 + mpf("1e-12")) for key in ("mu_squared", "delta_threshold")
        )
        runs, threshold = (most - spent) / self.nominal["charged"], self.nominal["threshold"]
        if threshold:
            runs = min(runs, mp.log((1 - most_delta) / clean) / mp.log1p(-threshold))
        elif 1 - clean > most_delta:
            return 0
        return max(0, min(MOST_RUNS, int(mp.floor(runs))))

    def uniques(self):
        name, ledger = "disclosed_uniques.", self.body["ledger"]
        subjects = max(0, self.body["noisy_count"]["value"]) + self.bar
        self.put(name + "assumed_subjects", subjects)
        self.put(name + "per_release", subjects * self.nominal["threshold"])
        self.put(name + "all_releases", subjects * self.found["ledger.delta_threshold_spent"])
        self.put(name + "at_cap", subjects * mpf(ledger["delta_threshold_cap"]))
        self.put(name + "releases", self.found["ledger.releases"])

    def rows(self):
        threshold, scale = self.found["levels.0.threshold"], self.found["levels.0.scale"]
        opened, mu = self.found["levels.0.open.sensitivity"], self.found["guarantee.mu"]
        for place, entry in enumerate(self.body["group_privacy"] or []):
            m, passing = entry["rows"], mpf(0)
            if threshold is not None:
                once, each = (upper((threshold - mpf("0.5") - c) / scale) for c in (1, m))
                passing = mpf(1) if m >= threshold else min(mpf(1), opened * max(m * once, each))
            delta = max(self.delta, 2 * passing)
            stated = delta <= mpf("0.01")
            epsilon = gaussian_epsilon(m * mu, (delta - passing) / (1 - passing)) if stated else None
            self.put(f"group_privacy.{place}.delta", delta if stated else None)
            self.put(f"group_privacy.{place}.epsilon", epsilon)


def numbers(value, path=""):
    """Every number in a JSON value, by its path; None too, which says that there is no such number."""
    if isinstance(value, dict):
        return list(itertools.chain.from_iterable(numbers(v, f"{path}.{k}") for k, v in value.items()))
    if isinstance(value, list):
        return list(itertools.chain.from_iterable(numbers(v, f"{path}.{i}") for i, v in enumerate(value)))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [(path.lstrip("."), value)] if is_number else []


def is_input(path, body):
    """Whether the statement declares a number as one that does not follow from others."""
    general = ".".join("[]" if part.isdigit() else part for part in path.split(".")).replace(".[]", "[]")
    declared = [each for kind in ("chosen", "drawn", "account") for each in body["inputs"][kind]]
    return any(
        general == each or (each.endswith(".*") and general.startswith(each[:-1])) for each in declared
    )


def differences(body, found):
    """What is wrong with a statement: numbers that differ from what was found, or that nothing gives."""
    wrong = []
    stated = dict(numbers(body))
    for path, value in stated.items():
        if path in found:
            exact = found[path]
            if exact is None or abs(mpf(value) - exact) > mpf("2e-9") * abs(exact):
                wrong.append((path, value, exact))
        elif not is_input(path, body):
            wrong.append((path, value, "nothing gives it"))
    wrong += [(p, "not stated", exact) for p, exact in found.items() if exact is not None and p not in stated]
    return wrong
