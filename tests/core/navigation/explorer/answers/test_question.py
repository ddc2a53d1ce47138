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
NAMES = [each["name"] for each in COLUMNS]


def read(*texts, columns=WITHOUT_CONCERN):
    release = payload("fitted", columns, {"value": 100, "low": 90, "high": 110, "sd": 5.0})
    return ask([release], [{"what": "parse", "release": 0, "text": text} for text in texts])


def selected(found):
    """Column name -> values."""
    named = {}
    for place, codes in found["selection"]:
        values = COLUMNS[place]["values"]
        named[NAMES[place]] = [
            "missing" if code == 0 else "unreleased" if code > len(values) else values[code - 1]
            for code in codes
        ]
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
    (found,) = read(text)
    assert selected(found) == expected
    assert (found["ambiguous"], found["unread"]) == ([], [])


def test_a_number_that_cuts_a_bin_is_asked_back_with_both_choices():
    (found,) = read("over 65")
    (asked,) = found["ambiguous"]
    assert found["selection"] == []
    assert asked["key"] == "question.cuts" and asked["given"] == {"column": "age", "value": "[60,75)"}
    assert [option["codes"] for option in asked["options"]] == [[6], [5, 6]]


@pytest.mark.parametrize("text", ["women, rented", "women who rent", "women, rent"])
def test_a_word_of_two_columns_is_of_that_which_spells_it_so_or_that_it_is_about(text):
    (found,) = read(text, columns=COLUMNS)
    assert selected(found) == {"sex": ["female"], "housing": ["rented"]}
    (found,) = read("women, rents", columns=COLUMNS)
    assert selected(found) == {"sex": ["female"], "concern": ["rents"]}


def test_a_word_of_two_columns_that_is_about_none_of_them_is_asked_back():
    columns = [column("first", ("red", "blue")), column("second", ("red", "green"))]
    (found,) = read("red", columns=columns)
    assert found["selection"] == [] and len(found["ambiguous"][0]["options"]) == 2


def test_a_negation_goes_with_a_word_that_is_not_understood():
    (found,) = read("women without a zebra who rent")
    assert selected(found) == {"sex": ["female"], "housing": ["rented"]}
    assert found["unread"] == ["zebra"]


def test_a_doctor_by_occupation_is_no_degree():
    columns = [column("occupation", ("doctor", "farmer")), column("housing", ("rented", "owned"))]
    (found,) = read("over 60 without a degree who rent", columns=columns)
    assert found["selection"] == [[1, [1]]] and "degree" in found["unread"]


def test_where_several_codes_may_be_meant_the_chart_is_named():
    columns = [column("EDU", ("1", "2", "3"))]
    (found,) = read("without a degree", columns=columns)
    (asked,) = found["ambiguous"]
    assert asked["key"] == "question.coded_in_chart" and asked["given"] == {"column": "EDU"}


def test_a_part_of_a_value_is_asked_back():
    (found,) = read("food")
    assert found["selection"] == []
    assert found["ambiguous"][0]["key"] == "question.part"
    assert found["ambiguous"][0]["options"] == [{"column": 5, "codes": [2]}]


def test_a_word_for_a_code_is_asked_back():
    (found,) = read("married women")
    assert selected(found) == {"sex": ["female"]}
    (asked,) = found["ambiguous"]
    assert asked["key"] == "question.coded" and asked["given"] == {"column": "marital"}
    assert [NAMES[option["column"]] for option in asked["options"]] == ["marital", "marital"]


def test_codes_are_found_by_what_they_are_said_to_mean():
    columns = [column("SEX", ("1", "2")) | {"names": ["Male", "Female"]}, column("married", ("1", "2", "3"))]
    columns[1]["names"] = ["never married", "", "widowed"]
    (found,) = read("women, widowed", columns=columns)
    assert found["selection"] == [[0, [2]], [1, [3]]] and found["ambiguous"] == []


def test_naming_the_column_settles_it():
    (found,) = read("women, housing: rent", columns=COLUMNS)
    assert selected(found) == {"sex": ["female"], "housing": ["rented"]}


def test_a_word_that_is_nearly_a_value_is_asked_back():
    (found,) = read("libary")
    assert found["selection"] == []
    assert found["ambiguous"][0]["key"] == "question.alike"
    assert found["ambiguous"][0]["options"] == [{"column": 5, "codes": [1]}]


