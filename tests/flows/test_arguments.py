"""A command line that can't be parsed ends with 2 and says what was meant."""

import pytest

from flows.command.main import main


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["rnu", "x.json"], "did you mean run?"),
        (["ledgr"], "did you mean ledger?"),
        (["init", "--encoding", "utf8", "x.json"], "did you mean utf-8?"),
        (["run", "--agregate", "x.json"], "did you mean --aggregate?"),
        (["x.json"], "the command must come first: did you mean marginalia run x.json?"),
    ],
)
def test_a_slip_is_answered_with_the_word_that_was_meant(words, meant, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert meant in capsys.readouterr().err


def test_a_word_that_is_near_nothing_gets_no_guess(capsys):
    with pytest.raises(SystemExit) as end:
        main(["frobnicate"])
    assert end.value.code == 2
    assert "did you mean" not in capsys.readouterr().err
