"""The privacy statement in plain words: the statement goes in, sentences for page and terminal come out."""

import itertools
import math
from abc import abstractmethod
from functools import cached_property

from tasks.core.figures import format_down, format_percent_up, format_up, format_whole
from tasks.core.sentences import Sentences, sentences_of
from tasks.core.statement.plain_words import PlainWords, Topic

_TEXT = sentences_of("differential_privacy")


def format_risk_factor(epsilon: float) -> str:
    """e^epsilon: how many times as likely an outcome may be with a subject as without, rounded up."""
    return format_up(math.exp(epsilon) if epsilon < 700 else math.inf, 2)


def unmeasured_pairs_note(measured: int, every: int) -> list[str]:
    """That not all pairs of columns were measured, where that is so. Args: every: how many there are."""
    if measured == every:
        return []
    return [_TEXT.say("published.some_pairs", measured=format_whole(measured), all=format_whole(every))]


class NoisyWords(PlainWords):
    """What every statement of a draw says; each kind of draw has words of its own for what was drawn."""

    def topics(self) -> list[Topic]:
        """What is said, under headings, most important first."""
        if not self.statement["private"]:
            return [(_TEXT.say("test_draw.heading"), [_TEXT.say("test_draw.not_private")])]
        attention = [f"{said[:1].upper()}{said[1:]}" for said in self.statement["attention"]]
        looked_at: list[str] = self.statement["columns_to_look_at"]
        return [
            *([(_TEXT.say("attention.heading"), attention)] if attention else []),
            (_TEXT.say("promise.heading"), self._promise()),
            (_TEXT.say("noise.heading"), [self._count(), *self.noise(), *self._meaning(), *self._sample()]),
            (_TEXT.say("published.heading"), [*self.published(), *self._uniques(), *looked_at]),
            (_TEXT.say("account.heading"), self._account()),
            (_TEXT.say("conditions.heading"), self._conditions()),
            *self.unused_settings(),
        ]

    @abstractmethod
    def noise(self) -> list[str]:
        """How far the noise takes what was drawn beside the number of records."""

    @abstractmethod
    def published(self) -> list[str]:
        """What was measured, and what follows from it."""

    @cached_property
    def _text(self) -> Sentences:
        return _TEXT.of(self.statement["guarantee"]["unit"])

    def _promise(self) -> list[str]:
        claim, dataset = self.statement["guarantee"], self.statement["dataset"]
        epsilon, delta, attack = format_up(claim["epsilon"]), format_up(claim["delta"]), claim["attack"]
        if population := self.statement["population"]:
            dataset = _TEXT.say("promise.dataset_of_population", dataset=dataset, population=population)
        vintage, times = self.statement["vintage"], format_risk_factor(claim["epsilon"])
        false_alarm, power = format_percent_up(attack["false_alarm"]), format_percent_up(attack["power"], 3)
        told = [
            self._text.say(
                "promise.guarantee", dataset=dataset, vintage=vintage, epsilon=epsilon, delta=delta
            ),
            self._text.say("promise.factor", factor=times, delta=delta),
            self._text.say("promise.attack", false_alarm=false_alarm, power=power),
        ]
        for entry in self.statement["group_privacy"] or []:
            rows = str(entry["rows"])
            if entry["epsilon"] is None:
                told.append(_TEXT.say("promise.several_rows_unprotected", rows=rows))
                continue
            epsilon, delta = format_up(entry["epsilon"]), format_up(entry["delta"])
            told.append(_TEXT.say("promise.several_rows", rows=rows, epsilon=epsilon, delta=delta))
        return told

    def _count(self) -> str:
        count = self.statement["noisy_count"]
        half_width = format_up(count["half_width_95"])
        return self._text.say("noise.count", count=format_whole(count["value"]), half_width=half_width)

    def _meaning(self) -> list[str]:
        contribution = self.statement["contribution"]
        return [contribution["meaning"]] if "meaning" in contribution else []

    def _sample(self) -> list[str]:
        sampling = self.statement["sampling"]
        if sampling is None:
            return []
        size = format_whole(sampling["expected_size"])
        return [self._text.say("noise.sample", size=size, rule=sampling["rule"], text=sampling["text"])]

    def _uniques(self) -> list[str]:
        uniques = self.statement["disclosed_uniques"]
        if not uniques["per_release"]:
            return []
        assumed = format_whole(uniques["assumed_subjects"])
        here, so_far = format_up(uniques["per_release"], 2), format_up(uniques["all_releases"], 2)
        return [self._text.say("published.uniques", assumed=assumed, here=here, so_far=so_far)]

    def _account(self) -> list[str]:
        ledger = self.statement["ledger"]
        cap = _TEXT.say(
            "account.cap", epsilon=format_up(ledger["epsilon_cap"]), delta=format_up(ledger["delta_cap"])
        )
        epsilon, releases = format_up(ledger["epsilon_spent"]), ledger["releases"]
        if releases == 1:
            spent = _TEXT.say("account.spent_by_one", epsilon=epsilon)
        else:
            spent = _TEXT.say("account.spent", releases=format_whole(releases), epsilon=epsilon)
        left = _TEXT.say("account.none_left")
        if ledger["remaining_releases"] > 0:
            left = _TEXT.say("account.left", releases=format_down(ledger["remaining_releases"], 6))
        return [f"{cap} {spent} {left}", _TEXT.say("account.scope", scope=ledger["scope"])]

    def _conditions(self) -> list[str]:
        claim, contract = self.statement["guarantee"], self.statement["contract"]
        at_most = format_up(claim["sampling_exactness"]["at_most"])
        return [
            self.statement["prepared"],
            *self.constraints(),
            contract["sentence"],
            *([contract["text"]] if contract["strict"] else []),
            *([self.statement["on_unchanged"]["sentence"]] if "on_unchanged" in self.statement else []),
            *(
                self.statement[stopped]["sentence"]
                for stopped in ("stopped_by_contract", "stopped_unread")
                if stopped in self.statement
            ),
            claim["computational"],
            _TEXT.say("conditions.sampling_exactness", delta=at_most),
            self.statement["public_side_channels"],
        ]


