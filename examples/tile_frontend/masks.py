"""Vectors beside a block, one element for each of its rows or columns; and masks of its elements.

    acc = acc + columns(bias, j, acc)
    scores = where(iota(COLUMNS, step, scores) <= iota(ROWS, i, scores), scores, -inf)

`iota` numbers elements as the whole array does. Comparisons of such numbers, or of `elements`, are
masks, for `where` to choose by.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, partialmethod

from tile_frontend.language import COLUMNS, ROWS, Array, BlockShape, Registers
from tile_frontend.trace import Index, Trace, algebra, at, cute, index
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType
from xdsl.ir import SSAValue

from tilewright.dialects.cute import Layout, flatten, unflatten
from tilewright.dialects.cute.int_tuple import to_text

Number = Index | SSAValue | int | float


def _vector(axis: int, array: Array, place: Index, like: Registers) -> Registers:
    """The block of an array of one mode that lies along an axis of `like`; zeros beyond it."""
    frame, result = like.frame, Registers(like.frame, array.element, (axis,))
    words = [str(extent) for extent in frame.extents]
    words[axis] = array.shape.type.typed.text.strip("()")
    shape = algebra("shape", f"({','.join(words)})", array.extent(0))
    stride = algebra("stride", "(1,0)" if axis == ROWS else "(0,1)")
    matrix = cute("make_layout", shape, stride, uniform=True)
    array = Array(cute("make_view", array.tensor, matrix, uniform=True))
    kept = tuple(None if step else 0 for step in flatten(result.layout.stride))
    first = algebra("coord", to_text(unflatten(kept, result.layout.shape)))
    blocks = array.blocks(frame.extents, (None, 0) if axis == ROWS else (0, None))
    parts = (at(frame.part(x), -1, place) for x in blocks)
    block, coords = (cute("slice", part, first, uniform=place.uniform) for part in parts)
    target = result.through(Layout(block.type.tensor.modes.shape))
    cute("copy", None, block, target, bounds=(coords, array.shape))
    return result


columns = partial(_vector, COLUMNS)
"""One element for each column of a block, from an array of one mode: `columns(bias, j, acc)`."""
rows = partial(_vector, ROWS)
"""One element for each of its rows."""


@dataclass(frozen=True)
class Elements:
    """A number for each element of a block, or whether something holds of it."""

    frame: BlockShape
    values: SSAValue

    @property
    def is_float(self) -> bool:
        return not isinstance(self.values.type.element_type, IntegerType)

    def like(self, other: Elements | Number) -> SSAValue:
        """Another one's vector, or the same number for all elements."""
        match other:
            case Elements():
                return other.values
            case int() | float():
                dense = DenseIntOrFPElementsAttr.from_list(self.values.type, [other])
                return Trace.current.once(dense, lambda: arith.ConstantOp(dense))
        value = other.value if isinstance(other, Index) else other
        return Trace.current.emit(vector.BroadcastOp(value, self.values.type))

    def map(self, op: type[arith.AddiOp], other: Elements | Number) -> Elements:
        return Elements(self.frame, Trace.current.emit(op(self.values, self.like(other))))

    def compared(self, relation: str, other: Elements | Number) -> Elements:
        how = (arith.CmpfOp, "o") if self.is_float else (arith.CmpiOp, "s")
        compared = how[0](self.values, self.like(other), how[1] + relation)
        return Elements(self.frame, Trace.current.emit(compared))

    __add__ = partialmethod(map, arith.AddiOp)
    __and__ = partialmethod(map, arith.AndIOp)
    __or__ = partialmethod(map, arith.OrIOp)
    __lt__ = partialmethod(compared, "lt")
    __le__ = partialmethod(compared, "le")
    __gt__ = partialmethod(compared, "gt")
    __ge__ = partialmethod(compared, "ge")


def elements(registers: Registers) -> Elements:
    """The content of registers, one for each element of their block."""
    view = registers.through(registers.frame.along(registers.axes))
    return Elements(registers.frame, cute("memref.load_vec", view))


def iota(axis: int, place: Index, like: Registers) -> Elements:
    """The number of each element's row (0) or column (1) in an array whose block at a place this
    is."""
    frame = like.frame
    shape = algebra("shape", "({},{})".format(*frame.extents))
    identity = cute("make_identity_tensor", shape, uniform=True)
    inside = Elements(frame, cute("coords", frame.part(identity), uniform=True, mode=[axis]))
    first = Trace.current.emit(arith.MuliOp(place.value, index(frame.extents[axis]).value))
    return inside + first


def where(mask: Elements, then: Registers, other: Registers | float) -> Registers:
    """Elements of `then` where the mask holds, of `other` elsewhere."""
    chosen = elements(then)
    rest = chosen.like(elements(other) if isinstance(other, Registers) else other)
    result = Registers(then.frame, then.element)
    return result.write(Trace.current.emit(arith.SelectOp(mask.values, chosen.values, rest)))
