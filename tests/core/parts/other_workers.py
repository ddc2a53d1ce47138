"""Workers that do what the protocol allows and one process never does."""

import pickle
from dataclasses import dataclass

from tasks.core.parts.workers import Workers


@dataclass(frozen=True)
class Backwards(Workers):
    """The last part is done first."""

    def each(self, name, work, parts):
        found = {place: work(parts[place]) for place in reversed(range(len(parts)))}
        return (found[place] for place in range(len(parts)))


@dataclass(frozen=True)
class Sent(Workers):
    """All that goes to a worker and comes back is sent, and each part is done twice."""

    def each(self, name, work, parts):
        for part in parts:
            sent = pickle.dumps((work, part))
            for _ in range(2):
                own, held = pickle.loads(sent)
                found = pickle.loads(pickle.dumps(own(held)))
            yield found
