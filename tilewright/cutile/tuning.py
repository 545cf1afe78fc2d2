"""Times of launches for `ct.tune`: in this process, or in another one, which may be ended where it
takes too long."""

from __future__ import annotations

import io
import pickle
import subprocess
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from tilewright.arguments.arrays import ArrayArgument
from tilewright.cutile.gpu import BlockSchedule, compiled, scheduled, start
from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import chip_of
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.kernel import Kernel
from tilewright.launch import launcher
from tilewright.launch.kernel import Extents
from tilewright.launch.kernel_record import kernel_of, record_of
from tilewright.modelled_time import modelled_microseconds

Measure = Callable[..., float]
"""The microseconds that a launch takes: of the stream, the grid, the kernel, its arguments, and
whether the L2 cache is to have nothing of it."""
Export = Callable[..., bytes | None]
"""Such a launch for `measured`; None where no other process can have it."""

_WORKER = """
import runpy
from tilewright.cutile import on_gpu
with on_gpu():
    runpy.run_module("cuda.tile.tune._benchmark_worker", run_name="__main__", alter_sys=True)
"""


def modelled(
    launch_of: Callable[[Any, Sequence[Any]], tuple[bytes, list[Any]]], arch: str
) -> Measure:
    """The times of launches by a latency model, each found once, with blocks shared by CTAs as a
    launch has them; `launch_of` gives the bytecode and the flat parameters of a kernel and its
    arguments."""
    times: dict[Any, float] = {}

    def time(_: Any, grid: Sequence[int], kernel: Any, args: Sequence[Any], *__: Any) -> float:
        code, flat = launch_of(kernel, args)
        count = chip_of(divmod(target(arch).number, 10)).count
        schedule = BlockSchedule.of(compiled(code, arch), grid, flat, count)
        key = code, tuple(grid), schedule
        if key not in times:
            module = replace(schedule, taken=False).rewritten(code)
            kernels = scheduled(schedule, partial(compiled, code, arch, "<bytecode>"))
            first, last = kernels[0].entry(), kernels[-1].entry()
            taken = bool(first.takes_blocks)
            times[key] = modelled_microseconds(
                module, grid, flat, arch, last.ctas // first.ctas, taken=taken, kernel=kernels[0]
            )
        return times[key]

    return time


@contextmanager
def tuning(measure: Measure, export: Export) -> Generator[None]:
    """Let `ct.tune` time launches by other functions than its own."""
    cext, tune, timed = map(
        import_module,
        ("cuda.tile._cext", "cuda.tile.tune._tune", "cuda.tile.tune._tune_utils"),
    )
    ours = {
        "_benchmark": measure,
        "_export_ipc_benchmark_payload": export,
        "_benchmark_with_ipc_payload": measured,
    }
    processes = SimpleNamespace(Popen=_worker, TimeoutExpired=subprocess.TimeoutExpired)
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(timed, "subprocess", processes))
        for module in (cext, tune, timed):
            for name in ours.keys() & vars(module).keys():
                stack.enter_context(mock.patch.object(module, name, ours[name]))
        yield


def _worker(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """cuTile's process that times launches, with the functions of `tuning` in it."""
    python, _, _, *arguments = command
    return subprocess.Popen([python, "-c", _WORKER, *arguments], **options)


def microseconds(run: Callable[[], None], stream: Any, *, flush: bool) -> float:
    """The time of a launch on a stream by the driver's events; `flush`: in front of it memory of
    the size of the L2 cache is written, so that nothing of its own is there."""
    handle = launcher.stream_handle(stream)
    begin, end = launcher.call("cuEventCreate", 0), launcher.call("cuEventCreate", 0)
    size = launcher.l2_bytes() if flush else 0
    room = launcher.call("cuMemAlloc", size) if size else None
    try:
        if size:
            launcher.call("cuMemsetD8Async", room, 0, size, handle)
        launcher.call("cuEventRecord", begin, handle)
        run()
        launcher.call("cuEventRecord", end, handle)
        launcher.call("cuEventSynchronize", end)
        return 1e3 * launcher.call("cuEventElapsedTime", begin, end)
    finally:
        for event in (begin, end):
            launcher.call("cuEventDestroy", event)
        if size:
            launcher.call("cuMemFree", room)


class _Exporter(pickle.Pickler):
    """Writes arrays on the GPU as handles of their memory."""

    def persistent_id(self, obj: Any) -> Any:
        """The handle, the bytes in front of the array, and how it lies; None of anything else."""
        if not isinstance(obj, ArrayArgument):
            return None
        layout = (obj.shape, obj.strides, obj.dtype, obj.width)
        return (*launcher.shared_handle(obj.address), layout)


class _Importer(pickle.Unpickler):
    """Reads what `_Exporter` wrote; `opened` is the memory, by handle."""

    def __init__(self, file: io.BytesIO):
        super().__init__(file)
        self.opened: dict[bytes, int] = {}

    def persistent_load(self, pid: Any) -> ArrayArgument:
        """The array in the memory that a handle opens, once."""
        handle, offset, layout = pid
        if handle not in self.opened:
            self.opened[handle] = launcher.opened(handle)
        return ArrayArgument(*layout, address=self.opened[handle] + offset)


def exported(
    kernel: Kernel, flat: Sequence[tuple[str, Any]], grid: Extents, flush: bool
) -> bytes | None:
    """A launch for `measured`, in another process of this machine; None where that cannot open the
    memory of an array."""
    if any(isinstance(part, np.ndarray) for _, part in flat):
        return None
    file = io.BytesIO()
    try:
        _Exporter(file).dump((record_of(kernel), flat, grid, flush))
    except launcher.LaunchError:
        return None
    return file.getvalue()


def measured(launch: bytes) -> float:
    """The time of a launch that was `exported`."""
    importer = _Importer(io.BytesIO(launch))
    record, flat, grid, flush = importer.load()
    kernel = kernel_of(record, Kernel)
    kernel.load(kernel.entry())
    try:
        return microseconds(lambda: start([kernel], flat, grid), None, flush=flush)
    finally:
        for base in importer.opened.values():
            launcher.call("cuIpcCloseMemHandle", base)
