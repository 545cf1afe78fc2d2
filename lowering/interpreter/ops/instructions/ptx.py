"""`ptx`: one instruction at a time, on raw registers."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.ptx import (
    control_flow,
    data_movement,
    matrix,
    module_variables,
    registers,
    scalars,
    wmma,
)
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.lowering.interpreter.arithmetic.elements import elements_of, words_of
from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.builder import Builder, Step, effect, runs
from tilewright.lowering.interpreter.machine.atomic_order import AccessOrder
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import (
    constant,
    pure,
    same,
    split,
    undefined,
)
from tilewright.lowering.interpreter.ops.base.memref import load_words, store_words
from tilewright.lowering.interpreter.ops.instructions.cute_nvgpu import (
    copy_async,
    product_of,
    warps_of,
)
from tilewright.lowering.interpreter.program import Exit, Fork
from tilewright.lowering.interpreter.values import CONTAINERS, Bits, spread, uniform


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


def as_columns(value: Bits) -> Bits:
    """A register or a list as [threads, registers]."""
    return value if value.ndim == 2 else value[:, None]


def words_in(value: SSAValue) -> Callable[[Bits], Bits]:
    """The words of a fragment or a register list: [threads, registers]."""
    if isinstance(value.type, FragmentType):
        return partial(words_of, element=value.type.element)
    return as_columns


def held_in(value: SSAValue) -> Callable[[Bits], Bits]:
    """The inverse of `words_in`: a single register has no columns."""
    if isinstance(value.type, FragmentType):
        return partial(elements_of, element=value.type.element)
    return lambda words: words[:, 0] if words.shape[1] == 1 else words


@runs(registers.ListMakeOp)
def _list_make(op: registers.ListMakeOp, builder: Builder) -> Step:
    def compute(*parts: Bits) -> Bits:
        columns = [as_columns(part) for part in parts]
        count = max(map(len, columns))
        registers = np.concatenate([spread(column, count) for column in columns], axis=1)
        return registers if registers.shape[1] > 1 else registers[:, 0]

    return pure(op, builder, compute)


@runs(registers.ListGetOp)
def _list_get(op: registers.ListGetOp, builder: Builder) -> Step:
    position = op.position.value.data
    return split(op, builder, lambda value, number: as_columns(value)[:, position + number])


# Memory


@runs(data_movement.LdOp)
def _ld(op: data_movement.LdOp, builder: Builder) -> Step:
    dtype, count = CONTAINERS[op.result.type.kind.data], op.result.type.count.data
    offset, load = op.offset.value.data, partial(
        load_words, width=op.access_bytes, count=count, number=builder.number(op),
        shared=op.space.data.startswith("shared"), order=AccessOrder.of(op.semantics.data, "ld"),
    )  # fmt: skip

    def run(
        machine: Machine, gang: Gang, address: Bits, chosen: Bits | None = None, *others: Bits
    ) -> Bits:
        otherwise = as_columns(others[0]) if others else None
        words = load(machine, gang, moved(address, offset), chosen=chosen, otherwise=otherwise)
        return (words if count > 1 else words[:, 0]).astype(dtype, copy=False)

    return effect(op, builder, run)


@runs(data_movement.StOp)
def _st(op: data_movement.StOp, builder: Builder) -> Step:
    word, offset = np.dtype(f"uint{8 * op.access_bytes}"), op.offset.value.data
    store = partial(
        store_words, number=builder.number(op), shared=op.space.data.startswith("shared"),
        order=AccessOrder.of(op.semantics.data, "st"),
    )  # fmt: skip

    def run(
        machine: Machine, gang: Gang, address: Bits, value: Bits, chosen: Bits | None = None
    ) -> None:
        words = np.ascontiguousarray(spread(as_columns(value).astype(word), gang.count))
        store(machine, gang, moved(address, offset), words, chosen=chosen)

    return effect(op, builder, run)


def moved(address: Bits, offset: int) -> Bits:
    """Addresses plus a constant offset in bytes."""
    return address if offset == 0 else (address.astype(np.int64) + offset).astype(address.dtype)


@runs(data_movement.CpAsyncOp)
def _cp_async(op: data_movement.CpAsyncOp, builder: Builder) -> Step:
    size, number = op.size.value.data, builder.number(op)

    def run(machine: Machine, gang: Gang, dest: Bits, source: Bits, fill: Bits | None) -> None:
        copy_async(machine, gang, dest, source, size, fill, number)

    return effect(op, builder, run, op.dest, op.source, op.source_size)


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


# Matrices


@runs(matrix.MmaOp, wmma.MmaOp)
def _mma(op: matrix.WarpMmaOp, builder: Builder) -> Step:
    atom = op.mma_atom
    elements = [atom.element(operand) for operand in atom.inputs]
    sources, dest = builder.slots(op.inputs[: len(elements)]), builder.slot(op.d)
    product = product_of(atom, op.selectors, builder)
    dtype, single = CONTAINERS[op.d.type.kind.data], op.d.type.count.data == 1

    def step(machine: Machine, gang: Gang) -> None:
        warps = gang.warps(atom.mnemonic)
        inputs = [
            elements_of(warps_of(gang.regs[slot], gang, warps), element)
            for slot, element in zip(sources, elements, strict=True)
        ]
        d = np.ascontiguousarray(product(machine, gang, inputs)).view(dtype)
        d = d.reshape(gang.count, -1)
        gang.regs[dest] = d[:, 0] if single else d

    return step
