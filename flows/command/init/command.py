"""``marginalia init``: a table goes in, a configuration and a contract come out that run as they are.

What was seen is shown, and what only a person knows is asked.
"""

import argparse
import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, get_args

from flows.command.init.report import print_columns, print_losses, print_table, printable, promise_words
from tasks.configuration.flat_file import from_flat, read_configuration
from tasks.core.contracts.draft import (
    Answers,
    draft_configuration,
    draft_contract,
    file_names,
    lookalike_sentences,
    lookalikes,
    safe_name,
)
from tasks.core.contracts.odcs import read_contract
from tasks.core.errors import InputError, ParameterError
from tasks.core.recognition.init_answers import (
    WORDS,
    FileAnswers,
    ProtectionName,
    parse_correction,
    parse_value_names,
)
from tasks.core.recognition.relations import Relation, relations_between
from tasks.core.recognition.table import RecognisedTable, recognise_table
from tasks.core.tables.header import InputFile, is_named_as_table
from tasks.core.unit_words import names_people

#: A month in a file's name, such as visits-2026-11.csv.
_MONTH = re.compile(r"(?<!\d)(20\d\d[-_]?(?:0[1-9]|1[0-2]))(?!\d)")
_NOBODY = "each row is another person"
_MOST_CANDIDATES = 5
#: Of columns with more values the codes need no asking: they are rather a scale or a list.
_MOST_CODES, _MOSTLY, _MOST_NAMED = 24, 0.95, 5
_MOST_RELATIONS_SHOWN = 12
_ALL = "all"


class Asker:
    """Asks at the terminal, or says what it took.

    >>> Asker(is_asking=False).ask("How many releases are planned?", "--releases", None, "12")
    Not asked: How many releases are planned? Taken: 12. The answer is an option: --releases.
    '12'
    """

    def __init__(self, *, is_asking: bool) -> None:
        self.is_asking = is_asking

    def ask(
        self,
        text: str,
        option: str,
        given: object | None,
        proposed: str = "",
        check: Callable[[str], object] = str,
    ) -> str:
        """The answer.

        Args:
            given: by the option; None: it was not given.
            proposed: what is taken where nothing is said; empty: nothing is.
            check: raises ParameterError for what is no answer.
        """
        if given is not None:
            check(str(given))
            return str(given)
        if not self.is_asking:
            print(f"Not asked: {text} Taken: {proposed or 'nothing'}. The answer is an option: {option}.")
            return proposed
        while True:
            answer = self.line(f"{text} [{proposed}] ") or proposed
            try:
                check(answer)
            except ParameterError as error:
                if not self.is_asking:  # the input has ended
                    raise
                print(f"  {error}")
                continue
            return answer

    def take_lines(self, take: Callable[[str], None]) -> None:
        while answer := self.line("> "):
            try:
                take(answer)
            except ParameterError as error:
                print(f"  {error}")

    def line(self, prompt: str) -> str:
        """What the person types; nothing where the input has ended, and nobody is asked any more."""
        try:
            return input(prompt).strip()
        except EOFError:
            self.is_asking = False
            print()
            return ""


def _ask_code_meanings(
    asker: Asker, table: RecognisedTable, subject: str | None, said: Iterable[str]
) -> dict[str, dict[str, str]]:
    """What codes mean, by column and code, as options (`said`) and the person at the terminal say.

    None is guessed: a dictionary that is taken wrongly would call people what they are not.
    """
    found: dict[str, dict[str, str]] = {}

    def take(text: str) -> None:
        name, named = _code_meanings(table, subject, text)
        found[name] = named

    for text in said:
        take(text)
    coded = [name for name in _coded_columns(table, subject) if name not in found]
    if not coded:
        return found
    shown = ", ".join(map(repr, coded[:_MOST_NAMED])) + (", ..." if len(coded) > _MOST_NAMED else "")
    question = f"What do the codes of {shown} mean?"
    if asker.is_asking:
        print(f"{question} Type COLUMN:CODE=WORD,CODE=WORD, or nothing to go on.")
        asker.take_lines(take)
    else:
        asker.ask(question, "--value-names COLUMN:CODE=WORD,CODE=WORD", None)
    return found


