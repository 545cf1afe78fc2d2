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
    """The extents of a partition: V, and the two modes behind it."""
    sizes = [product(mode.shape) for mode in modes(tensor.modes)]
    v, rows, columns = (*sizes, 1, 1)[:3]
    assert isinstance(v, int) and isinstance(rows, int) and isinstance(columns, int)
    return v, rows, columns


def registers(tensor: Tensor) -> RegisterTensor:
    """The registers of a fragment."""
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
    a_fragments, b_fragments = (_fragments(gang, tensor, warps) for tensor in (a, b))
    accumulators = _accumulators(gang, c, warps, accumulate)
    m, n, steps = a_fragments.shape[2], b_fragments.shape[2], a_fragments.shape[1]
    for k in range(steps):
        pairs = np.broadcast_shapes((warps, n, m, WARP, 1))
        inputs = [
            np.broadcast_to(fragments, (*pairs[:-1], fragments.shape[-1])).reshape(
                -1, WARP, fragments.shape[-1]
            )
            for fragments in (a_fragments[:, k, None, :], b_fragments[:, k, :, None], accumulators)
        ]
        accumulators = multiply(machine, atom, inputs, ()).reshape(warps, n, m, WARP, -1)
    values = accumulators.transpose(0, 3, 1, 2, 4).reshape(gang.count, -1)
    registers(d).write(gang.lanes, offsets(d), values)


def _fragments(gang: Gang, tensor: Tensor, warps: int) -> Bits:
    """The fragments of a multiplicand: [warps, K, rows, threads, values]."""
    v, rows, steps = extents(tensor)
    values = registers(tensor).read(gang.lanes, offsets(tensor))
    return values.reshape(warps, WARP, steps, rows, v).transpose(0, 2, 3, 1, 4)


def _accumulators(gang: Gang, c: Tensor, warps: int, accumulate: NDArray[np.bool_] | None) -> Bits:
    """The fragments of C: [warps, N, M, threads, values]."""
    v, m, n = extents(c)
    shape = (warps, WARP, n, m, v)
    if accumulate is not None and not accumulate.any():
        return np.zeros(shape, dtype=container(c)).transpose(0, 2, 3, 1, 4)
    values = registers(c).read(gang.lanes, offsets(c))
    if accumulate is not None:
        values = np.where(spread(accumulate, gang.count)[:, None], values, values.dtype.type(0))
    return values.reshape(shape).transpose(0, 2, 3, 1, 4)
