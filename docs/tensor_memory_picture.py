"""docs/tensor_memory.svg: the columns of tensor memory in a run of examples/gemm_sm100.mlir, as
`tilewright report` draws them."""

from pathlib import Path

import numpy as np

import tilewright as tw
from tilewright.tools.report.tensor_memory import picture
from tilewright.tools.report.watch import RunWatch

KERNEL = Path(__file__).parents[1] / "examples" / "gemm_sm100.mlir"
M, N, K = 128, 128, 128


def tensor_memory() -> str:
    """The picture of one CTA's run."""
    maps = [
        tw.TensorMap(np.ones((M, K), np.float16), shape=(M, K), box=(128, 64), swizzle=128),
        tw.TensorMap(np.ones((K, N), np.float16), shape=(K, N), box=(64, 64), swizzle=128),
        tw.TensorMap(np.zeros((M, N), np.float32), shape=(M, N), box=(128, 32), swizzle=128),
    ]
    watch = RunWatch()
    tw.interpret(KERNEL.read_text(), grid=(1, 1), block=(192,), args=[*maps, K], arch="sm_100a",
                 level="ptx", name=KERNEL.name, watchers=[watch])  # fmt: skip
    watch.allocations()
    return picture(watch.lifetimes, watch.columns)
