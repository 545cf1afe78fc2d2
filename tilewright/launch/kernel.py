"""Compiled kernels: their PTX, what they take, and their launch on the GPU of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import StringAttr

from tilewright.arguments.options import checked
from tilewright.arguments.parameters import Parameter, own_parameters
from tilewright.dialects.cute.types.argument import ARGUMENT, signature_of
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import STATIC_SHARED_LIMIT
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.control_flow import TAKES_BLOCKS, EntryOp, block_ctas
from tilewright.launch import launcher
from tilewright.passes.analysis.written_parameters import written_parameters
from tilewright.source.diagnostic import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tilewright.arguments.binding import Binding
    from tilewright.launch.ptxas import KernelResources
    from tilewright.passes.cuda_tile.analysis.remarks import Remark

Extents = tuple[int, int, int]
_WGMMA = "ptx.wgmma.mma_async"


def _sizes(parameters: Iterable[Parameter]) -> tuple[int, ...]:
    """The numbers of the arguments that are sizes of the tensors of maps."""
    sources = [parameter.source for parameter in parameters if parameter.source is not None]
    modes = [source.modes.data for source in sources if source.part.data == "flat_map"]
    sizes = [size for own in modes for size in zip(own[::4], own[1::4], strict=True)]
    return tuple(sorted({place.data for kind, place in sizes if kind.data == ARGUMENT}))


@frozen
class Entry:
    """A kernel of compiled code: its name, its parameters as (name, PTX type) in order, its shared
    memory in bytes, and the block size and the cluster that it asks for, if any; each block of its
    callers' grid is `ctas` CTAs along x, or, of one that takes blocks, these take them in turn, as
    `TAKES_BLOCKS` says. `by_warpgroups`: it multiplies by wgmma. `written` are the
    numbers of the parameters through which it may write, `sizes` those of the arguments that are
    sizes of the tensors of its maps, `written_sizes` of those that it writes.

    `arguments` are what its callers give it: the parameters that it had before it was compiled. Of
    those, each of its own is the one in its place, or the part that `parts` says."""

    name: str
    parameters: tuple[tuple[str, str], ...] = field(repr=False)
    shared_bytes: int
    block: Extents | None
    cluster: Extents | None
    arguments: tuple[Parameter, ...] = field(repr=False)
    parts: tuple[Parameter, ...] | None = field(default=None, repr=False)
    ctas: int = 1
    takes_blocks: str = ""
    by_warpgroups: bool = False
    written: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    written_sizes: tuple[int, ...] = ()

    @classmethod
    def of(cls, op: EntryOp, arguments: Sequence[Parameter]) -> Entry:
        """The kernel that a `ptx.entry` is."""
        own = own_parameters(op)
        block, cluster = (
            None if size is None else tuple(size.get_values()) for size in (op.reqntid, op.cluster)
        )
        taken, written = op.attributes.get(TAKES_BLOCKS), written_parameters(op)
        assert isinstance(taken, StringAttr | None)
        return cls(
            op.sym_name.data,
            tuple((parameter.name, parameter.text) for parameter in own),
            op.shared.value.data,
            block,  # type: ignore[arg-type]
            cluster,  # type: ignore[arg-type]
            tuple(arguments),
            None if signature_of(op) is None else tuple(own),
            block_ctas(op),
            "" if taken is None else taken.data,
            any(inner.name == _WGMMA for inner in op.walk()),
            written,
            _sizes(own),
            _sizes(own[number] for number in written),
        )

    def grid(self, blocks: Extents) -> Extents:
        """The CTAs of a grid of so many blocks."""
        x, y, z = blocks
        return x * self.ctas, y, z

    @property
    def dynamic_shared_bytes(self) -> int:
        """The bytes that a launch must reserve: all of it where it is more than a static array may
        be."""
        return self.shared_bytes if self.shared_bytes > STATIC_SHARED_LIMIT else 0

    def values(self, binding: Binding) -> list[Any]:
        """The driver's argument for each parameter: bits, addresses and tensor maps. Raises
        ArgumentError for an array on the GPU that the kernel may write and nobody may."""
        from tilewright.arguments.binding import written_read_only
        from tilewright.arguments.bound import Mapped, Placed

        bound = binding.values if self.parts is None else binding.parts(self.parts)
        for number in self.written:
            value = bound[number]
            if isinstance(value, Placed | Mapped) and value.read_only:
                raise written_read_only(self.parameters[number][0])
        return [
            value.content
            if text.startswith("bytes") and isinstance(value, Placed)
            else value.address
            if isinstance(value, Placed)
            else value.handle
            if isinstance(value, Mapped)
            else value
            for (_, text), value in zip(self.parameters, bound, strict=True)
        ]


@dataclass(frozen=True)
class CompiledCode:
    """All of `tilewright.Kernel` but its report."""

    ptx: str = field(repr=False)
    entries: tuple[Entry, ...]
    arch: str
    remarks: tuple[Remark, ...] = ()
    made_from: Any = field(default=None, compare=False, repr=False)
    _loaded: dict[Any, Any] = field(default_factory=dict[Any, Any], compare=False, repr=False)

    @property
    def resources(self) -> Mapping[str, KernelResources] | None:
        """The registers, the spills and the memory of each kernel by its name, as ptxas has them,
        which is asked once; None where there is none."""
        from tilewright.launch.ptxas import PtxasNotFound, assemble

        if "resources" not in self._loaded:
            try:
                self._loaded["resources"] = assemble(self.ptx, self.arch).kernels
            except PtxasNotFound:
                return None
        return self._loaded["resources"]

    @property
    def shared_bytes(self) -> int:
        """The shared memory of the kernel that needs most, in bytes."""
        return max((entry.shared_bytes for entry in self.entries), default=0)

    @checked()
    def entry(self, name: str | None = None) -> Entry:
        """The kernel of that name; without one, the only kernel. Raises ArgumentError otherwise."""
        named = [entry for entry in self.entries if name in (None, entry.name)]
        if len(named) != 1:
            names = ", ".join(entry.name for entry in self.entries)
            raise ArgumentError(f"expected the name of one kernel, got {name!r}; legal: {names}")
        return named[0]

    @checked()
    def load(self, entry: Entry) -> launcher.DeviceFunction:
        """A kernel on the GPU of this machine, ready to start; PTX is assembled on first use.

        Raises `tilewright.LaunchError`.
        """
        # A context is one of a process, which may have forked.
        where = (os.getpid(), launcher.current_context())
        if where not in self._loaded:
            self._loaded[where] = launcher.load(self.ptx)
        if (where, entry.name) not in self._loaded:
            types = [type_ for _, type_ in entry.parameters]
            self._loaded[where, entry.name] = launcher.function(
                self._loaded[where], entry.name, types, entry.dynamic_shared_bytes
            )
        return self._loaded[where, entry.name]

    @checked()
    def launch(
        self, *args: Any, grid: Sequence[int], block: Sequence[int], kernel: str | None = None
    ) -> list[NDArray[np.generic]]:
        """Run a kernel on the GPU of this machine, as `tilewright.interpret` runs it on the CPU.

        `args` are what it takes there: a NumPy array for each memref (copied to the GPU and back),
        a `TensorMap` for each `tma_descriptor`, a number for each scalar; of a kernel that was
        lowered from the tile level those that it had there. Arrays on the GPU (torch tensors,
        `__cuda_array_interface__`) are used in place. Returns the NumPy arrays after the run;
        those that overlap are one memory.

        Needs the `gpu` extra and a CUDA driver. Raises `tilewright.ArgumentError` for wrong
        arguments, as `interpret` does, and `tilewright.LaunchError` where there is no GPU,
        or where the launch fails.
        """
        from tilewright.arguments.binding import Binding
        from tilewright.arguments.extents import check_launch, checked_extents

        entry = self.entry(kernel)
        threads = cast("Extents", block)
        ctas = checked_extents("grid", entry.grid(cast("Extents", grid)))
        check_launch(entry.name, ctas, threads, entry.block, entry.cluster)
        function = self.load(entry)
        with launcher.device_memory() as memory:
            binding = Binding(entry.arguments, args, memory, on_gpu=True)
            function.start(entry.values(binding), ctas, threads)
            launcher.synchronize()
            return binding.results(memory.contents())
