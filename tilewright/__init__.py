"""tilewright: MMA atoms in MLIR-style IR, proven legal, lowered to PTX, executed bit for bit.

    import tilewright as tw

    atom = tw.atom("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
    kernel = tw.compile(text, arch="sm_90a")
    c, = tw.interpret(text, "kernel", grid=(1, 1, 1), block=(32, 1, 1), args=[a, b])[2:]

Everything is loaded on first use: importing the package costs next to nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilewright import builder, cutile, triton
    from tilewright.arguments.tensor_map import Im2col, TensorMap
    from tilewright.compiler import compile
    from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError, MmaAtom
    from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorMapError
    from tilewright.dialects.cute_nvgpu.lattice.targets import TargetError
    from tilewright.dialects.illegal import Error
    from tilewright.execution import ExecutionError, Timeline, interpret
    from tilewright.kernel import Kernel
    from tilewright.launch.launcher import LaunchError
    from tilewright.launch.ptxas import PtxasNotFound
    from tilewright.simulation.block_scaling import Quantized, dequantize, quantize
    from tilewright.simulation.simulate import atom, simulate
    from tilewright.simulation.structured_sparsity import SparseMatrix, densify, sparsify
    from tilewright.source.diagnostic import ArgumentError, CompileError
    from tilewright.verify_by_running import Trial

__version__ = "0.1.0"

# In a checkout the subpackages lie beside this folder, not in it: whoever starts in the root finds
# this folder before the installed package, and the subpackages must be found with it.
if not os.path.isdir(os.path.join(__path__[0], "dialects")):
    __path__.append(os.path.dirname(__path__[0]))

_HOMES = {
    "ArgumentError": "tilewright.source.diagnostic",
    "AtomError": "tilewright.dialects.cute_nvgpu.atoms.atom",
    "CompileError": "tilewright.source.diagnostic",
    "Error": "tilewright.dialects.illegal",
    "ExecutionError": "tilewright.execution",
    "Kernel": "tilewright.kernel",
    "LaunchError": "tilewright.launch.launcher",
    "MmaAtom": "tilewright.dialects.cute_nvgpu.atoms.atom",
    "PtxasNotFound": "tilewright.launch.ptxas",
    "Quantized": "tilewright.simulation.block_scaling",
    "SparseMatrix": "tilewright.simulation.structured_sparsity",
    "TargetError": "tilewright.dialects.cute_nvgpu.lattice.targets",
    "Im2col": "tilewright.arguments.tensor_map",
    "TensorMap": "tilewright.arguments.tensor_map",
    "TensorMapError": "tilewright.dialects.cute_nvgpu.descriptors.tensor_box",
    "Timeline": "tilewright.execution",
    "Trial": "tilewright.verify_by_running",
    "atom": "tilewright.simulation.simulate",
    "builder": "tilewright.builder",
    "compile": "tilewright.compiler",
    "cutile": "tilewright.cutile",
    "densify": "tilewright.simulation.structured_sparsity",
    "dequantize": "tilewright.simulation.block_scaling",
    "interpret": "tilewright.execution",
    "quantize": "tilewright.simulation.block_scaling",
    "simulate": "tilewright.simulation.simulate",
    "sparsify": "tilewright.simulation.structured_sparsity",
    "triton": "tilewright.triton",
}

_MODULES = frozenset({"builder", "cutile", "triton"})
"""Names that stand for a module of their own."""

__all__ = [
    "ArgumentError", "AtomError", "CompileError", "Error", "ExecutionError", "Im2col", "Kernel",
    "LaunchError", "MmaAtom", "PtxasNotFound", "Quantized", "SparseMatrix", "TargetError",
    "TensorMap", "TensorMapError", "Timeline", "Trial", "atom", "builder", "compile", "cutile",
    "densify", "dequantize", "interpret", "quantize", "simulate", "sparsify", "triton",
]  # fmt: skip


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
