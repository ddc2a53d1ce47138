"""All that goes out is what it was: see the package's own words for what to do where it is not."""

import pytest

from tests.frozen import frozen

pytestmark = pytest.mark.frozen


def test_every_released_file_and_every_printed_word_is_what_it_was():
    texts, _ = frozen.freeze()
    frozen.keep(texts, frozen.LAST)
    changed = frozen.differences(frozen.stored(), frozen.hashes(texts))
    assert not changed, "\n".join(
        [
            f"{len(changed)} of {len(texts)} texts are not what tests/frozen/hashes.json says:",
            *changed,
            "What changed in them: python -m tests.frozen compare (what came out now is in .frozen/last).",
            "Where the texts before are not kept: python -m tests.frozen run FOLDER in a worktree of the",
            "commit before, then python -m tests.frozen compare FOLDER here; --help says more.",
            "Where every difference is meant: python -m tests.frozen write.",
        ]
    )
