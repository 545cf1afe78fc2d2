"""Kernels: a decorated function, traced, compiled, interpreted and launched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tile_frontend.engines import ENGINES
from tile_frontend.language import Array
from tile_frontend.trace import Trace, attribute
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import DenseArrayBase, FunctionType, IntegerAttr, ModuleOp, UnitAttr, i32
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint

import tilewright as tw
from tilewright.dialects.cute.tensor import element_bits

Signature = Sequence[tuple[str, int]]
"""Element type and rank of each argument; a number has rank 0."""
ELEMENTS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}


def kernel(grid: Callable[..., Sequence[int]], **constants: Any) -> Callable[[Any], Kernel]:
    """Makes a kernel of a function of arrays and numbers, whose keyword arguments are constants;
    so are `engine` and `warps`. `grid` says how many blocks of threads run for the arguments."""
    return lambda body: Kernel(body, grid, {"engine": "cp_async", "warps": (2, 2), **constants})


class Kernel:
    """A kernel for all element types and constants, compiled for each as it is used."""

    def __init__(self, body: Callable[..., None], grid: Any, constants: dict[str, Any]):
        self.body, self.grid, self.constants = body, grid, constants
        self._compiled: dict[Any, tw.Kernel] = {}

    def module(self, signature: Signature, **constants: Any) -> ModuleOp:
        """The kernel as tile-level IR."""
        given = {**self.constants, **constants}
        engine = ENGINES[given.pop("engine")](given.pop("warps"))
        block = Block(arg_types=[argument_type(*each) for each in signature])
        block.add_ops([start := arith.ConstantOp(IntegerAttr(0, i32)), end := func.ReturnOp()])
        Trace(InsertPoint.before(start), InsertPoint.before(end), engine)
        engine.begin()
        pairs = zip(block.args, signature, strict=True)
        self.body(*(Array(value) if rank else value for value, (_, rank) in pairs), **given)
        type_ = FunctionType.from_lists([each.type for each in block.args], [])
        function = func.FuncOp(self.body.__name__, type_, Region(block))
        function.attributes["gpu.kernel"] = UnitAttr()
        threads = DenseArrayBase.from_list(i32, [engine.threads, 1, 1])
        function.attributes["gpu.known_block_size"] = threads
        return ModuleOp([function])

    def compile(self, signature: Signature, arch: str, **constants: Any) -> tw.Kernel:
        key = (tuple(signature), arch, *sorted(constants.items()))
        if key not in self._compiled:
            self._compiled[key] = tw.compile(self.module(signature, **constants), arch)
        return self._compiled[key]

    def interpret(self, *args: Any, arch: str, level: str = "tile", **constants: Any) -> list[Any]:
        """Runs it on the CPU: the arrays afterwards."""
        module = self.module([signature_of(each) for each in args], **constants)
        shape = self._shape(args, constants)
        return tw.interpret(module, args=args, arch=arch, level=level, **shape)

    def launch(self, *args: Any, arch: str, **constants: Any) -> list[Any]:
        """Runs it on the GPU."""
        compiled = self.compile([signature_of(each) for each in args], arch, **constants)
        return compiled.launch(*args, **self._shape(args, constants))

    def _shape(self, args: Sequence[Any], constants: dict[str, Any]) -> dict[str, Any]:
        given = {**self.constants, **constants}
        threads = ENGINES[given.pop("engine")](given.pop("warps")).threads
        return {"grid": self.grid(*args, **given), "block": (threads,)}


def signature_of(argument: Any) -> tuple[str, int]:
    """The element type and rank of an array; those of a number."""
    if not hasattr(argument, "dtype"):
        return ("i32" if isinstance(argument, int) else "f32"), 0
    return ELEMENTS[str(argument.dtype).removeprefix("torch.")], len(argument.shape)


def argument_type(element: str, rank: int) -> Any:
    """A row-major array whose rows are whole 16 bytes; or a number."""
    if rank == 0:
        return attribute(element)
    run = 128 // element_bits(element)
    shape = ["?"] * (rank - 1) + [f"?{{div={run}}}"]
    stride = [f"?{{i64 div={run}}}"] * (rank - 1) + ["1"]
    layout = ":".join("(" + ",".join(each) + ")" if rank > 1 else each[0] for each in (shape, stride))
    return attribute(f'!cute.memref<{element}, gmem, align<16>, "{layout}">')