def _code_meanings(table: RecognisedTable, subject: str | None, text: str) -> tuple[str, dict[str, str]]:
    """One answer. A code that no cell holds is told, as it may be a slip."""
    name, named = parse_value_names(text)
    column = table.column(name)
    name = column.name
    used = {column.name: column for column in table.used(subject)}
    if name not in used or used[name].treatment.bins is not None:
        why = "its values are ranges of numbers" if name in used else "it is not in the release"
        raise ParameterError(
            f"What codes mean can't be said of {name!r}: {why}. Take the column's values as they stand "
            f"(--column {name!r}=text), or leave the answer out."
        )
    absent = [code for code in named if code not in table.cells_of(column).texts]
    if absent:
        print(f"LOOK: no cell of {name!r} holds {', '.join(map(repr, absent))}.")
    return name, named


def _coded_columns(table: RecognisedTable, subject: str | None) -> list[str]:
    found = []
    for column in table.used(subject):
        cells, reading = table.cells_of(column), column.treatment.reading
        if column.treatment.is_open and not reading.holds_dates and 1 < cells.usual <= _MOST_CODES:
            codes = cells.matching(r"-?[0-9]{1,3}|\pL") | cells.among(reading.missing)
            if cells.share(codes) >= _MOSTLY:
                found.append(column.name)
    return found


def _ask_relations(
    asker: Asker, table: RecognisedTable, answers: Answers, declared: list[str] | None
) -> Answers:
    """The answers with what the contract is to say of relations, under fitted synthesis.

    Args:
        declared: columns that an option names; None: it was not given.
    """
    if answers.protection != "dp":
        return answers
    found = relations_between(table.cells, table.used(answers.subject))
    stated = [relation for relation in found if relation.column]
    drafted = [relation for relation in found if not relation.column]
    if shown := [*drafted, *stated[:_MOST_RELATIONS_SHOWN]]:
        print("\nThese hold between columns, but for a few rows at most:")
        print("\n".join(f"  {printable(relation.words)}" for relation in shown))
    if len(stated) > _MOST_RELATIONS_SHOWN:
        print(f"  and {len(stated) - _MOST_RELATIONS_SHOWN} more")
    chosen = _ask_which(asker, stated, declared)
    constraints: dict[str, list[object]] = defaultdict(list)
    for relation in found:
        if not relation.column or relation in chosen:
            for key, entry in relation.declared:
                constraints[key].append(entry)
    left = {
        relation.column: relation.source
        for relation in stated
        if relation.is_dependency and relation not in chosen
    }
    return replace(answers, constraints=dict(constraints), seems_to_follow=left)


def _ask_which(asker: Asker, stated: list[Relation], declared: list[str] | None) -> list[Relation]:
    if not stated:
        return _relations_of(stated, declared) if declared and declared != [_ALL] else []
    print(
        "Whoever declares one of those that aren't declared yet says that it holds for everybody, and its "
        "values become public. Every synthetic record then keeps to it; otherwise some won't."
    )
    answer = asker.ask(
        "Which columns' relations are to be declared (names with commas, or all)?",
        "--declare COLUMN, or --declare all",
        None if declared is None else ",".join(declared),
        check=lambda answer: _relations_of(stated, answer.split(",")),
    )
    return _relations_of(stated, answer.split(","))


