"""What k-anonymity promises and what it does not, in sentences: public facts go in, sentences come out.

Each sentence is a consequence of how counts are rounded (sds.md 2.2), of the mode's invariants (sds.md 4),
or of what a data contract did to the table; tests build the table that shows each attack. *Record* is what
one unit contributes: all rows of a subject, or one row.
"""

from dataclasses import dataclass

from tasks.core.errors import InternalError
from tasks.core.figures import whole
from tasks.core.sentences import Sentences, sentences_of

_TEXT = sentences_of("k_anonymity")


@dataclass(frozen=True)
class SynthesisFacts:
    """What the records of one mode are made from and keep.

    Attributes:
        reads_records: whether the mode reads the raw records.
        from_counts: whether records are put together from the reported counts.
        every_length: whether every combination of any length is held by k records; otherwise only those up
            to the reporting length.
        equal_singles: whether each attribute is held by exactly as many synthetic records as reported.
        ratio: how far a synthetic count may exceed the reported one; None: not limited.
        only_reported: whether all combinations up to the reporting length in a record are reported ones;
            otherwise that holds of single values.
    """

    reads_records: bool
    from_counts: bool
    every_length: bool
    equal_singles: bool
    ratio: float | None = None
    only_reported: bool = True


@dataclass(frozen=True)
class Promise:
    """What the sentences are about.

    Attributes:
        resolution: k.
        length: R.
        unit: ``subject`` or ``row``.
        synthesis: of the synthetic records.
        record_limit: only the first so many rows were read; None: all.
        is_constrained: whether the records hold constraints of a data contract.
        is_drafted: whether what is declared of the table was drafted by looking at it.
    """

    resolution: int
    length: int
    unit: str
    synthesis: SynthesisFacts
    record_limit: int | None = None
    is_constrained: bool = False
    is_drafted: bool = False

    @property
    def held_length(self) -> int | None:
        """Up to which length every combination in a record is held by k records; None: of any length."""
        if self.synthesis.every_length:
            return None
        return self.length if self.synthesis.only_reported else 1

    @property
    def text(self) -> Sentences:
        """The sentences about this unit."""
        return _TEXT.of(self.unit)

    @property
    def k(self) -> str:
        """The resolution, as written."""
        return whole(self.resolution)

    @property
    def others(self) -> str:
        """The resolution less one, as written."""
        return whole(self.resolution - 1)

    @property
    def up_to(self) -> str:
        """The lengths that are counted."""
        return _up_to(self.length)


def _up_to(length: int) -> str:
    if length == 1:
        return _TEXT.say("lengths.one")
    return _TEXT.say("lengths.several", length=str(length))


def synthesis_of(mode: str, hold_resolution: bool, oversampling: tuple[float, int] | None) -> SynthesisFacts:
    """What a mode's records are made from and keep (sds.md 4).

    Raises:
        InternalError: no mode of this name.
    """
    modes = {
        "row_seeded": SynthesisFacts(True, False, True, True),
        "unseeded": SynthesisFacts(True, False, True, False),
        "value_seeded": SynthesisFacts(True, False, True, True, oversampling[0] if oversampling else None),
        "aggregate_seeded": SynthesisFacts(hold_resolution, True, hold_resolution, False),
        "fitted": SynthesisFacts(False, True, False, False, only_reported=False),
    }
    if mode not in modes:
        raise InternalError(f"A statement is of a known mode of synthesis; {mode} is not one.")
    return modes[mode]


def counts_hold(promise: Promise) -> list[str]:
    """What is true of the reported counts (sds.md 2.2)."""
    text, up_to, k, others = promise.text, promise.up_to, promise.k, promise.others
    if promise.resolution == 1:
        return [text.say("promise.exact", up_to=up_to)]
    by = "by_one" if promise.resolution == 2 else "by_several"
    return [
        text.say("promise.least", up_to=up_to, k=k),
        text.say("promise.rounded", k=k, others=others),
        text.say(f"promise.unreported.{by}", up_to=up_to, others=others),
        text.say("promise.values", k=k),
    ]


def records_hold(promise: Promise) -> list[str]:
    """What is true of the synthetic records of this mode (sds.md 4.1 to 4.4)."""
    text, synthesis = promise.text, promise.synthesis
    told = _combinations_hold(promise)
    if synthesis.equal_singles:
        told.append(text.say("synthetic.equal_singles"))
    if synthesis.ratio is not None:
        told.append(text.say("synthetic.ratio", ratio=repr(synthesis.ratio)))
    if not synthesis.reads_records:
        told.append(text.say("synthetic.counts_alone"))
    return told


def _combinations_hold(promise: Promise) -> list[str]:
    """Who holds what a synthetic record holds."""
    text, k = promise.text, promise.k
    if promise.synthesis.every_length:
        return [text.say("synthetic.every_length", k=k)]
    if promise.synthesis.only_reported:
        more_than = _TEXT.say("lengths.more_than_one")
        if promise.length > 1:
            more_than = _TEXT.say("lengths.more_than_several", length=str(promise.length))
        return [
            text.say("synthetic.reported_length", up_to=promise.up_to, k=k),
            text.say("synthetic.longer", more_than=more_than, k=k),
        ]
    values = "reported_or_declared" if promise.is_constrained else "reported"
    return [text.say(f"synthetic.values.{values}", k=k), text.say("synthetic.fitted", k=k)]


def not_hidden_by_rounding(promise: Promise) -> list[str]:
    """What does not protect, each under a few words of its own and a colon."""
    text, k, others, told = promise.text, promise.k, promise.others, []
    if promise.unit == "row":
        told.append(text.say("not_covered.rows", k=k))
    if promise.resolution == 1:
        told.append(text.say("not_covered.resolution_of_one"))
    if promise.is_drafted:
        told.append(text.say("not_covered.drafted"))
    told += text.say_each("not_covered.attacks", k=k, others=others)
    if not promise.synthesis.reads_records:
        held = _up_to(promise.held_length or promise.length)
        told.append(text.say("not_covered.synthetic.beyond", up_to=held, k=k))
        told.append(text.say("not_covered.synthetic.public_seed"))
    else:
        source = "of_counts" if promise.synthesis.from_counts else "of_records"
        told.append(text.say(f"not_covered.synthetic.second_release.{source}", k=k))
        told.append(text.say("not_covered.synthetic.kept_seed"))
    if promise.record_limit is not None:
        told.append(text.say("not_covered.assumed.first_rows", limit=whole(promise.record_limit)))
    if promise.unit == "subject":
        told.append(text.say("not_covered.assumed.one_id"))
        told.append(text.say("not_covered.assumed.one_row"))
    return [*told, text.say("not_covered.assumed.public"), text.say("not_covered.assumed.outside")]
