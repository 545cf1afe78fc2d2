"""Values of the `cute` dialect in a running kernel.

What a type knows of a value is a number; where it has `?`, every thread has its own:

    !cute.layout<"(?,4):(1,8)">    LaneValue(Typed("layout", (LaneInteger([5, 6, ...]),4):(1,8)))

`LaneValue.typed` is a value of the symbolic algebra like any other. Each rule of an op, and each
function of `tilewright.dialects.cute.symbolic`, takes it and computes for all threads at once:

    evaluated(coord.typed.value, layout.typed.value)    the offset: an int, or a LaneInteger

A tensor in memory has a base, the same in every thread, and an offset that is each thread's own.

Structure and numbers that types know never depend on a thread: a rule decides on neither.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from tilewright.dialects.cute.rules.accessors import dynamic_leaves, scalar_leaves
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.scalar import Dynamic, Scalar, fits, width_of
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.value import slot_setter
from tilewright.dialects.cute.values import Typed, is_known, with_dynamic_leaves
from tilewright.dialects.frozen import frozen_entity
from tilewright.dialects.scalar_programs import rounded_quotient
from tilewright.lowering.interpreter.arithmetic.programs import function_of
from tilewright.lowering.interpreter.arithmetic.scalar import scalar as instruction
from tilewright.lowering.interpreter.array_types import AnyArray, Int64Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.values import Bits, Lanes, joined, take

# The instruction of each operation on two numbers, and the letter of its type.
_INSTRUCTIONS: dict[str, tuple[str, str]] = {
    "add": ("add", "s"),
    "sub": ("sub", "s"),
    "mul": ("mul", "lo.s"),
    "div": ("div", "s"),
    "mod": ("rem", "s"),
    "min": ("min", "s"),
    "abs": ("abs", "s"),
    "and": ("and", "b"),
    "xor": ("xor", "b"),
    "shl": ("shl", "b"),
    "shr": ("shr", "u"),
    "eq": ("setp", "eq.s"),
    "ne": ("setp", "ne.s"),
    "lt": ("setp", "lt.s"),
    "gt": ("setp", "gt.s"),
}


class LaneInteger(Dynamic):
    """A leaf whose number each thread knows: computing with it computes for all of them.

    `bits` are raw bits, [threads or 1], as a register holds an integer of `width` bits. To the
    rules it is an unknown number of that width, as its type says.
    """

    __slots__ = ("bits",)
    bits: Bits

    def __init__(self, bits: Bits):
        super().__init__(1 if bits.dtype == bool else 8 * bits.dtype.itemsize)
        _set_bits(self, bits)

    @property
    def numbers(self) -> Int64Array:
        """The number of each thread, [threads or 1]."""
        return sized(self, 64).view(np.int64)

    def result(self, operation: str, operands: tuple[Scalar, ...], width: int) -> Dynamic:
        wide = max(map(width_of, operands))
        return LaneInteger(
            _function(operation, wide)(*(sized(operand, wide) for operand in operands))
        )

    def choice(self, then: Callable[[], Scalar], other: Callable[[], Scalar]) -> Scalar:
        a, b = then(), other()
        width = max(width_of(a), width_of(b))
        return LaneInteger(np.where(self.bits, sized(a, width), sized(b, width)))


_set_bits = slot_setter(LaneInteger, "bits")


def sized(x: Scalar, width: int) -> Bits:
    """The raw bits of a number in every thread, with its sign extended, or cut, to a width."""
    if isinstance(x, int):
        bits = np.array([x & ((1 << 64) - 1)], dtype=np.uint64)
    else:
        assert isinstance(x, LaneInteger)
        if x.width == width:
            return x.bits
        bits = _signed(x.bits).astype(np.int64)
    return (bits & 1).astype(bool) if width == 1 else bits.astype(f"uint{width}")


def _signed(bits: Bits) -> AnyArray:
    """The numbers that raw bits stand for; a true i1 is -1."""
    if bits.dtype == bool:
        return -bits.astype(np.int8)
    return bits.view(f"int{8 * bits.dtype.itemsize}")


@cache
def _function(operation: str, width: int) -> Callable[..., Bits]:
    """An operation on raw bits of some width."""
    if width == 1:
        return _on_bits(operation)
    if operation == "ceil_div":
        up = partial(rounded_quotient, letter="s", up=True)
        divided = function_of(up, (f"s{width}",) * 2, [np.dtype(f"uint{width}")])
        return lambda *operands: divided(*operands)[0]
    mnemonic, type_ = _INSTRUCTIONS[operation]
    return instruction(mnemonic, f"{type_}{width}")


def _on_bits(operation: str) -> Callable[..., Bits]:
    """An operation on i1: what 8 bits give, cut."""
    wide = _function(operation, 8)

    def run(*operands: Bits) -> Bits:
        return wide(*(_signed(operand).view(np.uint8) for operand in operands)) & 1 != 0

    return run


@frozen_entity
class LaneValue:
    """A value of a `cute` type, whose dynamic leaves are LaneIntegers."""

    typed: Typed

    def take(self, lanes: Lanes) -> LaneValue:
        """The value in some of its threads."""
        return self.with_leaves([take(leaf, lanes) for leaf in self.leaves()])

    def joined(self, other: LaneValue, counts: tuple[int, int], order: Lanes) -> LaneValue:
        """The value of the threads of two gangs."""
        pairs = zip(self.leaves(), other.on_base_of(self).leaves(), strict=True)
        return self.with_leaves([joined(a, b, counts, order) for a, b in pairs])

    def leaves(self) -> list[Bits]:
        """The raw bits of the dynamic leaves, in the order of `cute.get_scalars`; behind them a
        tensor's offset."""
        bits = [leaf.bits for leaf in dynamic_leaves(self.typed) if isinstance(leaf, LaneInteger)]
        return bits if self._tensor is None else [*bits, sized(self._tensor.offset, 64)]

    def at(self, lane: int) -> Typed:
        """The value of one thread: nothing in it is dynamic."""
        bits = [leaf.bits for leaf in dynamic_leaves(self.typed) if isinstance(leaf, LaneInteger)]
        numbers = [int(_signed(leaf)[lane % len(leaf)]) for leaf in bits]
        return with_dynamic_leaves(self.typed, numbers)

    def start(self, lane: int) -> int | None:
        """The element of its memory that a tensor begins with in a thread; None for no tensor."""
        offset = None if self._tensor is None else sized(self._tensor.offset, 64).view(np.int64)
        return None if offset is None else int(offset[lane % len(offset)])

    def on_base_of(self, other: LaneValue) -> LaneValue:
        """The same tensor, counted from the base of another. Raises Fault for registers of two
        allocations, which no thread can choose between."""
        mine, theirs = self._tensor, other._tensor
        if mine is None or theirs is None or mine.base == theirs.base:
            return self
        if mine.space == "rmem":
            raise Fault("chooses between register tensors of two allocations")
        moved = 8 * (mine.base.address - theirs.base.address) // mine.bits
        offset = scalar.add(mine.offset, moved)
        moved_tensor = Tensor(
            mine.element, mine.space, mine.align, mine.layout, theirs.base, offset
        )
        return LaneValue(Typed("memref", moved_tensor))

    @property
    def _tensor(self) -> Tensor | None:
        """The tensor in memory that the value is."""
        value = self.typed.value
        return value if isinstance(value, Tensor) and value.base is not None else None

    def with_leaves(self, leaves: list[Bits]) -> LaneValue:
        """The value with other bits in its dynamic leaves, a tensor's offset being the last."""
        if (tensor := self._tensor) is None:
            return self if is_known(self.typed) else LaneValue(self._filled(leaves))
        *layout, offset = leaves
        seen: Tensor = self._filled(layout).value
        base, moved = tensor.base, LaneInteger(offset)
        filled = Tensor(tensor.element, tensor.space, tensor.align, seen.layout, base, moved)
        return LaneValue(Typed("memref", filled))

    def _filled(self, leaves: list[Bits]) -> Typed:
        return with_dynamic_leaves(self.typed, map(LaneInteger, leaves))


