"""Record functions of the special function unit: run on a machine with a GPU, from the root.

    python tests/silicon/record_special_functions.py tests/silicon/fixtures

Adds to special_functions.npz what `sqrt`, `sin`, `cos` and `tanh` of f32 give for 2^18 random words
(the first SAMPLES results, and a checksum of all), and the checksum of `sqrt` for every mantissa.
"""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from kernels import scalar_kernel
from numpy.typing import NDArray

import tilewright as tw
from tilewright.dialects.ptx.scalars import SCALAR_OPS
from tilewright.launch.launcher import device_arch

SAMPLES = 1 << 12
FORMS = {"sqrt": "approx.ftz.f32", "sin": "approx.ftz.f32", "cos": "approx.ftz.f32",
         "tanh": "approx.f32"}  # fmt: skip
CTA = 1 << 10


def words() -> NDArray[np.uint32]:
    """Arguments: bits of every exponent and sign."""
    return np.random.default_rng(0).integers(0, 1 << 32, 1 << 18, dtype=np.uint32)


def computed(name: str, arguments: NDArray[np.uint32], arch: str) -> NDArray[np.uint32]:
    """What the chip computes."""
    kernel = tw.compile(scalar_kernel(SCALAR_OPS[name], FORMS[name]), arch)
    blocks = [
        kernel.launch(block, np.zeros_like(block), grid=(1,), block=(CTA,))[-1]
        for block in arguments.reshape(-1, CTA)
    ]
    return np.concatenate(blocks)


def main() -> None:
    path, arch = Path(sys.argv[1]) / "special_functions.npz", device_arch()
    recorded: dict[str, Any] = dict(np.load(path))
    for name in FORMS:
        results = computed(name, words(), arch)
        recorded[f"{name}_words"] = results[:SAMPLES]
        recorded[f"{name}_words_crc"] = np.uint32(zlib.crc32(results))
    mantissas = np.arange(127 << 23, 129 << 23, dtype=np.uint32)
    recorded["sqrt_crc"] = np.uint32(zlib.crc32(computed("sqrt", mantissas, arch)))
    np.savez_compressed(path, **recorded)


if __name__ == "__main__":
    main()
