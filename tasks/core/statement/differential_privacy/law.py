"""The law of the mechanism in words and formulas: public parameters go in, parts of the statement come out.

Symbols: n-hat the noisy count, sigma_k a length's noise multiplier, Delta_k the most tuples of one subject
that are counted there, s_k the noise's standard deviation in records, tau the threshold, V_k the
candidates, S_k the survivors, Phi the standard normal distribution function.
"""

from tasks.core.arrays import Json
from tasks.core.dp.claim_limits import DISTANCE, MOST_SAMPLING_DELTA, sampling_delta
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.parameters import DpParameters
from tasks.core.records.columns import Schema

COMPUTATIONAL = (
    "The noise comes from AES-256 in counter mode under a fresh key of the operating system for each draw; "
    "no key is kept. The guarantee is therefore computational: it holds against anyone who cannot tell "
    "AES-256 from random."
)
ERROR_BAR_EXCLUDES = (
    "The error bar is of the noise alone, as drawn. It excludes truncation bias (a subject with more than "
    "Delta_k tuples is counted for Delta_k of them, so counts are too low by an amount that is not "
    "published) and the selection of survivors (a combination that just passed its threshold was more "
    "often pushed up than down)."
)
SUPPRESSED_KNOWN = (
    "Candidates that were measured and not published, whether anybody holds them or not: |V_k| - |S_k|, "
    "both of which are functions of published counts."
)
SUPPRESSED_UNKNOWN = (
    "Not known to a differentially private release: how many values of the open columns exist and stayed "
    "below the threshold would tell of single subjects."
)
SPURIOUS = (
    "An upper bound on the expected number of published combinations that nobody holds, from the noise "
    "and the number of candidates alone."
)
SPURIOUS_OPEN = (
    "Values of open columns are measured only where somebody holds them, so none is spurious; every cell "
    "of a declared column is measured, whoever holds it, and published where its noisy count is above zero."
)
DISCLOSED_UNIQUES = (
    "The expected number of subjects of whom a value that nobody else holds is published, if each of them "
    "holds one: the number of subjects times delta_threshold. It is an estimate and no bound: the number of "
    "subjects is taken to be the noisy count plus its 95 % error bar, of this release for all of them."
)
LEDGER_RULE = (
    "A release is admitted while its mu^2 and those of all charged releases together stay within B^2, and "
    "1 - prod(1 - delta_threshold) within D, the part of delta_cap that is set aside for thresholds, both of "
    "the caps in force. B^2 is the mu^2 of (epsilon_cap, (delta_cap - D) / (1 - D)) by the Gaussian "
    "conversion, and never rises where caps are lowered; epsilon_spent is that of what is spent at "
    "delta_cap. A release under gdp is charged the whole mu^2 of its claim, without the margin of 1e-9; up "
    "to 10000 remaining ones are counted. The caps stated first are the widest that were ever in force. The "
    "guarantee of all releases together is the cap; what is spent so far is accounting. A release that "
    "died while its noise was drawn stays charged."
)
STRICT = (
    "That this release exists shows the raw table satisfied its contract; this is not protected, and "
    "the guarantee holds between tables that both satisfy it."
)
VERDICTS_UNPAID = (
    "The contract is the file of this SHA-256. Its verdicts (contract.json) were made once, on the "
    "table that the noise was drawn for and before it was drawn; they are exact, no noise hides them, "
    "and the budget does not pay for them. Releases under several strict contracts are together "
    "protected only between tables that satisfy all of these contracts. A table that breaks its "
    "contract stops the run (exit code 4), which the operator and the Prefect server see: whoever "
    "learns of it, or infers it from a release that is missing, learns an exact fact, which is not "
    "protected either."
)
REPAIRED = (
    "No rule of a data contract could stop this release: cells that break one are blanked or replaced by a "
    "declared value one record at a time, and rules about the whole table are judged on noisy figures."
)
LEDGER_SIDE_CHANNELS = (
    "The times of releases and a refusal for want of budget (exit code 3) are public: they follow from "
    "public configuration and the ledger, not from the table."
)
_ROWS_STAND_ALONE = (
    "Each row stands for itself; what is kept is a keyed function of the row's own values and, among equal "
    "rows, of which one it is, never of other rows' values."
)
_JOINED = (
    "Rows are joined per subject first, by ids that are compared after trimming and without regard to upper "
    "and lower case (people whose ids differ in nothing else are one subject)."
)
_KEPT_ROW = (
    "Of a subject's different rows one stands, that of the smallest keyed hash of the subject and all that "
    "the row holds; where it has no value, the next row by that hash that has one gives it. A column with "
    "several items has those of all rows, and of too many those of the smallest keyed hashes. So a record "
    "follows from the subject's own rows alone, never from other subjects, a row's position or its copies."
)
_KEPT_VALUES = (
    "Of a column with one value that of the smallest keyed hash stands, column by column, so the values of a "
    "record may come from several rows. A column with several items has those of all rows, and of too many "
    "those of the smallest keyed hashes. So a record follows from the subject's own values alone, never from "
    "other subjects or a row's position."
)
_APPLIED = (
    "What is charged is of delta. What was drawn with is of delta_applied in its place, sigma_k never below "
    "that which is charged; the number of records is drawn as charged."
)
ATTACK_RULE = "power = delta_threshold + Phi(Phi^-1(false_alarm / (1 - delta_threshold)) + mu)"
INPUTS_SENTENCE = (
    "Every number of this statement can be worked out from others by the formulas given here, but for these: "
    "what was chosen (parameters and declarations), what was drawn from the data (differentially private; "
    "the sensitivities Delta_k only where contribution is not schema, the candidates |V_k| only from length "
    "2 on or where a column is open), and what the ledger's account says of other releases and of the caps."
)
ERROR_BAR_RULE = (
    "rounded Gaussian: sd = sqrt(s^2 + 1/12), half_width_95 = max(0, ceil(s Phi^-1(0.975) - 1/2)); rounded "
    "Laplace of scale b: r = exp(-1/b), sd^2 = exp(1/(2 b)) r (1 + r) / (1 - r)^2, half_width_95 = "
    "max(0, ceil(b ln 20 - 1/2)); of a column's total: ceil(Phi^-1(0.975) sqrt(survivors (s_1^2 + 1/12)))"
)
SPURIOUS_RULE = "expected_spurious = |V_k| (1 - Phi((tau_k - 1/2) / s_k)), tau 1 where there is no threshold"
CONVERSION = "delta_noise = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu)"
_SCALE = "s_k = ceil(64 sigma_k sqrt(Delta_k)) / 64; sum Delta_k / s_k^2 <= mu^2"


