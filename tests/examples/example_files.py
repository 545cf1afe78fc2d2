"""Where the examples lie."""

from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
