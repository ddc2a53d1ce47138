"""``marginalia init``: a table goes in, a configuration and a contract come out that run as they are.

What was seen is shown, and what only a person knows is asked.
"""

import argparse
import json
import math
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, get_args

from flows.command.init.codes import code_meanings
from flows.command.init.losses import loss_words, losses, write_losses
from flows.command.init.questions import Asker, Question
from flows.command.init.relations import with_relations
from flows.command.init.shown import print_columns, print_table, printable, promise_words
from tasks.configuration.flat_file import from_flat, read_configuration
from tasks.core.contracts.draft import (
    Answers,
    draft_configuration,
    draft_contract,
    file_names,
    safe_name,
)
from tasks.core.contracts.translation import read_contract
from tasks.core.contracts.tried_rules import lookalike_words, lookalikes
from tasks.core.errors import InputError, ParameterError
from tasks.core.recognition.said import WORDS, ProtectionName, SaidOfFile, parse_overrule
from tasks.core.recognition.table import RecognisedTable, recognise_table
from tasks.core.tables.header import InputFile, is_named_as_table
from tasks.core.unit_words import names_people

#: A month in a file's name, such as visits-2026-11.csv.
_MONTH = re.compile(r"(?<!\d)(20\d\d[-_]?(?:0[1-9]|1[0-2]))(?!\d)")
_NOBODY = "each row is another person"
_MOST_CANDIDATES = 5


def init(options: argparse.Namespace) -> int:
    """Do all of it.

    Raises:
        MarginaliaError: a file is there already, the table can't be read or holds no record, or an answer
            can't be taken.
    """
    source = _configured(options.file)
    path = options.file if source is None else Path(source.path)
    dataset = safe_name(options.dataset or _without_month(_stem(path)))
    for written in file_names(dataset, options.output):
        if written.exists() and not options.overwrite:
            raise ParameterError(
                f"{written} is there already and is left as it is: give another --output or --dataset, or "
                "--overwrite to replace it."
            )
    overrules = [parse_overrule(text) for text in options.column]
    asker = Asker.of_terminal(silent=options.yes)
    table = _recognised(asker, path, _said(options), source)
    _require_records(path, table)
    table = table.with_overrules(overrules)
    proposed = _proposed(table, options)
    print(f"{path}:")
    print_table(table, proposed)
    print()
    subject = _subject(asker, table, options, proposed)
    table = _corrected(asker, table, subject, nothing_said=not overrules)
    answers = _answers(asker, options, dataset, path, table, subject)
    table = _kept(asker, options.output, path, table, answers)
    if answers.protection != "syndiffix":
        for sentence in lookalike_words(lookalikes(table, subject)):
            print(sentence)
    named = code_meanings(asker, table, subject, options.value_names)
    answers = with_relations(asker, table, replace(answers, value_names=named), options.declare)
    _write(options.output, path, table, answers)
    return 0


def _recognised(asker: Asker, path: Path, said: SaidOfFile, source: InputFile | None) -> RecognisedTable:
    """The table; a first line that may be somebody's record is taken for one thing by nobody but a person.

    Raises:
        ParameterError: it may be, and there is nobody to ask.
    """
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
    question = Question("Does it name the columns: yes or no?", "--header", "", _yes_or_no)
    answer = asker.ask(question, None)
    return recognise_table(path, replace(said, has_header=answer == "yes"))


def _require_records(path: Path, table: RecognisedTable) -> None:
    """Refuse a table that nothing can be drafted from: every column would be left out.

    Raises:
        InputError: it has a header and no record.
    """
    if table.rows:
        return
    one = "" if table.source.is_parquet else " If that one line is a record, say --header no."
    raise InputError(
        f"{path} must hold records to draft a configuration from, but has a header and no record below it. "
        f"Nothing was written. Put the records there and run init again.{one}"
    )


def _yes_or_no(answer: str) -> None:
    if answer not in ("yes", "no"):
        raise ParameterError("Type yes or no. Names of columns are published; a record must not be.")


def _stem(path: Path) -> str:
    """A file's name without its endings."""
    return path.name.partition(".")[0]


def _without_month(name: str) -> str:
    return _MONTH.sub("", name).strip("-_ ") or name