def neighbours(unit: str) -> str:
    """The neighbouring relation."""
    what = "all rows of one subject" if unit == "subject" else "one parsed row"
    return f"Two tables are neighbours if one is the other with {what} added or removed."


def delta_given(parameters: DpParameters) -> Json:
    """How delta was set (rule 16)."""
    if parameters.delta_factor is None:
        return {"rule": "a public constant"}
    return {
        "rule": "min(delta_max, delta_factor / (n-hat ln n-hat)), and delta_max where n-hat <= e; "
        "the claim, the reserve and the ledger use delta_max",
        "delta_factor": parameters.delta_factor,
        "delta_max": parameters.delta,
    }


def delta_split(parameters: DpParameters, delta_threshold: float) -> Json:
    """What is left of delta for the noise, and how the two parts make up the claim (privacy.md 1.2)."""
    whole = "delta_threshold + (1 - delta_threshold) * delta_noise"
    if parameters.accountant == "zcdp":
        return {"delta_noise": parameters.delta / 2, "identity": f"delta >= {whole}"}
    rest = (parameters.delta - delta_threshold) / (1 - delta_threshold)
    return {"delta_noise": rest, "identity": f"delta = {whole}"}


def accountant(measurement: Measurement) -> Json:
    """The accountant, its theorem and its formulas (privacy.md 1.2 and 2)."""
    return (
        _gdp(measurement.parameters)
        if measurement.parameters.accountant == "gdp"
        else _zcdp(measurement.parameters)
    )


def _gdp(parameters: DpParameters) -> Json:
    profile = " + R f_profile" if parameters.contribution == "profile" else ""
    return {
        "name": "gdp",
        "theorem": "Gaussian differential privacy: everything drawn is one adaptive composition of Gaussian "
        "mechanisms with mu^2 = sum 1 / sigma^2; thresholding values that nobody else holds adds "
        "delta_threshold",
        "conversion": CONVERSION,
        "rule": f"mu is that of the claim times 1 - 1e-9; f_0 = count_share; f_0 + sum f_k{profile} = 1, the "
        "f_k of the lengths as 1 / sigma_proportions_k^2; f_profile = percentile_share of each length's "
        f"histogram; sigma_k = 1 / (mu sqrt(f_k)), charged f_k mu^2; {_SCALE}",
        "text": _APPLIED,
    }


