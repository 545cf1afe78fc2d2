"""`ptx`: one instruction at a time, on raw registers."""

from functools import partial
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    GRID_WORKSPACE,
    LOP3,
    OF_LAUNCH,
    PARAMETER_TYPES,
)
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RANK_SHIFT, RESERVED
from tilewright.dialects.ptx import (
    calls,
    carry,
    control_flow,
    data_movement,
    functions,
    module_variables,
    registers,
    scalars,
    synchronization,
)
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.lowering.interpreter.address_windows import window_of
from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.array_types import AnyArray
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
from tilewright.lowering.interpreter.errors import OCTET, Fault, first_of
from tilewright.lowering.interpreter.machine.global_memory import SHARED_WINDOW, WORKSPACE
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import (
    Compute,
    computes,
    constant,
    gives,
    same,
    split,
    undefined,
)
from tilewright.lowering.interpreter.ops.base.control_flow import branch, conditional_branch
from tilewright.lowering.interpreter.ops.base.gpu import special_register
from tilewright.lowering.interpreter.ops.instructions.cluster import rank_of
from tilewright.lowering.interpreter.ops.instructions.operands import (
    located,
    side_by_side,
)
from tilewright.lowering.interpreter.program import Exit
from tilewright.lowering.interpreter.values import (
    CONTAINERS,
    Bits,
    Parts,
    Undefined,
    part,
    spread,
    uniform,
)
from tilewright.source.diagnostic import OpError


@computes(*scalars.SCALAR_OPS.values())
def _scalar(op: ScalarOp) -> Compute:
    return scalar(op.name.removeprefix("ptx."), op.form.data)


@effects
def _carry(op: carry.CarryOp) -> Effect:
    return partial(_with_carry, op.form.data), op.inputs, op.carry_in


def _with_carry(
    form: str, machine: Machine, gang: Gang, given: list[Bits], carry: Any
) -> list[Bits]:
    """The sum, difference or sum with a product, and its carry: of a difference, which is a sum
    with the other number's complement, there is one where nothing is borrowed."""
    name, *half, type_ = form.replace(".cc", "").split(".")
    subtracts = name[:3] == "sub"
    carry = np.bool_(subtracts) if carry is None else carry
    if name[:3] == "mad":
        given = [scalar("mul", f"{half[0]}.{type_}")(*given[:2]), given[2]]
    a, b = given
    total = a + (~b if subtracts else b) + np.asarray(carry).astype(a.dtype)
    return [total, (total < a) | ((total == a) & carry)]


@computes(LOP3)
def _lop3(op: Any) -> Compute:
    table = op.table.value.data

    def compute(*sources: Bits) -> Bits:
        result = np.zeros(1, np.uint32)
        for row in range(8):
            if table >> row & 1:
                bits = [
                    x if row >> place & 1 else ~x
                    for x, place in zip(sources, (2, 1, 0), strict=True)
                ]
                result = result | bits[0] & bits[1] & bits[2]
        return result

    return compute


gives(registers.MovOp)(same)


@computes(scalars.CvtaOp)
def _cvta(op: ScalarOp) -> Compute:
    """Addresses are the same numbers in the generic space, but those of shared memory, which have a
    window there."""
    *to, space, _ = op.form.data.split(".")
    if space != "shared":
        return same
    window = np.uint64(SHARED_WINDOW)

    def moved(a: Bits) -> Bits:
        return a - window if to else a + window

    return moved


@effects(scalars.IsspacepOp)
def _isspacep(op: ScalarOp) -> Effect:
    """Parameters are in global memory, constants are not (H200)."""
    space, region = op.form.data, op.parent_region()
    entry = region and region.parent_op()
    assert region is not None and isinstance(entry, control_flow.EntryOp)
    arguments = zip(region.blocks[0].args, entry.parameters, strict=True)
    places = [argument for argument, type_ in arguments if type_.data not in PARAMETER_TYPES]

    def run(machine: Machine, gang: Gang, address: Bits, *places: Bits) -> Bits:
        if space.startswith("param"):
            return np.isin(window_of(address), [window_of(place) for place in places])
        shared = address >> np.uint64(32) == SHARED_WINDOW >> 32
        if space == "shared::cta":
            own = machine.special("cluster_ctarank")[gang.lanes]
            return shared & (rank_of(machine, gang, address.astype(np.uint32)) == own)
        if space.startswith("shared"):
            return shared
        constant = np.isin(window_of(address), machine.memory.constants)
        if space == "const":
            return constant
        own = machine.memory.local
        local = np.False_ if own is None else window_of(address) == window_of(own.base)
        return local & ~shared if space == "local" else ~(shared | local | constant)

    return run, op.inputs[0], *places


@computes
def _const(op: registers.ConstOp) -> Compute:
    return constant(uniform(op.unsigned, op.result.type.kind.data))


