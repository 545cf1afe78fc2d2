"""Changes to xDSL 0.74: what it reads wrongly, and what it does slowly, each for xDSL itself too.

They are in force once `install` has run, which `compile`, `interpret`, the commands and all that
parses do first. Plain `xdsl-opt` with our dialects has the repairs alone (`tilewright.universe`).
"""

from functools import cache

from tilewright.xdsl_patches import repairs, speed


@cache
def install() -> None:
    """Change xDSL, once and for all."""
    repairs.install()
    speed.install()
