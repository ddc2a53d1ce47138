"""The process that a notebook's call starts: one request in, one answer out, and what is told meanwhile.

    standard input    the length of a JSON text and the text, that of a Parquet file and the file; then it
                      stays open for as long as the notebook lives
    standard output   lines of JSON: {"ready": true}, {"tell": sentence} ..., and at last
                      {"done": answer} or {"failed": {"kind": class, "problems": [sentence, ...]}}
    standard error    what a terminal would show, for the person alone

What it says of the command's options and keys comes in the words of a call's arguments (`to_call_words`).
Only errors of our own go out, by class and text: no traceback, no cause, and nothing for the operator alone,
as notebooks are saved and sent around.
"""

import argparse
import functools
import io
import json
import os
import re
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, BinaryIO, NoReturn

from flows import hide_what_follows_exit
from flows.command.main import hide_pandas_from_pyarrow
from flows.command.run import quieten
from flows.command.syndiffix import arguments as syndiffix_options
from tasks.core import errors
from tasks.core.errors import InputError, InternalError, MarginaliaError, ParameterError
from tasks.core.hints import did_you_mean
from tasks.core.syndiffix.settings import SETTINGS
from tasks.failures import describe_unforeseen
from tasks.messages import LOGGER, TerminalHandler, say

#: After so long a run that goes on without its notebook is interrupted again.
_SECONDS_TO_STOP = 60.0


class _Screen(io.TextIOWrapper):
    """Standard error, whose reader takes back lines as a terminal does."""

    def isatty(self) -> bool:
        return True


class _Channel:
    """The way back to the notebook: lines of JSON. Whatever else prints goes to standard error."""

    def __init__(self) -> None:
        self._file = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def send(self, **message: Any) -> None:
        self._file.write(json.dumps(message) + "\n")
        self._file.flush()

    def tell(self, sentence: str) -> None:
        self.send(tell=to_call_words(sentence))


def answer_request() -> NoReturn:
    hide_what_follows_exit()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    channel = _Channel()
    sys.stderr = _Screen(sys.stderr.buffer, encoding="utf-8", write_through=True)
    quieten(verbose=False)
    for handler in list(LOGGER.handlers):
        LOGGER.removeHandler(handler)
    LOGGER.addHandler(TerminalHandler(channel.tell))
    channel.send(ready=True)
    channel.send(**_answer(sys.stdin.buffer))
    sys.exit(0)


def _answer(requests: BinaryIO) -> dict[str, Any]:
    try:
        request, table = json.loads(_read(requests)), _read(requests)
        threading.Thread(target=_stop_with_notebook, args=(requests,), daemon=True).start()
        hide_pandas_from_pyarrow()
        return {"done": handler_of(request.pop("do"))(table, **request)}
    except MarginaliaError as error:
        if isinstance(error, InputError) and error.operator_detail:
            say(error.operator_detail)
        return {"failed": _error_answer(error)}
    except KeyboardInterrupt:
        return {"failed": {"kind": "KeyboardInterrupt", "problems": []}}
    except Exception as error:  # its own words may hold cells
        return {"failed": _error_answer(InternalError(describe_unforeseen(error)))}


def handler_of(what: str) -> Callable[..., dict[str, Any]]:
    """What answers a request: it is given the table, and by name what else goes with the request.

    It is loaded when it is asked for, as each needs other things of what is slow.
    """
    module = import_module(f"flows.command.notebook.{'evaluation' if what == 'evaluate' else 'runs'}")
    handler: Callable[..., dict[str, Any]] = getattr(module, f"answer_{what}")
    return handler


def _error_answer(error: MarginaliaError) -> dict[str, Any]:
    kind = next(each.__name__ for each in type(error).__mro__ if each.__module__ == errors.__name__)
    problems = error.problems if isinstance(error, ParameterError) else [str(error)]
    return {"kind": kind, "problems": [to_call_words(problem) for problem in problems]}


def _read(requests: BinaryIO) -> bytes:
    (size,) = struct.unpack(">Q", requests.read(8))
    return requests.read(size)


def _stop_with_notebook(requests: BinaryIO) -> None:
    """Stop as at ctrl-C when the notebook's process is gone: nobody would see what this run releases."""
    os.read(requests.fileno(), 1)  # of the file itself: a lock on its buffer would outlive the interpreter
    while True:  # an interrupt that comes while a destructor or a callback runs is lost
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(_SECONDS_TO_STOP)


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
    syndiffix_options.add_arguments(parser)
    found = {}
    for action in parser._actions:
        name = argument_name(action.dest)
        for option in action.option_strings:
            is_flag = action.nargs == 0 and name == action.dest
            found[option] = f"{name}=True" if is_flag else f"{name}="
    return found
