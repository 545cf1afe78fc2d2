"""`ptx`: one instruction at a time, on raw registers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.dialects.ptx import (
    control_flow,
    module_variables,
    registers,
    scalars,
)
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.builder import Builder, Step, effect, runs
from tilewright.lowering.interpreter.ops.base.arith import (
    constant,
    pure,
    same,
    split,
    undefined,
)
from tilewright.lowering.interpreter.ops.instructions.operands import as_columns, side_by_side
from tilewright.lowering.interpreter.program import Exit, Fork
from tilewright.lowering.interpreter.values import CONTAINERS, Bits, uniform


@runs(*scalars.SCALAR_OPS.values())
def _scalar(op: ScalarOp, builder: Builder) -> Step:
    return pure(op, builder, scalar(op.name.removeprefix("ptx."), op.form.data))


@runs(registers.MovOp, scalars.CvtaOp)
def _same(op: Operation, builder: Builder) -> Step:
    """The bits themselves: global addresses are the same numbers in the generic space."""
    return pure(op, builder, same)


@runs(registers.ConstOp)
def _const(op: registers.ConstOp, builder: Builder) -> Step:
    return constant(op, builder, uniform(op.unsigned, op.result.type.kind.data))


runs(registers.UndefOp)(undefined)


@runs(registers.SregOp)
def _sreg(op: registers.SregOp, builder: Builder) -> Step:
    register = op.register.data
    return effect(op, builder, lambda machine, gang: machine.special(register)[gang.lanes])


@runs(registers.SharedAddressOp)
def _shared_address(op: registers.SharedAddressOp, builder: Builder) -> Step:
    return constant(op, builder, np.array([op.offset.value.data], dtype=np.uint32))


@runs(module_variables.GlobalAddressOp)
def _global_address(op: module_variables.GlobalAddressOp, builder: Builder) -> Step:
    name = op.variable.data
    return effect(
        op, builder, lambda machine, _: np.array([machine.memory.variables[name]], dtype=np.uint64)
    )


@runs(registers.PackOp)
def _pack(op: registers.PackOp, builder: Builder) -> Step:
    whole = np.dtype(CONTAINERS[op.result.type.kind.data])
    half = 4 * whole.itemsize

    def compute(low: Bits, high: Bits) -> Bits:
        return low.astype(whole) | np.left_shift(high.astype(whole), half, dtype=whole)

    return pure(op, builder, compute)


@runs(registers.UnpackOp)
def _unpack(op: registers.UnpackOp, builder: Builder) -> Step:
    half = np.uint8 if op.octets else np.uint16

    def halves(word: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(word)[:, None].view(half)

    return pure(op, builder, halves)


@runs(registers.ListMakeOp)
def _list_make(op: registers.ListMakeOp, builder: Builder) -> Step:
    def compute(*parts: Bits) -> Bits:
        registers = side_by_side(parts, max(map(len, parts)))
        return registers if registers.shape[1] > 1 else registers[:, 0]

    return pure(op, builder, compute)


@runs(registers.ListGetOp)
def _list_get(op: registers.ListGetOp, builder: Builder) -> Step:
    position = op.position.value.data
    return split(op, builder, lambda value, number: as_columns(value)[:, position + number])


# Control flow


@runs(control_flow.BraOp)
def _bra(op: control_flow.BraOp, builder: Builder) -> None:
    builder.end(builder.jump(builder.label(op.dest), op.arguments, op.dest.args), op)


@runs(control_flow.CondBraOp)
def _cond_bra(op: control_flow.CondBraOp, builder: Builder) -> None:
    then = builder.jump(builder.label(op.then_block), op.then_arguments, op.then_block.args)
    other = builder.jump(builder.label(op.else_block), op.else_arguments, op.else_block.args)
    builder.end(Fork(builder.slot(op.condition), then, other), op)


@runs(control_flow.RetOp)
def _ret(op: control_flow.RetOp, builder: Builder) -> None:
    builder.end(Exit(), op)
