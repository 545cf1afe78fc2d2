"""Record what a chip leaves of kernels in CUDA C++, compiled by nvcc for two targets.

    python tests/silicon/record_cuda_kernels.py tests/silicon/fixtures/cuda_kernels.tar.xz

Needs nvcc, cupy and a GPU. The archive has the PTX for each target, and `cases.pkl.xz`, which
`tests/conformance/ptx_modules.py` describes. The fixture was recorded on an H200 by nvcc 13.0.
"""

from __future__ import annotations

import io
import lzma
import pickle
import re
import struct
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy  # pyright: ignore
import numpy as np

SOURCE = Path(__file__).with_name("cuda_kernels.cu")
ARCHES = ("sm_80", "sm_90a")
random = np.random.default_rng(7)


def whole(low: int, high: int, dtype: Any) -> Callable[[int], np.ndarray]:
    return lambda count: random.integers(low, high, count, np.int64).astype(dtype)


def normal(dtype: Any) -> Callable[..., np.ndarray]:
    return lambda *shape: random.standard_normal(shape).astype(dtype)


f16, f32, f64 = map(normal, (np.float16, np.float32, np.float64))
small, i32, u32 = (
    whole(-1000, 1000, np.int32),
    whole(-(2**31), 2**31, np.int32),
    whole(0, 2**32, np.uint32),
)
i64 = whole(-(2**62), 2**62, np.int64)
Int, Float, U64 = np.int32, np.float32, np.uint64
rows = np.cumsum([0, *random.integers(0, 9, 100)]).astype(Int)


def bf16(count: int) -> np.ndarray:
    return (f32(count).view(np.uint32) >> 16).astype(np.uint16)


def zeros(count: int, dtype: Any = Float) -> np.ndarray:
    return np.zeros(count, dtype)


STRUCT = struct.pack("<fihhhxxd", 2.5, 3, 7, -8, 9, 0.125)
CASES: list[tuple[str, tuple[int, ...], tuple[int, ...], int, list[Any]]] = [
    # kernel, grid, block, bytes of dynamic shared memory, arguments
    ("saxpy", (3,), (64,), 0, [f32(150), f32(150), Float(1.7), Int(150)]),
    ("reduce_sum", (2,), (128,), 0, [zeros(2), f32(1000), Int(1000)]),
    ("reduce_max_int", (1,), (64,), 0, [np.full(1, -(2**31), Int), i32(500), Int(500)]),
    ("scan_block", (1,), (256,), 0, [zeros(256, Int), small(256), Int(250)]),
    ("scan_warp", (1,), (64,), 0, [zeros(64, np.uint32), u32(64)]),
    ("histogram", (2,), (64,), 0, [zeros(256, np.uint32), whole(0, 256, np.uint8)(700), Int(700)]),
    ("bitonic_sort", (1,), (128,), 512, [u32(128)]),
    ("radix_pass", (1,), (256,), 0, [zeros(256, np.uint32), u32(256), Int(3)]),
    ("stencil2d", (2, 2), (16, 16), 0, [zeros(900), f32(900), Int(30), Int(30)]),
    ("stencil3d", (8, 8), (32,), 0, [zeros(512, np.float64), f64(512), Int(8)]),
    ("nbody", (2,), (32,), 512, [zeros(256), f32(256), Int(64)]),
    ("philox_fill", (2,), (64,), 0, [zeros(512, np.uint32), U64(0x123456789ABCDEF)]),
    ("monte_carlo_pi", (2,), (64,), 0, [zeros(1, U64), Int(50)]),
    ("lcg64", (1,), (64,), 0, [i64(64).view(U64), U64(6364136223846793005), Int(20)]),
    ("transpose", (2, 2), (32, 8), 0, [zeros(4096), f32(4096), Int(64)]),
    ("matmul_tiled", (2, 2), (16, 16), 0, [zeros(1024), f32(1024), f32(1024), Int(32)]),
    ("matmul_wmma", (2, 2), (32,), 0, [zeros(1024), f16(1024), f16(1024), Int(32)]),
    ("mma_asm", (1,), (32,), 0, [zeros(128), f16(256).view("u4"), f16(128).view("u4")]),
    ("cp_async_copy", (1,), (64,), 0, [zeros(256), f32(512), Int(64)]),
    ("half_math", (1,), (64,), 0, [zeros(128, np.float16), f16(128), f16(128), Int(60)]),
    ("bf16_math", (1,), (64,), 0, [zeros(128, np.uint16), bf16(128), bf16(128)]),
    ("math_fast", (2,), (64,), 0, [zeros(128), f32(128), Int(120)]),
    ("math_precise", (2,), (64,), 0, [zeros(128), f32(128) * Float(20), Int(120)]),
    ("math_double", (2,), (64,), 0, [zeros(128, np.float64), f64(128) * 3, Int(120)]),
    ("int_ops", (1,), (128,), 0, [zeros(128, Int), i32(128), i32(128), Int(120)]),
    ("long_ops", (1,), (64,), 0, [zeros(64, np.int64), i64(64), i64(64)]),
    ("conversions", (1,), (64,), 0, [zeros(64, np.float64), f32(64) * Float(1000), i32(64)]),
    ("warp_ops", (1,), (64,), 0, [zeros(64, Int), small(64)]),
    ("divergent", (2,), (64,), 0, [zeros(128, Int), whole(1, 5000, Int)(128), Int(120)]),
    ("switch_table", (1,), (64,), 0, [zeros(64, Int), small(64)]),
    ("constant_poly", (1,), (64,), 0, [zeros(64), f32(64)]),
    ("device_call", (1,), (64,), 0, [zeros(64), f32(64), Int(5)]),
    ("struct_param", (1,), (64,), 0, [zeros(64, np.float64), small(64), STRUCT]),
    ("local_array", (1,), (32,), 0, [zeros(32, Int), small(512), Int(20)]),
    ("atomics", (2,), (64,), 0, [zeros(9, Int), zeros(2, U64), zeros(1), small(128)]),
    ("last_block", (4,), (64,), 0, [zeros(1), f32(256), zeros(4), Int(256)]),
    ("softmax", (2,), (64,), 0, [zeros(400), f32(400), Int(200)]),
    (
        *("game_of_life", (32,), (32,), 0),
        [zeros(1024, np.uint8), whole(0, 2, np.uint8)(1024), Int(32)],
    ),
    (
        *("spmv", (2,), (64,), 0),
        [zeros(100), rows, whole(0, 100, Int)(rows[-1]), f32(rows[-1]), f32(100), Int(100)],
    ),
    ("mandelbrot", (4,), (64,), 0, [zeros(256, Int), Int(16), Int(60)]),
    ("print_some", (1,), (32,), 0, [zeros(32, Int)]),
    (
        *("lookback_scan", (5,), (64,), 0),
        [zeros(320, Int), small(320), zeros(5, Int), zeros(10, Int), zeros(1, Int)],
    ),
    (
        *("split_k", (2, 3), (64,), 0),
        [zeros(128), f32(48), f32(48 * 128), zeros(2, Int), Int(128), Int(16)],
    ),
    ("grid_sync", (4,), (64,), 0, [small(300), zeros(300, Int), Int(300), Int(5)]),
]


