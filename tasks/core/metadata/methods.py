"""How a paper describes and cites a release: ``methods.md``, ``CITATION.cff`` (format 1.2.0) and BibTeX.

Every figure is one of the statement's. A class a protection says what was done, sentence by sentence, each
with the sources that it names. The author is the publisher that the operator named; where none was named, the
citation says so.
"""

import math
import re
from collections.abc import Iterator

import yaml
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from tasks.core.arrays import Json
from tasks.core.figures import as_markdown, format_near, format_whole, plain_up
from tasks.core.metadata.release_facts import DescribedRelease
from tasks.core.sentences import Sentences, sentences_of
from tasks.core.statement.differential_privacy.statement import SKIP
from tasks.core.syndiffix.settings import count_sd

_TEXT = sentences_of("methods")

#: A sentence and the sources that it names.
Sentence = tuple[str, tuple[str, ...]]
_SHOWCASE = ("showcase",)


def protection_line(release: DescribedRelease) -> str:
    claim = release.statement["guarantee"]
    if release.is_private:
        epsilon, delta = plain_up(claim["epsilon"]), plain_up(claim["delta"])
        return _unit(release).say("kind.differential_privacy", epsilon=epsilon, delta=delta)
    if release.regime == "k_anonymity":
        return _TEXT.say("kind.k_anonymity", k=str(claim["resolution"]))
    return _TEXT.say("kind.syndiffix")


