"""The stand-in for a GPU that a cuTile Python script finds: torch and cuTile answer as if there was
one.

Tensors for "cuda" are made on the CPU. Products, attention and layer norms in half precision, which
a GPU's libraries sum in wider numbers, are computed in float64 and rounded once: torch's own on the
CPU round partial sums to the half type (a weight's gradient of `layer_norm` in bf16 is off by 0.4
where the sum is 30). Events are read off this machine's clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from tilewright.cutile.compiler_errors import compiler_errors
from tilewright.cutile.gpu import compiled
from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import chip_of
from tilewright.launch.launcher import LaunchError, own_target
from tilewright.launch.ptxas import assemble

Capability = tuple[int, int]
HOPPER: Capability = (9, 0)
_BYTECODE = "V_13_4"


class HostEvent:
    """torch.cuda.Event: when it was recorded."""

    def __init__(self, *_: Any, **__: Any):
        self._seconds = 0.0

    def record(self, *_: Any) -> None:
        """Take the time."""
        self._seconds = time.perf_counter()

    def elapsed_time(self, end: HostEvent) -> float:
        """Milliseconds between two events."""
        return 1e3 * (end._seconds - self._seconds)

    def synchronize(self) -> None:
        """Nothing runs behind the script's back."""

    def query(self) -> bool:
        """True where all before it is done."""
        return True


class HostStream:
    """torch.cuda.Stream: a launch on it is done when it returns."""

    cuda_stream = 0

    def __init__(self, *_: Any, **__: Any):
        pass

    def record_event(self, event: HostEvent | None = None) -> HostEvent:
        """Take the time."""
        event = event or HostEvent()
        event.record()
        return event

    def synchronize(self, *_: Any) -> None:
        """Nothing runs behind the script's back."""

    wait_stream = wait_event = synchronize

    def query(self) -> bool:
        """True where all on it is done."""
        return True


def _answers(capability: Capability) -> dict[str, Any]:
    """The device as torch.cuda describes it: one that cuTile knows."""
    major, minor = capability
    count = chip_of(capability).count
    chip = SimpleNamespace(name="tilewright", major=major, minor=minor, multi_processor_count=count)
    return {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "current_stream": HostStream(),
        "default_stream": HostStream(),
        "synchronize": None,
        "set_device": None,
        "reset_peak_memory_stats": None,
        "is_current_stream_capturing": False,
        "get_device_name": "tilewright",
        "get_device_capability": capability,
        "is_bf16_supported": major >= 8,
        "get_device_properties": chip,
    }


def _assemble(args: Sequence[str], flags: Sequence[str], *_: Any) -> None:
    """Compile a file of bytecode into one of machine code, `IN -o OUT`, for the GPU that flags
    name, as tileiras does. Raises cuTile's error of its compiler."""
    source, to = args[0], args[2]
    number = flags[flags.index("--gpu-name") + 1].removeprefix("sm_")
    with compiler_errors():
        kernel = compiled(Path(source).read_bytes(), own_target(int(number[:-1]), int(number[-1])))
    Path(to).write_bytes(assemble(kernel.ptx, kernel.arch, verbose=False).cubin)


@contextmanager
def cutile_answers(capability: Capability) -> Generator[None]:
    """Let cuTile itself say that there is a GPU, and a compiler for it, which is ours."""
    cext, compile_ = import_module("cuda.tile._cext"), import_module("cuda.tile._compile")
    version = getattr(import_module("cuda.tile._bytecode.version").BytecodeVersion, _BYTECODE)
    compiler = SimpleNamespace(path="tilewright", run=_assemble)
    answers = [
        (compile_, "_find_compiler_bin", _answering(compiler)),
        (cext, "get_compute_capability", _answering(capability)),
        (compile_, "_get_max_supported_bytecode_version", _answering(version)),
    ]
    if find_spec("jax"):
        answers.append((import_module("cuda.tile.jax._jax"), "compile_kernel", _refuse_jax))
    with ExitStack() as stack:
        for module, name, answer in answers:
            stack.enter_context(mock.patch.object(module, name, answer))
        yield


def _refuse_jax(*_: Any) -> Any:
    """Raise LaunchError: XLA launches what tileiras makes, whose parameters are others."""
    raise LaunchError(
        "expected a launch by ct.launch, got JAX's cutile_call (XLA launches machine code of "
        "tileiras alone); nearest legal: ct.launch on the arrays"
    )


