"""A contract as Great Expectations says it: a suite for the released records, and the result on a raw table.

The suite is made of what is public and without Great Expectations. Of a judged raw table the verdicts and
what decided them go in, and a validation result with its data docs comes out, for ``sensitive/`` alone: it
holds counts, and no value. Great Expectations judges nothing itself: DuckDB has counted, over tables that no
frame would hold. It takes seconds to import, so it is imported where a raw table was judged. No data context
is opened, so that nothing is looked up in a home folder and no analytics are set up.
"""

import html
import json
import os
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from tasks.core.arrays import Json
from tasks.core.contracts.contract import Contract
from tasks.core.contracts.rules import ContractRule, Judgement, rules_of
from tasks.core.records.columns import Schema

_BOOLEAN = "(?i)^(true|false|1|0|yes|no)$"
#: What a page of Great Expectations loads from other hosts, or needs that for.
_LOADED = re.compile(
    r"<script\b.*?</script>|<(?:link|img)\b[^>]*>|<footer>.*?</footer>|background: url\([^)]*\)[^;]*;",
    re.DOTALL,
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: The policy lets nothing be loaded, so the marks of kept and broken rules are words.
_HEAD = """<head>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>td i.text-success::before { content: "kept" } td i.text-danger::before { content: "broken" }</style>"""


def expectation_suite(contract: Contract, schema: Schema) -> Json:
    """A suite for the synthetic records of a release, each cell read as text.

    The records hold no subject id, several headers for a column of several items, and the names of bins for
    binned numbers. What can't be asked of them stands in ``meta.left_out``.
    """
    expectations = []
    for column in schema.columns:
        if not column.is_multi_valued:
            kwargs: Json = {"column": column.name}
            expectations.append(_expectation("expect_column_to_exist", kwargs))
        if not column.is_multi_valued and column.domain is not None:
            kwargs = {"column": column.name, "value_set": list(column.domain)}
            sentence = f"{column.name}: every value is one of those declared"
            expectations.append(_expectation("expect_column_values_to_be_in_set", kwargs, sentence))
    left_out = []
    for rule in rules_of(contract, schema):
        judged = None if rule.column_id is None else schema.columns[rule.column_id]
        is_of_many = judged is not None and judged.is_multi_valued
        declared = judged.domain if judged is not None and not is_of_many else None
        if declared is not None and (rule.kind in ("type", "range") or {*declared} <= {*rule.allowed}):
            continue  # its values are asked for above
        if is_of_many or rule.kind in ("range", "subject id present") or ":" in rule.value_format:
            left_out.append(rule.sentence)
        else:
            name = None if judged is None else judged.name
            expectations.append(_expectation(*_type_and_arguments(rule, name), rule.sentence))
    meta = {
        "contract": contract.name,
        "version": contract.version,
        "sha256": contract.sha256,
        "left_out": left_out,
    }
    return {"name": contract.name, "expectations": expectations, "meta": meta}


def _expectation(kind: str, kwargs: Json, sentence: str = "") -> Json:
    return {"type": kind, "kwargs": kwargs, "meta": {}} | ({"description": sentence} if sentence else {})


def _type_and_arguments(rule: ContractRule, column: str | None) -> tuple[str, Json]:
    """The expectation that asks for a rule. Args: column: as the header has it; None: it is of the table."""
    items = int(rule.detail) if rule.kind == "items of a subject" else 0
    forms: dict[str, tuple[str, Json]] = {
        "subject id present": ("expect_column_values_to_not_be_null", {}),
        "minimum rows": ("expect_table_row_count_to_be_between", {"min_value": rule.least}),
        "type": _type_of_values(rule),
        "range": (
            "expect_column_values_to_be_between",
            {"min_value": rule.minimum, "max_value": rule.maximum},
        ),
        "allowed values": ("expect_column_values_to_be_in_set", {"value_set": list(rule.allowed)}),
        "distinct values": ("expect_column_unique_value_count_to_be_between", {"max_value": rule.most}),
        "share of empties": ("expect_column_values_to_not_be_null", {"mostly": 1 - (rule.most or 0) / 100}),
        "items of a subject": ("expect_column_value_lengths_to_be_between", {"max_value": items}),
        "identifiers": ("expect_column_values_to_not_match_regex_list", {"regex_list": [*rule.patterns]}),
    }
    kind, arguments = forms[rule.kind]
    return kind, arguments if rule.kind == "minimum rows" else {"column": column} | arguments


def _type_of_values(rule: ContractRule) -> tuple[str, Json]:
    if rule.value_format:
        return "expect_column_values_to_match_strftime_format", {"strftime_format": rule.value_format}
    if rule.number_pattern is None and rule.logical_type != "boolean":
        return "expect_column_values_to_be_dateutil_parseable", {}
    regex = _BOOLEAN if rule.number_pattern is None else f"^(?:{rule.number_pattern})$"
    return "expect_column_values_to_match_regex", {"regex": regex}


def validation_result(judgement: Judgement, contract: Contract, schema: Schema) -> tuple[str, str]:
    """The verdicts on a raw table as Great Expectations keeps and shows them: sensitive, as they hold counts.

    Returns:
        The JSON of a validation result, and its data docs: one page that loads nothing.
    """
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own imports
        from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer
        from great_expectations.render.view.view import DefaultJinjaPageView

        renderer: Any = ValidationResultsPageRenderer()
        view: Any = DefaultJinjaPageView()
        kept = _result(judgement, contract, schema, str)
        # Its page would take what a contract calls its columns for markup.
        shown = _result(judgement, contract, schema, html.escape)
        page = _LOADED.sub("", view.render(renderer.render(shown)))
    found = list(dict.fromkeys(_UUID.findall(page)))
    page = _UUID.sub(lambda match: str(found.index(match[0])), page)
    page = page.replace("<head>", _HEAD, 1)
    return json.dumps(kept.to_json_dict(), indent=1, sort_keys=True) + "\n", page


def _result(judgement: Judgement, contract: Contract, schema: Schema, spell: Callable[[str], str]) -> Any:
    """The result in their class. Args: spell: a public text of the contract, as it is to be written."""
    from great_expectations import __version__
    from great_expectations.core.expectation_validation_result import (
        ExpectationSuiteValidationResult,
        ExpectationValidationResult,
    )
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    verdicts = judgement.verdicts
    results = []
    for rule, passed, numbers in zip(judgement.rules, verdicts, _numbers(judgement), strict=True):
        name = schema.subject_id if rule.kind == "subject id present" else rule.column
        kind, kwargs = _type_and_arguments(rule, None if name is None else spell(name))
        configuration = ExpectationConfiguration(kind, kwargs, description=spell(rule.sentence))
        results.append(
            ExpectationValidationResult(success=passed, expectation_config=configuration, result=numbers)
        )
    statistics = {
        "evaluated_expectations": len(verdicts),
        "successful_expectations": sum(verdicts),
        "unsuccessful_expectations": len(verdicts) - sum(verdicts),
        "success_percent": 100 * sum(verdicts) / len(verdicts) if verdicts else None,
    }
    return ExpectationSuiteValidationResult(
        success=all(verdicts),
        results=results,
        suite_name=spell(contract.name),
        statistics=statistics,
        meta={"great_expectations_version": __version__},
    )


def _numbers(judgement: Judgement) -> Sequence[Json]:
    shown: list[Json] = []
    for rule, number in zip(judgement.rules, judgement.numbers, strict=True):
        if rule.kind in ("minimum rows", "distinct values"):
            shown.append({"observed_value": number})
        elif rule.kind == "share of empties":
            shown.append({"unexpected_percent": number})
        else:
            is_of_values = rule.column_id is not None and rule.kind != "items of a subject"
            judged = judgement.present.get(rule.column_id or 0, 0) if is_of_values else judgement.records
            percent = 100 * number / judged if judged else 0.0
            shown.append(
                {"element_count": judged, "unexpected_count": int(number), "unexpected_percent": percent}
            )
    return shown
