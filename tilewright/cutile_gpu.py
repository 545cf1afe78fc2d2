"""cuTile Python kernels on the GPU of this machine: bytecode through tilewright's PTX, and its
launch on a stream."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tilewright import launcher
from tilewright.arguments.arrays import ArrayArgument
from tilewright.arguments.binding import Binding
from tilewright.arguments.extents import check_launch, checked_extents
from tilewright.cutile_parameters import CutileParameter
from tilewright.diagnostic import ExecutionError
from tilewright.kernel import Extents, Kernel
from tilewright.kernel_record import kernel_of, record_of
from tilewright.lowering.interpreter.cuda_tile.allocations import ArrayTable

_SAMPLES = 5
_MOST = 8
"""The CTAs that share a block at most."""


def ctas_of_blocks(kernel: Kernel, grid: Extents) -> int:
    """How many CTAs may share each block of a launch: of a kernel of warpgroups as many as this
    machine's GPU has multiprocessors for."""
    if "wgmma" not in kernel.ptx:
        return 1
    room = launcher.multiprocessors() // max(prod(grid), 1)
    return 1 << min(max(room, 1), _MOST).bit_length() - 1


def compiled(bytecode: bytes, arch: str, name: str = "<bytecode>", *, ctas: int = 1) -> Kernel:
    """The kernel of bytecode, each of whose blocks so many CTAs may share, from the cache of
    compiled kernels where it is there. Raises CompileError and TargetError."""
    from tilewright.compile_cache import cached, key_of
    from tilewright.compiler import compile
    from tilewright.lowering.cuda_tile.scheduling.share_blocks import CudaTileShareBlocksPass

    def make() -> Any:
        passes = [CudaTileShareBlocksPass(ctas)] if ctas > 1 else ()
        return record_of(compile(bytecode, arch, name=name, passes=passes, unproven="ignore"))

    return kernel_of(cached(key_of(bytecode, arch=arch, ctas=ctas), make))


def start(
    kernel: Kernel,
    parameters: Sequence[CutileParameter],
    grid: Extents,
    stream: Any = None,
    *,
    programmatic: bool = False,
) -> None:
    """Launch a kernel on its parameters, without waiting for it but where arrays of NumPy, which
    are copied to the GPU and back, or lists are among them. `programmatic`: it may start before the
    kernel in front of it has ended.

    Raises ExecutionError for arguments that do not fit, `tilewright.launcher.LaunchError` where
    there is no GPU, or where the launch fails.
    """
    entry = kernel.entry()
    block = entry.block or (1, 1, 1)
    grid = checked_extents("grid", entry.grid(grid))
    check_launch(entry.name, grid, block, None, entry.cluster)
    handle = launcher.stream_handle(stream)
    function = kernel.load(entry)
    _check_apart(parameters)
    with launcher.device_memory() as memory, launcher.device_memory() as tables:
        flat = [part for parameter in parameters for _, part in parameter.flat()]
        args = [_table(part, tables) if isinstance(part, ArrayTable) else part for part in flat]
        binding = Binding(entry.arguments, args, memory, on_gpu=True)
        values = entry.values(binding)
        function.start(values, grid, block, handle, programmatic=programmatic)
        if binding.placed:
            launcher.call("cuStreamSynchronize", handle)
            arrays: list[Any] = [part for part in flat if isinstance(part, np.ndarray)]
            for array, content in zip(arrays, binding.results(memory.contents()), strict=True):
                np.copyto(array, content)


def _check_apart(parameters: Sequence[CutileParameter]) -> None:
    """Raise ExecutionError where arrays of NumPy that would be copied share memory."""
    arrays = [
        array for parameter in parameters for array in parameter.arrays()
        if isinstance(array, np.ndarray)
    ]  # fmt: skip
    for i, array in enumerate(arrays):
        if any(np.may_share_memory(array, other) for other in arrays[:i]):
            raise ExecutionError(
                "expected arrays of NumPy that share no memory, as each is copied to the GPU; "
                "nearest legal: arrays on the GPU"
            )


def _table(table: ArrayTable, memory: Any) -> ArrayArgument:
    """A list of arrays in memory of the GPU."""
    rows: list[list[int]] = []
    for array in table.arrays:
        if not isinstance(array, ArrayArgument):
            raise ExecutionError("expected a list of arrays on the GPU, got one of NumPy")
        rows.append([array.address, *array.shape, *array.strides])
    words = np.array(rows, np.int64)
    address = memory.place("list", words.view(np.uint8).reshape(-1))
    return ArrayArgument((words.size,), (1,), "int64", 8, address=address)


def microseconds(run: Any, stream: Any) -> list[float]:
    """The times of a few launches on a stream by the driver's events, after one without."""
    handle = launcher.stream_handle(stream)
    run()
    begin, end = launcher.call("cuEventCreate", 0), launcher.call("cuEventCreate", 0)
    samples: list[float] = []
    try:
        for _ in range(_SAMPLES):
            launcher.call("cuEventRecord", begin, handle)
            run()
            launcher.call("cuEventRecord", end, handle)
            launcher.call("cuEventSynchronize", end)
            samples.append(1e3 * launcher.call("cuEventElapsedTime", begin, end))
    finally:
        for event in (begin, end):
            launcher.call("cuEventDestroy", event)
    return samples