def run(
    module: Any, kernel: str, grid: Any, block: Any, shared: int, before: list[Any]
) -> dict[str, Any]:
    """A case, and the arrays as the GPU leaves them."""
    device = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in before]
    # A struct by value is one element of its size.
    given = [
        np.frombuffer(a, np.dtype((np.void, len(a))))[0] if isinstance(a, bytes) else a
        for a in device
    ]
    extents = ((*extent, 1, 1)[:3] for extent in (grid, block))
    module.get_function(kernel)(
        *extents, tuple(given), shared_mem=shared, enable_cooperative_groups=True
    )
    cupy.cuda.Device().synchronize()
    after = [cupy.asnumpy(a) if isinstance(a, cupy.ndarray) else None for a in device]
    return dict(kernel=kernel, grid=grid, block=block, shared=shared, before=before, after=after)


def kept(ptx: str) -> str:
    """The text without the places of files."""
    return re.sub(r'"[^"\n]*/([^"/\n]+)"', r'"\1"', ptx)


def main(archive: str) -> None:
    files: dict[str, bytes] = {}
    cases: dict[str, list[dict[str, Any]]] = {}
    for arch in ARCHES:
        name, command = f"kernels_{arch}", ["nvcc", "-ptx", f"-arch={arch}", "-lineinfo"]
        ptx = subprocess.run(
            [*command, str(SOURCE), "-o", "/dev/stdout"], capture_output=True, check=True
        ).stdout
        module = cupy.cuda.function.Module()
        module.load(ptx + b"\0")
        files[f"{name}.ptx"] = kept(ptx.decode()).encode()
        cases[name] = [run(module, f"k_{kernel}", *case) for kernel, *case in CASES]
    files["cases.pkl.xz"] = lzma.compress(pickle.dumps(cases))
    archived(archive, files)


def archived(archive: str, files: dict[str, bytes]) -> None:
    """Write the archive of such files."""
    with tarfile.open(archive, "w:xz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


if __name__ == "__main__":
    main(sys.argv[1])