def test_what_means_nothing_is_given_back():
    (found,) = read("left-handed women")
    assert selected(found) == {"sex": ["female"]}
    assert found["unread"] == ["left", "-", "handed"] or found["unread"] == ["left", "handed"]


def test_not_leaves_out_those_without_a_value_and_offers_to_count_them():
    (found,) = read("not rented")
    assert selected(found) == {"housing": ["owned", "social"]}
    assert found["readings"][0]["alternatives"] == [
        {"column": 2, "codes": [0, 1, 3], "key": "question.with_missing"}
    ]


def test_not_of_a_column_with_several_values_is_refused_with_a_reason():
    (found,) = read("without library")
    assert found["selection"] == [] and found["unread"] == ["library"]
    assert found["notes"][0]["key"] == "question.not_items"


def test_or_between_columns_is_noted():
    (found,) = read("women or Lyon")
    assert [note["key"] for note in found["notes"]] == ["question.either"]


def test_a_contradiction_is_noted_and_asks_nothing():
    (found,) = read("over 60, under 30")
    assert found["selection"] == [] and found["notes"][0]["key"] == "question.contradiction"


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


def codes(found):
    return {CODED[place]["name"]: [*chosen] for place, chosen in found["selection"]}


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
    (found,) = read(text, columns=CODED)
    assert codes(found) == expected
    assert (found["ambiguous"], found["unread"]) == ([], [])


@pytest.mark.parametrize("text", ["employed", "baker"])
def test_a_word_of_one_value_is_asked_back_if_it_is_denied_there_or_no_common_word(text):
    (found,) = read(text, columns=CODED)
    assert found["selection"] == [] and found["ambiguous"][0]["key"] == "question.part"


@pytest.mark.parametrize(
    "text", ["<script>", "'; DROP", "\u202e\u0000", "🙂 women", "a" * 5000, "- " * 500, "60 60 60"]
)
def test_it_reads_whatever_is_typed(text):
    assert len(read(text)) == 1


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
    (found,) = read(text, columns=AMOUNTS)
    named = {AMOUNTS[place]["name"]: chosen for place, chosen in found["selection"]}
    assert named == expected
    assert (found["ambiguous"], found["unread"]) == ([], [])


def test_the_words_that_were_taken_say_the_currency():
    (found,) = read("at least 10 EUR", columns=AMOUNTS)
    assert [reading["text"] for reading in found["readings"]] == ["at least 10 EUR"]


def test_of_two_columns_of_money_or_another_currency_it_is_asked():
    two = [*AMOUNTS, column("fee", ("[0,100)", ">100"), kind="bins")]
    (found,) = read(
        "more than 100 €", columns=[*two[:3], two[3] | {"marks": ""}, two[4] | {"name": "salary"}]
    )
    assert [codes for _, codes in found["selection"]] == [[2]], "a column's name says that it is of money"
    (found,) = read("more than 100 €", columns=[*two[:4], two[4] | {"marks": "EUR"}])
    assert [option["column"] for option in found["ambiguous"][0]["options"]] == [3, 4]
    (found,) = read("more than 100 €", columns=AMOUNTS[:2])
    assert found["selection"] == [] and found["unread"], "no age is an amount of money"


@pytest.mark.parametrize(("text", "options"), [("10", [[1, [1]], [3, [3]]]), ("10 €", [[3, [3]]])])
def test_a_number_alone_is_asked_back(text, options):
    (found,) = read(text, columns=AMOUNTS)
    (asked,) = found["ambiguous"]
    assert found["selection"] == [] and (asked["key"], asked["text"]) == ("question.number", text)
    assert [[option["column"], option["codes"]] for option in asked["options"]] == options


def test_a_range_that_takes_all_of_a_column_is_not_of_it():
    columns = [column("points", ("[0,50)", "[50,80)", ">80"), kind="bins"), AMOUNTS[2]]
    (found,) = read("over 50", columns=columns)
    assert found["selection"] == [[0, [2, 3]]]


def test_an_age_that_is_named_after_a_date_is_found_as_the_page_writes_it():
    columns = [column("birth_date", AGES, kind="bins") | {"age": True}, AMOUNTS[2]]
    for text in (
        "age (from birth_date): 60 and over",
        "age over 60",
        "over 60",
    ):
        (found,) = read(text, columns=columns)
        assert found["selection"] == [[0, [5, 6]]] and not found["unread"], text