def _zcdp(parameters: DpParameters) -> Json:
    percentile = parameters.contribution == "percentile"
    spent, charged = ("R epsilon_Q^2 / 2 + ", "R m(epsilon_Q)^2 + ") if percentile else ("", "")
    share = ", R epsilon_Q^2 / 2 = percentile_share rho" if percentile else ""
    return {
        "name": "zcdp",
        "theorem": "Zero-concentrated differential privacy (Bun and Steinke): Gaussian levels"
        f"{' and percentiles' if percentile else ''} compose in rho, the count's epsilon_N is added outside, "
        "one half of delta covers the threshold",
        "conversion": "epsilon_M = rho + 2 sqrt(rho ln(2 / delta)); delta_noise = delta / 2",
        "rule": "epsilon = epsilon_N + epsilon_M; L = ln(2 / delta); "
        "rho = (sqrt(epsilon_M + L) - sqrt(L))^2; "
        f"{spent}sum 1 / (2 sigma_k^2) = rho, the 1 / sigma_k^2 as 1 / sigma_proportions_k^2; "
        f"epsilon_N = count_share epsilon{share}; {_SCALE}",
        "text": f"The ledger is charged mu^2 = sum 1 / sigma_k^2 + {charged}m(epsilon_N)^2, "
        f"m(e) = 2 Phi^-1(exp(e) / (1 + exp(e))). {_APPLIED}",
    }


def noise(measurement: Measurement) -> Json:
    """The law of the noise and where its bits come from (privacy.md 3)."""
    return {
        "law": "round(N(0, s_k^2)), exact, for every candidate, zero counts included; where candidates are "
        "too many to visit, the exact law of the survivors among those that nobody holds",
        "lattice": "s_k is a multiple of 1/64 of a record",
        "generator": "AES-256-CTR" if measurement.private else "a seeded test engine: no privacy",
        "error_bar": ERROR_BAR_RULE,
        "spurious": SPURIOUS_RULE,
    }


def contribution(measurement: Measurement, unit: str) -> Json:
    """How one subject's contribution is bounded (rules 12 and 13)."""
    parameters = measurement.parameters
    rules = {
        "schema": "Delta_k = min(C(W, k), |V_k|): what the public schema allows; nothing is dropped beyond "
        "the caps of multi-valued columns",
        "profile": "Delta_k is the upper edge of the bin that holds percentile "
        f"{parameters.percentile_percentage} of a noisy histogram of tuples per subject, clamped to "
        "1..min(C(W, k), |V_k|); a subject with more keeps Delta_k of them. Upper edges are 0..C(W, k) where "
        "C(W, k) < 32, else C(w, k) for w = k-1..W, at most 32 of them evenly chosen; the noise of each bin "
        "has the scale ceil(64 sigma) / 64, sigma = 1 / (mu sqrt(f_profile))",
        "percentile": f"Delta_k is percentile {parameters.percentile_percentage} of tuples per subject by "
        "the exponential mechanism over 1..C(W, k), at most |V_k|; a subject with more keeps Delta_k of "
        "them: P(v) as exp(epsilon_Q u(v) / (2 max(q, 1 - q))), u(v) = -|#{sizes <= v} - q n|",
    }
    return {
        "rule": rules[parameters.contribution],
        "width": measurement.schema.width,
        **joining(measurement.schema, unit),
    }


def joining(schema: Schema, unit: str) -> Json:
    """How rows become records, each a function of one subject alone."""
    if unit == "row":
        return {"how": _ROWS_STAND_ALONE}
    return {"how": f"{_JOINED} {_KEPT_ROW if schema.keeps_rows_whole else _KEPT_VALUES}"}


def sampling(parameters: DpParameters) -> Json | None:
    """The sample of subjects (rule 14), None where all are counted."""
    return None if parameters.record_limit is None else sample_of(parameters.record_limit)


