"""A driver and a back end of Triton that run kernels on the CPU: what Triton asks of a GPU's, as it
asks for them (`triton.runtime.driver`, `triton.backends`)."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, lru_cache
from importlib import import_module
from math import prod
from pathlib import Path
from threading import local
from types import SimpleNamespace
from typing import Any
from unittest import mock

from xdsl.dialects.builtin import i64

from tilewright.arguments.extents import Extents
from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.conversions import IntToPtrOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import chip_of
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import SHARED_MEMORY
from tilewright.lowering.interpreter.array_types import is_array
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.pipeline import TRITON_STAGES, run_pipeline
from tilewright.tile_kernel import find_entry
from tilewright.triton.items import are_apart, reached
from tilewright.triton.kept_modules import kept_module
from tilewright.triton.parameters import address_tables, flat, for_launch, memory


def backend() -> Any:
    """The back end, whose stages end behind TTIR."""
    ours: Any = import_module("tilewright.triton.compiler").Backend
    made_by = hashlib.sha256(Path(inspect.getfile(ours)).read_bytes()).hexdigest()

    class Backend(ours):
        """The back end that `triton.compile` asks."""

        def hash(self) -> str:
            """The name that texts are kept by: of the target, and of the module that makes them."""
            return f"{self.target.arch}-{made_by}"

        def add_stages(self, stages: dict[str, Any], *given: Any) -> None:
            """TTIR as its text at once, unless lines of its own file are to be a kernel's."""
            ours.add_stages(self, stages, *given)
            del stages["ptx"]
            knobs: Any = import_module("triton").knobs
            ttir, text = stages["ttir"], stages[self.binary_ext]

            def as_text(module: Any, metadata: Any) -> bytes:
                return module if isinstance(module, bytes) else text(module, metadata)

            def ttir_as_text(module: Any, metadata: Any) -> bytes:
                return text(ttir(module, metadata), metadata)

            stages[self.binary_ext] = as_text
            if not knobs.compilation.use_ir_loc:
                stages["ttir"] = ttir_as_text

    return Backend


_OF_THREAD = local()


@contextmanager
def passes_where_wanted() -> Generator[None]:
    """Let a thread's next pipeline have the passes alone that have something to do: inlining where
    functions were called, unrolling where there are loops, block pointers rewritten where some were
    made. For a small kernel these take a third of all passes' time."""
    passes: Any = import_module("triton._C.libtriton").passes
    generator: Any = import_module("triton.compiler.code_generator")
    semantic: Any = import_module("triton.language.semantic").TritonSemantic
    translate = generator.ast_to_ttir
    rows = (
        (generator.CodeGenerator, "call_JitFunction", passes.common, "add_inliner add_symbol_dce"),
        (generator.CodeGenerator, "visit_For", passes.ttir, "add_loop_unroll"),
        (semantic, "make_block_ptr", passes.ttir, "add_rewrite_tensor_pointer"),
    )

    def translated(*args: Any, **named: Any) -> Any:
        _OF_THREAD.asked = set[str]()
        return translate(*args, **named)

    def asking(method: str, own: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            _OF_THREAD.asked.add(method)
            return own(*args, **named)

        return call

    def wanted(method: str, own: Any) -> Any:
        def add(manager: Any) -> None:
            if method in getattr(_OF_THREAD, "asked", (method,)):  # none of a text that is read
                own(manager)

        return add

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(generator, "ast_to_ttir", translated))
        for class_, method, module, names in rows:
            if hasattr(class_, method):  # others are those of another release
                own = getattr(class_, method)
                stack.enter_context(mock.patch.object(class_, method, asking(method, own)))
                for name in names.split():
                    add = wanted(method, getattr(module, name))
                    stack.enter_context(mock.patch.object(module, name, add))
        yield


_FEW = 1 << 13
"""Elements that a launch accesses through pointers in less time than it takes to make views."""


class HostKernel:
    """A kernel: `entry` as it is kept."""

    def __init__(self, code: bytes, name: str):
        self._code, self._name = code, name
        self._module = module = kept_module(code, name)
        self.entry = find_entry(module, None, name)
        pointers = [
            op.source if isinstance(op, LoadPtrTkoOp) else op.destination
            for op in descendants(self.entry, (LoadPtrTkoOp, StorePtrTkoOp))
        ]
        self._elements = max((prod(shape_of(tile)) for tile in pointers), default=0)

    def of_launch(self, grid: Extents, values: Sequence[Any]) -> EntryOp:
        """The entry for the values of its parameters that is the quickest for a grid."""
        memories = [reached(value) for value in values if is_array(value)]
        apart = are_apart(range(len(memories)), memories)
        code = for_launch(self._code, values, apart=apart)
        if code != self._code:
            return _kernel(code, self._name).of_launch(grid, [])
        return self.entry if prod(grid) * self._elements <= _FEW else self.viewed

    @cached_property
    def viewed(self) -> EntryOp:
        """The entry whose tiles of pointers are tiles of views. Raises CompileError."""
        module = self._module.clone()
        run_pipeline(module, "", stages=TRITON_STAGES[1:])
        return find_entry(module, None, self._name)

    def placed(self, values: Sequence[Any]) -> Sequence[Any]:
        """The values of its parameters, where it makes pointers of numbers as tables of addresses:
        those of tensors of torch."""
        if not descendants(self.entry, IntToPtrOp):
            return values
        types: Sequence[Any] = self.entry.body.block.arg_types
        pointed = [getattr(type_.element_type, "pointee_type", None) for type_ in types]
        places = [i for i, pointee in enumerate(pointed) if pointee == i64]
        tables = dict(zip(places, address_tables([values[i] for i in places]), strict=True))
        return [tables.get(i, value) for i, value in enumerate(values)]


