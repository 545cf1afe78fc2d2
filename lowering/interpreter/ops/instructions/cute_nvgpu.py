"""`cute_nvgpu`: MMAs, asynchronous copies, barriers and fragments on whole warps."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.conversion import TypeConversion
from tilewright.dialects.cute_nvgpu.atoms.universal_fma import UniversalFma
from tilewright.dialects.cute_nvgpu.lattice import data_movement, sync
from tilewright.dialects.cute_nvgpu.ops import address, fragment
from tilewright.dialects.cute_nvgpu.ops.fragment_arithmetic import ConvertOp, FmaOp
from tilewright.dialects.cute_nvgpu.ops.mma import MMA_OPS
from tilewright.dialects.cute_nvgpu.ops.rounded import RoundedOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.illegal import listed
from tilewright.dialects.ptx.data_movement import CpAsyncOp
from tilewright.dialects.ptx.instruction import content
from tilewright.dialects.ptx.matrix import MmaOp, WarpMmaOp
from tilewright.dialects.ptx.synchronization import MembersSyncOp, RegisterBarrierOp, RegisterVoteOp
from tilewright.dialects.ptx.wmma import MmaOp as WmmaOp
from tilewright.lowering.interpreter.arithmetic.elements import (
    elements_of,
    packed,
    unpacked,
    words_of,
)
from tilewright.lowering.interpreter.arithmetic.mma import multiply_fragments, numerics_model
from tilewright.lowering.interpreter.arithmetic.scalar import Function, scalar
from tilewright.lowering.interpreter.arithmetic.sparse import check_metadata
from tilewright.lowering.interpreter.arithmetic.watched import finite
from tilewright.lowering.interpreter.array_types import AnyArray, Int64Array
from tilewright.lowering.interpreter.builder import (
    Builder,
    Effect,
    Step,
    accesses,
    effect,
    effects,
    executes,
    nothing,
    runs,
)
from tilewright.lowering.interpreter.errors import Fault, first_of
from tilewright.lowering.interpreter.machine.barriers import ALL_MEMBERS
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import Compute, computes, gives, split
from tilewright.lowering.interpreter.ops.base.gpu import arrive_at, wait_at
from tilewright.lowering.interpreter.ops.instructions.operands import located
from tilewright.lowering.interpreter.values import CONTAINERS, Bits, Lanes, spread


def container(fragment: FragmentType) -> Any:
    """The dtype of one element of a fragment."""
    return np.dtype(fragment.element.container)


def warps_of(value: Bits, gang: Gang, warps: int) -> Bits:
    """A register list as [warps, threads, registers]."""
    return spread(value, gang.count).reshape(warps, WARP, -1)


# MMA


@runs(*MMA_OPS.values(), MmaOp, WmmaOp)
def _mma(op: Any, builder: Builder) -> Step:
    """An atom's operands are elements, those of PTX registers."""
    atom, registers = op.mma_atom, op.d.type if isinstance(op, WarpMmaOp) else None
    elements = [atom.element(operand) for operand in atom.inputs]
    product = product_of(atom, op.selectors, builder)

    def run(machine: Machine, gang: Gang, values: list[Bits]) -> Bits:
        warps = gang.warps(atom.mnemonic)
        inputs = [warps_of(value, gang, warps) for value in values]
        if registers is None:
            return product(machine, gang, inputs).reshape(gang.count, -1)
        d = product(machine, gang, list(map(elements_of, inputs, elements)))
        words = np.ascontiguousarray(d).view(CONTAINERS[registers.kind.data])
        words = words.reshape(gang.count, -1)
        return words if registers.count.data > 1 else words[:, 0]

    return effect(op, builder, (run, op.inputs[: len(elements)]))


Product = Callable[[Machine, Gang, Sequence[Bits]], Bits]


def product_of(atom: MmaAtom, selectors: Sequence[int | SSAValue], builder: Builder) -> Product:
    """D of an atom's inputs, elements [warps, threads, values], in the arithmetic of the run.

    Selectors that are values must be legal, and the same in all threads of a warp: Fault.
    """
    known = [selector for selector in selectors if isinstance(selector, int)]
    ids = builder.slots([selector for selector in selectors if not isinstance(selector, int)])
    if not ids:
        return lambda machine, gang, inputs: multiply(machine, atom, inputs, known)

    def product(machine: Machine, gang: Gang, inputs: Sequence[Bits]) -> Bits:
        warps = len(inputs[0])
        values = np.stack([spread(gang.regs[slot], gang.count) for slot in ids], axis=-1)
        if (lane := first_of(values != values[::WARP].repeat(WARP, axis=0))) is not None:
            raise Fault("expected selectors that all threads of the warp have alike", lane)
        for selector, column in zip(atom.selectors[len(known) :], values.T, strict=True):
            if (lane := first_of(~np.isin(column, selector.legal))) is not None:
                legal = listed(selector.legal)
                raise Fault(f"expected a {selector.name} of {legal}, got {column[lane]}", lane)
        rows, which = np.unique(values[::WARP], axis=0, return_inverse=True)
        parts = [
            multiply(machine, atom, [bits[which == i] for bits in inputs], [*known, *row.tolist()])
            for i, row in enumerate(rows)
        ]
        d = np.empty((warps, *parts[0].shape[1:]), parts[0].dtype)
        for i, part in enumerate(parts):
            d[which == i] = part
        return d

    return product