def methods_markdown(release: DescribedRelease, citation: str, bibtex: str) -> str:
    private = _Fitted if release.is_fitted_draw else _Lengths
    told = list(_METHODS.get(release.regime, private)(release).told())
    named = {source for _, sources in told for source in sources}
    listed = [text for key, text in _sources() if key in named]
    title = _TEXT.say("document.title", name=as_markdown(release.name), vintage=as_markdown(release.vintage))
    parts = [
        f"# {title}",
        _TEXT.say("document.about"),
        " ".join(sentence for sentence, _ in told),
        f"## {_TEXT.say('document.sources')}",
        "\n".join(f"* {text}" for text in listed),
        f"## {_TEXT.say('document.citation')}",
        as_markdown(citation),
        f"```bibtex\n{bibtex}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _sources() -> list[tuple[str, str]]:
    keys = [key.partition(".")[2] for key in _TEXT.texts if key.startswith("sources.")]
    return list(zip(keys, _TEXT.say_each("sources"), strict=True))


def _unit(release: DescribedRelease) -> Sentences:
    return _TEXT.of(release.statement["guarantee"]["unit"])


class _Methods:
    def __init__(self, release: DescribedRelease) -> None:
        self._release, self._stated = release, release.statement
        self._claim, self._text = self._stated["guarantee"], _unit(release)
        self._dataset, self._vintage = (
            as_markdown(str(self._stated["dataset"])),
            as_markdown(release.vintage),
        )
        self._code = str(self._stated["code_version"])

    def told(self) -> Iterator[Sentence]:
        raise NotImplementedError

    def _drafted(self, section: str) -> Iterator[Sentence]:
        if self._stated.get("drafted_from_table"):
            yield _TEXT.say(f"{section}.drafted"), ()


class _Private(_Methods):
    def told(self) -> Iterator[Sentence]:
        epsilon, delta = plain_up(self._claim["epsilon"]), plain_up(self._claim["delta"])
        what = self._text.say(
            "private.what",
            dataset=self._dataset,
            vintage=self._vintage,
            code=self._code,
            epsilon=epsilon,
            delta=delta,
        )
        yield what, ("calibrating", "approximate")
        yield self._accounting()
        count = self._stated["noisy_count"]
        yield self._text.say("private.count", sd=plain_up(count["sd"], 3)), ()
        yield from self._measured()
        if sampling := self._stated["sampling"]:
            size = format_whole(sampling["expected_size"])
            yield self._text.say("private.sample", size=size), ()
        if meaning := self._stated["contribution"].get("meaning"):
            yield _TEXT.say("private.meaning", meaning=meaning), ()
        if self._stated["contract"]["strict"]:
            yield _TEXT.say("private.strict"), ()
        if self._stated.get("on_unchanged", {}).get("policy") == SKIP:
            yield _TEXT.say("private.skipped"), ()
        yield from self._drafted("private")
        ledger = self._stated["ledger"]
        yield (
            _TEXT.say(
                "private.ledger",
                epsilon_cap=plain_up(ledger["epsilon_cap"]),
                delta_cap=plain_up(ledger["delta_cap"]),
                releases=format_whole(ledger["releases"]),
                epsilon_spent=plain_up(ledger["epsilon_spent"]),
            ),
            (),
        )

    def _accounting(self) -> Sentence:
        accountant = self._claim["accountant"]
        if accountant["name"] == "gdp":
            return _TEXT.say("private.gdp", mu=plain_up(self._claim["mu"])), ("gaussian", "conversion")
        return _TEXT.say("private.zcdp", rho=plain_up(accountant["rho"])), ("concentrated",)

    def _measured(self) -> Iterator[Sentence]:
        raise NotImplementedError

    def _threshold(self, threshold: int | None) -> Iterator[Sentence]:
        if threshold is not None:
            yield _TEXT.say("private.threshold", threshold=format_whole(threshold)), ("unknown_values",)


class _Fitted(_Private):
    def _measured(self) -> Iterator[Sentence]:
        values, tables = self._stated["values"], self._stated["tables"]
        if values:
            yield _TEXT.say("fitted.values", sd=plain_up(values["error_bar"]["sd"], 3)), ()
            yield from self._threshold(values["threshold"])
        if tables:
            yield self._tables(), ()
        if self._stated["choices"]:
            yield _TEXT.say("fitted.choices"), ()
        if self._release.has_records:
            yield _TEXT.say("fitted.records"), ()

    def _tables(self) -> str:
        tables = self._stated["tables"]
        sds = [table["error_bar"]["sd"] for table in tables]
        least = plain_up(min(sds), 3)
        if len(tables) == 1:
            return _TEXT.say("fitted.tables.one", least=least)
        columns = str(max(len(table["columns"]) for table in tables))
        most = plain_up(max(sds), 3)
        return _TEXT.say(
            "fitted.tables.several", tables=format_whole(len(tables)), columns=columns, least=least, most=most
        )


class _Lengths(_Private):
    def _measured(self) -> Iterator[Sentence]:
        parameters, levels = self._stated["parameters"], self._stated["levels"]
        if parameters["contribution"] == "percentile":
            yield _TEXT.say("private.percentile"), ("exponential",)
        elif parameters["contribution"] == "profile":
            yield _TEXT.say("private.profile"), ()
        drawn = [level for level in levels if level["error_bar"]]
        if drawn:
            sds = ", ".join(
                _TEXT.say(
                    "lengths.noise_of_length",
                    sd=plain_up(level["error_bar"]["sd"], 3),
                    length=str(level["length"]),
                )
                for level in drawn
            )
            yield _TEXT.say("lengths.noise", length=str(len(levels)), sds=sds), ()
            yield from self._threshold(levels[0]["threshold"])
        yield _TEXT.say("lengths.consistent"), ()
        if self._release.has_records:
            yield _TEXT.say("lengths.records"), _SHOWCASE


class _Anonymous(_Methods):
    def told(self) -> Iterator[Sentence]:
        yield (
            _TEXT.say("anonymous.what", dataset=self._dataset, vintage=self._vintage, code=self._code),
            ("anonymity",),
        )
        length, k = str(self._claim["reporting_length"]), self._claim["resolution"]
        if limit := self._claim["record_limit"]:
            yield _TEXT.say("anonymous.first_rows", limit=format_whole(limit)), ()
        if k == 1:
            yield _TEXT.say("anonymous.exact", length=length), ()
        else:
            yield self._text.say("anonymous.counts", length=length, k=str(k)), ()
        yield from self._drafted("anonymous")
        if self._release.has_records:
            yield self._records()

    def _records(self) -> Sentence:
        synthesis = self._stated["synthesis"]
        mode = synthesis["mode"]
        if mode == "fitted":
            return _TEXT.say("anonymous.fitted"), ()
        if mode == "aggregate_seeded" and synthesis["reads_records"]:
            return _TEXT.say("anonymous.held"), _SHOWCASE
        return _TEXT.say(f"anonymous.records.{mode}"), _SHOWCASE


class _Trees(_Methods):
    def told(self) -> Iterator[Sentence]:
        yield (
            _TEXT.say("trees.what", dataset=self._dataset, vintage=self._vintage, code=self._code),
            ("syndiffix",),
        )
        found = self._stated["parameters"]
        yield (
            self._text.say(
                "trees.suppression",
                least=str(found["low_threshold"]),
                mean=format_near(found["low_threshold"] + found["low_mean_gap"] * found["layer_sd"]),
                threshold_sd=format_near(found["layer_sd"]),
            ),
            (),
        )
        if noise := found["layer_noise_sd"]:
            yield _TEXT.say("trees.noise", noise_sd=format_near(count_sd(noise))), ()
        else:
            yield _TEXT.say("trees.no_noise"), ()
        if tables := self._stated["tables"]:
            yield _TEXT.say("trees.tables", tables=format_whole(tables)), ()
        yield from self._drafted("trees")


_METHODS = {"k_anonymity": _Anonymous, "syndiffix": _Trees}


def citation_cff(release: DescribedRelease) -> str:
    said, stated = release.said, release.statement
    body: Json = {
        "cff-version": "1.2.0",
        "message": _TEXT.say("citation.message"),
        "type": "dataset",
        "title": release.name,
        "version": release.vintage,
        "authors": [{"name": _author(release)}],
        "abstract": " ".join(filter(None, (said.description, protection_line(release)))),
        "identifiers": [
            {
                "type": "other",
                "value": f"sha256:{stated['measurement_sha256']}",
                "description": _TEXT.say("citation.measurement"),
            }
        ],
    }
    if said.publisher and re.fullmatch(r"[^@\s]+@[^@\s]+", said.contact):
        body["contact"] = [{"name": said.publisher, "email": said.contact}]
    body |= _license(said.license)
    body |= {"url": said.url} if said.url else {}
    # Unfolded: where a line breaks would depend on the length of the code version in it.
    return yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=math.inf)


