"""What the command says of its options and keys, in the words of a notebook's arguments."""

import argparse
import functools
import re

from flows.command.syndiffix import arguments
from tasks.core.hints import did_you_mean
from tasks.core.syndiffix.settings import SETTINGS

#: Arguments of `marginalia.protect` and `marginalia.syndiffix`, by the key or option that they stand for.
PROTECT = {"noise_epsilon": "epsilon", "reporting_resolution": "k", "privacy.releases": "releases"}
_SYNDIFFIX = {"aidcolumns": "ids", "blob_largest": "largest"} | dict.fromkeys(
    ("ml_target", "no_clustering", "clusters"), "clustering"
)
#: All of `protect` that are no keys by the same name.
_ARGUMENTS = (*PROTECT.values(), "contract", "dataset", "output_dir", "subject_id", "vintage")
_COMMAND = re.compile(r"(marginalia (?!syndiffix)[a-z]+ .*?(?=[.;)]?$|[.;)] ))")
_OTHER_COMMAND = re.compile(r" \((?:for marginalia syndiffix|in the command|on the command line): [^)]*\)")
_JSON = re.compile(r'"([a-z_]+)": ("[^"]*"|[0-9.]+)')
_OPTION = re.compile(r"(?<![\w'-])--?[a-z][\w-]*(?:/-[\w/-]+)*")
_KEY = re.compile("|".join(rf"(?<![\w.'\"]){re.escape(key)}(?![\w'\"])" for key in PROTECT))
_UNKNOWN = re.compile(r"(\w+) is not a key of the configuration: (.*)")
_SENTENCES = (
    ("--blob-largest 2", "largest=2"),
    ("set dp_aggregates to false for k-anonymity", "give k in place of epsilon for k-anonymity"),
    ("Remove the key.", "Leave it out."),
)


def to_call_words(sentence: str) -> str:
    """What the command says of its options and keys, in the words of a notebook's arguments.

    A command that it quotes stays as it is: that is typed at a terminal.

    >>> to_call_words("--lcf-low-threshold must be 2 or more. Raise it: marginalia ledger 'd' --cap 2 0.1.")
    "low_threshold= must be 2 or more. Raise it: marginalia ledger 'd' --cap 2 0.1."
    >>> to_call_words('noise_epsilon must be positive. Set "dataset": "people" (in the command: ...).')
    'epsilon must be positive. Set dataset="people".'
    """
    if unknown := _UNKNOWN.fullmatch(sentence):
        return _unknown(*unknown.groups())
    for command, call in _SENTENCES:
        sentence = sentence.replace(command, call)
    parts = _COMMAND.split(_OTHER_COMMAND.sub("", sentence))
    return "".join(part if place % 2 else _translated(part) for place, part in enumerate(parts))


def _translated(text: str) -> str:
    text = _JSON.sub(r"\1=\2", text)
    text = _KEY.sub(lambda found: PROTECT[found[0]], text)
    return _OPTION.sub(lambda found: _options().get(found[0].partition("/")[0], found[0]), text)


def _unknown(name: str, hint: str) -> str:
    if name in SETTINGS:
        return (
            f"{name} is a setting of SynDiffix: give it as syndiffix={{{name!r}: ...}} beside "
            'synthesis_mode="syndiffix".'
        )
    meant = did_you_mean(name, _ARGUMENTS)
    hint = meant or hint.replace("remove it", "leave it out")
    return f"{name} is no argument and no key of a configuration: {hint}"


def argument_name(name: str) -> str:
    """The argument of a call, by the name that an option of ``marginalia syndiffix`` has in the code."""
    return _SYNDIFFIX.get(name, name)


@functools.cache
def _options() -> dict[str, str]:
    parser = argparse.ArgumentParser(add_help=False)
    arguments.add_arguments(parser)
    found = {}
    for action in parser._actions:
        name = argument_name(action.dest)
        for option in action.option_strings:
            is_flag = action.nargs == 0 and name == action.dest
            found[option] = f"{name}=True" if is_flag else f"{name}="
    return found
