"""Rules of the options of a launch of a cuTile kernel."""

from operator import index
from typing import Any

from tilewright.arguments.options import RULES
from tilewright.dialects.illegal import told
from tilewright.launch.kernel import Extents
from tilewright.source.checked import Rule, items, require
from tilewright.source.diagnostic import ArgumentError

_MAX_EXTENT = (1 << 24) - 1


def _kernel(given: Any) -> Any:
    require(hasattr(given, "_annotated_function"))
    return given


KERNEL = Rule("a @ct.kernel", _kernel)
KERNEL_OR_BYTECODE = Rule(
    "a @ct.kernel or its bytecode",
    lambda given: given if isinstance(given, bytes) else _kernel(given),
)


def _grid(given: Any) -> Extents:
    """A grid of no extents is one block; cuTile's launch refuses those of more than 24 bits."""
    extents = items(given)
    for i, extent in enumerate(extents):
        if index(extent) > _MAX_EXTENT:
            raise ArgumentError(
                f"expected extents of a grid of 24 bits, got {told(given)} (Grid[{i}] exceeds "
                f"24-bit limit: max={_MAX_EXTENT}, got={extent}. Use multiple kernel launches for "
                "larger workloads.)"
            )
    return RULES["grid"].read(extents or (1,))


GRID = Rule(RULES["grid"].words, _grid)