def _configured(path: Path) -> InputFile | None:
    """The table of a configuration, as that says it is written; None where the path is the table's own."""
    if path.suffix.lower() != ".json" or is_named_as_table(path):
        return None
    given = read_configuration(path).input
    return InputFile(
        Path(given.path),
        None,
        given.delimiter,
        quote=given.quote,
        escape=given.escape,
        header=given.header,
        encoding=given.encoding,
        skip_lines=given.skip_lines,
    )


def _said(options: argparse.Namespace) -> SaidOfFile:
    delimiter = {"tab": "\t", "\\t": "\t"}.get(options.delimiter, options.delimiter)
    header = None if options.header is None else options.header == "yes"
    return SaidOfFile(options.encoding, delimiter, options.quote, header, options.skip_lines, options.escape)


def _proposed(table: RecognisedTable, options: argparse.Namespace) -> str | None:
    """The column that says whose row it is, as far as it is known before anybody is asked."""
    if options.one_row_each:
        return None
    if options.subject_id is not None:
        return table.column(options.subject_id).name
    likely = next(iter(table.candidates), None)
    return likely.name if likely is not None and likely.is_proposed else None


def _subject(
    asker: Asker, table: RecognisedTable, options: argparse.Namespace, proposed: str | None
) -> str | None:
    """Whose row it is."""
    if options.one_row_each:
        return proposed
    if options.subject_id is not None:
        _tell_of_another(table, proposed)
        return proposed
    listed = table.candidates[:_MOST_CANDIDATES]
    if asker.is_asking:
        print("Whose row is it? A person may have several rows; what is protected is the person.")
        for number, each in enumerate(listed, start=1):
            print(f"  {number}  {each.name}: {each.reason}")
        print(f"  0  nobody's: {_NOBODY}")
        print("  or type the name of a column")
    names = [each.name for each in listed]
    recurs = next((each for each in listed if each.several), None) if proposed is None else None
    if recurs is not None and not asker.is_asking:
        raise ParameterError(
            f"{recurs.name!r} recurs and may say whose row it is, and what is protected hangs on that. Say "
            f"--subject-id '{recurs.name}', or --one-row-each if each row is another person."
        )
    question = Question(
        "Whose row is it?",
        "--subject-id COLUMN or --one-row-each",
        proposed or ("" if recurs else _NOBODY),  # nobody protects rows by pressing Enter where an id recurs
        lambda answer: _chosen(answer, names, table),
    )
    found = _chosen(asker.ask(question, None), names, table)
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
    other = next((each for each in table.candidates if each.several and each.is_proposed), None)
    if other is not None:
        print(
            f"ATTENTION: each row has its own {subject!r}, so a row is protected. {other.name!r} recurs: if"
            " it says whose row it is, name that."
        )


def _chosen(answer: str, names: list[str], table: RecognisedTable) -> str | None:
    """The column that an answer means: a name, a number of the list, or none."""
    known = [column.name for column in table.columns]
    if answer in ("0", _NOBODY) and answer not in known:
        return None
    if answer.isdigit() and answer not in known and 0 < int(answer) <= len(names):
        return names[int(answer) - 1]
    return table.column(answer).name


def _corrected(
    asker: Asker, table: RecognisedTable, subject: str | None, *, nothing_said: bool
) -> RecognisedTable:
    """The table as the person corrects it, column by column."""
    if not asker.is_asking:
        if nothing_said:
            print(
                "Not asked: Is every column what it seems to be? Taken: yes. The answer is an option: "
                "--column COLUMN=WORD (marginalia init --help lists the words)."
            )
        return table
    print(f"Is a column something else? Type COLUMN=WORD (words: {', '.join(WORDS)}), or nothing to go on.")
    return _typed(asker, table, subject)


def _typed(asker: Asker, table: RecognisedTable, subject: str | None) -> RecognisedTable:
    """The table with what the person types, until nothing is typed."""
    while answer := asker.line("> "):
        try:
            said = parse_overrule(answer)
            table = table.with_overrules([said])
            print_columns([table.column(said.column)], subject)
        except ParameterError as error:
            print(f"  {error}")
    return table


