"""The keys that released JSON may have: a document goes in, nothing or an `InternalError` comes out.

Test P5: every released document is held against a list of allowed keys, and a name that
could carry something read off the table is refused whoever allowed it.
"""

import re
from collections.abc import Iterator

from tasks.core.errors import InternalError


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Names that can hold a true count, the noise's key or a figure of the raw table (P5, gaps G4 to G15).
_FORBIDDEN = re.compile(
    r"number_of_records|^true_|_true|^raw|sensitive|max_sensitivity|seed|noise_key|expansion|rare|leak|"
    r"duration|elapsed|timestamp|input_(hash|sha256|rows)|proportional_error|truncat"
)

#: The privacy statement (`statement`).
STATEMENT_KEYS = _words(
    """
    account accountant all_releases answer assumed_subjects at_cap at_most attack attention bins candidates
    changes charges chosen code_version columns columns_to_look_at computational constraints contract
    contracts contribution conversion count_share dataset declared delta delta_applied delta_cap delta_factor
    delta_given delta_max delta_noise delta_sampling delta_threshold delta_threshold_applied
    delta_threshold_cap delta_threshold_spent disclosed_uniques distance domain domain_size
    drafted_from_table drawn edges empty
    epsilon epsilon_cap epsilon_charged epsilon_count epsilon_spent error_bar excluded expected_size
    expected_spurious expected_spurious_share false_alarm format generator group_privacy group_privacy_rule
    guarantee half_width_95 head how identity in_force inputs items key kind lattice law least_records ledger
    length levels max_items meaning measurement_sha256 most mu mu_squared mu_squared_cap mu_squared_spent name
    neighbours noise noisy_count noisy_total not_covered on_unchanged open parameters per_release policy
    percentile_percentage percentile_share population power prepared privacy private public_side_channels
    question questions regime releases remaining_releases reporting_length rho rows rule rules runs sampling
    sampling_exactness scale scope sd sensitivity sensitivity_bound sentence sha256 sigma sigma_charged
    sigma_proportions spurious stopped_by_contract stopped_unread strict subject_id suppressed survivors text
    theorem this_release threshold
    threshold_delta_share threshold_rule thresholds topic unit unused_keys value values vintage why width
    zero_is_value
    """
)

#: What the statement of a fitted release has beside (`tasks.core.statement.differential_privacy.draws`).
WORKLOAD_STATEMENT_KEYS = _words(
    """
    against allocation cells choices chosen counts counts_rule filled holding lengths longer max_values most
    most_candidates most_cells most_cells_together most_pairs mu_squared_realised pair_scores score scores
    sensitivity_squared shares signal signal_rule stage states steps tables target target_factor total what
    """
)

#: The privacy statement under k-anonymity (`tasks.core.statement.k_anonymity`).
ANONYMITY_STATEMENT_KEYS = _words(
    """
    bins code_version columns combinations constraints contract count dataset domain domain_size
    drafted_from_table
    every_length format guarantee held_length holds key kind least length levels max_items
    measurement_sha256 mode most name not_covered oversampling private public_side_channels ratio
    reads_records record_limit regime reporting_length resolution rules sentence sha256 single_counts strict
    subject_id synthesis tries unit unused_keys value vintage why zero_is_value
    """
)

#: The privacy statement of SynDiffix (`tasks.core.statement.syndiffix`), settings by the port's
#: names.
SYNDIFFIX_STATEMENT_KEYS = _words(
    """
    clustering code_version columns contract dataset drafted_from_table earlier_releases format guarantee
    holds ids key kind
    label layer_noise_sd layer_sd low_mean_gap low_threshold measurement_sha256 name not_covered outlier_count
    owner
    parameters precision_limit_depth_threshold precision_limit_row_fraction private public_side_channels
    range_low_threshold regime sentence singularity_low_threshold strict tables target top_count type
    unit unused_keys value_safe vintage why
    """
)

#: The evaluation of synthetic against reportable counts (`tasks.core.evaluation.release`).
EVALUATION_KEYS = _words(
    """
    bin by_count by_length combinations error_bar_95 kept length mean_absolute_error mean_count mean_error
    mean_error_of_union mean_length mean_proportional_error mean_proportional_error_unbinned missed
    missed_pct noise preservation proportional_error record_expansion_pct reported scale summary synthetic
    unreported unreported_pct unreported_pct_of_synthetic weighted_mean_proportional_error
    """
)

#: The manifest, and the contract's rules judged on released numbers.
MANIFEST_KEYS = _words(
    """
    bytes code_version contract dataset file files made_from mode parents protection rows rule rules sentence
    sha256 verdict version vintage
    """
)