@computes
def _undef(op: registers.UndefOp) -> Compute:
    type_, unwritten = op.result.type, undefined(op)

    def value() -> Any:
        octet = OCTET.get()
        if octet is None or type_.count.data > 1:
            return unwritten
        return uniform(octet * 0x0101010101010101, type_.kind.data)

    return value


@runs
def _time(op: registers.TimeOp, builder: Builder) -> Step:
    return effect(op, builder, _time_or_launch(op, builder))


def _time_or_launch(op: registers.TimeOp, builder: Builder) -> Effect:
    """Time, or what a launch says. Shared memory that the system takes is where no CTA has its
    own."""
    register = op.register.data
    if register.startswith("reserved_smem"):
        return lambda machine, gang: np.array([(1 << RANK_SHIFT) - RESERVED], np.uint32)
    if register in GRID_WORKSPACE:
        place = GRID_WORKSPACE[register]

        def half(machine: Machine, _: Gang) -> Bits:
            return np.array([machine.memory.variables[WORKSPACE] >> place]).astype(np.uint32)

        return half
    if register in OF_LAUNCH:
        raise OpError(op, f"'{op.name}' expected a register that a run has, got %{register}, of "
                      "which the driver or the launch says what it holds")  # fmt: skip
    return special_register(op, builder)


@computes
def _shared_address(op: registers.SharedAddressOp) -> Compute:
    return constant(np.array([op.offset.value.data], dtype=np.uint32))


@effects
def _local_address(op: registers.LocalAddressOp) -> Effect:
    offset = op.offset.value.data

    def run(machine: Machine, gang: Gang) -> Bits:
        local = machine.memory.local
        assert local is not None
        start = np.uint64(local.base + offset)
        return start + machine.special("thread")[gang.lanes] * np.uint64(local.share)

    return run


@effects
def _global_address(op: module_variables.GlobalAddressOp) -> Effect:
    name = op.variable.data
    return lambda machine, _: np.array([machine.memory.variables[name]], dtype=np.uint64)


@computes
def _pack(op: registers.PackOp) -> Compute:
    whole = np.dtype(CONTAINERS[op.result.type.kind.data])
    half = 4 * whole.itemsize

    def compute(low: Bits, high: Bits) -> Bits:
        return low.astype(whole) | np.left_shift(high.astype(whole), half, dtype=whole)

    return compute


@computes
def _unpack(op: registers.UnpackOp) -> Compute:
    half = np.dtype(f"uint{4 * np.dtype(CONTAINERS[op.whole]).itemsize}")

    def halves(word: AnyArray) -> AnyArray:
        return word.copy()[:, None].view(half)

    return halves


@computes
def _list_make(op: registers.ListMakeOp) -> Compute:
    counts: list[int] = [one.type.count.data for one in op.parts]  # type: ignore[attr-defined]

    def compute(*given: Bits) -> Any:
        if any(isinstance(one, Undefined) for one in given):
            parts = [part(one, place) for one, count in zip(given, counts, strict=True)
                     for place in range(count)]  # fmt: skip
            same = all(type(one) is Undefined for one in parts)
            return parts[0] if same or len(parts) == 1 else Parts(parts)
        registers = side_by_side(given, max(map(len, given)))
        return registers if registers.shape[1] > 1 else registers[:, 0]

    return compute


@computes
def _list_get(op: registers.ListGetOp) -> Compute:
    position = op.position.value.data
    return split(op, lambda value, number: part(value, position + number))


# Control flow


executes(
    calls.PmeventOp, control_flow.LabelOp, control_flow.PragmaOp, synchronization.NanosleepOp,
    data_movement.PrefetchLineOp, data_movement.DiscardOp, data_movement.ApplyPriorityOp,
)(nothing)  # fmt: skip


@gives(
    data_movement.CreatePolicyOp, data_movement.CreatePolicyRangeOp, data_movement.CreatePolicyCvtOp
)
def _create_policy(*_: Bits) -> Bits:
    """Any number is a policy: there are no caches."""
    return np.zeros(1, np.uint64)


@accesses
def _st_bulk(op: data_movement.StBulkOp, number: int) -> Effect:

    def run(machine: Machine, gang: Gang, address: Bits, size: Bits) -> None:
        counts, parts = np.divmod(spread(size, gang.count).astype(np.int64), 8)
        if (lane := first_of(parts)) is not None:
            raise Fault(
                f"expected a multiple of 8 bytes, got {8 * counts[lane] + parts[lane]}", lane
            )
        rows = np.repeat(np.arange(gang.count), counts)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        words = spread(address, gang.count)[rows].astype(np.int64) + 8 * place
        zeros = np.zeros((len(rows), 8), np.uint8)
        machine.shared.store(gang.lanes[rows], words, zeros, number)

    return run, located, op.size


runs(control_flow.BraOp)(branch)
runs(control_flow.CondBraOp)(conditional_branch)


@runs
def _ret(op: functions.RetOp, builder: Builder) -> None:
    builder.end(Exit(), op)
