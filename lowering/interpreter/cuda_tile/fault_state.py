"""The state in which an op of a block went wrong, as its error shows it: the op's operands, and the
memory around where an access went."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.interpreter.cuda_tile.allocations import TileAllocation
from tilewright.lowering.interpreter.cuda_tile.elements import element_of
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.pieces import Unstored
from tilewright.lowering.interpreter.cuda_tile.poison import Poisoned, whole_marks
from tilewright.lowering.interpreter.cuda_tile.values import TensorView, TiledView, Value
from tilewright.lowering.interpreter.errors import Fault

UNDEFINED = "--"
"""Shown in place of an element that is undefined."""
MANY, EDGE = 64, 4
"""The elements of a tile that are all shown; of more, how many at each end of a dimension."""


def text_of(content: Value | Unstored, value: SSAValue, row: int, many: int = MANY) -> str:
    """The content of a value in a block, by its row; of a tile of more than `many` elements the
    ends. What is undefined is shown as --."""
    if isinstance(content, Unstored):
        content = content.tile()
    if isinstance(content, TiledView):
        return f"tiles of {text_of(content.tensor, value, row)}"
    if isinstance(content, TensorView):
        base, shape, strides = (
            array[row % len(array)] for array in (content.base, content.shape, content.strides)
        )
        return f"shape {shape.tolist()}, strides {strides.tolist()} at byte {int(base):#x}"
    if isinstance(content, Poisoned):
        content, row = content.take(np.array([row % len(content)])), 0
    if isinstance(content, Poisoned):
        (marks,) = whole_marks(content)
        content = np.where(marks != 0, UNDEFINED, content.tile.astype(object))
    if not isinstance(content, np.ndarray):
        return "a token"
    tile: Any = np.asarray(content[row % len(content)], content.dtype)
    type_: Any = value.type
    if "ptr" in shown(type_.element_type):
        formatter: Any = {"int": hex, "object": _hex}
    else:
        formatter = {"object": str}
        if tile.dtype.kind not in "iub" and tile.dtype.itemsize < 4:
            tile = tile.astype(np.float32)
    if tile.ndim == 0:
        kind = "object" if tile.dtype == object else "int"
        return formatter.get(kind, str)(tile.item())
    text = np.array2string(
        tile, threshold=many, edgeitems=EDGE, max_line_width=100, formatter=formatter,
        separator=", ",
    )  # fmt: skip
    return text.replace("\n", "\n    ")


def _hex(element: Any) -> str:
    return element if element == UNDEFINED else hex(element)


FEW = 4
"""Elements of memory that are shown on each side."""


class OutsideAllocation(Fault):
    """An access to an element that an allocation, of elements of so many bytes, has not."""

    def __init__(self, allocation: TileAllocation, element: int, size: int, row: int | None):
        elements = len(allocation) // size
        super().__init__(
            f"expected an element of {allocation.name} ({elements} of {size} bytes), got element "
            f"{element}",
            row,
        )
        self.allocation, self.element, self.size = allocation, element, size


def fault_state(fault: Fault, op: Operation, frame: Frame) -> Iterator[str]:
    """Notes on a fault."""
    row, texts = fault.lane or 0, list[str]()
    for number, value in enumerate(op.operands):
        content = frame[value]
        if isinstance(value.type, TileType) and not isinstance(content, int):
            name = f"operand {number}" if value.name_hint is None else f"%{value.name_hint}"
            texts.append(f"{name} = {text_of(content, value, row, 2 * FEW)}")
    if texts:
        yield f"note: there {', '.join(texts)}"
    if isinstance(fault, OutsideAllocation):
        yield from _window(fault, op)


def _window(fault: OutsideAllocation, op: Operation) -> Iterator[str]:
    """The elements nearest to the one that is not there."""
    dtypes = [
        element_of(value.type.element_type).dtype
        for value in (*op.results, *op.operands) if isinstance(value.type, TileType)
    ]  # fmt: skip
    fitting = [dtype for dtype in dtypes if dtype.itemsize == fault.size and dtype.kind != "b"]
    elements = len(fault.allocation) // fault.size
    middle = min(max(fault.element, 0), elements)
    start, stop = max(middle - FEW, 0), min(middle + FEW, elements)
    if start < stop and fitting:
        octets = fault.allocation.octets[start * fault.size : stop * fault.size].copy()
        words: Any = np.atleast_1d(octets.view(fitting[0]))
        yield (
            f"note: {fault.allocation.name} has {' '.join(map(str, words.tolist()))} in elements "
            f"{start} to {stop - 1} of {elements}, element {fault.element} is outside"
        )
