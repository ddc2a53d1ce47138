"""Where each key of the flat file stands in the model, and which regime or mode it belongs to."""

#: Flat key -> place in the model. `privacy` has keys of its own below.
PLACES: dict[str, tuple[str, ...]] = {
    "sensitive_microdata_path": ("input", "path"),
    "sensitive_microdata_delimiter": ("input", "delimiter"),
    "sensitive_microdata_header": ("input", "header"),
    "encoding": ("input", "encoding"),
    "subject_id": ("input", "subject_id"),
    "use_columns": ("input", "use_columns"),
    "multi_value_columns": ("input", "multi_value_columns"),
    "max_items": ("input", "max_items"),
    "sensitive_zeros": ("input", "sensitive_zeros"),
    "record_limit": ("input", "record_limit"),
    "bins": ("input", "bins"),
    "domains": ("input", "domains"),
    "decimal": ("input", "decimal"),
    "thousands": ("input", "thousands"),
    "contract": ("input", "contract"),
    "contract_mode": ("input", "contract_mode"),
    "dataset": ("dataset",),
    "vintage": ("vintage",),
    "prefix": ("prefix",),
    "output_dir": ("output_dir",),
    "reporting_length": ("reporting_length",),
    "reporting_resolution": ("reporting_resolution",),
    "check_looks_at_lines": ("check_looks_at_lines",),
    "evaluate_sensitive": ("evaluate_sensitive",),
    "evaluate_utility": ("evaluate_utility",),
    "synthetic_forms": ("output_forms",),
    "noise_epsilon": ("protection", "epsilon"),
    "delta": ("protection", "delta"),
    "delta_factor": ("protection", "delta_factor"),
    "number_of_records_epsilon_proportion": ("protection", "number_of_records_proportion"),
    "sigma_proportions": ("protection", "sigma_proportions"),
    "percentile_percentage": ("protection", "percentile_percentage"),
    "percentile_epsilon_proportion": ("protection", "percentile_proportion"),
    "noise_threshold_type": ("protection", "thresholds", "kind"),
    "noise_threshold_values": ("protection", "thresholds", "values"),
    "synthesis_mode": ("synthesis", "mode"),
    "oversampling_ratio": ("synthesis", "oversampling_ratio"),
    "oversampling_tries": ("synthesis", "oversampling_tries"),
    "use_synthetic_counts": ("synthesis", "use_synthetic_counts"),
    "weight_selection_percentile": ("synthesis", "weight_selection_percentile"),
    "aggregate_seeded_counts_scale_factor": ("synthesis", "counts_scale_factor"),
    "aggregate_seeded_target_number_of_records": ("synthesis", "target_number_of_records"),
    "aggregate_seeded_hold_resolution": ("synthesis", "hold_resolution"),
    "workload": ("synthesis", "workload"),
    "allocation": ("synthesis", "allocation"),
    "target": ("synthesis", "target"),
    "max_values": ("synthesis", "max_values"),
    "fitted_target_number_of_records": ("synthesis", "target_number_of_records"),
    "random_seed": ("synthesis", "random_seed"),
    "parallel_jobs": ("resources", "parallel_jobs"),
    "memory_limit_mb": ("resources", "memory_limit_mb"),
    "cache_max_size": ("resources", "cache_max_size"),
    "report_title": ("report", "title"),
    "report_visuals": ("report", "visuals"),
    "report_pages": ("report", "pages"),
}

#: Keys of the `privacy` section -> place in the model.
PRIVACY_PLACES: dict[str, tuple[str, ...]] = {
    "epsilon": ("protection", "epsilon"),
    "delta": ("protection", "delta"),
    "delta_factor": ("protection", "delta_factor"),
    "accountant": ("protection", "accountant"),
    "contribution": ("protection", "contribution"),
    "thresholds": ("protection", "thresholds"),
    "threshold_delta_share": ("protection", "threshold_delta_share"),
    "cap": ("protection", "cap"),
    "releases": ("protection", "releases"),
    "population": ("protection", "population"),
}

#: Read by `tasks.configuration.flat_file` itself.
SECTIONS = ("dp_aggregates", "privacy", "syndiffix")

#: What differential privacy alone reads.
PRIVATE_KEYS = frozenset({key for key, place in PLACES.items() if place[0] == "protection"} | {"privacy"})

#: The mode of records that are fitted to protected counts: the default under differential privacy.
FITTED = "fitted"

#: The modes of synthesis, and the keys that each of them alone reads.
MODE_KEYS: dict[str, frozenset[str]] = {
    "row_seeded": frozenset(),
    "unseeded": frozenset(),
    "value_seeded": frozenset({"oversampling_ratio", "oversampling_tries"}),
    "aggregate_seeded": frozenset(
        {
            "use_synthetic_counts",
            "weight_selection_percentile",
            "aggregate_seeded_counts_scale_factor",
            "aggregate_seeded_target_number_of_records",
            "aggregate_seeded_hold_resolution",
        }
    ),
    FITTED: frozenset({"workload", "allocation", "target", "max_values", "fitted_target_number_of_records"}),
}

#: What differential privacy reads in SDS's mode alone: a fitted release counts other sets, by one accountant.
LENGTH_KEYS = frozenset(
    {
        "sigma_proportions",
        "percentile_percentage",
        "percentile_epsilon_proportion",
        "noise_threshold_type",
        "noise_threshold_values",
    }
)

#: The mode that is a regime of its own, and the section that it alone reads.
SYNDIFFIX = "syndiffix"
MODES = (*MODE_KEYS, SYNDIFFIX)

#: What fitted synthesis measures by; under k-anonymity, where nothing is drawn, these have no effect.
MEASURING_KEYS = frozenset({"workload", "allocation", "target", "max_values"})

#: What makes no sense under SynDiffix, and why.
REFUSED_BY_SYNDIFFIX: dict[str, str] = (
    dict.fromkeys(sorted(PRIVATE_KEYS), "is of differential privacy")
    | dict.fromkeys(sorted(frozenset().union(*MODE_KEYS.values())), "is of another mode of synthesis")
    | dict.fromkeys(
        ("reporting_length", "reporting_resolution"), "is of reported counts, of which it has none"
    )
    | {
        "synthetic_forms": "is of records of attributes; it makes a table with the columns of the input",
        "random_seed": "would make its noise public: all of it follows from the dataset's secret salt",
        "record_limit": "would make further tables of the same people: give it the whole table",
        "multi_value_columns": "needs one value a cell: split the column beforehand, or leave it out",
        "max_items": "needs one value a cell: split the column beforehand, or leave it out",
        "sensitive_zeros": "has no effect: it keeps every 0 as a value",
        "domains": "has no effect: it takes text as it stands; list public columns in value_safe_columns",
    }
)


def keys_of_other_modes(mode: str) -> frozenset[str]:
    """Keys that some mode reads, but not this one."""
    own = MODE_KEYS.get(mode, frozenset({SYNDIFFIX}))
    return frozenset({SYNDIFFIX}).union(*MODE_KEYS.values()) - own
