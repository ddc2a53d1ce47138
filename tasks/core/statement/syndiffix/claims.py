"""What protects in a SynDiffix release and what is known not to, in sentences (syndiffix.md 7.1).

Public facts go in, sentences come out; those of what does not protect begin with a few words and a colon.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.figures import near, whole
from tasks.core.syndiffix.settings import MOST_TOGETHER

SYNDIFFIX_NOT_DP = (
    "This release is not differentially private. It was made by SynDiffix: what follows makes it hard to "
    "learn of one person, but nothing bounds what may be learned, there is no budget, and no proof."
)
NO_NOISE = (
    "No noise: its size was set to 0, so that counts of what is shown are exact but for rounding, merging "
    "and, where there are ids, flattening."
)
TABLE_SIDE_CHANNELS = (
    "That this release exists shows that the file holds rows and could be read as it was said to be. Header "
    "and type of each column, the number of decimals of its numbers, and the order of its texts are the "
    "table's own."
)


@dataclass(frozen=True)
class SynDiffixPromise:
    """What the sentences are about.

    Attributes:
        ids: headers of the id columns.
        least: entities below which a group is never shown.
        usual: the mean threshold.
        threshold_sd: of the noise on every threshold.
        noise_sd: of the noise on a count of entities with one row each.
        flattened: how many largest contributors are flattened, from and to.
        top: how many after them give the level they are flattened to.
        clustering: the name of the way in which columns were put together.
        columns: how many there are to be put together.
        value_safe: headers of columns whose values are public.
        texts: whether there is a column of texts.
        tables: how many tables of fewer columns were released beside the one of all.
        earlier: how many releases with other content were found in the workspace.
    """

    ids: tuple[str, ...]
    least: int
    usual: float
    threshold_sd: float
    noise_sd: float
    flattened: tuple[int, int]
    top: tuple[int, int]
    clustering: str
    columns: int
    value_safe: tuple[str, ...]
    texts: bool
    tables: int
    earlier: int

    @property
    def unit(self) -> str:
        """What is protected: a ``subject`` or a ``row``."""
        return "subject" if self.ids else "row"

    @property
    def units(self) -> str:
        """Several of it."""
        return f"{self.unit}s"


def safe_told(columns: Sequence[str]) -> str:
    """What it means that values are public, in a sentence."""
    several = "s" if len(columns) > 1 else ""
    return (
        f"Of the column{several} {', '.join(columns)} the values were declared to be public: rare ones are "
        "shown too, even where a single person holds them."
    )


def earlier_told(earlier: int) -> str:
    """What other releases there are, in a sentence."""
    many = "1 release" if earlier == 1 else f"{whole(earlier)} releases"
    return (
        f"{many} of this dataset with other content {'was' if earlier == 1 else 'were'} found in this "
        "workspace, made by SynDiffix before this one. Whoever has several can compare them: what changed "
        "between two of them can point at one person."
    )


def holds(promise: SynDiffixPromise) -> list[str]:
    """What protects."""
    excepted = f" Public values ({', '.join(promise.value_safe)}) are excepted." if promise.value_safe else ""
    return [
        "Aggregation: synthetic rows are drawn from counts of groups that are alike in some columns, never "
        "copied from rows of the table.",
        f"Suppression: a group of fewer than {whole(promise.least)} {promise.units} is never shown by "
        f"itself. About {near(promise.usual, 3)} are needed, as each decision has a threshold of its own "
        f"with noise of standard deviation {near(promise.threshold_sd, 3)}; what is too small is counted in "
        f"a wider group.{excepted}",
        *_noise(promise),
        "One secret salt: all noise and all random choices follow from a key of this dataset that was made "
        "once and is kept with the ledger, closed to others. The same group by the same columns has the same "
        "noise, in this release and in others, so that it can't be averaged away by asking again. What else "
        "can be averaged is said under Same noise and Many tables.",
        "No exact outliers: only those who hold a value count for showing it. Values at the far ends that "
        "too few hold are counted at the end of what is shown, and intervals lie on a fixed grid of powers "
        f"of two, not on the table's least and largest value.{excepted}",
        "Shuffled: the rows are in random order, so that their order does not tell from which groups they "
        "were drawn.",
    ]


def _noise(promise: SynDiffixPromise) -> list[str]:
    if not promise.noise_sd:
        return [NO_NOISE, *_flattening(promise)]
    noise = (
        f"Noise: the count of each group has noise of standard deviation {near(promise.noise_sd, 3)}, in two "
        f"layers: one by the {promise.units} in the group, one by the group's place."
    )
    grows = f" Where {promise.units} have several rows it grows with them." if promise.ids else ""
    return [noise + grows, *_flattening(promise)]


def _flattening(promise: SynDiffixPromise) -> list[str]:
    (low, high), (least, most) = promise.flattened, promise.top
    if not promise.ids or not high:
        return []
    return [
        f"Flattening: in each group the {low} to {high} {promise.units} with the most rows count no more "
        f"than the mean of the next {least} to {most}."
    ]


def known_attacks(promise: SynDiffixPromise) -> list[str]:
    """What does not protect, and which known attacks apply."""
    return [
        *_people(promise),
        "No formal bound: nothing limits what may be learned of one person by whoever knows enough of the "
        "others, and no account is kept of what all releases together give away.",
        "Noise exploitation: the noise depends on who is in a group and on the group alone. Against an "
        "earlier system with such noise, which answered questions, attackers used groups that differ in one "
        "person to guess an attribute of that person rightly in 89 % of the best cases (arXiv 1804.06752). "
        "Here only finished tables are given out, but the noise is of the same kind.",
        _same(promise),
        _many(promise),
        *_texts(promise),
        "Shape of the data: the number of decimals, the type of each column, which numbers are multiples of "
        "something, and within a factor of two how large its numbers are, are read off the table and are not "
        "protected.",
        *_safe(promise),
        "Suppression shows: where a group was divided further, and where not, follows from noisy thresholds "
        "and can be seen in how finely values are shown. A value that is missing may be held by few or by "
        "none, or by more and have been lost when groups were divided or tables put together.",
        *_clustering(promise),
        "Several people together: groups are protected by how many are in them. Who knows all but one of a "
        "group, or a group that always comes together, such as a household, learns more than the thresholds "
        "suggest.",
        "The salt: who has it and the table's other rows can compute all noise. Keep the ledger's folder "
        "closed.",
        "Outside this statement: nothing here protects what is under sensitive/, of which the evaluation "
        "against the raw table is a part: it must not be given out. How long the run took and how much "
        "memory it used are not protected either, and are not published.",
    ]


def _people(promise: SynDiffixPromise) -> list[str]:
    if promise.ids:
        return [
            "One subject, one id: rows belong together where the id is the same text. A person with several "
            "ids is several subjects. A row without an id is nobody's: it adds to counts, but to no "
            "threshold and no noise, and is not protected. Rows that are added to subjects who are in a "
            "group already change its count and hardly its noise."
        ]
    return [
        "Rows, not people: no id column was given, so that thresholds, noise and flattening are by rows. A "
        f"person with {whole(promise.least)} or more rows may be a whole group."
    ]


def _same(promise: SynDiffixPromise) -> str:
    whose = (
        "the same columns are named as ids and keep their text"
        if promise.ids
        else "rows keep what all of their cells say in the file, also those of columns that are not "
        "released, as each row is told from others by all of them, whatever types are declared"
    )
    return (
        "Same noise: it is the same as long as the dataset keeps its name and its ledger, columns keep their "
        f"headers, and {whose}. Where one of these changes the noise is drawn anew, and counts of before and "
        "after can be averaged. A column that is declared to be of another type has other groups; half of "
        "their noise, that of a group's place, is drawn anew, and no threshold is for a group of the same "
        f"{promise.units}. Where only the size of the noise or of a threshold is set otherwise, outputs of "
        "both settings together come nearer to the true counts than each."
    )


def _many(promise: SynDiffixPromise) -> str:
    told = "Many tables: each table of the same data, also of other columns, reuses the same noise by design"
    if promise.tables:
        told += f", and this release holds {whole(promise.tables)} beside the one of all columns"
    told += (
        ". Their groups overlap and differ by few people: differences between them tell more than each "
        "alone. Whoever adds a count up from each of many tables and takes the mean has less noise: half of "
        "one count's, when it was tried with the 55 tables of a column and one or two of ten others."
    )
    if promise.earlier:
        told += f" {earlier_told(promise.earlier)}"
    return (
        f"{told} Not counted in this statement are releases that are no longer in this workspace or are in "
        "another, and what the command made of the same data, as a table or a blob."
    )


def _texts(promise: SynDiffixPromise) -> list[str]:
    if not promise.texts:
        return []
    return [
        "Texts: one that too few hold becomes the beginning that at least two texts share, a star and a "
        "number. Such a beginning can be nearly all of a text that one person holds, where others hold one "
        "much like it, or that of a small group, such as a family name in an address. The numbers are ranks "
        "in the list of all texts of the table, whose length is not protected."
    ]


def _safe(promise: SynDiffixPromise) -> list[str]:
    if not promise.value_safe:
        return []
    return [f"Public values: {safe_told(promise.value_safe)[0].lower()}{safe_told(promise.value_safe)[1:]}"]


def _clustering(promise: SynDiffixPromise) -> list[str]:
    chosen = {
        "default": "which columns are together was chosen by their dependence, measured on the raw "
        "table by noisy counts or, where that was on a sample of it, with lower thresholds and without noise",
        "ml": "which columns are together was chosen by how well they predict the target in the raw table, "
        "without noise",
    }
    together = promise.clustering == "default" and promise.columns <= MOST_TOGETHER
    if together or promise.clustering not in chosen:
        return []
    return [
        f"The choice of clusters: {chosen[promise.clustering]}. It can be guessed from which relations the "
        "synthetic rows keep."
    ]
