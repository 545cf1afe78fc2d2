"""tilewright: MMA atoms in MLIR-style IR, proven legal, lowered to PTX, executed bit for bit.

    import tilewright as tw

    atom = tw.atom("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
    kernel = tw.compile(text, arch="sm_90a")
    c, = tw.interpret(text, "kernel", grid=(1, 1, 1), block=(32, 1, 1), args=[a, b])[2:]

Everything is loaded on first use: importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilewright import cutile
    from tilewright.compiler import Kernel, compile
    from tilewright.diagnostic import CompileError
    from tilewright.dialects.cute_nvgpu.atom import AtomError, MmaAtom
    from tilewright.dialects.cute_nvgpu.targets import TargetError
    from tilewright.dialects.cute_nvgpu.tensor_box import TensorMapError
    from tilewright.execution import ExecutionError, interpret
    from tilewright.simulation import atom, simulate
    from tilewright.tensor_map import TensorMap
    from tilewright.verify_by_running import Trial

__version__ = "0.1.0"

_HOMES = {
    "AtomError": "tilewright.dialects.cute_nvgpu.atom",
    "CompileError": "tilewright.diagnostic",
    "ExecutionError": "tilewright.execution",
    "Kernel": "tilewright.compiler",
    "MmaAtom": "tilewright.dialects.cute_nvgpu.atom",
    "TargetError": "tilewright.dialects.cute_nvgpu.targets",
    "TensorMap": "tilewright.tensor_map",
    "TensorMapError": "tilewright.dialects.cute_nvgpu.tensor_box",
    "Trial": "tilewright.verify_by_running",
    "atom": "tilewright.simulation",
    "compile": "tilewright.compiler",
    "cutile": "tilewright.cutile",
    "interpret": "tilewright.execution",
    "simulate": "tilewright.simulation",
}

_MODULES = frozenset({"cutile"})
"""Names that stand for a module of their own."""

__all__ = [
    "AtomError",
    "CompileError",
    "ExecutionError",
    "Kernel",
    "MmaAtom",
    "TargetError",
    "TensorMap",
    "TensorMapError",
    "Trial",
    "atom",
    "compile",
    "cutile",
    "interpret",
    "simulate",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tilewright' has no attribute '{name}'")
    from importlib import import_module

    value = import_module(home) if name in _MODULES else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
