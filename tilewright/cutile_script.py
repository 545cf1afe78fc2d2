"""Runs a cuTile Python script that expects a GPU on the CPU, as it stands.

    python -m tilewright.cutile_script samples/MatMul.py --correctness-check

`ct.launch` runs kernels here (`tilewright.cutile.on_cpu`), and torch makes the tensors that a
script asks for on "cuda" on the CPU. Needs torch beside the extra `cutile`.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from tilewright.cutile import on_cpu

Capability = tuple[int, int]
HOPPER: Capability = (9, 0)
_BYTECODE = "V_13_4"


def _answers(capability: Capability) -> dict[str, Any]:
    """The device as torch.cuda describes it: one that cuTile knows."""
    major, minor = capability
    chip = SimpleNamespace(name="tilewright", major=major, minor=minor, multi_processor_count=132)
    return {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "current_stream": None,
        "synchronize": None,
        "get_device_capability": capability,
        "get_device_properties": chip,
    }


def _on_cuda(value: Any) -> bool:
    """True where a value names a CUDA device."""
    return (isinstance(value, str) or type(value).__name__ == "device") and "cuda" in str(value)


def _answering(answer: Any) -> Callable[..., Any]:
    return lambda *_, **__: answer


def _no_choice(*_: Any, **__: Any) -> AbstractContextManager[None]:
    return nullcontext()


def _capability(text: str) -> Capability:
    major, _, minor = text.partition(".")
    if not (major.isdecimal() and (minor or "0").isdecimal()):
        raise argparse.ArgumentTypeError(
            f"expected a compute capability such as 10.0, got '{text}'"
        )
    return int(major), int(minor or "0")


@contextmanager
def cutile_answers(capability: Capability) -> Generator[None]:
    """Let cuTile itself say that there is a GPU, and a compiler for it."""
    cext, compile_ = import_module("cuda.tile._cext"), import_module("cuda.tile._compile")
    version = getattr(import_module("cuda.tile._bytecode.version").BytecodeVersion, _BYTECODE)
    with (
        mock.patch.object(cext, "get_compute_capability", _answering(capability)),
        mock.patch.object(compile_, "_get_max_supported_bytecode_version", _answering(version)),
    ):
        yield


@contextmanager
def tensors_on_cpu(capability: Capability = HOPPER) -> Generator[None]:
    """Let torch keep on the CPU what is asked for on a CUDA device, and say that it is there.
    References that ask for attention on a GPU's library get the CPU's."""
    torch: Any = import_module("torch")
    mode: Any = import_module("torch.overrides").TorchFunctionMode

    class OnCpu(mode):
        """Takes "cpu" for "cuda" in every call of torch."""

        def __torch_function__(
            self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if func == torch.Tensor.is_cuda.__get__:
                return True
            if func is torch.Tensor.cuda:
                return args[0]
            args = tuple("cpu" if _on_cuda(value) else value for value in args)
            given: dict[str, Any] = kwargs or {}
            named = {name: "cpu" if _on_cuda(value) else value for name, value in given.items()}
            return func(*args, **named)

    with ExitStack() as stack:
        attention = import_module("torch.nn.attention")
        stack.enter_context(mock.patch.object(attention, "sdpa_kernel", _no_choice))
        for name, answer in _answers(capability).items():
            answering = mock.Mock(return_value=answer)
            stack.enter_context(mock.patch.object(torch.cuda, name, answering))
        stack.enter_context(OnCpu())
        yield


def main(arguments: Sequence[str]) -> int:
    """Run a script with its arguments; the exit status is 2 where none is named. Races, and what
    Tile IR leaves undefined, are warnings where nothing else is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tilewright.cutile_script")
    parser.add_argument("--races", choices=("error", "warn", "ignore"), default="warn")
    parser.add_argument(
        "--capability",
        type=_capability,
        default=HOPPER,
        metavar="X.Y",
        help="what the script is told of the GPU: 9.0; scripts for Blackwell ask for 10.0",
    )
    parser.add_argument("script", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    script = str(options.script)
    if not options.script.is_file():
        parser.error(f"expected a script, got {script}")
    sys.argv = [script, *options.arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    capability: Capability = options.capability
    with on_cpu(races=options.races), cutile_answers(capability), tensors_on_cpu(capability):
        runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
