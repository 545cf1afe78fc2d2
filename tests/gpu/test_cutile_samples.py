"""cuTile kernels compiled by tilewright on the GPU of this machine: on arrays of torch and of CuPy,
under what cuTile's own launch would assume, and NVIDIA's samples, unmodified.

Skipped, with the reason, where there is no GPU. Run as a script, it prints a table:

    python tests/gpu/test_cutile_samples.py [CHECKOUT]      # of github NVIDIA/cutile-python

Needs torch and CuPy; without CHECKOUT ($CUTILE_PYTHON), the samples are left out.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cutile_samples import SAMPLES, verdict
from this_gpu import needs_gpu

from tilewright import cutile
from tilewright.cutile.parameters import parameters_of
from tilewright.launch.launcher import device_arch, device_name

CHECKOUT = os.environ.get("CUTILE_PYTHON")
LIBRARIES = ("torch", "cupy")


ON_GPU = needs_gpu()


def on_device(library: str, array: Any) -> Any:
    """An array of a library on the GPU."""
    own = import_module(library)
    return own.asarray(array, device="cuda") if library == "torch" else own.asarray(array)


def back(array: Any) -> Any:
    """The array on the CPU, once what was launched is done."""
    return array.cpu().numpy() if hasattr(array, "cpu") else array.get()


def added(library: str) -> bool:
    """True where a launch on arrays of a library adds them: by our launch, and as a script has it,
    on a stream of its own."""
    import cuda.tile as ct
    from bridge_kernels import add

    whole, count = np.arange(1000, dtype=np.float32), 1000
    a, b = (on_device(library, array) for array in (whole, np.ones(count, np.float32)))
    c, d = (on_device(library, np.zeros(count, np.float32)) for _ in range(2))
    cutile.launch((8,), add, (a, b, c, 128))
    stream = import_module(library).cuda.Stream()
    import_module("torch").cuda.synchronize()
    with cutile.on_gpu():
        ct.launch(stream, (8,), add, (a, c, d, 128))
    stream.synchronize()
    return bool((back(c) == whole + 1).all() and (back(d) == 2 * whole + 1).all())


def assumptions(*shapes: tuple[tuple[int, ...], int]) -> list[tuple[Any, Any]]:
    """For arrays of a shape, from so many elements on: our constraint, and that of cuTile's own
    launch."""
    import torch
    from bridge_kernels import add
    from cuda.tile import _cext, compilation

    convention = compilation.CallingConvention.cutile_python_v2()
    pairs: list[tuple[Any, Any]] = []
    for shape, offset in shapes:
        room = torch.zeros(offset + int(np.prod(shape)), dtype=torch.float16, device="cuda")
        tensor = room[offset:].reshape(shape)
        args = (tensor, torch.zeros_like(tensor), torch.zeros_like(tensor), 16)
        theirs = _cext.get_parameter_constraints_from_pyargs(add, args, convention)
        parameters = parameters_of(add, args)
        arrays = [array for parameter in parameters for array in parameter.arrays()]
        pairs += [(parameters[0].constraint(arrays, aligned=True), theirs[0])]
    return pairs


SHAPES = (((64, 48), 0), ((64, 36), 0), ((17, 64), 0), ((1, 16), 0), ((16,), 3), ((4, 16, 8), 8))


def same(ours: Any, theirs: Any) -> bool:
    """True where we assume no more than cuTile's launch does."""
    fields = ("base_addr_divisible_by", "stride_divisible_by", "shape_divisible_by")
    return all(getattr(ours, field) == getattr(theirs, field) for field in fields)


@ON_GPU
@pytest.mark.parametrize("library", LIBRARIES)
def test_arrays_of_a_library(library: str):
    assert added(library)


@ON_GPU
def test_what_is_assumed_is_what_cutile_assumes():
    for ours, theirs in assumptions(*SHAPES):
        assert same(ours, theirs), f"{ours} {theirs}"


@ON_GPU
@pytest.mark.skipif(CHECKOUT is None, reason="needs $CUTILE_PYTHON, a checkout of cutile-python")
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_sample(sample: Any):
    passed, said = verdict(sample, Path(str(CHECKOUT)), ("--gpu",))
    assert passed, said


if __name__ == "__main__":
    print(f"{device_name()} ({device_arch()})")
    for name in LIBRARIES:
        print(f"arrays of {name}: {'equal' if added(name) else 'DIFFERENT'}")
    for mine, cutiles in assumptions(*SHAPES):
        print("same assumptions" if same(mine, cutiles) else f"DIFFERENT: {mine} {cutiles}")
    for row in SAMPLES if len(sys.argv) > 1 else ():
        well, words = verdict(row, Path(sys.argv[1]), ("--gpu",))
        print(f"{row.name:18} {'passed' if well else 'FAILED: ' + words}", flush=True)
