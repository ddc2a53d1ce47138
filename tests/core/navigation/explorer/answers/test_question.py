"""Typed questions: what is understood, what is asked back, and what is given back."""

import pytest

from tests.oracles.page_answers import ask, column, payload

pytestmark = pytest.mark.needs_node

AGES = ("<18", "[18,30)", "[30,45)", "[45,60)", "[60,75)", ">=75")
COLUMNS = [
    column("sex", ("female", "male")),
    column("age", AGES, kind="bins"),
    column("housing", ("owned", "rented", "social")),
    column("education", ("bachelor degree", "master degree", "school", "apprenticeship")),
    column("town", ("Saint-Étienne", "Lyon", "Nice"), opened=True, other=True),
    column("services", ("library", "food bank"), kind="items"),
    column("children", ("0", "1", "2", "3"), kind="number"),
    column("HOURS_WORKED", ("0-19", "20-39", "40+"), kind="bins"),
    column("state of health", ("bad", "good")),
    column("work", ("self-employed", "carer", "retired", "student")),
    column("travel", ("car", "bus")),
    column("marital", ("1", "2")),
    column("concern", ("rents", "noise", "no concern")),
]
WITHOUT_CONCERN = [*COLUMNS[:-1]]


def read(text, columns=WITHOUT_CONCERN):
    release = payload("fitted", columns, {"value": 100, "low": 90, "high": 110, "sd": 5.0})
    [found] = ask([release], [{"what": "parse", "release": 0, "text": text}])
    return found


def selected(found, columns, *, by_code=False):
    """Column name -> values, or their codes."""
    named = {}
    for place, codes in found["selection"]:
        values = ["missing", *columns[place]["values"], "unreleased"]
        named[columns[place]["name"]] = codes if by_code else [values[code] for code in codes]
    return named


OVER_60 = ["[60,75)", ">=75"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("women, over 60, rent", {"sex": ["female"], "age": OVER_60, "housing": ["rented"]}),
        (
            "How many men between 30 and 59 own?",
            {"sex": ["male"], "age": ["[30,45)", "[45,60)"], "housing": ["owned"]},
        ),
        ("age 60-74", {"age": ["[60,75)"]}),
        ("age: >= 60; sex: male", {"age": OVER_60, "sex": ["male"]}),
        ("75+", {"age": [">=75"]}),
        ("under 18 or 75 and over", {"age": ["<18", ">=75"]}),
        ("over 30, under 60", {"age": ["[30,45)", "[45,60)"]}),
        ("saint etienne or LYON", {"town": ["Saint-Étienne", "Lyon"]}),
        ("town: Lyon or (not released)", {"town": ["Lyon", "unreleased"]}),
        ("town not released", {"town": ["unreleased"]}),
        ("not Lyon", {"town": ["Saint-Étienne", "Nice", "unreleased"]}),
        ("women without a degree", {"sex": ["female"], "education": ["school", "apprenticeship"]}),
        ("housing missing", {"housing": ["missing"]}),
        ("unknown housing", {"housing": ["missing"]}),
        ("without housing", {"housing": ["missing"]}),
        ("library and food bank", {"services": ["library", "food bank"]}),
        ("children 2", {"children": ["2"]}),
        ("more than 1 children", {"children": ["2", "3"]}),
        ("hours worked 40+", {"HOURS_WORKED": ["40+"]}),
        ("over 60, hours over 39", {"age": OVER_60, "HOURS_WORKED": ["40+"]}),
        ("men in good health", {"sex": ["male"], "state of health": ["good"]}),
        ("retired or studying", {"work": ["retired", "student"]}),
        ("self employed carers", {"work": ["self-employed", "carer"]}),
        ("not self-employed, no car", {"work": ["carer", "retired", "student"], "travel": ["bus"]}),
        ("", {}),
        (" ,, ; ", {}),
    ],
)
def test_it_is_understood(text, expected):
    found = read(text)
    assert selected(found, COLUMNS) == expected
    assert (found["ambiguous"], found["unread"]) == ([], [])