def chosen(condition: Bits, then: LaneValue, other: LaneValue) -> LaneValue:
    """`then` in the threads where a condition holds, else `other`, which is of the same type."""
    pairs = zip(then.leaves(), other.on_base_of(then).leaves(), strict=True)
    return then.with_leaves([np.where(condition, a, b) for a, b in pairs])


def bound(type_: Typed, value: Any) -> LaneValue:
    """The value of a kernel's argument: a value of the algebra that agrees with what its type
    knows. Raises ValueError where it does not."""
    given = Typed(type_.kind, value)
    try:
        pairs = list(zip(scalar_leaves(type_), scalar_leaves(given), strict=True))
        numbers = [number for leaf, number in pairs if isinstance(leaf, Dynamic)]
        filled = with_dynamic_leaves(type_, numbers)
    except (AttributeError, TypeError, ValueError):
        raise ValueError(f"got {value}") from None
    if filled != given:
        raise ValueError(f"got {given.text}")
    widths = [leaf.width for leaf in dynamic_leaves(type_)]
    leaves: list[LaneInteger] = []
    for number, width in zip(numbers, widths, strict=True):
        if not isinstance(number, int) or not fits(number, width):
            raise ValueError(f"got {number} for a leaf of {width} bits")
        leaves.append(LaneInteger(sized(number, width)))
    return LaneValue(with_dynamic_leaves(type_, leaves))
