"""Ops of Tile IR on the GPU of this machine: what PTX for it computes there is what the interpreter
of Tile IR says, a sample of the sweep and memory of the module's and the block's own among it
(`tests/sweep/run.py --level chip --arch sm_90a`: all of it); a kernel that is let start before the
end of the one in front of it sees what that one wrote.

Needs a GPU; `python -m pytest tests/gpu/test_tile_ops.py`. Skipped, with the reason, without one.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from every_op import Case, cases
from judge import differs, tried
from points import points, swept
from tile_ir import entry

import tilewright as tw
from tilewright.launch import launcher
from tilewright.launch.launcher import LaunchError, device_arch

try:
    ARCH = device_arch()
except LaunchError as error:
    pytest.skip(f"needs a GPU: {error}", allow_module_level=True)

CASES = [case for case in cases() if case.op in ("global", "alloca", "make_tensor_view")]


@pytest.mark.parametrize("name", swept())
def test_points_of_the_sweep(name: str):
    some = list(islice(points(name), 40))[::8]
    assert not tried(some, [ARCH], ["chip"], assembles=False)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_chip_is_interpreted(case: Case):
    text, arguments = entry(case.parameters, case.body, case.globals_), case.arguments()
    kernel = tw.compile(text, ARCH)
    block = kernel.entry("k").block
    assert block is not None
    got = kernel.launch(*arguments, grid=(1,), block=block)[-1]
    wanted = tw.interpret(text, "k", grid=(1,), args=arguments, arch=ARCH)[-1]
    assert (why := differs(got, wanted, 0)) is None, why


class OnGpu:
    """An array of zeros in memory of the GPU."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.address = int(launcher.call("cuMemAlloc", 4 * count))
        launcher.call("cuMemsetD32", self.address, 0, count)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": (self.count,), "typestr": "<i4", "data": (self.address, False),
                "version": 3, "strides": None}  # fmt: skip

    def read(self) -> Any:
        """The words that it holds now."""
        host = np.zeros(self.count, np.int32)
        launcher.call("cuMemcpyDtoH", host.ctypes.data, self.address, host.nbytes)
        return host


SIZE, BLOCKS, TIMES = 1024, 64, 50


def chained(wait: str) -> str:
    """A kernel that adds one to a tile of %p, stored to %q, after the grids before it."""
    return entry(
        "%p: tile<ptr<i32>>, %q: tile<ptr<i32>>",
        f"""
    %bx, %by, %bz = get_tile_block_id : tile<i32>
    %begun = gdc_launch_dependents_tko -> token
    {wait}
    %v = make_tensor_view %p, shape = [{SIZE * BLOCKS}], strides = [1]
        : tensor_view<{SIZE * BLOCKS}xi32, strides=[1]>
    %w = make_partition_view %v
        : partition_view<tile=({SIZE}), tensor_view<{SIZE * BLOCKS}xi32, strides=[1]>>
    %u = make_tensor_view %q, shape = [{SIZE * BLOCKS}], strides = [1]
        : tensor_view<{SIZE * BLOCKS}xi32, strides=[1]>
    %y = make_partition_view %u
        : partition_view<tile=({SIZE}), tensor_view<{SIZE * BLOCKS}xi32, strides=[1]>>
    %x, %t = load_view_tko weak %w[%bx] token = %ready
        : partition_view<tile=({SIZE}), tensor_view<{SIZE * BLOCKS}xi32, strides=[1]>>, tile<i32>
        -> tile<{SIZE}xi32>, token
    %one = constant <i32: 1> : tile<{SIZE}xi32>
    %z = addi %x, %one : tile<{SIZE}xi32>
    %s = store_view_tko weak %z, %y[%bx] token = %t : tile<{SIZE}xi32>,
        partition_view<tile=({SIZE}), tensor_view<{SIZE * BLOCKS}xi32, strides=[1]>>, tile<i32>
        -> token
""",
    )


def test_a_kernel_that_starts_early_waits():
    kernel = tw.compile(chained("%ready = gdc_wait_tko -> token"), ARCH)
    own = kernel.entry("k")
    assert own.block is not None
    function = kernel.load(own)
    arrays = [OnGpu(SIZE * BLOCKS) for _ in range(2)]
    for number in range(TIMES):
        source, target = arrays[number % 2], arrays[1 - number % 2]
        values = [source.address, target.address]
        function.start(values, (BLOCKS,), own.block, programmatic=number > 0)
    launcher.synchronize()
    assert (arrays[TIMES % 2].read() == TIMES).all()
