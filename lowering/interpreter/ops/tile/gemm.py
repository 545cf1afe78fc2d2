"""`cute.gemm`: the atoms of a tile, in the arithmetic of single instructions.

Operands are partitions (V,M,K), (V,N,K) and (V,M,N), values of one atom first. All atoms of one K
step are computed together; along K they accumulate one after the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute.symbolic.layouts import modes
from tilewright.dialects.cute.symbolic.tuples import product
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.machine.register_tensor import RegisterTensor
from tilewright.lowering.interpreter.ops.instructions.cute_nvgpu import multiply
from tilewright.lowering.interpreter.ops.tile.tensor_access import container, offsets
from tilewright.lowering.interpreter.values import Bits, spread


def extents(tensor: Tensor) -> tuple[int, int, int]:
    """How many elements a partition has along V and the two modes behind it."""
    sizes = [product(mode.shape) for mode in modes(tensor.modes)]
    v, rows, columns = (*sizes, 1, 1)[:3]
    assert isinstance(v, int) and isinstance(rows, int) and isinstance(columns, int)
    return v, rows, columns


def registers(tensor: Tensor) -> RegisterTensor:
    """Where a fragment is."""
    assert isinstance(tensor.base, RegisterTensor)
    return tensor.base


# mma.sync


def multiply_registers(
    machine: Machine,
    gang: Gang,
    atom: MmaAtom,
    d: Tensor,
    a: Tensor,
    b: Tensor,
    c: Tensor,
    accumulate: NDArray[np.bool_] | None = None,
) -> None:
    """D = A B + C of every warp, C being zeros where a thread's `accumulate` is false."""
    warps = gang.warps(atom.mnemonic)
    a_held, b_held = (_fragments(gang, each, warps) for each in (a, b))
    held = _accumulators(gang, c, warps, accumulate)
    m, n, steps = a_held.shape[2], b_held.shape[2], a_held.shape[1]
    for k in range(steps):
        pairs = np.broadcast_shapes((warps, n, m, WARP, 1))
        inputs = [
            np.broadcast_to(each, (*pairs[:-1], each.shape[-1])).reshape(-1, WARP, each.shape[-1])
            for each in (a_held[:, k, None, :], b_held[:, k, :, None], held)
        ]
        held = multiply(machine, atom, inputs, ()).reshape(warps, n, m, WARP, -1)
    values = held.transpose(0, 3, 1, 2, 4).reshape(gang.count, -1)
    registers(d).write(gang.lanes, offsets(d), values)


def _fragments(gang: Gang, tensor: Tensor, warps: int) -> Bits:
    """The fragments of a multiplicand: [warps, K, rows, threads, values]."""
    v, rows, steps = extents(tensor)
    held = registers(tensor).read(gang.lanes, offsets(tensor))
    return held.reshape(warps, WARP, steps, rows, v).transpose(0, 2, 3, 1, 4)


def _accumulators(gang: Gang, c: Tensor, warps: int, accumulate: NDArray[np.bool_] | None) -> Bits:
    """The fragments of C: [warps, N, M, threads, values]."""
    v, m, n = extents(c)
    shape = (warps, WARP, n, m, v)
    if accumulate is not None and not accumulate.any():
        return np.zeros(shape, dtype=container(c)).transpose(0, 2, 3, 1, 4)
    held = registers(c).read(gang.lanes, offsets(c))
    if accumulate is not None:
        held = np.where(spread(accumulate, gang.count)[:, None], held, held.dtype.type(0))
    return held.reshape(shape).transpose(0, 2, 3, 1, 4)
