"""`mmaf` and `mmai` where there is no MMA: fused multiply-adds of elements, in the order of K.

Operands that other threads hold are laid down in shared memory, from which each thread reads what
it multiplies, a few of K at a time: registers are not for all of K.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import prod
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaIOp
from tilewright.dialects.cuda_tile.ops.operation import word
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.dialects.frozen import frozen_entity
from tilewright.lowering.cuda_tile.arithmetic.convert_conversions import float_resized
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import (
    EXACT,
    on_floats,
    on_integers,
)
from tilewright.lowering.cuda_tile.kernel.kernel import Elements, EntryLowering
from tilewright.lowering.cuda_tile.kernel.scalars import is_float
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, dim_bits
from tilewright.passes.cuda_tile.layouts.shared_order import SharedOrder, converting

_AT_ONCE = 1
"""How many of K a thread reads at once, as bits of their number."""
_SUMS = 64
"""The sums of products that share operands for which a thread has registers."""


@frozen_entity
class _Operand:
    """An operand: the bits of its number by those of a result's, the bits of K, and the layout of
    the elements that threads multiply, K left out."""

    value: SSAValue
    bits: dict[int, int]
    depth: range
    threads: TileLayout

    def part(self, count: int) -> TileLayout:
        """The layout of the first `1 << count` of K."""
        return TileLayout(self.threads.threads, (*self.depth[:count], *self.threads.registers))

    @classmethod
    def of(
        cls, value: SSAValue, result: TileLayout, bits: dict[int, int], depth: range
    ) -> _Operand:
        """Of the bits of a result's number those of the operand's."""
        return cls(value, bits, depth, result.renumbered(bits))

    def places(self, layout: TileLayout) -> list[int]:
        """The numbers of the elements that are multiplied for the results, of K the first."""
        return [
            sum(1 << own for bit, own in self.bits.items() if place >> bit & 1)
            for place in layout.places
        ]


def multiply_fused(op: MmaFOp | MmaIOp, kernel: EntryLowering) -> None:
    """The sum of products in the order of K, from zero, then the addend."""
    layout, emitter = kernel.layout(op.result), kernel.emitter
    assert layout is not None
    acc = kernel.elements(op.acc, layout)
    if ("totals", op) not in emitter.known:
        together = _together(op, layout, kernel)
        sums = _totals(together, layout, acc[0].type, kernel)
        totals = dict(zip(together, sums, strict=True))
        for one in together:
            emitter.remembered(("totals", one), partial(totals.__getitem__, one))
    pairs = zip(emitter.known["totals", op], acc, strict=True)
    kernel.place(op.result, layout, [_sum(kernel, *pair) for pair in pairs])


def _together(op: MmaFOp | MmaIOp, layout: TileLayout, kernel: EntryLowering) -> list[Any]:
    """A product, and those of its block that share operands with it or with each other, all of
    which are there: threads read each once, where they have registers for the sums."""

    def is_like(other: Any) -> bool:
        return (
            isinstance(other, type(op))
            and other.properties == op.properties
            and [one.type for one in other.operands] == [one.type for one in op.operands]
            and kernel.layout(other.result) == layout
            and other.lhs in kernel.values
            and other.rhs in kernel.values
            and ("totals", other) not in kernel.emitter.known
        )

    assert op.parent is not None
    left: list[Any] = [one for one in op.parent.ops if is_like(one)]
    group, read = list[Any]([op]), {op.lhs, op.rhs}
    while more := [one for one in left if one not in group and read & {one.lhs, one.rhs}]:
        group += more
        read.update(value for one in more for value in (one.lhs, one.rhs))
    sizes = [prod(shape_of(one)) * bytes_of(kernel.scalar_type(op, one)) for one in read]
    fits = sum(sizes) <= kernel.scratch.conversion_bytes - kernel.scratch.reserved
    return group[: max(_SUMS // layout.count, 1) if fits else 1]


def _totals(
    products: Sequence[Any], layout: TileLayout, element: Attribute, kernel: EntryLowering
) -> list[list[SSAValue]]:
    """The sums of products that share operands, which are of the element of their results."""
    operands = dict[tuple[SSAValue, int], _Operand]()
    for op in products:
        for side, operand in enumerate(_operands(op, layout)):
            operands.setdefault((op.operands[side], side), operand)
    readers = dict(zip(operands, _readers([*operands.values()], kernel), strict=True))
    signs = [word(products[0], name) for name in ("signedness_lhs", "signedness_rhs")]
    step = (
        _float_step(kernel, element) if is_float(element) else _integer_step(kernel, element, signs)
    )
    numbers = {key: own.places(layout) for key, own in operands.items()}
    totals: list[list[Any]] = [[None] * layout.count for _ in products]
    for k in range(1 << len(next(iter(operands.values())).depth)):
        read = {
            key: [readers[key](number | k << own.depth.start) for number in numbers[key]]
            for key, own in operands.items()
        }
        totals = [
            [*map(step, read[op.lhs, 0], read[op.rhs, 1], own)]
            for op, own in zip(products, totals, strict=True)
        ]
    return totals


def _operands(op: MmaFOp | MmaIOp, result: TileLayout) -> tuple[_Operand, _Operand]:
    batch, rows, columns = dim_bits(_of_rank_three(shape_of(op.acc)))
    *_, a_rows, a_depth = dim_bits(_of_rank_three(shape_of(op.lhs)))
    _, b_depth, b_columns = dim_bits(_of_rank_three(shape_of(op.rhs)))
    a_batch = range(a_rows.stop, a_rows.stop + len(batch))
    b_batch = range(b_depth.stop, b_depth.stop + len(batch))
    a_bits = dict(zip((*rows, *batch), (*a_rows, *a_batch), strict=True))
    b_bits = dict(zip((*columns, *batch), (*b_columns, *b_batch), strict=True))
    return (
        _Operand.of(op.lhs, result, a_bits, a_depth),
        _Operand.of(op.rhs, result, b_bits, b_depth),
    )


def _of_rank_three(shape: Sequence[int]) -> tuple[int, ...]:
    return (*(1,) * (3 - len(shape)), *shape)


Reader = Callable[[int], SSAValue]
"""The element of a number, of those that a thread multiplies."""


def _readers(operands: Sequence[_Operand], kernel: EntryLowering) -> list[Reader]:
    """The elements of operands: in registers where threads have them already, where they are
    computed, or where shared memory has no room for them; else in shared memory, laid down
    together."""
    scratch, readers = kernel.scratch, dict[_Operand, Reader]()
    laid: list[tuple[_Operand, tuple[TileLayout, Elements, SharedOrder]]] = []
    for operand in operands:
        own = kernel.table.of(operand.value)
        elements = kernel.elements(operand.value, own)
        if own.threads != operand.threads.threads:
            order = converting(own, operand.part(_AT_ONCE), bytes_of(elements[0].type))
            laid.append((operand, (own, elements, order)))
    size = sum(order.bytes for _, (*_, order) in laid)
    if laid and scratch.reserved + size <= scratch.conversion_bytes:
        bases = scratch.lay_down([tile for _, tile in laid])
        for (operand, (_, elements, order)), base in zip(laid, bases, strict=True):
            readers[operand] = _InParts(operand, elements[0].type, order, base, kernel)
        scratch.written()
    return [readers.get(operand) or _registers(operand, kernel) for operand in operands]


def _registers(operand: _Operand, kernel: EntryLowering) -> Reader:
    layout = operand.part(len(operand.depth))
    elements = kernel.elements(operand.value, layout)
    return lambda number: elements[layout.register_at[number]]


class _InParts:
    """Elements in shared memory, read when the first of a part of K is needed."""

    def __init__(
        self, operand: _Operand, element: Attribute, order: SharedOrder, base: SSAValue,
        kernel: EntryLowering,
    ):  # fmt: skip
        self.layout = operand.part(_AT_ONCE)
        self.above = sum(1 << bit for bit in operand.depth[_AT_ONCE:])
        self.loads = cache(partial(kernel.scratch.loads, base, self.layout, element, order))
        self.part, self.elements = -1, list[SSAValue]()

    def __call__(self, number: int) -> SSAValue:
        part = number & self.above
        if part != self.part:
            self.part, self.elements = part, self.loads()(part)
        return self.elements[self.layout.register_at[number ^ part]]


Step = Callable[[SSAValue, SSAValue, SSAValue | None], SSAValue]
"""Two elements multiplied, and added to a sum where there is one."""


def _integer_step(kernel: EntryLowering, type_: Attribute, signs: Sequence[str]) -> Step:
    def step(x: SSAValue, y: SSAValue, total: SSAValue | None) -> SSAValue:
        x, y = (
            kernel.emit(arith.ExtSIOp if sign == "signed" else arith.ExtUIOp, [value], type_)
            for value, sign in zip((x, y), signs, strict=True)
        )
        product = on_integers(kernel, arith.MuliOp, x, y)
        return product if total is None else on_integers(kernel, arith.AddiOp, total, product)

    return step


def _float_step(kernel: EntryLowering, type_: Attribute) -> Step:
    wide = type_ if type_ == Float64Type() else Float32Type()
    widened = cache(partial(float_resized, kernel, type_=wide))
    own = type(wide)
    multiply_add = kernel.emits(math.FmaOp, wide, fastmath=EXACT)

    def step(x: SSAValue, y: SSAValue, total: SSAValue | None) -> SSAValue:
        x = x if type(x.type) is own else widened(x)
        y = y if type(y.type) is own else widened(y)
        return multiply_add(x, y, kernel.constant(0.0, wide) if total is None else total)

    return step


def _sum(kernel: EntryLowering, total: SSAValue, addend: SSAValue) -> SSAValue:
    if isinstance(addend.type, IntegerType):
        return on_integers(kernel, arith.AddiOp, total, addend)
    wide = float_resized(kernel, addend, total.type)
    return float_resized(kernel, on_floats(kernel, arith.AddfOp, total, wide), addend.type)
