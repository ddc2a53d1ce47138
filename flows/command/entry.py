"""Where the command begins: what loads it goes first, so that ctrl-C ends it without a traceback meanwhile.

Loading takes a quarter of a second, in which nothing was begun and nothing is to be said. `main` then takes
the signal back, and says what was kept.
"""

import signal
from typing import NoReturn


def start() -> NoReturn:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # nohup and & ignore it
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from flows.command.main import run

    run()