def _relations_of(stated: list[Relation], named: Iterable[str]) -> list[Relation]:
    """Those of the named columns; of a column that follows from another one nothing else is needed."""
    names = list(filter(None, map(str.strip, named)))
    known = {relation.column for relation in stated}
    if strange := [name for name in names if name not in known and name != _ALL]:
        listed = f"one of {', '.join(map(repr, sorted(known)))}, or all" if known else "nothing"
        raise ParameterError(
            f"A column whose relation is to be declared must have one in this table, and {strange[0]!r} has "
            f"none: give {listed}."
        )
    wanted = known if names == [_ALL] and _ALL not in known else {*names}
    follow = {relation.column for relation in stated if relation.is_dependency and relation.column in wanted}
    return [
        relation
        for relation in stated
        if relation.column in wanted
        and (relation.is_dependency or not {relation.column, relation.source} & follow)
    ]


def init(options: argparse.Namespace) -> int:
    source = _source_of_configuration(options.file)
    path = options.file if source is None else Path(source.path)
    name = path.name.partition(".")[0]
    dataset = safe_name(options.dataset or _MONTH.sub("", name).strip("-_ ") or name)
    for written in file_names(dataset, options.output):
        if written.exists() and not options.overwrite:
            raise ParameterError(
                f"{written} is there already and is left as it is: give another --output or --dataset, or "
                "--overwrite to replace it."
            )
    corrections = [parse_correction(text) for text in options.column]
    asker = Asker(is_asking=not options.yes and sys.stdin.isatty() and sys.stdout.isatty())
    said = FileAnswers(
        options.encoding,
        {"tab": "\t", "\\t": "\t"}.get(options.delimiter, options.delimiter),
        options.quote,
        None if options.header is None else options.header == "yes",
        options.skip_lines,
        options.escape,
    )
    table = _recognise(asker, path, said, source)
    if not table.rows:
        one = "" if table.source.is_parquet else " If that one line is a record, say --header no."
        raise InputError(
            f"{path} must hold records to draft a configuration from, but has a header and no record below "
            f"it. Nothing was written. Put the records there and run init again.{one}"
        )
    table = table.corrected(corrections)
    proposed = _proposed_subject(table, options)
    print(f"{path}:")
    print_table(table, proposed)
    print()
    subject = _ask_subject(asker, table, options, proposed)
    if asker.is_asking:
        words = ", ".join(WORDS)
        print(f"Is a column something else? Type COLUMN=WORD (words: {words}), or nothing to go on.")
        table = _take_corrections(asker, table, subject)
    elif not corrections:
        print(
            "Not asked: Is every column what it seems to be? Taken: yes. The answer is an option: "
            "--column COLUMN=WORD (marginalia init --help lists the words)."
        )
    answers = _ask_answers(asker, options, dataset, path, subject)
    table = _tell_losses(asker, options.output, path, table, answers)
    if answers.protection != "syndiffix":
        for sentence in lookalike_sentences(lookalikes(table, subject)):
            print(sentence)
    named = _ask_code_meanings(asker, table, subject, options.value_names)
    answers = _ask_relations(asker, table, replace(answers, value_names=named), options.declare)
    _write_drafts(options.output, path, table, answers)
    return 0


def _recognise(asker: Asker, path: Path, said: FileAnswers, source: InputFile | None) -> RecognisedTable:
    """The table; a first line that may be somebody's record is taken for one thing by nobody but a person."""
    table = recognise_table(path, said, source=source)
    if not table.doubt:
        return table
    if not asker.is_asking:
        raise ParameterError(
            "The first line may name the columns, or be somebody's record, whose cells would then be "
            f"published as names: {table.doubt}. Look at it, and say --header yes if it names the columns, "
            "or --header no if it is a record."
        )
    print(f"The first line of {path} may name the columns, or be somebody's record ({table.doubt}):")
    print(f"  {' | '.join(map(printable, table.first))}")
    answer = asker.ask("Does it name the columns: yes or no?", "--header", None, check=_require_yes_or_no)
    return recognise_table(path, replace(said, has_header=answer == "yes"))


def _require_yes_or_no(answer: str) -> None:
    if answer not in ("yes", "no"):
        raise ParameterError("Type yes or no. Names of columns are published; a record must not be.")


