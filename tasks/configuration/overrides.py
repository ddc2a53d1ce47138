"""Changes to a configuration file for one run: keys of the flat file in, the same file with them out.

They come from a form, and Prefect keeps what is typed there. So only what is in `ALLOWED` may be changed: how
much is made and how it looks. Whose data it is, what protects it, what it is charged to and where files lie
are settled in the file, which is reviewed. No sentence repeats a value.
"""

import re
from collections.abc import Mapping
from typing import Any

from tasks.core.errors import ParameterError
from tasks.core.hints import did_you_mean

#: What a run may have otherwise than its file.
ALLOWED = (
    "reporting_length",
    "report_title",
    "report_pages",
    "report_visuals",
    "unit",
    "units",
    "value_names",
    "synthetic_forms",
    "evaluate_sensitive",
    "evaluate_utility",
    "fitted_target_number_of_records",
    "aggregate_seeded_target_number_of_records",
    "parallel_jobs",
    "memory_limit_mb",
    "cache_max_size",
)
#: Keys whose values may be secret: Prefect would keep them, readable for all who see its pages.
SECRET_KEYS = re.compile("seed(?!ed)|salt|secret|password|token", re.IGNORECASE)
#: A name and a password in an address.
_CREDENTIALS = re.compile(r"://[^/\s]*@")

#: What the schema of a form says of overrides: the server refuses such a key before it stores anything.
NO_SECRETS = {
    "propertyNames": {
        "not": {
            "description": "A key whose value may be secret. Put it into the configuration file.",
            "pattern": "[sS][eE][eE][dD](?![eE][dD])|[sS][aA][lL][tT]",
        }
    }
}


def apply_overrides(flat: dict[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """A flat file with keys changed; ``null`` takes a key away. No value is repeated in a ParameterError."""
    problems = []
    for key, value in overrides.items():
        if key == "vintage":
            problems.append("overrides must not hold vintage: the form has a field of its own for it.")
        elif secret := _secret(key, value):
            problems.append(
                f"overrides must not hold {secret}: Prefect keeps what is typed into the form, and shows it "
                "to all who see this run. Put it into the configuration file. What you typed is stored by "
                "now: use another."
            )
    unknown = [key for key in overrides if key not in ALLOWED and key != "vintage" and not _secret(key, None)]
    if unknown:
        hints = [(key, did_you_mean(key, ALLOWED)) for key in unknown]
        named = ", ".join(f"{key} ({meant})" if meant else key for key, meant in hints)
        problems.append(
            f"overrides must not hold {named}: one run may differ from its file in {', '.join(ALLOWED)} "
            "alone. Change the configuration file."
        )
    if problems:
        raise ParameterError(problems)
    return flat | dict(overrides)


def without_secrets(body: Any) -> Any:
    """A file, or a part of one, without what may be secret, at whatever depth: what a hash may be shown of.

    >>> without_secrets({"prefix": "a", "runs": [{"random_seed": 7, "name": "b"}]})
    {'prefix': 'a', 'runs': [{'name': 'b'}]}
    """
    if isinstance(body, Mapping):
        public = {key: value for key, value in body.items() if not SECRET_KEYS.search(str(key))}
        return {key: without_secrets(value) for key, value in public.items()}
    if isinstance(body, list):
        return [without_secrets(inner) for inner in body]
    return _CREDENTIALS.sub("://", body) if isinstance(body, str) else body


def _secret(key: str, value: Any) -> str:
    """What of a change may be secret, by its key; nothing where nothing is."""
    if SECRET_KEYS.search(key):
        return key
    if isinstance(value, Mapping):
        inner = (_secret(str(name), inner_value) for name, inner_value in value.items())
        return next((f"{key}.{path}" for path in inner if path), "")
    texts = value if isinstance(value, list) else [value]
    if any(isinstance(text, str) and _CREDENTIALS.search(text) for text in texts):
        return f"a password in {key}"
    return ""
