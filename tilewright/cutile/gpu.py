"""cuTile Python kernels on the GPU of this machine: bytecode through tilewright's PTX, and its
launch on a stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.arguments.arrays import ArrayArgument
from tilewright.arguments.binding import Binding
from tilewright.arguments.extents import check_launch, checked_extents
from tilewright.compiler import compile
from tilewright.dialects.cuda_tile.accuracy import Accuracy
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import shared_memory_limit
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.frozen import frozen
from tilewright.kernel import Kernel
from tilewright.launch import launcher
from tilewright.launch.compile_cache import cached, key_of
from tilewright.launch.kernel import Entry, Extents
from tilewright.launch.kernel_record import kernel_of, record_of
from tilewright.lowering.interpreter.cuda_tile.allocations import ArrayTable
from tilewright.passes.cuda_tile.scheduling.cut_rows import CudaTileBoundSizesPass
from tilewright.passes.cuda_tile.scheduling.make_persistent import CudaTileMakePersistentPass
from tilewright.passes.cuda_tile.scheduling.split_blocks import CudaTileShareBlocksPass
from tilewright.pipeline import verified
from tilewright.source.diagnostic import ExecutionError
from tilewright.source.parsing import default_context

_MOST = 8
"""The CTAs that share a block at most."""
_FEWEST, _FEW = 16, 512
"""The least size that is known of an array in a launch, and the most."""
_WORTH = 4
"""The CTAs that share each of the last blocks at least: a launch more takes what two would save."""
_DEEP = 512
"""The least size along which products are summed up: blocks of fewer take too little to share."""
_COUNTED = 1 << 30
"""The blocks of a grid that CTAs count in 32 bits, beside the CTAs themselves."""


@frozen
class BlockSchedule:
    """How a launch's tile blocks meet its multiprocessors: so many CTAs share each at most, or CTAs
    take one after the other. Of small sizes of arrays, by their places among the parameters, the
    powers of two that are no less are `known`. Those that are taken may all lie `along_x`; so many
    CTAs share each of the `last` ones, which are too few for all multiprocessors; 0: these are
    those, of a grid that starts while the one of the others ends, and waits for it."""

    ctas: int = 1
    taken: bool = False
    along_x: bool = False
    known: tuple[tuple[int, int], ...] = ()
    last: int = 1

    @classmethod
    def of(
        cls, kernel: Kernel, grid: Sequence[int], flat: Sequence[Any] = (),
        count: int | None = None,
    ) -> BlockSchedule:  # fmt: skip
        """That of a kernel of warpgroups and its flat arguments on so many multiprocessors, by
        default those of this machine's GPU: blocks are shared where there are fewer than
        multiprocessors, taken in turn where there are more, of a kernel that has a multiprocessor
        for itself."""
        entry = kernel.entry()
        if not entry.by_warpgroups:
            return cls()
        known = tuple(
            (place, 1 << max(flat[place] - 1, _FEWEST - 1).bit_length())
            for place in entry.sizes
            if flat and 0 < flat[place] <= _FEW
        )
        room, blocks = (count or launcher.multiprocessors()) // entry.ctas, max(prod(grid), 1)
        if room < blocks < _COUNTED:
            taken = 2 * kernel.shared_bytes > shared_memory_limit(target(kernel.arch))
            last = _sharing(room, blocks % room or room) if taken else 1
            if last < _WORTH or any(size < _DEEP for size in _summed(entry, flat)):
                last = 1
            return cls(1, taken, taken and blocks == grid[0], known, last)
        return cls(_sharing(room, blocks), known=known)

    def rewritten(self, bytecode: bytes, name: str = "<bytecode>") -> ModuleOp | bytes:
        """Tile IR for it."""
        passes: list[ModulePass] = [CudaTileShareBlocksPass(self.ctas)] if self.ctas > 1 else []
        if self.known:
            passes.append(CudaTileBoundSizesPass(*zip(*self.known, strict=True)))
        if self.taken:
            passes.append(CudaTileMakePersistentPass(self.along_x, not self.last))
        module: Any = verified(bytecode, name)[0] if passes else bytecode
        for one in passes:
            one.apply(default_context(), module)
        return module


def _summed(entry: Entry, flat: Sequence[Any]) -> set[Any]:
    """The sizes of what a kernel reads through tensor maps that nothing has which it writes so."""
    written = {flat[place] for place in entry.written_sizes if flat}
    return {flat[place] for place in entry.sizes if written} - written


def _sharing(room: int, blocks: int) -> int:
    """The CTAs that share each of so many blocks where there is room for so many."""
    return 1 << min(max(room // blocks, 1), _MOST).bit_length() - 1


def compiled(
    bytecode: bytes,
    arch: str,
    name: str = "<bytecode>",
    schedule: BlockSchedule | None = None,
    accuracy: Accuracy = "libdevice",
) -> Kernel:
    """The kernel of bytecode, for a schedule of its blocks, with functions of an accuracy, from the
    cache of compiled kernels where it is there. Raises CompileError and TargetError."""
    schedule = schedule or BlockSchedule()

    def make() -> Any:
        module = schedule.rewritten(bytecode, name)
        kernel = compile(module, arch, name=name, unproven="ignore", accuracy=accuracy)
        return record_of(kernel)

    key = key_of(bytecode, arch=arch, schedule=repr(schedule), accuracy=accuracy)
    return kernel_of(cached(key, make), Kernel)


def scheduled(schedule: BlockSchedule, made: Callable[[BlockSchedule], Kernel]) -> list[Kernel]:
    """The kernel that is made for a schedule, and the one for its last blocks, if that is another
    one."""
    kernels = [made(replace(schedule, last=1))]
    if schedule.last > 1 and kernels[0].entry().takes_blocks == "alike":
        last = made(replace(schedule, ctas=schedule.last, last=0))
        if last.entry().ctas >= _WORTH * kernels[0].entry().ctas:
            kernels.append(last)
    return kernels


def launched(
    entries: Sequence[Entry], blocks: Extents, room: int | None = None
) -> list[tuple[Extents, Sequence[int]]]:
    """The grids of CTAs for a grid of blocks, of a kernel and of that for its last blocks, and what
    they are told of it; there is room for so many CTAs, without a number for one on each
    multiprocessor. No more take blocks that are alike than have one in each turn: of 2048 blocks
    128 CTAs take 16 turns, as 132 would, and neighbours, which share what they load, are rarely in
    two of them."""
    entry, total = entries[0], prod(blocks)
    if not entry.takes_blocks:
        return [(checked_extents("grid", entry.grid(blocks)), ())]
    most = max((room or launcher.multiprocessors()) // entry.ctas, 1)
    alike = len(entries) == 1 and entry.takes_blocks == "alike"
    turns = ceil(total / max(ceil(total / most), 1)) if alike else min(most, total)
    ends = [total - total % turns, total] if len(entries) > 1 else [total]
    return [
        (one.grid((min(end - first, turns), 1, 1)), (*blocks, first, end))
        for one, first, end in zip(entries, (0, *ends), ends, strict=False)
    ]


def start(
    kernels: Sequence[Kernel],
    flat: Sequence[tuple[str, Any]],
    grid: Extents,
    stream: Any = None,
    *,
    programmatic: bool = False,
) -> None:
    """Launch a kernel, and the one for its last blocks if there is one, on its flat parameters,
    which have names, without waiting for it but where arrays of NumPy, which are copied to the GPU
    and back, or lists are among them. `programmatic`: it may start before the kernel in front of it
    has ended.

    Raises ExecutionError for arguments that do not fit, `tilewright.LaunchError` where
    there is no GPU, where the launch fails, or a CUDA graph cannot have it, which stays as it was.
    """
    if any(isinstance(part, np.ndarray) for _, part in flat):
        kernels = kernels[:1]  # there and back once
    entries = [kernel.entry() for kernel in kernels]
    for kernel, entry, (ctas, told) in zip(kernels, entries, launched(entries, grid), strict=True):
        _start(kernel, entry, flat, ctas, told, stream, programmatic or kernel is not kernels[0])


def _start(
    kernel: Kernel,
    entry: Entry,
    flat: Sequence[tuple[str, Any]],
    grid: Extents,
    told: Sequence[int],
    stream: Any,
    programmatic: bool,
) -> None:
    block = entry.block or (1, 1, 1)
    check_launch(entry.name, grid, block, None, entry.cluster)
    handle = launcher.stream_handle(stream)
    _check_capture([part for _, part in flat], handle)
    function = kernel.load(entry)
    with launcher.device_memory() as memory, launcher.device_memory() as tables:
        args = [_table(part, tables) if isinstance(part, ArrayTable) else part for _, part in flat]
        args += told
        names = [name for name, _ in flat]
        named = [
            replace(parameter, name=name)
            for parameter, name in zip(entry.arguments, names, strict=False)
        ]
        binding = Binding([*named, *entry.arguments[len(names) :]], args, memory, on_gpu=True)
        values = entry.values(binding)
        function.start(values, grid, block, handle, programmatic=programmatic)
        if binding.placed:
            launcher.call("cuStreamSynchronize", handle)
            arrays: list[Any] = [part for part in flat if isinstance(part[1], np.ndarray)]
            contents = binding.results(memory.contents())
            for (_, array), content in zip(arrays, contents, strict=True):
                if array.flags.writeable:
                    np.copyto(array, content)


def _check_capture(parts: Sequence[Any], stream: int) -> None:
    """Raise LaunchError for what is copied to the GPU where a stream is being captured: a list in
    the words that cuTile has for it."""
    lists = any(isinstance(part, ArrayTable) for part in parts)
    copied = lists or any(isinstance(part, np.ndarray) for part in parts)
    if copied and launcher.is_capturing(stream):
        raise launcher.LaunchError(
            "List argument in CUDAGraph isn't supported yet"
            if lists
            else "expected arrays on the GPU in a CUDA graph, got one of NumPy"
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
