"""How long instructions of a timeline take the units that they share with others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute_nvgpu.descriptors.bank_conflicts import VECTOR_BYTES, phases
from tilewright.dialects.cute_nvgpu.lattice.data_movement import LINE
from tilewright.dialects.cute_nvgpu.lattice.sm90 import WARPGROUP
from tilewright.dialects.ptx.bulk_copy import TensorCopyOp
from tilewright.dialects.ptx.data_movement import CpAsyncOp, LdOp, StOp
from tilewright.dialects.ptx.matrix import WarpMmaOp
from tilewright.dialects.ptx.matrix_copy import MatrixCopyOp
from tilewright.dialects.ptx.tcgen05_mma import Tcgen05MmaOp
from tilewright.dialects.ptx.wgmma import WgmmaOp
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.timeline.latencies import (
    COPIED_BYTES,
    COPIED_ROW,
    COPIES,
    multiply_cycles,
)
from tilewright.lowering.interpreter.values import spread

Slots = Callable[[Sequence[SSAValue]], tuple[int, ...]]
"""The numbers of registers."""

DATA = "data"
"""The pipe of the path of data between registers, shared memory and the L1 cache: 128 bytes a
cycle."""
MATRIX_ROWS = 8
"""The addresses for each matrix of `ldmatrix`."""


def turn_of(op: Operation, machine: Machine, gang: Gang, slots: Slots) -> int:
    """The turn that an instruction takes of its pipe."""
    arch = machine.launch.arch
    if isinstance(op, WarpMmaOp | WgmmaOp):
        atom = op.mma_atom
        bits = atom.element("A").bits
        warp = not isinstance(op, WgmmaOp)
        return multiply_cycles(arch, prod(atom.shape), bits, warp=warp)
    if isinstance(op, Tcgen05MmaOp):
        (slot,) = slots([op.idesc])
        atom = op.atom_of(int(np.ravel(gang.regs[slot])[0]))
        cycles = multiply_cycles(arch, prod(atom.shape), atom.element("A").bits, warp=False)
        return -(-cycles // atom.cta_group)
    if isinstance(op, TensorCopyOp):
        return -(-_box_bytes(op, machine, gang, slots, COPIED_ROW) // COPIED_BYTES)
    if isinstance(op, CpAsyncOp):
        return WARP * op.size.value.data // COPIED_BYTES  # type: ignore[attr-defined]
    return 0


def _box_bytes(op: TensorCopyOp, machine: Machine, gang: Gang, slots: Slots, least: int) -> int:
    """The bytes that a CTA gets by a copy of a box, at least so many by a row."""
    any_op: Any = op
    (slot,) = slots([any_op.map])
    image = machine.memory.tensor_map(int(np.ravel(gang.regs[slot])[0]))
    *rows, row = image.box.shape
    size = prod(rows) * max(row * image.box.element.bytes, least)
    if (mask := getattr(op, "mask", None)) is not None:
        # As many CTAs send a CTA their parts as it sends its own.
        size *= int(np.ravel(gang.regs[slots([mask])[0]])[0]).bit_count()
    return size


def units_of(
    op: Operation, machine: Machine, gang: Gang, slots: Slots
) -> Sequence[tuple[str, float]]:
    """The cycles that a warp's instruction takes units of its SM without a wait for them: of what
    runs beside it the path of data, of accesses to global memory the way into the SM."""
    if isinstance(op, WgmmaOp):
        m, n, k = op.mma_atom.shape
        rows = n + (m if op.mma_atom.frag_kind == "ss" else 0)
        return [(DATA, rows * k * op.mma_atom.element("A").bits / 8 / LINE * WARP / WARPGROUP)]
    if isinstance(op, TensorCopyOp):
        return [(DATA, _box_bytes(op, machine, gang, slots, 0) / LINE)]
    if isinstance(op, LdOp | StOp) and op.space.data == "global":
        return [(COPIES, -(-WARP * op.thread_bytes // COPIED_BYTES))]
    return ()


def access_cycles(op: Operation, gang: Gang, slots: Slots) -> int:
    """The turn that a warp's access, as the first one of a gang, takes of the path of data."""
    if not isinstance(op, LdOp | StOp | MatrixCopyOp):
        return 0
    any_op: Any = op
    (slot,) = slots([any_op.address])
    warp = gang.lanes // WARP == gang.lanes[0] // WARP
    places = spread(gang.regs[slot], gang.count)[warp].astype(np.int64) + op.offset.value.data
    if isinstance(op, MatrixCopyOp):
        return sum(phases(places[: MATRIX_ROWS * op.data.type.count.data].tolist(), VECTOR_BYTES))
    if op.space.data == "shared":
        return sum(phases(places.tolist(), op.thread_bytes))
    return len(np.unique(places // LINE)) if op.space.data == "global" else 0