def _source_of_configuration(path: Path) -> InputFile | None:
    """The table of a configuration, as that says it is written; None where the path is the table's own."""
    if path.suffix.lower() != ".json" or is_named_as_table(path):
        return None
    from tasks.plan.input_file import file_as_written

    table = read_configuration(path).input
    return file_as_written(table, table.path)


def _proposed_subject(table: RecognisedTable, options: argparse.Namespace) -> str | None:
    if options.one_row_each:
        return None
    if options.subject_id is not None:
        return table.column(options.subject_id).name
    return next((likely.name for likely in table.candidates[:1] if likely.is_proposed), None)


def _ask_subject(
    asker: Asker, table: RecognisedTable, options: argparse.Namespace, proposed: str | None
) -> str | None:
    if options.one_row_each:
        return None
    if options.subject_id is not None:
        _tell_of_another(table, proposed)
        return proposed
    listed = table.candidates[:_MOST_CANDIDATES]
    if asker.is_asking:
        print("Whose row is it? A person may have several rows; what is protected is the person.")
        for number, candidate in enumerate(listed, start=1):
            print(f"  {number}  {candidate.name}: {candidate.reason}")
        print(f"  0  nobody's: {_NOBODY}")
        print("  or type the name of a column")
    recurs = (
        next((candidate for candidate in listed if candidate.several), None) if proposed is None else None
    )
    if recurs is not None and not asker.is_asking:
        raise ParameterError(
            f"{recurs.name!r} recurs and may say whose row it is, and what is protected hangs on that. Say "
            f"--subject-id '{recurs.name}', or --one-row-each if each row is another person."
        )

    def parse(answer: str) -> str | None:
        known = [column.name for column in table.columns]
        if answer in ("0", _NOBODY) and answer not in known:
            return None
        if answer.isdigit() and answer not in known and 0 < int(answer) <= len(listed):
            return listed[int(answer) - 1].name
        return table.column(answer).name

    # Nobody protects rows by pressing Enter where an id recurs.
    default = proposed or ("" if recurs else _NOBODY)
    option = "--subject-id COLUMN or --one-row-each"
    found = parse(asker.ask("Whose row is it?", option, None, default, parse))
    if found is None:
        print(
            "ATTENTION: a row is protected, not a person. Where somebody may have several rows, name the "
            "column that says whose a row is (--subject-id COLUMN)."
        )
    _tell_of_another(table, found)
    return found


def _tell_of_another(table: RecognisedTable, subject: str | None) -> None:
    """Warn of an id that each row has its own of, where another one tells people with several rows."""
    if subject is None or table.candidate(subject).several:
        return
    other = next(
        (candidate for candidate in table.candidates if candidate.several and candidate.is_proposed), None
    )
    if other is not None:
        print(
            f"ATTENTION: each row has its own {subject!r}, so a row is protected. {other.name!r} recurs: if"
            " it says whose row it is, name that."
        )


def _take_corrections(asker: Asker, table: RecognisedTable, subject: str | None) -> RecognisedTable:
    def take(answer: str) -> None:
        nonlocal table
        said = parse_correction(answer)
        table = table.corrected([said])
        print_columns([table.column(said.column)], subject)

    asker.take_lines(take)
    return table


def _tell_losses(
    asker: Asker, folder: Path, path: Path, table: RecognisedTable, answers: Answers
) -> RecognisedTable:
    """The table as the person corrects it once more, where the release would lose most of a column."""
    while print_losses(table, answers, _draft(folder, path, table, answers)):
        if not asker.is_asking:
            print("What helps is an option: run init again with it, and with --overwrite.")
            return table
        print("Read one of them otherwise? Type COLUMN=WORD, or nothing to go on.")
        changed = _take_corrections(asker, table, answers.subject)
        if changed is table:
            return table
        table = changed
    return table