#: As the census codes them, with what its code book says of the codes.
CODED = [
    column("AGEP", AGES, kind="bins"),
    column("SEX", ("1", "2")) | {"names": ["Male", "Female"]},
    column("MSP", ("1", "N")) | {"names": ["Never married", "N/A (age less than 15 years)"]},
    column("EDU", ("4", "7", "9", "10"))
    | {
        "names": [
            "Grade 9 to grade 12, no diploma",
            "Some College, no degree",
            "Bachelors degree",
            "Masters degree",
        ]
    },
    column("OWN_RENT", ("0", "1", "2"), kind="number")
    | {"names": ["Group quarters", "Own housing unit", "Rent housing unit"]},
    column("insured", ("yes", "no")),
    column("job", ("Not employed", "Baker or cook")),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no degree", {"EDU": [1, 2]}),
        ("no women", {"SEX": [1]}),
        ("no", {"insured": [2]}),
        ("no, women", {"SEX": [2], "insured": [2]}),
        ("insured: no, women", {"SEX": [2], "insured": [2]}),
        ("not insured", {"insured": [2]}),
        ("SEX: Female (2), EDU: Bachelors degree (9)", {"SEX": [2], "EDU": [3]}),
        ("EDU: Grade 9 to grade 12, no diploma (4) or Masters degree (10)", {"EDU": [1, 4]}),
        ("OWN_RENT: Group quarters (0) or Own housing unit (1)", {"OWN_RENT": [1, 2]}),
        (
            "people with AGEP: 30 to under 60 or 75 and over and SEX: Male (1)",
            {"AGEP": [3, 4, 6], "SEX": [1]},
        ),
        ("women over 60 rent", {"AGEP": [5, 6], "SEX": [2], "OWN_RENT": [3]}),
        ("renters", {"OWN_RENT": [3]}),
        ("EDU: missing or too rare, SEX missing", {"SEX": [0], "EDU": [0]}),
        ("SEX: Male (1) or missing", {"SEX": [0, 1]}),
        ("unknown SEX", {"SEX": [0]}),
        ("no renters", {"OWN_RENT": [1, 2]}),
    ],
)
def test_codes_that_have_names_are_understood(text, expected):
    found = read(text, CODED)
    assert selected(found, CODED, by_code=True) == expected
    assert (found["ambiguous"], found["unread"]) == ([], [])


#: Numbers of several kinds: an age by another name, codes, years, and amounts of money.
AMOUNTS = [
    column("sex", ("1", "2")) | {"names": ["men", "women"]},
    column("age group", AGES, kind="bins"),
    column("joined", ("2022", "2023", "2024"), kind="number"),
    column("paid", ("<5", "[5,10)", "[10,50)", "[50,100)", ">100"), kind="bins") | {"marks": "€"},
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("women over 60", {"sex": [2], "age group": [5, 6]}),
        ("over 60, women", {"sex": [2], "age group": [5, 6]}),
        ("more than 100 €", {"paid": [5]}),
        ("more than 100€", {"paid": [5]}),
        ("more than € 100", {"paid": [5]}),
        ("women who paid more than 50 euros", {"sex": [2], "paid": [4, 5]}),
        ("at least 10 EUR", {"paid": [3, 4, 5]}),
        ("at least 10EUR", {"paid": [3, 4, 5]}),
        ("between 5 € and 49 €", {"paid": [2, 3]}),
        ("10 € or more", {"paid": [3, 4, 5]}),
        ("10 or more €", {"paid": [3, 4, 5]}),
        ("paid: at least 10 €, over 60", {"paid": [3, 4, 5], "age group": [5, 6]}),
        ("women over 60 who paid under 10 euro", {"sex": [2], "age group": [5, 6], "paid": [1, 2]}),
        ("joined after 2022", {"joined": [2, 3]}),
    ],
)
def test_a_number_finds_the_one_column_that_it_fits(text, expected):
    found = read(text, AMOUNTS)
    assert selected(found, AMOUNTS, by_code=True) == expected
    assert (found["ambiguous"], found["unread"]) == ([], [])


def asked_back(found):
    """Of each part that is asked back its key, and of each option the column's place and the codes."""
    return [
        (part["key"], *([option["column"], option["codes"]] for option in part["options"]))
        for part in found["ambiguous"]
    ]


PLAIN_EDU = [column("EDU", ("1", "2", "3"))]
RED = [column("first", ("red", "blue")), column("second", ("red", "green"))]
DOCTOR = [column("occupation", ("doctor", "farmer")), column("housing", ("rented", "owned"))]
MARRIED = [
    column("SEX", ("1", "2")) | {"names": ["Male", "Female"]},
    column("married", ("1", "2", "3")) | {"names": ["never married", "", "widowed"]},
]
FEES = [*AMOUNTS, column("fee", ("[0,100)", ">100"), kind="bins")]
SALARY = [*FEES[:3], FEES[3] | {"marks": ""}, FEES[4] | {"name": "salary"}]
POINTS = [column("points", ("[0,50)", "[50,80)", ">80"), kind="bins"), AMOUNTS[2]]
BIRTHS = [column("birth_date", AGES, kind="bins") | {"age": True}, AMOUNTS[2]]


