"""`cute.gemm` in tensor memory: the `tcgen05.mma`s that one thread issues."""

from __future__ import annotations

from itertools import product

from xdsl.ir import SSAValue

from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import TCGEN05
from tilewright.dialects.cute_nvgpu.ops.sm100 import MmaOp
from tilewright.lowering.tile.convert_tensor_memory import accumulator
from tilewright.lowering.tile.kernel import Kernel, static_extents
from tilewright.lowering.tile.smem_operand import block_of, descriptor


def multiply(
    atom: UmmaAtom, d: Tensor, a: Tensor, b: Tensor, accumulate: SSAValue | None, kernel: Kernel
) -> None:
    """D += A B, tile by tile; for the first K `accumulate` says whether D counts."""
    _, m, n = static_extents(d)
    steps = (*static_extents(a), 1)[2]
    for k, column, row in product(range(steps), range(n), range(m)):
        held = accumulator(atom, d, block_of(d, row, column)[0], kernel)
        one = descriptor(a, row, k, atom.element("A"), kernel, TCGEN05)
        other = descriptor(b, column, k, atom.element("B"), kernel, TCGEN05)
        flag = None if k else accumulate
        kernel.emitter.add(MmaOp((held, one, other), atom, enable_input_d=flag))
