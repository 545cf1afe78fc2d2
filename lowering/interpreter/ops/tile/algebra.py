"""`cute`: values of the layout algebra, every thread with its own dynamic leaves; and tile
schedulers, which give a CTA's tiles as bounds and step of a loop."""

from typing import Any

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute

from tilewright.dialects.cute.dialect import OPS
from tilewright.dialects.cute.int_tuple import flatten
from tilewright.dialects.cute.ops.arithmetic import CompareOp
from tilewright.dialects.cute.ops.constructors import LeavesOp, PrintOp, StaticOp
from tilewright.dialects.cute.ops.operation import InferredOp
from tilewright.dialects.cute.ops.scheduler import TileSchedulerBoundsOp
from tilewright.dialects.cute.rules.accessors import dynamic_leaves
from tilewright.dialects.cute.symbolic.scalar import Scalar, mul
from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.cute.values import Typed, with_dynamic_leaves
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneInteger, LaneValue, sized
from tilewright.lowering.interpreter.builder import Effect, effects, executes
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import Compute, computes, constant
from tilewright.lowering.interpreter.values import Bits


def _typed(type_: Attribute) -> Typed:
    assert isinstance(type_, CuteType)
    return type_.typed


@computes
def _static(op: StaticOp) -> Compute:
    return constant(LaneValue(_typed(op.result.type)))


@computes(*(op_type for op_type in OPS if issubclass(op_type, LeavesOp)))
def _make(op: LeavesOp) -> Compute:
    type_ = _typed(op.result.type)
    widths = [leaf.width for leaf in dynamic_leaves(type_)]
    return lambda *values: LaneValue(with_dynamic_leaves(type_, list(map(_leaf, values, widths))))


def _leaf(value: Any, width: int) -> LaneInteger:
    """A dynamic leaf from an integer, or from an int_tuple without modes."""
    return LaneInteger(sized(value.typed.value, width) if isinstance(value, LaneValue) else value)


@effects(*(op_type for op_type in OPS if issubclass(op_type, InferredOp | CompareOp)))
def _evaluate(op: InferredOp | CompareOp) -> Effect:
    widths = [_width(result.type) for result in op.results]

    def run(machine: Machine, gang: Gang, *operands: Any) -> list[Any]:
        values = op.evaluate(list(map(typed_value, operands)))
        return [
            LaneValue(value) if isinstance(value, Typed) else sized(value, width)
            for value, width in zip(values, widths, strict=True)
        ]

    return run


def typed_value(value: Any) -> Typed:
    """A register's value in the algebra; an integer is a scalar."""
    return value.typed if isinstance(value, LaneValue) else Typed("scalar", LaneInteger(value))


def _width(type_: Attribute) -> int:
    """The bits of an integer result; a value of the algebra has none."""
    return type_.bitwidth if isinstance(type_, IntegerType) else 0


@executes(PrintOp)
def _print(machine: Machine, gang: Gang, value: LaneValue) -> None:
    for lane in range(gang.count):
        machine.launch.say(f"{value.at(lane).text}\n")


@effects
def _bounds(op: TileSchedulerBoundsOp) -> Effect:
    persistent = op.kind.data == "persistent"

    def run(machine: Machine, gang: Gang, tiles: Any) -> list[Bits]:
        count: Scalar = 1
        for extent in flatten(typed_value(tiles).value):
            count = mul(count, extent)
        first = LaneInteger(machine.special("ctaid.x")[gang.lanes])
        # One that is not persistent has one tile: its step leaves the loop.
        stride: Scalar = LaneInteger(machine.special("nctaid.x")[gang.lanes])
        return [sized(value, 32) for value in (first, count, stride if persistent else count)]

    return run, op.tiles