def _ask_answers(
    asker: Asker, options: argparse.Namespace, dataset: str, path: Path, subject: str | None
) -> Answers:
    question = "Which protection: dp (a proof), k_anonymity or syndiffix (no proof)?"
    protection: Any = asker.ask(question, "--protection", options.protection, "dp", _require_protection)
    epsilon, releases, population = "1", "12", ""
    if protection == "dp":
        question = "What may one release cost (epsilon)?"
        epsilon = asker.ask(question, "--epsilon", options.epsilon, epsilon, _require_positive)
        question = "How many releases are planned?"
        releases = asker.ask(question, "--releases", options.releases, releases, _require_count)
        question = "Whose data are these, in words?"
        population = asker.ask(question, "--population TEXT", options.population)
    purpose = asker.ask("For whom, and for what?", "--purpose TEXT", options.purpose)
    unit = asker.ask(
        "What is a row called, such as visit?",
        "--unit WORD",
        options.unit,
        check=lambda word: _require_word_for_row(word, subject),
    )
    month = _MONTH.search(path.name)
    return Answers(
        subject=subject,
        protection=protection,
        dataset=dataset,
        vintage=options.vintage or (month[1] if month else f"{date.today():%Y-%m}"),
        epsilon=float(epsilon),
        releases=int(releases),
        population=population,
        purpose=purpose,
        unit=unit,
    )


def _require_word_for_row(answer: str, subject: str | None) -> None:
    """Refuse a word for people where rows are protected, at once and not after all questions."""
    if subject is None and names_people(answer):
        raise ParameterError(
            f"unit must be a word for a row, such as visit, because rows are protected here and not people: "
            f"{answer!r} is a word for people. Give another, or say whose row it is (--subject-id COLUMN)."
        )


def _require_positive(answer: str) -> None:
    with suppress(ValueError):
        if 0 < float(answer) < math.inf:
            return
    raise ParameterError(f"Epsilon must be a number above 0, and {answer!r} is not: give such as 1.")


def _require_count(answer: str) -> None:
    if not answer.isdigit() or int(answer) < 1:
        raise ParameterError(
            f"The number of releases must be 1 or more, and {answer!r} is not: give such as 12."
        )


def _require_protection(answer: str) -> None:
    known = get_args(ProtectionName)
    if answer not in known:
        raise ParameterError(f"{answer!r} is no protection: give one of {', '.join(known)}.")


def _write_drafts(folder: Path, path: Path, table: RecognisedTable, answers: Answers) -> None:
    configuration_file, contract_file = file_names(answers.dataset, folder)
    configuration, contract = _draft(folder, path, table, answers), draft_contract(table, answers)
    from_flat(configuration)
    read_contract(contract, contract_file.name)
    folder.mkdir(parents=True, exist_ok=True)
    contract_file.write_text(contract, encoding="utf-8")
    configuration_file.write_text(
        json.dumps(configuration, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(f"\nWritten: {configuration_file} and {contract_file}.")
    if promised := promise_words(table, answers):
        print(promised)
    print(
        "Both were drafted by looking at the table, so they tell a little of it, and each release says so "
        "(drafted_from_table). Whoever has checked that each declaration is publicly known sets it to false."
    )
    if answers.protection == "syndiffix":
        print("SynDiffix finds its own ranges: it bins no numbers, and cuts no dates unless you said so.")
    print(f"Next: marginalia check {configuration_file}, which says what a release would cost;")
    print(f"then marginalia run {configuration_file}, which makes it.")
    input_path = _input_path(path, answers)
    if input_path != path:
        print(f"Next month's file is found by its name: {input_path}. Change the vintage, and run again.")


def _draft(folder: Path, path: Path, table: RecognisedTable, answers: Answers) -> dict[str, Any]:
    return draft_configuration(
        table,
        answers,
        input_path=str(_input_path(path, answers)),
        contract_path=str(file_names(answers.dataset, folder)[1]),
        output_dir=str(folder / "workspace"),
    )


def _input_path(path: Path, answers: Answers) -> Path:
    month = _MONTH.search(path.name)
    named = month is not None and answers.vintage == month[1]
    return path.with_name(path.name.replace(answers.vintage, "{vintage}")) if named else path
