"""Records what a GPU leaves in memory for the kernels of cutile_kernels.py.

python tests/silicon/record_cuda_tile.py FOLDER     # needs a GPU, torch, cuda-tile and tileiras
python tests/conformance/cuda_tile_records.py FOLDER

A record is a pickle of a plain dict, as the replay reads it: bytecode, grid, signature, and the
arguments before and after.
"""

from __future__ import annotations

import io
import pickle
import sys
import zlib
from pathlib import Path
from typing import Any

import cuda.tile as ct  # pyright: ignore
import numpy as np
import torch  # pyright: ignore
from cuda.tile.compilation import (  # pyright: ignore
    CallingConvention,
    KernelSignature,
    export_kernel,
)
from cutile_kernels import CASES


def packed(argument: Any) -> Any:
    """A tensor as a record holds it; a number as it is."""
    if not isinstance(argument, torch.Tensor):
        return argument
    data = zlib.compress(argument.cpu().numpy().tobytes(), 6)
    shape, stride = tuple(argument.shape), tuple(argument.stride())
    return {"dtype": str(argument.dtype), "shape": shape, "stride": stride, "data": data}


def record(name: str) -> dict[str, Any]:
    """Run a kernel on the GPU."""
    kernel, grid, arguments = CASES[name]
    given = [
        torch.from_numpy(each).cuda() if isinstance(each, np.ndarray) else each
        for each in arguments()
    ]
    before = [packed(each) for each in given]
    ct.launch(torch.cuda.current_stream(), grid, kernel, tuple(given))
    torch.cuda.synchronize()
    after = [packed(each) if isinstance(each, torch.Tensor) else None for each in given]
    convention = CallingConvention.cutile_python_v2()
    signature = KernelSignature.from_kernel_args(kernel, tuple(given), convention, symbol="k")
    file = io.BytesIO()
    export_kernel(
        kernel,
        [signature],
        file,
        gpu_code=None,
        output_format="tileir_bytecode",
        bytecode_version="13.4",
    )
    major, minor = torch.cuda.get_device_capability()
    return {
        "test": f"cutile_kernels.py::{name}",
        "kernel": name,
        "arch": f"sm_{major}{minor}" + ("a" if major >= 9 else ""),
        "grid": grid,
        "bytecode": file.getvalue(),
        "sig": repr(signature),
        "before": before,
        "after": after,
    }


def main(folder: Path) -> None:
    """Write one record a kernel."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in CASES:
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(record(name)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
