"""Questions that only a person can answer.

An option answers beforehand; or the person at the terminal does; or what is proposed is taken, and the option
is named that would have answered.

>>> Asker(is_asking=False).ask(Question("How many releases are planned?", "--releases", "12"), None)
Not asked: How many releases are planned? Taken: 12. The answer is an option: --releases.
'12'
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from tasks.core.errors import ParameterError


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        text: as it is asked.
        option: that answers it.
        proposed: what is taken where nothing is said; empty: nothing is.
        check: raises ParameterError for what is no answer.
    """

    text: str
    option: str
    proposed: str = ""
    check: Callable[[str], object] = lambda _answer: None


class Asker:
    """Asks at the terminal, or says what it took."""

    def __init__(self, *, is_asking: bool) -> None:
        """Args: is_asking: whether there is somebody to ask."""
        self.is_asking = is_asking

    @classmethod
    def of_terminal(cls, *, silent: bool) -> "Asker":
        """One that asks if this is a terminal, unless it shall be silent."""
        return cls(is_asking=not silent and sys.stdin.isatty() and sys.stdout.isatty())

    def ask(self, question: Question, given: object | None) -> str:
        """The answer: the option's, the person's, or what is proposed.

        Args:
            question: what is asked.
            given: by the option; None: it was not given.

        Raises:
            ParameterError: the option's answer is none.
        """
        if given is not None:
            question.check(str(given))
            return str(given)
        if not self.is_asking:
            taken = question.proposed or "nothing"
            print(f"Not asked: {question.text} Taken: {taken}. The answer is an option: {question.option}.")
            return question.proposed
        return self._asked(question)

    def _asked(self, question: Question) -> str:
        while True:
            answer = self.line(f"{question.text} [{question.proposed}] ") or question.proposed
            try:
                question.check(answer)
            except ParameterError as error:
                if not self.is_asking:  # the input has ended
                    raise
                print(f"  {error}")
                continue
            return answer

    def line(self, prompt: str) -> str:
        """What the person types; nothing where the input has ended, and nobody is asked any more."""
        try:
            return input(prompt).strip()
        except EOFError:
            self.is_asking = False
            print()
            return ""