def sample_of(expected_size: int) -> Json:
    """How a sample of so many subjects was taken."""
    return {
        "rule": "each subject is kept iff PRF(key, subject) < p 2^64, p = min(1, expected_size / n-hat), "
        "independently of all others",
        "expected_size": expected_size,
        "text": "The counts are of the sample, the noisy number of records is of all. No amplification by "
        "sampling is claimed.",
    }


def exactness(measurement: Measurement) -> Json:
    """What inexact sampling adds to delta (rule 20)."""
    sensitivities = [level.sensitivity for level in measurement.levels]
    return {
        "delta_sampling": sampling_delta(measurement.parameters.epsilon, sensitivities),
        "distance": DISTANCE,
        "at_most": MOST_SAMPLING_DELTA,
        "rule": "delta_sampling = (1 + exp(epsilon)) (1 + sum_k (Delta_k + 2)) t; t = 2^-280 bounds the "
        "distance of each draw from its law; it adds to delta and is below the constant at_most for every "
        "epsilon up to 100, the largest that is admitted",
    }


def threshold_rule(measurement: Measurement, length: int) -> str:
    """The threshold's formula at one length (rules 10 and 11, privacy.md 6.6)."""
    level = measurement.levels[length - 1]
    if length == 1:
        if level.threshold is None:
            return "none: every column's domain is declared"
        return (
            "tau = max(1, ceil(1.5 + s_1 z + 1e-9)), z = Phi^-1((1 - "
            "delta_threshold_applied)^(1/Delta_open)), Delta_open = min(Delta_1, items of open columns), "
            "for open columns; none for declared ones"
        )
    thresholds = measurement.parameters.thresholds
    value = f"{thresholds.value(length):g}"
    rule = {
        "fixed": f"noisy count >= max(1, ceil({value} + 1/2))",
        "adaptive": f"noisy count >= max(1, ceil(s_k Phi^-1(1 - eta/2) + 1/2)), eta = {value}",
        "spurious": "noisy count >= max(1, ceil(s_k Phi^-1(1 - eta min(1, |S_(k-1)| / |V_k|)) + 1/2)), "
        f"eta = {value}",
    }[thresholds.kind]
    return f"{rule}; raised to the least at which |V_k| (1 - Phi((tau - 1/2) / s_k)) <= 2e7"


def contract_interlock(strict_contract: str | None) -> Json:
    """Whether a data contract could have stopped the release (rule 2), and by its SHA-256 which."""
    if strict_contract is None:
        return {"strict": False, "sentence": REPAIRED}
    return {"strict": True, "sha256": strict_contract, "sentence": STRICT, "text": VERDICTS_UNPAID}


def unused(key: str) -> str:
    """Why a key that was accepted has no effect."""
    if key.startswith("percentile"):
        return "accepted and unused: this release bounds contributions without a percentile mechanism"
    return "accepted and unused: it has no effect on this release"


def outside_the_guarantee(scope: str, unit: str) -> list[str]:
    """What the guarantee does not cover (rule 22, privacy.md 4)."""
    sentences = [
        f"The account is kept in {scope}. Releases of the same people that are charged to another ledger are "
        "not added to it; together they are protected less than stated here.",
        "Releases of other datasets that hold the same people are not added up either, nor are releases "
        "of this one that are k-anonymous: nothing that they show is covered by this guarantee.",
        "A differentially private release hides whether one subject took part. It does not hide what is "
        "true of many: that is what it is published for.",
        "Columns, their order and types in the file, declared values, bins and caps are taken to be public; "
        "they are not protected.",
        "That this release exists shows that the file could be read to its end as its dialect and "
        "encoding say, within the machine's memory, and that no record of a text file fills a whole block of "
        "16 MiB of it, counted from its beginning: a record of up to 16 MiB always passes, one of 32 MiB or "
        "more never does, one between according to where it begins. That is not protected, and the "
        "guarantee holds between such files.",
        "Whoever can see the Prefect server can tell whether the table has changed since an earlier run: a "
        "step is cached or not, two keyed hashes are equal or not, a step takes longer. The guarantee does "
        "not cover that.",
        "How long a run took and how much memory it used are not protected and are not published.",
        "Everything under sensitive/ is outside the guarantee, the evaluation against the raw table too.",
    ]
    if unit == "row":
        sentences.insert(
            0,
            "The unit is one parsed row, because no subject id is configured. A person with several rows is "
            "protected less: see the guarantee for m rows.",
        )
    return sentences
