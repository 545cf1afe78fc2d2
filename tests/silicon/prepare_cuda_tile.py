"""Compiles the kernels of cutile_kernels.py for a chip, with their arguments; no GPU is needed.

    python tests/silicon/prepare_cuda_tile.py .cubins       # here: PyPI cuda-tile and tileiras
    python tests/silicon/record_cuda_tile.py .cubins tests/silicon/fixtures/cuda_tile.tar   # there

A prepared kernel is a record without what the chip makes of it, and with its cubin.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from export_cuda_tile import cases

import tilewright as tw

ARCH = "sm_90"
TILEIRAS = Path(sysconfig.get_path("purelib"), "nvidia", "cu13", "bin", "tileiras")


def cubin(bytecode: bytes) -> bytes:
    """What tileiras makes of a kernel."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "kernel.tileirbc"), Path(folder, "kernel.cubin")
        source.write_bytes(bytecode)
        subprocess.run([TILEIRAS, "--gpu-name", ARCH, "-o", result, source], check=True)
        return result.read_bytes()


def packed(argument: Any) -> Any:
    """An array as a record holds it; a number as it is."""
    if not isinstance(argument, np.ndarray):
        return argument
    array: np.ndarray[Any, Any] = argument
    return {
        "dtype": array.dtype.name,
        "shape": array.shape,
        "stride": tuple(stride // array.itemsize for stride in array.strides),
        "data": zlib.compress(array.tobytes(), 0),
    }


def main(folder: Path) -> None:
    """Write one prepared kernel a case."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (kernel, grid, arguments) in cases().items():
        given = arguments()
        bytecode = tw.cutile.bytecode(kernel, given)
        prepared = {
            "test": f"cutile_kernels.py::{name}",
            "kernel": name,
            "grid": grid,
            "bytecode": bytecode,
            "sig": repr(tw.cutile.signature(kernel, given)),
            "before": [packed(argument) for argument in given],
            "cubin": cubin(bytecode),
        }
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(prepared))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