class LengthsWords(NoisyWords):
    def noise(self) -> list[str]:
        levels = [level for level in self.statement["levels"] if level["error_bar"]]
        each = [
            _TEXT.say(
                "noise.half_width_of_length",
                half_width=format_up(level["error_bar"]["half_width_95"]),
                length=str(level["length"]),
            )
            for level in levels
        ]
        return [_TEXT.say("noise.each_count", half_widths=", ".join(each))] if each else []

    def published(self) -> list[str]:
        told, levels = [], self.statement["levels"]
        first = levels[0] if levels else None
        if first and first["threshold"] is not None and first["open"]["columns"]:
            told.append(_TEXT.say("published.threshold", threshold=format_whole(first["threshold"])))
        for level in levels[1:]:
            share = level["spurious"]["expected_spurious_share"]
            if share is None or level["empty"]:
                continue
            told.append(
                _TEXT.say(
                    "published.reached",
                    length=str(level["length"]),
                    survivors=format_whole(level["survivors"]),
                    candidates=format_whole(level["candidates"]),
                    spurious=format_up(level["spurious"]["expected_spurious"], 2),
                    share=format_percent_up(share),
                )
            )
        return told


class FittedWords(NoisyWords):
    def noise(self) -> list[str]:
        told, values, tables = [], self.statement["values"], self.statement["tables"]
        if values:
            told.append(
                _TEXT.say("noise.each_value", half_width=format_up(values["error_bar"]["half_width_95"]))
            )
        if not tables:
            return told
        bars = [table["error_bar"]["half_width_95"] for table in tables]
        sets, least, most = (
            len({tuple(table["columns"]) for table in tables}),
            format_up(min(bars)),
            format_up(max(bars)),
        )
        if twice := len(bars) - sets:
            several, again = format_whole(sets), format_whole(twice)
            said = _TEXT.say("noise.each_set_some_twice", sets=several, twice=again, least=least, most=most)
        else:
            said = _TEXT.say("noise.each_set", sets=format_whole(sets), least=least, most=most)
        return [*told, said]

    def published(self) -> list[str]:
        told, values = [], self.statement["values"]
        if values and values["threshold"] is not None:
            told.append(_TEXT.say("published.threshold_fitted", threshold=format_whole(values["threshold"])))
        for choice in self.statement["choices"]:
            candidates, chosen = format_whole(choice["candidates"]), format_whole(choice["chosen"])
            told.append(
                _TEXT.say("published.chosen", candidates=candidates, what=choice["what"], chosen=chosen)
            )
        return [*told, *self._some_pairs(), _TEXT.say("published.fitted")]

    def _some_pairs(self) -> list[str]:
        together = [sorted({*table["columns"]}) for table in self.statement["tables"]]
        pairs = {pair for names in together for pair in itertools.combinations(names, 2)}
        columns = sum(column["noisy_total"] is not None for column in self.statement["columns"])
        return unmeasured_pairs_note(len(pairs), math.comb(columns, 2))
