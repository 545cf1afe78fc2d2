"""Changes to xDSL 0.74: what it reads wrongly, and what it does slowly.

They are in force once `install` has run, which `compile`, `interpret`, the commands and all that
parses do first. Plain `xdsl-opt` with our dialects has the repairs alone (`tilewright.universe`).
`upstream/` has each as a change to xDSL's sources, ready to send.
"""

from functools import cache

from tilewright.xdsl_patches import repairs, speed
from tilewright.xdsl_patches.assignments import assign


@cache
def repair() -> None:
    """Let xDSL read rightly, once and for all."""
    assign(repairs.PATCHES)


@cache
def install() -> None:
    """Change xDSL, once and for all."""
    repair()
    assign(speed.PATCHES)