@pytest.mark.parametrize(
    ("columns", "text", "selection", "asked", "unread"),
    [
        # A number that cuts a bin is asked back with both choices.
        (COLUMNS, "over 65", [], [("question.cuts", [1, [6]], [1, [5, 6]])], []),
        # A word of two columns is of that which spells it so, or that it is about, or is named.
        (COLUMNS, "women, rented", [[0, [1]], [2, [2]]], [], []),
        (COLUMNS, "women who rent", [[0, [1]], [2, [2]]], [], []),
        (COLUMNS, "women, rent", [[0, [1]], [2, [2]]], [], []),
        (COLUMNS, "women, rents", [[0, [1]], [12, [1]]], [], []),
        (COLUMNS, "women, housing: rent", [[0, [1]], [2, [2]]], [], []),
        (RED, "red", [], [("question.several", [0, [1]], [1, [1]])], []),
        # A negation goes with a word that is not understood; a doctor by occupation is no degree.
        (WITHOUT_CONCERN, "women without a zebra who rent", [[0, [1]], [2, [2]]], [], ["zebra"]),
        (DOCTOR, "without a degree who rent", [[1, [1]]], [], ["degree"]),
        (WITHOUT_CONCERN, "left-handed women", [[0, [1]]], [], ["left", "-", "handed"]),
        # A part of a value is asked back, a word that is nearly one, and one for a code.
        (COLUMNS, "food", [], [("question.part", [5, [2]])], []),
        (COLUMNS, "libary", [], [("question.alike", [5, [1]])], []),
        (COLUMNS, "married women", [[0, [1]]], [("question.coded", [11, [1]], [11, [2]])], []),
        (PLAIN_EDU, "without a degree", [], [("question.coded_in_chart",)], []),
        (CODED, "employed", [], [("question.part", [6, [1]])], []),  # it is denied there
        (CODED, "baker", [], [("question.part", [6, [2]])], []),  # it is no common word
        (MARRIED, "women, widowed", [[0, [2]], [1, [3]]], [], []),
        # Of two columns of money, or in another currency, it is asked; a name may say that it is of money.
        (SALARY, "more than 100 €", [[4, [2]]], [], []),
        ([*FEES[:4], FEES[4] | {"marks": "EUR"}], "more than 100 €", [],
         [("question.which_column", [3, [5]], [4, [2]])], []),
        (AMOUNTS[:2], "more than 100 €", [], [("question.number", [1, [6]])], ["more", "than"]),  # no money
        # A number alone is asked back.
        (AMOUNTS, "10", [], [("question.number", [1, [1]], [3, [3]])], []),
        (AMOUNTS, "10 €", [], [("question.number", [3, [3]])], []),
        # A range that takes all of a column is not of it; ages may be named after a date.
        (POINTS, "over 50", [[0, [2, 3]]], [], []),
        (BIRTHS, "age (from birth_date): 60 and over", [[0, [5, 6]]], [], []),
        (BIRTHS, "age over 60", [[0, [5, 6]]], [], []),
        (BIRTHS, "over 60", [[0, [5, 6]]], [], []),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_asked_back_or_given_back(columns, text, selection, asked, unread):
    found = read(text, columns)
    assert found["selection"] == selection and asked_back(found) == asked
    assert found["unread"] == unread


def test_what_was_taken_is_said_with_notes():
    assert [reading["text"] for reading in read("at least 10 EUR", AMOUNTS)["readings"]] == [
        "at least 10 EUR"
    ]
    [asked] = read("over 65")["ambiguous"]
    assert asked["given"] == {"column": "age", "value": "[60,75)"}
    [asked] = read("married")["ambiguous"]
    assert asked["given"] == {"column": "marital"}
    # Who has no value is left out of a negation, and it is offered to count them.
    found = read("not rented")
    assert selected(found, COLUMNS) == {"housing": ["owned", "social"]}
    with_missing = {"column": 2, "codes": [0, 1, 3], "key": "question.with_missing"}
    assert found["readings"][0]["alternatives"] == [with_missing]
    # A column of several values can't be denied, nor columns be joined by or; a contradiction asks nothing.
    found = read("without library")
    assert (found["selection"], found["unread"]) == ([], ["library"])
    assert found["notes"][0]["key"] == "question.not_items"
    assert [note["key"] for note in read("women or Lyon")["notes"]] == ["question.either"]
    found = read("over 60, under 30")
    assert found["selection"] == [] and found["notes"][0]["key"] == "question.contradiction"


def test_it_reads_whatever_is_typed():
    typed = ("<script>", "'; DROP", "\u202e\u0000", "🙂 women", "a" * 5000, "- " * 500, "60 60 60")
    release = payload("fitted", COLUMNS, {"value": 100, "low": 90, "high": 110, "sd": 5.0})
    assert len(ask([release], [{"what": "parse", "release": 0, "text": text} for text in typed])) == len(
        typed
    )
