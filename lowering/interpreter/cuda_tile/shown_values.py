"""The content of values, as breakpoints and errors show it."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.lowering.interpreter.cuda_tile.pieces import Unstored
from tilewright.lowering.interpreter.cuda_tile.values import TensorView, TiledView, Value

MANY, EDGE = 64, 4
"""The elements of a tile that are all shown; of more, how many at each end of a dimension."""


def text_of(content: Value | Unstored, value: SSAValue, row: int, many: int = MANY) -> str:
    """The content of a value in a block, by its row; of a tile of more than `many` elements the
    ends."""
    if isinstance(content, Unstored):
        content = content.tile()
    if isinstance(content, TiledView):
        return f"tiles of {text_of(content.tensor, value, row)}"
    if isinstance(content, TensorView):
        base, shape, strides = (
            array[row % len(array)] for array in (content.base, content.shape, content.strides)
        )
        return f"shape {shape.tolist()}, strides {strides.tolist()} at byte {int(base):#x}"
    if not isinstance(content, np.ndarray):
        return "a token"
    tile: Any = content[row % len(content)]
    type_: Any = value.type
    if "ptr" in shown(type_.element_type):
        formatter: Any = {"int": hex}
    else:
        formatter = {}
        if tile.dtype.kind not in "iub" and tile.dtype.itemsize < 4:
            tile = tile.astype(np.float32)
    if tile.ndim == 0:
        return formatter.get("int", str)(tile.item())
    text = np.array2string(
        tile, threshold=many, edgeitems=EDGE, max_line_width=100, formatter=formatter or None,
        separator=", ",
    )  # fmt: skip
    return text.replace("\n", "\n    ")
