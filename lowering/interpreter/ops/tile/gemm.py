"""`cute.gemm`: the atoms of a tile, in the arithmetic of single instructions.

Operands are partitions (V,M,K), (V,N,K) and (V,M,N), values of one atom first. All atoms of one K
step are computed together; along K they accumulate one after the other.
"""

from collections.abc import Mapping

import numpy as np

from tilewright.dialects.cute.atoms import OPERAND_MODES, Operand
from tilewright.dialects.cute.symbolic.layouts import modes
from tilewright.dialects.cute.symbolic.tuples import product
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.universal_fma import UniversalFma
from tilewright.lowering.interpreter.array_types import BoolArray
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.machine.register_tensor import RegisterTensor
from tilewright.lowering.interpreter.ops.instructions.cute_nvgpu import fma_elements, multiply
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
    tensors: Mapping[Operand, Tensor],
    accumulate: BoolArray | None,
) -> None:
    """D = A B + C of every warp, C being zeros where a thread's `accumulate` is false."""
    warps = gang.warps(atom.mnemonic)
    fragments = {
        which: _fragments(gang, which, tensor, warps)
        for which, tensor in tensors.items()
        if which != "C"
    }
    accumulators = _accumulators(gang, tensors["C"], warps, accumulate)
    pairs = accumulators.shape[:-1]
    ids = (0,) * len(atom.selectors)
    for k in range(extents(tensors["A"])[2]):
        steps = {which: values[:, k] for which, values in fragments.items()} | {"C": accumulators}
        inputs = [
            np.broadcast_to(steps[which], (*pairs, steps[which].shape[-1])).reshape(
                -1, WARP, steps[which].shape[-1]
            )
            for which in tensors
        ]
        accumulators = multiply(machine, atom, inputs, ids).reshape(*pairs, -1)
    values = accumulators.transpose(0, 3, 1, 2, 4).reshape(gang.count, -1)
    registers(d).write(gang.lanes, offsets(d), values)


def _fragments(gang: Gang, which: Operand, tensor: Tensor, warps: int) -> Bits:
    """The fragments of an operand that is multiplied: [warps, K, columns, rows, threads, values],
    one column or one row of atoms. Scale factors are repeated to whole registers."""
    v, rows, steps = extents(tensor)
    values = registers(tensor).read(gang.lanes, offsets(tensor))
    values = values.reshape(warps, WARP, steps, rows, v).transpose(0, 2, 3, 1, 4)
    if which in ("SFA", "SFB"):
        values = np.tile(values, PER_WORD // v)
    return np.expand_dims(values, 2 if OPERAND_MODES[which][0] == 0 else 3)


PER_WORD = 4
"""Scale factors in a register."""


def _accumulators(
    gang: Gang, c: Tensor, warps: int, accumulate: BoolArray | None, together: int = WARP
) -> Bits:
    """The fragments of C: [warps, N, M, threads, values]."""
    v, m, n = extents(c)
    shape = (warps, together, n, m, v)
    if accumulate is not None and not accumulate.any():
        return np.zeros(shape, dtype=container(c)).transpose(0, 2, 3, 1, 4)
    values = registers(c).read(gang.lanes, offsets(c))
    if accumulate is not None:
        values = np.where(spread(accumulate, gang.count)[:, None], values, values.dtype.type(0))
    return values.reshape(shape).transpose(0, 2, 3, 1, 4)


# fma.rn


def multiply_threads(
    gang: Gang,
    fma: UniversalFma,
    d: Tensor,
    tensors: Mapping[Operand, Tensor],
    accumulate: BoolArray | None,
) -> None:
    """D = A B + C of every thread, one K after the other; C as `multiply_registers` has it."""
    run = fma_elements(fma)

    def multiplicand(tensor: Tensor) -> Bits:
        """[threads, K, rows, values]."""
        v, rows, steps = extents(tensor)
        values = registers(tensor).read(gang.lanes, offsets(tensor))
        return values.reshape(-1, steps, rows, v)

    a, b = multiplicand(tensors["A"]), multiplicand(tensors["B"])
    c = _accumulators(gang, tensors["C"], gang.count, accumulate, together=1)[:, :, :, 0]
    for k in range(a.shape[1]):
        c = run(a[:, k, None], b[:, k, :, None], c)
    registers(d).write(gang.lanes, offsets(d), c.reshape(gang.count, -1))
