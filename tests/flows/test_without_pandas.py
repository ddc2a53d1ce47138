"""The command in a process of its own never loads pandas."""

import subprocess
import sys

from tests.flows.syndiffix_people import people, write

COMMAND = """
import sys
from flows.command import main as command
code = command.main(["syndiffix", *sys.argv[1:]])
print("loaded" if "pandas" in sys.modules else "not loaded")
import pandas, pyarrow
assert pyarrow.table({"a": [1]}).to_pandas().equals(pandas.DataFrame({"a": [1]}))
sys.exit(code)
"""


def test_the_command_does_not_load_pandas_which_others_still_can(tmp_path):
    table = write(tmp_path / "people.csv", people())
    output = tmp_path / "synthetic.csv"
    arguments = [str(table), "--aidcolumns", "pid", "--output", str(output)]
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout == "not loaded\n"
    assert output.read_text().startswith("age,income,city,joined,member\n")
