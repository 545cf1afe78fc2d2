"""The functions of a module."""

from collections.abc import Iterator

from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.gpu import FunctionOp
from tilewright.dialects.ptx.control_flow import EntryOp


def functions(module: ModuleOp | gpu.ModuleOp) -> Iterator[FunctionOp | EntryOp]:
    """The functions of a module and of the modules in it."""
    for op in module.body.block.ops:
        if isinstance(op, FunctionOp | EntryOp):
            yield op
        elif isinstance(op, ModuleOp | gpu.ModuleOp):
            yield from functions(op)
