"""``python -m flows``: the same as ``marginalia``."""

import sys

from flows.command import main

sys.exit(main())