def _author(release: DescribedRelease) -> str:
    return release.said.publisher or _TEXT.say("citation.nobody")


def _license(license: str) -> Json:
    """An SPDX name has a field of its own, and so has a web address; other words have none."""
    if re.match(r"https?://", license):
        return {"license-url": license}
    try:
        name = canonicalize_license_expression(license)
    except InvalidLicenseExpression:
        return {}
    return {} if " " in name else {"license": name}


def citation_text(release: DescribedRelease) -> str:
    url = f" {release.said.url}" if release.said.url else ""
    return (
        _TEXT.say("citation.line", author=_author(release), title=release.name, vintage=release.vintage) + url
    )


def citation_bibtex(release: DescribedRelease) -> str:
    fields = {
        "author": f"{{{_bibtex(_author(release))}}}",
        "title": f"{{{_bibtex(release.name)}}}",
        "version": _bibtex(release.vintage),
        "note": _bibtex(protection_line(release)),
    }
    fields |= {"url": release.said.url} if release.said.url else {}
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items()]
    return f"@misc{{{release.slug},\n" + ",\n".join(lines) + "\n}"


def _bibtex(text: str) -> str:
    """Text in which BibTeX and LaTeX see no mark of their own."""
    words = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(words.get(char, f"\\{char}" if char in "&%$#_{}" else char) for char in text)
