"""What the command says of its options and keys comes in a call's words; what is typed elsewhere stays."""

import pytest

from flows.command.notebook.process import to_call_words

SAID = {
    "--lcf-low-threshold must be at least 2.": "low_threshold= must be at least 2.",
    "Give -lcf once; -9 is a number.": "Give low_threshold= once; -9 is a number.",
    "name it in --aidcolumns or in --columns, not in both.": "name it in ids= or in columns=, not in both.",
    "Leave out all of more than two columns (--blob-largest 2).": (
        "Leave out all of more than two columns (largest=2)."
    ),
    "name the column with --ml-target.": "name the column with clustering=.",
    "--no-clustering has no effect beside --verbose.": "clustering= has no effect beside verbose=True.",
    "noise_epsilon must be more than 0, not 0.": "epsilon must be more than 0, not 0.",
    "privacy.releases must be at least 1.": "releases must be at least 1.",
    "reporting_resolution must be a whole number.": "k must be a whole number.",
    "Column 'noise_epsilon' has no values.": "Column 'noise_epsilon' has no values.",
    "If the people are the same, set \"dataset\": \"a\". If not, type: marginalia ledger 'b' --reason 'x'.": (
        "If the people are the same, set dataset=\"a\". If not, type: marginalia ledger 'b' --reason 'x'."
    ),
    "Raise the cap: marginalia ledger 'a' --cap 1.5 0.1 --reason '...'. Or lower noise_epsilon.": (
        "Raise the cap: marginalia ledger 'a' --cap 1.5 0.1 --reason '...'. Or lower epsilon."
    ),
    "Type marginalia export a.json --output b. Then give --columns.": (
        "Type marginalia export a.json --output b. Then give columns=."
    ),
    "declare decimal as ',' (in the command: --decimal ,).": "declare decimal as ','.",
    "epsilon_ is not a key of the configuration: remove it.": (
        "epsilon_ is no argument and no key of a configuration: did you mean epsilon?"
    ),
    "zebra is not a key of the configuration: remove it.": (
        "zebra is no argument and no key of a configuration: leave it out."
    ),
    "low_threshold is not a key of the configuration: remove it.": (
        "low_threshold is a setting of SynDiffix: give it as syndiffix={'low_threshold': ...} beside "
        'synthesis_mode="syndiffix".'
    ),
}


@pytest.mark.parametrize("sentence", SAID)
def test_a_sentence_of_the_command_names_arguments_of_a_call(sentence):
    assert to_call_words(sentence) == SAID[sentence]
