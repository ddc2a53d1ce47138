"""A statement in plain words, for page and terminal: ``privacy.json`` in, sentences under headings out.

A class a protection; what they share is here. Losses are rounded up and what is left is rounded down
(`figures`), so no sentence claims more than the statement does.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from tasks.core.arrays import Json
from tasks.core.sentences import sentences_of

_SHARED = sentences_of("all_protections")
#: Of every ``privacy.json``.
STATEMENT_FORMAT = "marginalia-privacy-statement/1"
#: A heading and the paragraphs under it.
Topic = tuple[str, list[str]]


@dataclass(frozen=True)
class PlainWords(ABC):
    """The words of one ``privacy.json``."""

    statement: Json

    @abstractmethod
    def topics(self) -> list[Topic]:
        """What is said, under headings, most important first."""

    def sentences(self) -> list[str]:
        """The same without headings; one sentence or a few in each item."""
        return [said for _, paragraphs in self.topics() for said in paragraphs]

    def constraints(self) -> list[str]:
        """What the data contract rules out in every record."""
        held = self.statement.get("constraints")
        return [] if held is None else [held["sentence"], *held["rules"]]

    def unused_settings(self) -> list[Topic]:
        """The last topic; none where every setting had an effect."""
        unused = self.statement["unused_keys"]
        told = [_SHARED.say("unused.key", key=entry["key"], why=entry["why"]) for entry in unused]
        return [(_SHARED.say("unused.heading"), told)] if told else []