def multiply(
    machine: Machine, atom: MmaAtom, inputs: Sequence[Bits], selectors: Sequence[int]
) -> Bits:
    """D of an atom's inputs, elements [warps, threads, values], in the arithmetic of the run.

    Raises Fault where that is unknown, or the sparsity metadata is undefined.
    """
    if atom.row.sparsity is not None:
        check_metadata(atom, inputs[3], selectors[0])
    model = numerics_model(atom, machine.launch.arch, machine.launch.numerics)
    return multiply_fragments(atom, inputs, model, selectors)


# Asynchronous copies


def copy_async(
    machine: Machine, gang: Gang, dest: Bits, source: Bits, size: int, fill: Bits | None, op: int
) -> None:
    """`cp.async` of `size` bytes; `fill` of them are read."""
    count = np.full(gang.count, size, dtype=np.int64)
    if fill is not None:
        count = spread(fill, gang.count).astype(np.int64)
        if (lane := first_of(count > size)) is not None:
            raise Fault(f"fills {count[lane]} bytes of a copy of {size}", lane)
    start_copy(machine, gang.lanes, spread(dest, gang.count), spread(source, gang.count), count,
               size, op)  # fmt: skip


def start_copy(
    machine: Machine, lanes: Lanes, dest: Bits, source: Bits, counts: Int64Array, size: int,
    op: int,
) -> None:  # fmt: skip
    """`cp.async` of `size` bytes by each of these threads; `counts` of them are read."""
    read = partial(machine.memory.read_bytes, source, counts, size)
    data, begun = read(), machine.accesses.begin_read(lanes, source, counts, op)
    late = read if machine.schedule.is_random else None
    machine.copies.copy(lanes, dest, data, op, begun, late)


@accesses(data_movement.CP_ASYNC, address.CpAsyncOp)
def _cp_async(op: Any, number: int) -> Effect:
    size = op.size.value.data
    fill = op.source_size if isinstance(op, CpAsyncOp) else op.fill

    def run(machine: Machine, gang: Gang, dest: Bits, source: Bits, fill: Bits | None) -> None:
        copy_async(machine, gang, dest, source, size, fill, number)

    # What is not read may lie outside: the bytes that are read are checked by address.
    source = partial(located, name="source", check=fill is None)
    return run, partial(located, name="dest"), source, fill


@executes(data_movement.CP_ASYNC_COMMIT_GROUP)
def _commit(machine: Machine, gang: Gang) -> None:
    machine.copies.commit(gang.lanes)


@effects(data_movement.CP_ASYNC_WAIT_GROUP)
def _wait(op: Any) -> Effect:
    pending = op.pending.value.data
    return lambda machine, gang: machine.copies.wait(gang.lanes, pending)


# Barriers


@runs(sync.BAR_SYNC, sync.BARRIER_SYNC)
def _bar_sync(op: Any, builder: Builder) -> None:
    aligned = op.row is not sync.BARRIER_SYNC
    wait_at(op, builder, op.barrier.value.data, content(op.threads), aligned=aligned)


@effects(sync.BAR_ARRIVE, sync.BARRIER_ARRIVE)
def _bar_arrive(op: Any) -> Effect:
    aligned = op.row is not sync.BARRIER_ARRIVE
    return arrive_at(op.barrier.value.data, content(op.threads), aligned=aligned)


_VOTED: dict[str, Callable[[AnyArray], Bits]] = {
    "popc.u32": lambda votes: votes[:, 0].astype(np.uint32),
    "and.pred": lambda votes: votes[:, 0] == votes[:, 1],
    "or.pred": lambda votes: votes[:, 0] > 0,
}


@runs(sync.BAR_COUNT, sync.BARRIER_COUNT)
def _bar_red(op: Any, builder: Builder) -> Step:
    barrier, outcome = op.barrier.value.data, _VOTED[op.form.data]
    aligned, vote = op.mnemonic.startswith("bar."), builder.slot(op.value)
    wait_at(op, builder, barrier, content(op.threads), aligned=aligned, vote=vote)
    return effect(
        op, builder, lambda machine, gang, *_: outcome(machine.barriers.votes(gang.lanes, barrier))
    )


@runs(sync.BAR_WARP_SYNC)
def _warp_sync(op: Operation, builder: Builder) -> None:
    """The end of the warp's work so far, before any of its threads goes on."""
    builder.suspend(
        op, lambda machine, gang: machine.warp_barriers.wait(op, gang.lanes, ALL_MEMBERS)
    )


