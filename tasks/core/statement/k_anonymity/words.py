"""The privacy statement of a k-anonymous release in plain words: statement in, sentences out."""

from tasks.core.figures import whole
from tasks.core.sentences import Sentences, sentences_of
from tasks.core.statement.plain_words import PlainWords, Topic

_TEXT = sentences_of("k_anonymity")


class RoundedWords(PlainWords):
    """Of a k-anonymous release."""

    def topics(self) -> list[Topic]:
        """What is said, under headings, most important first."""
        stated = self.statement
        conditions = [stated["contract"]["sentence"], stated["public_side_channels"]]
        return [
            (_TEXT.say("promise.heading"), self._promise()),
            (_TEXT.say("reported.heading"), self._reported()),
            (_TEXT.say("synthetic.heading"), [*stated["synthesis"]["holds"], *self.constraints()]),
            (_TEXT.say("conditions.heading"), conditions),
            *self.unused_settings(),
        ]

    def warnings(self) -> list[str]:
        """What must be seen before anything else."""
        claim = self.statement["guarantee"]
        return [*(claim["holds"][1:] if claim["resolution"] == 1 else []), *self._rows_counted()]

    @property
    def _text(self) -> Sentences:
        return _TEXT.of(self.statement["guarantee"]["unit"])

    def _rows_counted(self) -> list[str]:
        claim = self.statement["guarantee"]
        if claim["unit"] != "row":
            return []
        return [_TEXT.say("promise.rows_counted", k=whole(claim["resolution"]))]

    def _promise(self) -> list[str]:
        holds: list[str] = self.statement["guarantee"]["holds"]
        return [_TEXT.say("promise.not_private"), *self._rows_counted(), *holds]

    def _reported(self) -> list[str]:
        count = self.statement["count"]
        value, least, most = whole(count["value"]), whole(count["least"]), whole(count["most"])
        if least == most:
            told = [self._text.say("reported.count_exact", count=value)]
        else:
            told = [self._text.say("reported.count", count=value, least=least, most=most)]
        each = [
            _TEXT.say(
                "reported.of_length",
                combinations=whole(level["combinations"]),
                length=str(level["length"]),
            )
            for level in self.statement["levels"]
            if level["combinations"]
        ]
        if not each:
            return [*told, _TEXT.say("reported.nothing")]
        return [*told, _TEXT.say("reported.combinations", each=", ".join(each))]
