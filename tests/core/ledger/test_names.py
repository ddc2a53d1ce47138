"""R1: a release is named by public things only, and by all of those that touch the noise."""

import sys
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis.strategies import integers, lists, sampled_from, text, tuples

from tasks.core.dp.digest import configuration_digest
from tasks.core.dp.parameters import DpParameters
from tasks.core.ledger.names import ReleaseName, fold_name
from tasks.core.records.columns import Column, Schema

SCHEMA = Schema((Column("sex", domain=("f", "m")), Column("age", bins=(0.0, 50.0)), Column("job")), "person")
PARAMETERS = DpParameters(epsilon=1.0, delta=1e-6, reporting_length=3)


def test_equal_configurations_have_one_digest_whatever_their_spelling_and_it_is_pinned():
    digest = configuration_digest(SCHEMA, PARAMETERS)
    assert digest == configuration_digest(Schema.from_json(SCHEMA.to_json()), replace(PARAMETERS, epsilon=1))
    assert digest == configuration_digest(SCHEMA, PARAMETERS, {})
    assert digest == "5af0da2d73e68a7ebb574f4bf851c77995b1b24c587e1639cfe038f2371c75e9"
    assert digest != configuration_digest(SCHEMA, replace(PARAMETERS, engine="insecure-seeded"))
    with pytest.raises(TypeError):
        configuration_digest(SCHEMA, PARAMETERS, {"when": object()})


def test_no_two_names_share_a_key():
    names = [
        ReleaseName("a", "b", "c"),
        ReleaseName("a", "bc", ""),
        ReleaseName("ab", "", "c"),
        ReleaseName("a", "b", "d"),
    ]
    assert len({name.key for name in names}) == len(names)
    assert ReleaseName.of(names[0].as_body()) == names[0]


#: One or two of each kind of what nobody sees.
UNSEEN = (
    "\u200b\ufeff\u00ad\u2060\u200d\u180e\u034f\ufe0f\u3164\uffa0\u2800\x00\x7f\U000e0100"
    " \t\u00a0\u2003\u3000"
)


@example(name="Cafe\u0301", places=[(5, " ")])
@given(name=text(), places=lists(tuples(integers(0, 40), sampled_from(UNSEEN)), max_size=5))
def test_names_are_compared_without_what_nobody_sees(name, places):
    spelt = name
    for place, unseen in places:
        spelt = spelt[:place] + unseen + spelt[place:]
    assert fold_name(spelt) == fold_name(name) == fold_name(fold_name(name))


def test_no_letter_is_taken_for_an_invisible_one():
    shown = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] in "LNPS"]
    unseen = "\u115f\u1160\u2800\u3164\uffa0\U00013441\U00013442\U0001d159"
    assert not any(map(fold_name, unseen))
    # Of a letter that a version of Python does not know yet the category is none of these.
    assert [letter for letter in shown if not fold_name(letter)] == [one for one in unseen if one in shown]