Run = Callable[[HostKernel, Extents, Sequence[tuple[str, Any]]], None]
"""Runs a kernel for a grid on its parameters, which have names for diagnostics."""
Time = Callable[[HostKernel, Extents, Sequence[tuple[str, Any]]], float]
"""The microseconds that this takes."""


def _launcher(source: Any, metadata: Any) -> Callable[..., None]:
    """The launcher of a kernel, by the driver that is active then: of its source Triton says the
    types of its arguments."""
    signature = source.signature

    def launch(
        x: int, y: int, z: int, stream: int, kernel: Any, packed: Any, told: Any,
        enter: Callable[[Any], Any] | None, leave: Callable[[Any], Any] | None, *args: Any,
    ) -> None:  # fmt: skip
        del stream, packed
        driver = import_module("triton.runtime.driver").driver.active
        rows = zip(signature.items(), args, strict=True)
        parameters = [
            pair for (name, type_), arg in rows for pair in flat(name, type_, arg, memory)
        ]
        driver.launches += 1
        if enter is not None:
            enter(told)
        if x * y * z:
            driver.run(kernel, (x, y, z), parameters)
        if leave is not None:
            leave(told)

    return launch


class HostDriver:
    """The device that is at work, as Triton asks for it. `launches` counts them."""

    def __init__(self, run: Run, time: Time, capability: int):
        self.launches = 0
        self._run = run
        self._time = time
        self._times: dict[Any, float] = {}
        self.launcher_cls = _launcher
        self.utils = SimpleNamespace(
            load_binary=_load_binary, unload_module=_unload_module,
            get_device_properties=self._get_device_properties,
        )  # fmt: skip
        self._capability = capability

    def run(self, kernel: HostKernel, grid: Extents, values: Sequence[tuple[str, Any]]) -> None:
        """Run a kernel, which may change what times depend on."""
        self._times.clear()
        self._run(kernel, grid, values)

    @staticmethod
    def is_active() -> bool:
        """True where it is registered."""
        return True

    def get_current_target(self) -> Any:
        """The target of kernels."""
        target = import_module("triton.backends.compiler").GPUTarget
        return target("cuda", self._capability, 32)

    def get_current_device(self) -> int:
        """The number of the device, which no GPU has: kernels are kept apart by it."""
        return -self._capability

    def set_current_device(self, device: int) -> None:
        """There is one."""

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        """The capability that the device says it has."""
        return self._capability // 10, self._capability % 10

    def get_current_stream(self, device: int) -> int:
        """The number of the stream: nothing runs behind the script's back."""
        return 0

    def get_active_torch_device(self) -> Any:
        """The device on which torch keeps tensors."""
        return import_module("torch").device("cpu")

    def _get_device_properties(self, device: int) -> dict[str, int]:
        """Those of a GPU of the capability, whatever the number that a script calls it by."""
        most = SHARED_MEMORY[self._capability].dynamic
        count = chip_of(self.get_device_capability()).count
        return {"max_shared_mem": most, "multiprocessor_count": count, "warpSize": 32}

    def get_device_interface(self) -> Any:
        """The part of `torch.cuda` that `triton.testing` asks for."""
        from tilewright.cutile.device import HostEvent

        return SimpleNamespace(
            Event=HostEvent, synchronize=lambda: None, current_device=self.get_current_device
        )

    def get_benchmarker(self) -> Any:
        """The clock of `triton.autotune`."""
        return self._milliseconds

    def _milliseconds(self, call: Callable[[], Any], quantiles: Any = (), **_: Any) -> Any:
        """The time of the launches of a call, which do not run: that of configurations that make
        one kernel, as those of other `num_stages` do, is found once."""
        taken: list[float] = []

        def timed(kernel: HostKernel, grid: Extents, parameters: Sequence[tuple[str, Any]]) -> None:
            words = [value.ctypes.data if is_array(value) else value for _, value in parameters]
            if (key := (kernel, grid, *words)) not in self._times:
                self._times[key] = self._time(kernel, grid, parameters)
            taken.append(self._times[key] / 1e3)

        with mock.patch.object(self, "run", timed):
            call()
        return [sum(taken)] * len(quantiles) if quantiles else sum(taken)

    def get_empty_cache_for_benchmark(self) -> Any:
        """There is no cache to clear."""
        return None

    def clear_cache(self, cache: Any) -> None:
        """There is none."""


_kernel = lru_cache(maxsize=64)(HostKernel)
"""Sweeps of parameters compile the same text again and again."""


def _load_binary(name: str, code: bytes, shared: int, device: int) -> tuple[Any, ...]:
    """A kernel's module and the kernel; no registers, no spills, and threads of a block at most."""
    kernel = _kernel(code, name)
    return kernel, kernel, 0, 0, 1024


def _unload_module(_: Any) -> None:
    """The module goes with the kernels that hold it."""