#: What each file was made from (`tasks.core.lineage`).
LINEAGE_KEYS = _words(
    """
    bytes crossing dataset format made_from name nodes parents protection rows sha256 vintage zone
    """
)

#: The public configuration: what it holds was written by the operator, not read off the table.
CONFIGURATION_KEYS = _words(
    """
    accountant allocation bins cache_max_size cap check_looks_at_lines clustering columns contract_mode
    contribution
    counts_scale_factor cut dataset dataset_is_named date_formats
    decimal default delimiter delta delta_factor domains
    drafted_from_table drop_non_features encoding epsilon escape evaluate_sensitive further_ids header
    hold_resolution input kind
    layer_noise_sd layer_sd low_mean_gap low_threshold main_column main_features max_items max_weight
    low_budget memory_limit_mb
    max_values merge_threshold missing_values mode multi_value_columns negative number_of_records_proportion
    on_unchanged outlier_count output_forms owner
    oversampling_ratio oversampling_tries pages parallel_jobs percentile_percentage percentile_proportion
    population precision_limit_depth_threshold precision_limit_row_fraction prefix protection quote
    random_seed
    range_low_threshold record_limit regime releases report reporting_length reporting_resolution
    resources sample_size sensitive_zeros sigma_proportions singularity_low_threshold skip_lines
    solver_alpha strip
    subject_id synthesis tables target target_number_of_records thousands threshold_delta_share
    thresholds title top_count types use_columns use_synthetic_counts value_safe_columns values vintage
    visuals weight_selection_percentile workload
    contact data_source description first_published license publication publisher purpose rationale region
    sector url
    unit units value_names
    """
)

#: The description for machines (`tasks.core.metadata.croissant`), by the names of its standard.
CROISSANT_KEYS = _words(
    """
    @context @id @type arrayShape citeAs column conformsTo contentSize contentUrl creator dataType description
    distribution encodingFormat extract field fileObject isArray license name publisher
    rai:dataLimitations rai:dataUseCases rai:personalSensitiveInformation recordSet sha256 source url version
    """
)

#: An entry of the registry (`tasks.core.metadata.registry`), by the names of its schema.
REGISTRY_KEYS = _words(
    """
    access_type access_type_details accounting actors administrative basic composition data_curators
    data_domain data_product_region data_product_sector data_product_type data_source_type
    data_source_type_details delta deployment deployment_model description dp_variant epsilon implementation
    intended_use justification mechanisms model_name model_name_details name notes post_processing
    preprocessing_and_hyperparameter_tuning privacy_loss privacy_parameters privacy_parameters_details
    privacy_unit privacy_unit_details publication_date registry_authors release_type release_type_details
    sources status tier unprotected_quantities url_slug variant_name
    """
)

#: The index of a dataset's releases (`tasks.public.releases`).
INDEX_KEYS = _words("dataset date errata kind release released releases replaced_by status text vintage")

#: Everything that may be released.
ALLOWED_KEYS = (
    STATEMENT_KEYS
    | WORKLOAD_STATEMENT_KEYS
    | ANONYMITY_STATEMENT_KEYS
    | SYNDIFFIX_STATEMENT_KEYS
    | EVALUATION_KEYS
    | MANIFEST_KEYS
    | LINEAGE_KEYS
    | CONFIGURATION_KEYS
    | CROISSANT_KEYS
    | REGISTRY_KEYS
    | INDEX_KEYS
)

#: Names that are forbidden elsewhere are allowed to these two: here they stand for synthetic against
#: reported counts, and for settings.
_EXCUSED = EVALUATION_KEYS | CONFIGURATION_KEYS

#: Settings by the operator's own names: of columns, visuals, pages or lengths, all public. `@context` is a
#: standard's, to the letter.
_NAMED_BY_OPERATOR = _words(
    "@context bins cut date_formats "
    "decimal domains max_items missing_values multi_value_columns negative pages strip thousands types "
    "value_names "
    "values visuals"
)


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if not (key in _NAMED_BY_OPERATOR and isinstance(inner, dict)):
                yield from _keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _keys(inner)


def check_released_json(document: object, allowed: frozenset[str] = ALLOWED_KEYS) -> None:
    """Refuse a document with a key that is not allowed, or that is forbidden whoever allows it.

    Raises:
        InternalError: naming the keys; they are ours, never the table's, so they may be shown.
    """
    keys = set(_keys(document))
    forbidden = {key for key in keys if _FORBIDDEN.search(key)} - _EXCUSED
    bad = sorted(forbidden | (keys - allowed))
    if bad:
        raise InternalError(
            f"A released document may hold only the keys that are allowed; it holds {', '.join(bad)}. "
            "Add a key to the list only after showing that it is public or differentially private."
        )
