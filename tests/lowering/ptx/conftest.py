"""Makes the modules beside this file importable, and those of the interpreter's tests, which
--import-mode=importlib does not."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "interpreter")]
