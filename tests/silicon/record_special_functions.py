"""Record functions of the special function unit: run on a machine with a GPU, from the root.

    python tests/silicon/record_special_functions.py tests/silicon/fixtures

Adds to special_functions.npz what `sqrt`, `sin`, `cos` and `tanh` of f32 give for 2^18 random words
(the first SAMPLES results, and a checksum of all), the checksum of `sqrt` for every mantissa, and
those of functions of 16 bits for every word, by mnemonic.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Sequence
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


def halves() -> dict[tuple[str, str], list[NDArray[np.uint16]]]:
    """The forms of 16 bits, and their operands: every word, of `fma` as either factor."""
    every = np.arange(1 << 16, dtype=np.uint16)
    table = {
        (name, form): [every]
        for name, forms in (
            ("ex2", ("approx.f16", "approx.ftz.bf16")), ("tanh", ("approx.f16", "approx.bf16")),
        )
        for form in forms
    }  # fmt: skip
    for type_, one in (("f16", 0x3C00), ("bf16", 0x3F80)):
        ones, twos = np.full_like(every, one), np.full(1 << 17, 0x4000, np.uint16)
        factors = [np.concatenate(pair) for pair in ((every, ones), (ones, every))]
        for relu in ("", "relu."):
            table["fma", f"rn.oob.{relu}{type_}"] = [*factors, twos]
    return table


def computed(name: str, form: str, arguments: Sequence[NDArray[Any]], arch: str) -> NDArray[Any]:
    """What the chip computes."""
    kernel = tw.compile(scalar_kernel(SCALAR_OPS[name], form), arch)
    blocks = [
        kernel.launch(*block, np.zeros_like(block[0]), grid=(1,), block=(CTA,))[-1]
        for block in zip(*(column.reshape(-1, CTA) for column in arguments), strict=True)
    ]
    return np.concatenate(blocks)


def main() -> None:
    path, arch = Path(sys.argv[1]) / "special_functions.npz", device_arch()
    recorded: dict[str, Any] = dict(np.load(path))
    for name in FORMS:
        results = computed(name, FORMS[name], [words()], arch)
        recorded[f"{name}_words"] = results[:SAMPLES]
        recorded[f"{name}_words_crc"] = np.uint32(zlib.crc32(results))
    mantissas = np.arange(127 << 23, 129 << 23, dtype=np.uint32)
    recorded["sqrt_crc"] = np.uint32(zlib.crc32(computed("sqrt", FORMS["sqrt"], [mantissas], arch)))
    for (name, form), arguments in halves().items():
        results = computed(name, form, arguments, arch)
        recorded[f"{name}.{form}_crc"] = np.uint32(zlib.crc32(results))
    np.savez_compressed(path, **recorded)


if __name__ == "__main__":
    main()