@runs
def _bar_of_registers(op: RegisterBarrierOp | RegisterVoteOp, builder: Builder) -> Step | None:
    name, outcome = op.mnemonic, _VOTED.get(op.mnemonic.partition(".red.")[2])
    operands = op.barrier, op.threads, getattr(op, "value", None)
    slots = [None if operand is None else builder.slot(operand) for operand in operands]

    def given(gang: Gang) -> list[Any]:
        if name.startswith("bar."):
            gang.warps(name)
        return [slot if slot is None else gang.regs[slot].astype(np.int64) for slot in slots]

    if name.endswith("arrive"):
        return lambda machine, gang: machine.barriers.arrive(gang.lanes, *given(gang)[:2])
    builder.suspend(op, lambda machine, gang: machine.barriers.wait(op, gang.lanes, *given(gang)))
    if outcome is None:
        return None

    def voted(machine: Machine, gang: Gang, barrier: Bits) -> Bits:
        return outcome(machine.barriers.votes(gang.lanes, barrier))

    return effect(op, builder, (voted, op.barrier))


@runs
def _members_sync(op: MembersSyncOp, builder: Builder) -> None:
    slot = builder.slot(op.members)
    builder.suspend(
        op, lambda machine, gang: machine.warp_barriers.wait(op, gang.lanes, gang.regs[slot])
    )


# One kernel runs alone, on memory that has one address.
executes(
    sync.FENCE_PROXY_ALIAS, sync.RESTRICTED_FENCES, sync.GRIDDEPCONTROL_WAIT,
    sync.GRIDDEPCONTROL_LAUNCH_DEPENDENTS,
)(nothing)  # fmt: skip


# Fragments


@computes
def _splat(op: fragment.SplatOp) -> Compute:
    count, dtype = op.fragment.type.count.data, container(op.fragment.type)

    def compute(value: Bits) -> Bits:
        return np.repeat(value.astype(dtype)[:, None], count, axis=1)

    return compute


@computes
def _from_elements(op: fragment.FromElementsOp) -> Compute:
    dtype = container(op.fragment.type)

    def compute(*values: Bits) -> Bits:
        wide = np.broadcast_arrays(*[value.astype(dtype) for value in values])
        return np.stack(wide, axis=1)

    return compute


@computes
def _extract(op: fragment.ExtractOp) -> Compute:
    position = op.position.value.data
    return split(op, lambda value, number: value[:, position + number])


@computes
def _insert(op: fragment.InsertOp) -> Compute:
    position = op.position.value.data

    def compute(scalar: Bits, value: Bits) -> Bits:
        count = max(len(scalar), len(value))
        result = np.array(spread(value, count))
        result[:, position] = scalar
        return result

    return compute


@computes
def _slice(op: fragment.SliceOp) -> Compute:
    first = op.position.value.data
    last = first + op.result.type.count.data

    def sliced(value: AnyArray) -> AnyArray:
        return value[:, first:last]

    return sliced


@gives(fragment.ConcatOp)
def _concat(*parts: Bits) -> Bits:
    count = max(map(len, parts))
    return np.concatenate([spread(part, count) for part in parts], axis=1)


@computes
def _cast(op: fragment.CastOp) -> Compute:
    source, result = op.source.type, op.result.type.element
    assert isinstance(source, FragmentType)
    element = source.element

    def cast(value: AnyArray) -> AnyArray:
        return elements_of(words_of(value, element), result)

    return cast


@computes
def _convert(op: ConvertOp) -> Compute:
    return convert_elements(op.conversion)


def convert_elements(conversion: TypeConversion) -> Function:
    """`cvt` on elements in their containers, [threads, elements], and on random bits."""
    run = scalar("cvt", conversion.form.suffix)
    count, bits = conversion.count, conversion.source.bits
    into = np.dtype(conversion.result.container)

    def compute(values: Bits, *random: Bits) -> Bits:
        groups = values.reshape(len(values), -1, count)
        if conversion.packed:
            words = packed(groups, bits).view(f"uint{count * bits}")
            operands = [words[..., 0]]
        else:
            operands = [groups[..., place] for place in reversed(range(count))]
        results = run(*operands, *random)
        if count == 1:
            return results.astype(into)
        elements = unpacked(results[..., None], conversion.result.bits)
        return elements.reshape(len(elements), -1)

    return finite(compute, [conversion.source.name], conversion.result.name)


@computes
def _fma(op: FmaOp) -> Compute:
    return fma_elements(op.fma)


def fma_elements(fma: UniversalFma) -> Function:
    """`fma` on elements one by one, in their containers."""
    form = fma.form.suffix.removesuffix("x2")
    type_ = form.split(".")[-1]
    return finite(scalar("fma", form), (type_,) * 3, type_)


@computes
def _rounded(op: RoundedOp) -> Compute:
    return scalar(*op.instruction)
