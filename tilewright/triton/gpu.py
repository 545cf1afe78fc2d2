"""Triton kernels on the GPU of this machine: TTIR through tilewright's PTX, and its launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib import import_module
from threading import Lock
from typing import Any

from tilewright.cutile.gpu import BlockSchedule, compiled, launched, scheduled
from tilewright.dialects.cuda_tile.types import PointerType
from tilewright.dialects.frozen import factory, frozen
from tilewright.dialects.illegal import told
from tilewright.dialects.sequences import paired
from tilewright.kernel import Kernel
from tilewright.launch import launcher
from tilewright.launch.kernel import Extents
from tilewright.launch.known_launches import MOST, Items, kept
from tilewright.launch.plan import LaunchPlan, LaunchTemplate
from tilewright.lowering.triton.descriptors import WHOLE
from tilewright.source.diagnostic import ArgumentError, CompileError
from tilewright.triton.items import (
    FREE,
    are_apart,
    items_of,
    reached,
    reached_address,
    word_of,
)
from tilewright.triton.parameters import flat, for_launch

_PROPERTIES = {
    "max_shared_mem": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "max_num_regs": "MAX_REGISTERS_PER_BLOCK",
    "multiprocessor_count": "MULTIPROCESSOR_COUNT",
    "warpSize": "WARP_SIZE",
    "sm_clock_rate": "CLOCK_RATE",
    "mem_clock_rate": "MEMORY_CLOCK_RATE",
    "mem_bus_width": "GLOBAL_MEMORY_BUS_WIDTH",
}
"""Triton's names of the attributes of a device, and the driver's."""


def properties(device: int) -> dict[str, int]:
    """The device as Triton describes it."""
    return {
        name: launcher.device_attribute(attribute, device)
        for name, attribute in _PROPERTIES.items()
    }


@lru_cache(MOST)
def kernel_of(
    code: bytes, name: str, capability: int, schedule: BlockSchedule | None = None
) -> Kernel:
    """The kernel of a text of TTIR for a compute capability, 90, and a schedule of its blocks.
    Raises CompileError, which is one of Triton's errors too, so that `triton.autotune` passes over
    a configuration that is refused."""
    try:
        return compiled(code, launcher.own_target(*divmod(capability, 10)), name, schedule)
    except CompileError as error:
        raise _compiler_error()(error) from None


@cache
def _compiler_error() -> Callable[[CompileError], CompileError]:
    """Makes the CompileError that is Triton's PTXASError too."""
    theirs: Any = import_module("triton.runtime.errors").PTXASError

    class TritonCompileError(CompileError, theirs):
        def __init__(self, error: CompileError):
            CompileError.__init__(self, error.diagnostic, error.further)

        __str__ = ValueError.__str__

    return TritonCompileError


def of_whole_shapes(code: bytes) -> bytes:
    """A text of TTIR for launches on descriptors whose sizes are multiples of 16."""
    return code.replace(f"{WHOLE} = false".encode(), f"{WHOLE} = true".encode())


_LOCK = Lock()


