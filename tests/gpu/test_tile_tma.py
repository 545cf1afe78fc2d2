"""Tiles that TMA reduces, multicasts and stores, and reductions of every type, on the GPU of this
machine: equal to the interpreter, bit for bit.

Skipped, with the reason, where there is no GPU of that architecture. Run as a script, it prints a
table.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from example_files import EXAMPLES
from numpy.typing import NDArray
from this_gpu import needs_gpu
from tma_gemms import MULTICAST, SPLIT_K, THREADS
from tma_reductions import DTYPES, REDUCTIONS, elements_of, reduction_kernel

import tilewright as tw
from tilewright.launch.launcher import device_arch, device_name

PERSISTENT = (EXAMPLES / "tile_gemm_sm90_persistent.mlir").read_text()
PAIRS = (EXAMPLES / "tile_gemm_sm90_fp8_multicast.mlir").read_text()
BF16 = ml_dtypes.bfloat16


def matrix(rows: int, columns: int, dtype: Any, seed: int) -> NDArray[Any]:
    """Rows of whole 16 bytes, what is beyond the columns being NaN."""
    values = padded(rows, columns, np.nan, dtype)
    values[:] = np.random.default_rng(seed).standard_normal((rows, columns))
    return values


def padded(rows: int, columns: int, value: float, dtype: Any) -> NDArray[Any]:
    return np.full((rows, -(-columns // 16) * 16), value, dtype)[:, :columns]


def gemm(text: str, size: tuple[int, int, int], dtype: Any, c: Any, **launch: Any) -> Any:
    """A kernel, its arguments, and its launch; of two parts of K the order does not matter, as C is
    zero."""
    m, n, k = size
    return text, [matrix(m, k, dtype, 0), matrix(n, k, dtype, 1), padded(m, n, 0, c)], launch


CASES: dict[str, Any] = {
    **{f"persistent {size} {ctas}": gemm(PERSISTENT, size, BF16, BF16, grid=(ctas,), block=(384,))
       for size, ctas in (((128, 256, 64), 1), ((304, 520, 136), 2), ((1000, 1304, 520), 7),
                          ((2048, 2048, 512), 132))},
    **{f"pairs {size} {ctas}": gemm(PAIRS, size, ml_dtypes.float8_e4m3fn, BF16, grid=(ctas,),
                                    block=(384,))
       for size, ctas in (((256, 256, 128), 2), ((600, 300, 1040), 4), ((2048, 2048, 512), 132))},
    **{f"split k {size} {parts}": gemm(SPLIT_K, size, np.float16, np.float32, block=(THREADS,),
                                       grid=(-(-size[0] // 64), -(-size[1] // 64), parts))
       for size, parts in (((64, 64, 64), 1), ((128, 64, 256), 2), ((132, 72, 200), 2))},
    **{f"multicast {size}": gemm(MULTICAST, size, np.float16, np.float32, block=(THREADS,),
                                 grid=(2 * -(-size[0] // 128), -(-size[1] // 64)))
       for size in ((128, 64, 64), (128, 64, 1024), (512, 256, 520), (132, 72, 200))},
}  # fmt: skip


def reduction(kind: str, element: str) -> Any:
    """One CTA combines a box over an edge, subnormals among its elements."""
    source, before = (
        elements_of(DTYPES[element], shape, seed) for seed, shape in enumerate([(8, 16), (3, 16)])
    )
    maps = [tw.TensorMap(each, box=(4, 16), element=element) for each in (source, before)]
    return reduction_kernel(kind, element), maps, {"grid": (1,), "block": (32,)}


CASES |= {f"{kind} {element}": reduction(kind, element) for kind, element in REDUCTIONS}


def run_both(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """What the last argument is afterwards, from the GPU and from the interpreter."""
    text, args, launch = CASES[name]
    on_chip = tw.compile(text, device_arch()).launch(*args, **launch)[-1]
    level = {} if name.split()[0] in dict(REDUCTIONS) else {"level": "ptx"}
    here = tw.interpret(text, args=args, arch=device_arch(), **launch, **level)[-1]
    return on_chip, here


@needs_gpu("sm_90a")
@pytest.mark.parametrize("name", CASES)
def test_gpu_equals_interpreter(name: str):
    on_chip, here = run_both(name)
    assert on_chip.tobytes() == here.tobytes()


if __name__ == "__main__":
    print(f"{device_name()} ({device_arch()})")
    for each in CASES:
        chip, interpreted = run_both(each)
        print(f"{each:>40}  equal bits: {chip.tobytes() == interpreted.tobytes()}")
