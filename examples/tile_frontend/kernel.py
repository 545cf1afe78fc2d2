"""Kernels: a decorated function, traced, compiled, interpreted and launched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tile_frontend.blackwell import Umma
from tile_frontend.engines import CpAsync, Tma
from tile_frontend.language import Array
from tile_frontend.trace import Trace
from xdsl.dialects.builtin import ModuleOp

import tilewright as tw
from tilewright import builder

Signature = Sequence[tuple[str, int]]
"""Element type and rank of each argument; a number has rank 0."""
ENGINES = {"cp_async": CpAsync, "tma": Tma, "umma": Umma}
ELEMENTS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}


def kernel(grid: Callable[..., Sequence[int]], **constants: Any) -> Callable[[Any], TileKernel]:
    """Makes a kernel of a function of arrays and numbers, whose keyword arguments are constants;
    so are `engine` and `warps`. `grid` says how many blocks of threads run for the arguments."""
    return lambda body: TileKernel(body, grid, {"engine": "cp_async", "warps": (2, 2), **constants})


class TileKernel:
    """A kernel for all element types and constants, compiled for each as it is used."""

    def __init__(self, body: Callable[..., None], grid: Any, constants: dict[str, Any]):
        self.body, self.grid, self.constants = body, grid, constants
        self._compiled: dict[Any, tw.Kernel] = {}

    def _given(self, constants: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The engine, and the constants of the body."""
        given = {**self.constants, **constants}
        return ENGINES[given.pop("engine")](given.pop("warps")), given

    def module(self, signature: Signature, **constants: Any) -> ModuleOp:
        """The kernel as tile-level IR."""
        engine, given = self._given(constants)
        types = [builder.array_type(*parameter) if parameter[1] else builder.attribute(parameter[0])
                 for parameter in signature]  # fmt: skip
        module, block = builder.kernel(self.body.__name__, types, engine.threads)
        Trace(block, engine)
        engine.begin()
        with builder.lines_of(self.body):
            pairs = zip(block.args, signature, strict=True)
            self.body(*(Array(value) if rank else value for value, (_, rank) in pairs), **given)
        return module

    def compile(self, signature: Signature, arch: str, **constants: Any) -> tw.Kernel:
        key = (tuple(signature), arch, *sorted(constants.items()))
        if key not in self._compiled:
            self._compiled[key] = tw.compile(self.module(signature, **constants), arch)
        return self._compiled[key]

    def interpret(self, *args: Any, arch: str, level: str = "tile", **constants: Any) -> list[Any]:
        """Runs it on the CPU: the arrays afterwards."""
        module, how = self.module(signature_of(args), **constants), self.shape(args, constants)
        return tw.interpret(module, args=args, arch=arch, level=level, **how)

    def launch(self, *args: Any, arch: str, **constants: Any) -> list[Any]:
        """Runs it on the GPU."""
        compiled = self.compile(signature_of(args), arch, **constants)
        return compiled.launch(*args, **self.shape(args, constants))

    def shape(self, args: Sequence[Any], constants: dict[str, Any]) -> dict[str, Any]:
        """How many blocks of how many threads."""
        engine, given = self._given(constants)
        return {"grid": self.grid(*args, **given), "block": (engine.threads,)}


def signature_of(args: Sequence[Any]) -> Signature:
    """The element types and ranks of arrays; a number is an f32."""
    return [(ELEMENTS[str(array.dtype).split(".")[-1]], array.ndim) if hasattr(array, "dtype")
            else ("f32", 0) for array in args]  # fmt: skip