@contextmanager
def tensors_on_cpu(capability: Capability = HOPPER) -> Generator[None]:
    """Let torch keep on the CPU what is asked for on a CUDA device, and say that it is there."""
    torch: Any = import_module("torch")
    mode: Any = import_module("torch.overrides").TorchFunctionMode
    products, others = _wide_functions(torch)
    devices, tensor = (str, torch.device), torch.Tensor
    answers = {tensor.is_cuda.__get__: True, tensor.device.__get__: torch.device("cuda", 0)}

    def here(value: Any) -> Any:
        return "cpu" if isinstance(value, devices) and "cuda" in str(value) else value

    class OnCpu(mode):
        """Takes "cpu" for "cuda" in every call of torch."""

        def __torch_function__(
            self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if func in answers:
                return answers[func]
            if func == tensor.cuda:
                return args[0]
            if func is torch.device:
                return func(*args, **kwargs or {})
            if len(args) == 1 and type(args[0]) is tensor and not kwargs:
                return func(*args)  # most calls, such as of each element that is looked at
            args = [*map(here, args)]
            named = {name: here(value) for name, value in kwargs.items()} if kwargs else {}
            if func in products or func in others:
                return _in_float64(torch, func, args, named, product=func in products)
            return func(*args, **named)

    class HostGenerator(torch.Generator):
        """Numbers by chance for tensors on "cuda"."""

        def __new__(cls, device: Any = "cpu") -> Any:
            made: Any = torch.Generator.__new__(cls, here(device))
            return made

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(torch, "Generator", HostGenerator))
        # References that ask for attention by a GPU's library get the CPU's.
        attention = import_module("torch.nn.attention")
        stack.enter_context(mock.patch.object(attention, "sdpa_kernel", _no_choice))
        seed = torch.default_generator.manual_seed
        for name, stand_in in (
            ("Event", HostEvent), ("Stream", HostStream), ("stream", nullcontext),
            ("device", nullcontext), ("device_of", nullcontext), ("_DeviceGuard", nullcontext),
            ("manual_seed", seed), ("manual_seed_all", seed),
        ):  # fmt: skip
            stack.enter_context(mock.patch.object(torch.cuda, name, stand_in))
        # TorchInductor's kernels have the stream and memory so, which torch for the CPU has not.
        own, guards = torch._C, torch._C._dynamo.guards
        for module, name, stand_in in (
            (own, "_cuda_getCurrentRawStream", _answering(0)),
            (guards, "_empty_strided_cuda", guards._empty_strided_cpu),
        ):
            stack.enter_context(mock.patch.object(module, name, stand_in, create=True))
        for name, answer in _answers(capability).items():
            answering = mock.Mock(return_value=answer)
            stack.enter_context(mock.patch.object(torch.cuda, name, answering))
        stack.enter_context(OnCpu())
        yield


def _wide_functions(torch: Any) -> tuple[frozenset[Any], frozenset[Any]]:
    """The functions of torch that a GPU's libraries sum in wider numbers: matrix products, whose
    f32 operands may become tf32, and others."""
    names = ("matmul", "mm", "bmm", "__matmul__", "__rmatmul__")
    products = [getattr(owner, name, None) for owner in (torch, torch.Tensor) for name in names]
    functions = torch.nn.functional
    return (
        frozenset(func for func in [*products, functions.linear] if func is not None),
        frozenset([functions.layer_norm, functions.scaled_dot_product_attention]),
    )


def _in_float64(
    torch: Any, func: Callable[..., Any], args: Any, named: Any, *, product: bool
) -> Any:
    """A function of tensors in float64, rounded once to the type of the first, or to that asked
    for."""
    floats = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    tensors = [value for value in (*args, *named.values()) if isinstance(value, torch.Tensor)]
    if not tensors or any(tensor.dtype not in floats for tensor in tensors):
        return func(*args, **named)
    tf32 = product and torch.get_float32_matmul_precision() != "highest"

    def wide(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        rounded = _as_tf32(torch, value) if tf32 and value.dtype == torch.float32 else value
        return rounded.to(torch.float64)

    wide_named = {name: wide(value) for name, value in named.items() if name != "out_dtype"}
    return func(*map(wide, args), **wide_named).to(named.get("out_dtype", tensors[0].dtype))


def _as_tf32(torch: Any, tensor: Any) -> Any:
    """f32 rounded to the ten fraction bits of tf32, to nearest even."""
    words = tensor.detach().contiguous().view(torch.int32)
    return ((words + 0xFFF + (words >> 13 & 1)) & ~0x1FFF).view(torch.float32)


def _answering(answer: Any) -> Callable[..., Any]:
    return lambda *_, **__: answer


@contextmanager
def _no_choice(*_: Any, **__: Any) -> Generator[None]:
    yield