class DeviceKernel:
    """A kernel on a GPU, what Triton calls a function, and how it is launched on the grids that
    there were, on which more than the sign of a number has an influence at places that are
    `deciding`."""

    def __init__(self, code: bytes, name: str, capability: int):
        self.code, self.name, self.capability = code, name, capability
        self._plans: dict[Any, LaunchPlan] = {}
        self.deciding = frozenset[int]()
        self._kernel = kernel_of(of_whole_shapes(code), name, capability)
        self._apart: dict[bool, list[int]] = {}
        arguments = enumerate(self._kernel.entry().arguments)
        self._numbers = [i for i, one in arguments if not isinstance(one.type, PointerType)]

    def registers(self) -> tuple[int, int]:
        """The registers of a thread as it is given them, eight at a time, so that a grid of as many
        blocks as share the GPU is one wave; and those that it keeps in memory."""
        registers, spilled = self._kernel.load(self._kernel.entry()).registers()
        return -(-registers // 8) * 8, spilled

    def to_be_apart(self, whole: bool) -> Sequence[int]:
        """The places of the pointers that are written through, where it is of account what other
        pointers reach; of descriptors `whole` sizes are multiples of 16."""
        if whole not in self._apart:
            code = of_whole_shapes(self.code) if whole else self.code
            kernel = kernel_of(code, self.name, self.capability)
            entry, matters = kernel.entry(), any(one.kind == "order" for one in kernel.remarks)
            sources = [entry.parts[i].source for i in entry.written if matters and entry.parts]
            self._apart[whole] = sorted({one.index.data for one in sources if one is not None})
        return self._apart[whole]

    def template(
        self, grid: Extents, values: Sequence[Any], number_of: Mapping[int, int], *, whole: bool,
        apart: bool, programmatic: bool, cooperative: bool,
    ) -> LaunchTemplate:  # fmt: skip
        """A launch of programs, `cooperative` ones at once, but for words that it is given, which
        have numbers by their places; what is to be apart is so, or not. Raises ArgumentError and
        LaunchError."""
        code = of_whole_shapes(self.code) if whole else self.code
        plan = self._plan(grid, cooperative, for_launch(code, values, apart=apart), values)
        return plan.template(
            values, self._numbers, number_of, programmatic=programmatic, cooperative=cooperative
        )

    def _plan(
        self, grid: Extents, cooperative: bool, code: bytes, values: Sequence[Any]
    ) -> LaunchPlan:
        kernel = kernel_of(code, self.name, self.capability)
        schedule = BlockSchedule()
        if not cooperative:
            schedule = BlockSchedule.of(kernel, grid, values)
        if (known := self._plans.get((grid, schedule, code))) is not None:
            return known
        made = [kernel]
        if schedule != BlockSchedule():
            made = scheduled(schedule, partial(kernel_of, code, self.name, self.capability))
        plan = LaunchPlan.of(made)
        assert plan is not None  # entries of Tile IR take pointers, numbers, and maps of them
        plan = plan.on_grids(launched(plan.entries, grid))
        with _LOCK:
            if more := {*kernel.entry().sizes, *plan.deciding} - self.deciding:
                self.deciding |= more
        return kept(self._plans, (grid, schedule, code), plan)


Launch = tuple[LaunchTemplate, Sequence[int] | None]
"""A launch, and the numbers of the words that are addresses of what no other one reaches, if that
is of account; None where another one does, or nothing is known of arguments: it is not for others
then."""


@frozen
class Reading:
    """How arguments are read while numbers at some places are `deciding`: where all but constants
    are plain, their places, names and types, a number that has to be as before without one; and the
    launches that are `known` by the grid and what was read."""

    deciding: frozenset[int] | None = None
    rows: Sequence[tuple[int, str, str]] = ()
    known: dict[Any, Launch] = factory(dict)


class KernelLauncher:
    """The launcher of a kernel, of whose arguments Triton's signature says the types; `places` are
    those of all but constants. Where all are `plain`, pointers, integers and floats, those are
    their places, names and types, and each has a word. Whoever holds a compiled kernel may launch
    it, from any thread: the `reading` is replaced as a whole."""

    def __init__(self, signature: Mapping[str, Any], metadata: Any):
        self.signature, self.driver = signature, import_module("triton.runtime.driver").driver
        own = [(i, *row) for i, row in enumerate(signature.items()) if row[1] != "constexpr"]
        self.places = [i for i, *_ in own]
        self.plain: list[tuple[int, str, str]] = []
        if all(isinstance(type_, str) and type_[0] in "*if" and type_ != "i1" for *_, type_ in own):
            self.plain = own
        self.reading = Reading()
        types = enumerate(signature.values())
        self.descriptors = [i for i, type_ in types if "tensordesc" in str(type_)]
        self.how = {
            "programmatic": metadata.launch_pdl,
            "cooperative": metadata.launch_cooperative_grid,
        }

    def launch(
        self, kernel: DeviceKernel, grid: Extents, args: Sequence[Any]
    ) -> tuple[Launch, list[int]]:
        """A launch on the arguments of all of Triton's parameters, as before where there was one
        like it; and the words that it is given. Raises ArgumentError."""
        if len(args) != len(self.signature):
            names = ", ".join(self.signature)
            raise ArgumentError(f"expected arguments {names}, constants too, got {len(args)}")
        reading = self.reading
        if (deciding := kernel.deciding) is not reading.deciding:
            free = {x for x, row in enumerate(self.plain) if row[2] in FREE and x not in deciding}
            rows = [
                (i, name, type_ if place in free else type_[0] * (type_[0] == "*"))
                for place, (i, name, type_) in enumerate(self.plain)
            ]
            self.reading = reading = Reading(deciding, rows)
        words: list[int] = []
        key = kernel, grid, self._items(reading, args, words)
        known = reading.known.get(key)
        if known is None or (known[1] and not are_apart(known[1], self._memories(args))):
            known = self._made(kernel, grid, args, None if key[2] is None else reading)
            if kernel.deciding is not deciding:
                return self.launch(kernel, grid, args)
            if known[1] is not None:
                kept(reading.known, key, known)
        return known, words

    def _items(self, reading: Reading, args: Sequence[Any], words: list[int]) -> Items | None:
        """The items that a launch is known by, None if by none; its words are added to others."""
        items: list[Any] = []
        if not self.plain:
            read = items_of([args[i] for i in self.places], items)
            pairs = [*paired(items)]
            words += [address for address, array in pairs if array is not None]
            return read and (read, *[number for number, array in pairs if array is None])
        for i, name, type_ in reading.rows:
            argument = args[i]
            if type_ == "*":
                on_gpu = getattr(argument, "is_cuda", False)
                words.append(argument.data_ptr() if on_gpu else _address(name, argument))
            elif (word := word_of(type_, argument)) is None:
                return None
            else:
                items.append(word[0])
                words.append(word[1])
        return tuple(items)

    def _memories(self, args: Sequence[Any]) -> list[range]:
        """The memory that each word reaches."""
        if self.plain:
            return [reached(args[i]) if type_[0] == "*" else range(0) for i, _, type_ in self.plain]
        arrays: list[Any] = []
        items_of([args[i] for i in self.places], arrays)
        return [reached(array) for array in arrays[1::2] if array is not None]

    def array_words(self, args: Sequence[Any]) -> dict[int, int]:
        """The numbers of the words that are addresses of arrays, by their places among the flat
        arguments."""
        marked = self._values(args, lambda _, arg: ... if hasattr(arg, "data_ptr") else None)
        places = [place for place, value in enumerate(marked) if value is ...]
        return {place: place if self.plain else number for number, place in enumerate(places)}

    def _made(
        self, kernel: DeviceKernel, grid: Extents, args: Sequence[Any], reading: Reading | None
    ) -> Launch:
        """A launch, which is given words as they were read, or of these arguments alone."""
        shapes = [getattr(args[i], "shape", (1,)) for i in self.descriptors]  # or in a tuple
        whole = all(size % 16 == 0 for shape in shapes for size in shape)
        written, memories = kernel.to_be_apart(whole), list[range]()
        if written:
            told = self._values(args, lambda _, arg: reached(arg))
            memories = [one if isinstance(one, range) else range(0) for one in told]
        apart, own = are_apart(written, memories), self.array_words(args)
        words = own if reading else {}
        if reading and self.plain:
            words = {place: place for place, (*_, type_) in enumerate(reading.rows) if type_}
        values = self._values(args)
        made = kernel.template(grid, values, words, whole=whole, apart=apart, **self.how)
        return made, [own[i] for i in written if i in own] if apart and reading else None

    def _values(
        self, args: Sequence[Any], pointer: Callable[[str, Any], Any] | None = None
    ) -> list[Any]:
        rows = zip(self.signature.items(), args, strict=True)
        parts = [flat(name, type_, arg, pointer or _address) for (name, type_), arg in rows]
        return [value for part in parts for _, value in part]

    def __call__(
        self, x: int, y: int, z: int, stream: int, kernel: DeviceKernel, packed: Any, told: Any,
        enter: Callable[[Any], Any] | None, leave: Callable[[Any], Any] | None, *args: Any,
    ) -> None:  # fmt: skip
        """Launch as Triton asks for it."""
        del packed
        if enter is not None:
            enter(told)
        self.start(kernel, (x, y, z), args, stream)
        if leave is not None:
            leave(told)

    def start(
        self, kernel: DeviceKernel, grid: Extents, args: Sequence[Any], stream: int | None = None
    ) -> None:
        """Launch on a stream, without one the device's, and tell no hooks."""
        active = self.driver.active
        active.launches += 1
        if 0 not in grid:
            (template, _), words = self.launch(kernel, grid, args)
            if (own := stream) is None:
                own = active.get_current_stream(active.get_current_device())
            template.start(words, own)


def _address(name: str, argument: Any) -> int:
    """The address that an argument is. Raises ArgumentError where the GPU does not reach it."""
    if argument is None or isinstance(argument, int):
        return argument or 0
    if (address := reached_address(argument)) is None:
        raise ArgumentError(
            f"'{name}' expected memory that the GPU reaches, got {told(argument)} (Pointer "
            "argument cannot be accessed from Triton (cpu tensor?))"
        )
    return address