def _kept(
    asker: Asker, folder: Path, path: Path, table: RecognisedTable, answers: Answers
) -> RecognisedTable:
    """The table as the person corrects it once more, where the release would lose most of a column."""
    while True:
        configuration = _drafted(folder, path, table, answers)
        least, lost = losses(table, answers, configuration)
        for sentence in loss_words(lost, least, answers):
            print(sentence)
        if not lost:
            return table
        listed = write_losses(lost, least, answers, Path(configuration["output_dir"]))
        if listed is not None:
            print(f"What helps each of them is in {listed}.")
        if not asker.is_asking:
            print("What helps is an option: run init again with it, and with --overwrite.")
            return table
        print("Read one of them otherwise? Type COLUMN=WORD, or nothing to go on.")
        changed = _typed(asker, table, answers.subject)
        if changed is table:
            return table
        table = changed


def _answers(
    asker: Asker,
    options: argparse.Namespace,
    dataset: str,
    path: Path,
    table: RecognisedTable,
    subject: str | None,
) -> Answers:
    """Everything else that is asked."""
    protection: Any = asker.ask(
        Question(
            "Which protection: dp (a proof), k_anonymity or syndiffix (no proof)?",
            "--protection",
            "dp",
            _require_protection,
        ),
        options.protection,
    )
    _require_protection(protection)
    epsilon, releases, population = "1", "12", ""
    if protection == "dp":
        epsilon = asker.ask(
            Question("What may one release cost (epsilon)?", "--epsilon", epsilon, _positive), options.epsilon
        )
        releases = asker.ask(
            Question("How many releases are planned?", "--releases", releases, _count), options.releases
        )
        population = asker.ask(
            Question("Whose data are these, in words?", "--population TEXT"), options.population
        )
    purpose = asker.ask(Question("For whom, and for what?", "--purpose TEXT"), options.purpose)
    unit = asker.ask(
        Question(
            "What is a row called, such as visit?", "--unit WORD", check=lambda word: _row_word(word, subject)
        ),
        options.unit,
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


def _row_word(answer: str, subject: str | None) -> None:
    """Refuse a word for people where rows are protected, at once and not after all questions."""
    if subject is None and names_people(answer):
        raise ParameterError(
            f"unit must be a word for a row, such as visit, because rows are protected here and not people: "
            f"{answer!r} is a word for people. Give another, or say whose row it is (--subject-id COLUMN)."
        )


def _positive(answer: str) -> None:
    try:
        if 0 < float(answer) < math.inf:
            return
    except ValueError:
        pass
    raise ParameterError(f"Epsilon must be a number above 0, and {answer!r} is not: give such as 1.")


def _count(answer: str) -> None:
    if not answer.isdigit() or int(answer) < 1:
        raise ParameterError(
            f"The number of releases must be 1 or more, and {answer!r} is not: give such as 12."
        )


def _require_protection(answer: str) -> None:
    if answer not in get_args(ProtectionName):
        raise ParameterError(
            f"{answer!r} is no protection: give one of {', '.join(get_args(ProtectionName))}."
        )


def _write(folder: Path, path: Path, table: RecognisedTable, answers: Answers) -> None:
    """Write both files, and say what to do next."""
    configuration_file, contract_file = file_names(answers.dataset, folder)
    configuration, contract = _drafted(folder, path, table, answers), draft_contract(table, answers)
    from_flat(configuration)
    read_contract(contract, contract_file.name)
    folder.mkdir(parents=True, exist_ok=True)
    contract_file.write_text(contract, encoding="utf-8")
    configuration_file.write_text(
        json.dumps(configuration, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(f"\nWritten: {configuration_file} and {contract_file}.")
    promised = promise_words(table, answers)
    if promised:
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


def _drafted(folder: Path, path: Path, table: RecognisedTable, answers: Answers) -> dict[str, Any]:
    return draft_configuration(
        table,
        answers,
        input_path=str(_input_path(path, answers)),
        contract_path=str(file_names(answers.dataset, folder)[1]),
        output_dir=str(folder / "workspace"),
    )


def _input_path(path: Path, answers: Answers) -> Path:
    """The table's, with the vintage left open where the file's name holds it."""
    month = _MONTH.search(path.name)
    named = month is not None and answers.vintage == month[1]
    return path.with_name(path.name.replace(answers.vintage, "{vintage}")) if named else path
