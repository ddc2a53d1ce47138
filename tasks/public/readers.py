"""What a release carries for its readers, made of its statement, its files and public configuration alone.

registry.yaml    an entry for the public registry of DP deployments; of a differentially private release alone
CITATION.cff     how it is cited
methods.md       a methods paragraph with its sources
croissant.json   all released files and tables, described for machines
"""

import json
from collections.abc import Sequence
from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.core.arrays import Json
from tasks.core.hashes import file_sha256
from tasks.core.lineage import CONFIGURATION
from tasks.core.metadata.croissant import croissant_json
from tasks.core.metadata.described import Described
from tasks.core.metadata.methods import citation_bibtex, citation_cff, citation_text, methods_markdown
from tasks.core.metadata.registry import registry_yaml

#: What these files are made from, as the manifest says it.
DESCRIBED = "the statement, the released files and public configuration"


def write_for_readers(configuration: RunConfiguration, folder: Path, files: Sequence[Json]) -> list[Json]:
    """Write these files into a release's folder; return the manifest's entries.

    Args:
        configuration: the run's.
        folder: where the released files are.
        files: their entries in the manifest, that of ``privacy.json`` among them.
    """
    release = Described(
        statement=json.loads((folder / "privacy.json").read_text(encoding="utf-8")),
        said=configuration.publication,
        title=configuration.report.title,
        prefix=configuration.prefix,
        folder=folder,
        files=files,
    )
    bibtex = citation_bibtex(release)
    texts = {
        "CITATION.cff": citation_cff(release),
        "methods.md": methods_markdown(release, citation_text(release), bibtex),
    }
    if release.is_private:
        texts["registry.yaml"] = registry_yaml(release)
    texts["croissant.json"] = croissant_json(release, bibtex)
    parents = [CONFIGURATION, *(str(entry["file"]) for entry in files)]
    (protection,) = (entry["protection"] for entry in files if entry["file"] == "privacy.json")
    return [_written(folder / name, text, str(protection), parents) for name, text in sorted(texts.items())]


def _written(path: Path, text: str, protection: str, parents: list[str]) -> Json:
    path.write_text(text, encoding="utf-8")
    return {
        "file": path.name,
        "sha256": file_sha256(path),
        "bytes": path.stat().st_size,
        "protection": protection,
        "made_from": DESCRIBED,
        "parents": parents,
    }
