"""Makes faults.py importable, which --import-mode=importlib does not."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
