"""What k-anonymity promises and what it does not, in sentences: public facts go in, sentences come out.

Each sentence is a consequence of how counts are rounded (sds.md 2.2), of the mode's invariants (sds.md 4),
or of what a data contract did to the table; tests build the table that shows each attack. *Record* is what
one unit contributes: all rows of a subject, or one row.
"""

from dataclasses import dataclass

from tasks.core.arrays import Json
from tasks.core.errors import InternalError
from tasks.core.figures import whole

UNUSED = "accepted and unused: it has no effect on this release"


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
    """

    resolution: int
    length: int
    unit: str
    synthesis: SynthesisFacts
    record_limit: int | None = None
    is_constrained: bool = False

    @property
    def held_length(self) -> int | None:
        """Up to which length every combination in a record is held by k records; None: of any length."""
        if self.synthesis.every_length:
            return None
        return self.length if self.synthesis.only_reported else 1

    @property
    def held_up_to(self) -> str:
        """The lengths up to which the resolution is held in the records."""
        length = self.held_length
        return "one attribute" if length == 1 else f"up to {length} attributes"

    @property
    def records(self) -> str:
        """Several of what is counted."""
        return "rows" if self.unit == "row" else "subjects"

    @property
    def k(self) -> str:
        """The resolution, as written."""
        return whole(self.resolution)

    @property
    def others(self) -> str:
        """The resolution less one, as written."""
        return whole(self.resolution - 1)

    @property
    def fewer(self) -> str:
        """The most records of a group that is not reported, with their word."""
        return f"{self.others} {self.records.removesuffix('s') if self.resolution == 2 else self.records}"

    @property
    def up_to(self) -> str:
        """The lengths that are counted."""
        return "one attribute" if self.length == 1 else f"up to {self.length} attributes"


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
    if promise.resolution == 1:
        return [
            f"The resolution is 1: every combination of {promise.up_to} that any record holds is reported, "
            "with its exact count. Nothing is rounded, nothing is left out, nobody is protected."
        ]
    k, others = promise.k, promise.others
    return [
        f"A combination of {promise.up_to} is reported only where at least {k} {promise.records} hold it.",
        f"Its count is rounded down to a multiple of {k}: a reported count of c stands for a true one from "
        f"c to c + {others}. The number of {promise.records} is rounded in the same way.",
        f"A combination of {promise.up_to} that is not reported is held by at most {promise.fewer}: "
        "possibly by none, possibly by one.",
        f"A value that fewer than {k} {promise.records} hold stands neither among the counts nor in a "
        "synthetic record nor in a header, unless it was declared beforehand and so is public.",
    ]


def records_hold(promise: Promise) -> list[str]:
    """What is true of the synthetic records of this mode (sds.md 4.1 to 4.4)."""
    synthesis, k = promise.synthesis, promise.k
    if synthesis.every_length:
        told = [
            "Every combination of attributes in a synthetic record, of any length, is held by at least "
            f"{k} {promise.records} of the table."
        ]
    elif not synthesis.only_reported:
        told = [
            "Every single value in a synthetic record is reported, and so is held by at least "
            f"{k} {promise.records} of the table{_but_for_constraints(promise)}.",
            "Of two and more attributes the records are fitted to the reported counts: a synthetic record "
            f"may hold a combination that is not reported, that fewer than {k} {promise.records} hold, or a "
            "single one, or nobody. How often they hold it is what the reported counts imply for it, no more "
            "than whoever reads those counts can work out; to fit them sharpens the differences between a "
            "count and those of its parts. That a synthetic record looks like a particular person is neither "
            "confirmed nor ruled out by it.",
        ]
    else:
        told = [
            f"Every combination of {promise.up_to} in a synthetic record is reported, and so is held by at "
            f"least {k} {promise.records} of the table.",
            f"A combination of more than {promise.length} "
            f"{'attribute' if promise.length == 1 else 'attributes'} is put together from reported parts: a "
            f"synthetic record may hold one that fewer than {k} {promise.records} hold, or a single one, or "
            "nobody. That a synthetic record looks like a particular person is neither confirmed nor ruled "
            "out by it.",
        ]
    if synthesis.equal_singles:
        told.append(
            "Each single attribute is held by exactly as many synthetic records as its reported count says, "
            "and an attribute that is not reported by none."
        )
    if synthesis.ratio is not None:
        told.append(
            "A reported combination is held by at most (1 + "
            f"{synthesis.ratio!r}) times as many synthetic records as reported."
        )
    if not synthesis.reads_records:
        told.append(
            "The synthetic records are drawn from the reported counts and a public seed alone: they tell "
            "nothing of the table that the counts do not."
        )
    return told


def _but_for_constraints(promise: Promise) -> str:
    """Where else a value may come from."""
    if not promise.is_constrained:
        return ""
    return ", or the data contract declares it and a constraint brought it in: that is public"


def not_hidden_by_rounding(promise: Promise) -> list[str]:
    """What does not protect, each under a few words of its own and a colon."""
    found = [
        _rows(promise),
        _nothing(promise),
        *_attacks(promise),
        *_records(promise),
        *_assumptions(promise),
    ]
    return [sentence for sentence in found if sentence]


def _rows(promise: Promise) -> str:
    if promise.unit == "subject":
        return ""
    return (
        f"Rows are counted, not people: no subject_id was given. {promise.k} rows of one person are enough "
        "for a combination to be reported and for synthetic records to hold it; such a person stands alone "
        f"in a group of {promise.k}, and nothing said here protects that person. Only where nobody has "
        f"more than one row do at least {promise.k} rows mean at least {promise.k} people."
    )


def _nothing(promise: Promise) -> str:
    if promise.resolution > 1:
        return ""
    return (
        "No protection at all: with a resolution of 1 a group is one record, and a combination that a single "
        "person holds is published as such."
    )


def _attacks(promise: Promise) -> list[str]:
    """What can be concluded from rounded counts by thinking and by knowing something already."""
    k, others, records = promise.k, promise.others, promise.records
    return [
        "Not differentially private: nothing bounds what may be learned of one person. There is no account "
        "of earlier releases and no limit to further ones; two releases of the same people that are "
        "k-anonymous each need not be so together.",
        f"Alike in what matters: where all or nearly all of a group of {k} or more share a further value, "
        "the counts show it but for their rounding, and of anybody known to be in the group that "
        "value is then known or likely. Where the group with that value is not reported, it is known that "
        f"the value is that of at most {others} in it. All columns are treated alike: none is exempt.",
        f"Knowing others: somebody is hidden in a group of {k} only from those who do not know the others. "
        f"Who knows all the others counts them, and where their number is one short of a multiple of {k} "
        f"reads off whether that person is one more. A group of {k} may be one family, ward or firm.",
        f"Comparing releases: one person more can move a count by a whole step of {k}. The difference "
        "between two releases, between overlapping tables or parts of a table, or between one table at two "
        "resolutions, can therefore give away what one person holds, up to the exact count.",
        "Adding up: where every record has a value in a column, the true counts of its values add up to "
        "that of the group. From the reported counts follow bounds on the combinations that are not "
        "reported, and for some tables these leave one number only, so that a combination which one "
        f"record holds is known to be there. The number of {records}, rounded too, gives such bounds for a "
        "whole column.",
        "What is missing: only values that are present are counted and protected. How many of a group have "
        "no value in a column, or none of the values that are reported, can be narrowed down by "
        "subtraction, however few they are.",
    ]


def _records(promise: Promise) -> list[str]:
    """What the synthetic records give away."""
    synthesis, k, records = promise.synthesis, promise.k, promise.records
    if not synthesis.reads_records:
        return [
            f"Beyond {promise.held_up_to}: the resolution of {k} is not held there (see the synthetic "
            "records). A synthetic record that equals a real one does so by chance, and can't be told from "
            "one that does not.",
            "The seed of synthesis: it is public, and nothing rests on it.",
        ]
    source = (
        "the synthetic records are put together from the reported counts, but which attributes may go "
        "together is asked of the raw records"
        if synthesis.from_counts
        else "the synthetic records are drawn from the raw records, not from the reported counts"
    )
    return [
        f"A second release from the raw table: {source}. They tell of each of their combinations, "
        f"of any length, that at least {k} {records} hold it. How often attributes occur "
        "together in them, and how many synthetic records there are, is not rounded: it follows from the "
        "exact records and from chance, and no bound is claimed for what can be concluded from it. Each "
        "further set of records drawn from the same table tells more.",
        "The seed of synthesis: it is kept with the raw records. What holds of the synthetic records holds "
        "whatever it is, but who has it can check a guess of the whole table by drawing again.",
    ]


def _assumptions(promise: Promise) -> list[str]:
    """What is taken to be public or true."""
    told = []
    if promise.record_limit is not None:
        told.append(
            f"Only the first {whole(promise.record_limit)} rows of the file were read: they are no random "
            "sample, and nothing protects by it. Who knows the order of the file knows whom the counts are "
            "of. Where rows are joined by subject, a subject's later rows are not in it."
        )
    if promise.unit == "subject":
        told.append(
            "One subject, one id: rows are joined where the subject's id is the same, after trimming and "
            "without regard to upper and lower case. A person with several ids counts several times; people "
            "whose ids differ in nothing else are one subject, and then there are more people than subjects."
        )
    return [
        *told,
        "Public by assumption: the input's header, that is names and order of its columns, and declared "
        "values, bins and caps. They appear whether anybody holds them or not.",
        "Outside: everything under sensitive/, the evaluation against the raw table too. How long the run "
        "took and how much memory it used are not protected and are not published.",
    ]


def contract_effect(mode: str) -> Json:
    """What a data contract did: ``none`` was given, it was ``strict``, or cells were put to ``repair``."""
    sentence = {
        "none": "No data contract was given, so no rule on the table's values was checked.",
        "strict": "That this release exists shows that the raw table satisfied its data contract.",
        "repair": (
            "Cells that broke a rule of the data contract were blanked or replaced by a declared value "
            "before anything was counted; no rule could stop this release."
        ),
    }[mode]
    return {"strict": mode == "strict", "sentence": sentence}


def side_channels(promise: Promise) -> str:
    """What shows without being released."""
    joined = ""
    if promise.unit == "subject":
        joined = (
            ", that every row has a subject's id, that no subject's rows contradict each other in a column "
            "that holds one value"
        )
    return (
        "That this release exists shows that the file holds rows and could be read with the delimiter "
        f"and the header that it was said to have{joined}, and that no item of a column with several is "
        "called so that it would be taken for another column's. When it was released is public."
    )
