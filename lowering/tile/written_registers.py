"""The register tensors that a region changes: they become values that its op carries."""

from collections.abc import Callable, Iterator
from typing import Any

from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cute.ops.operation import InferredOp
from tilewright.dialects.cute.types.tensors import MemRefType
from tilewright.lowering.emit.registers import RegisterChunks
from tilewright.lowering.tile.kernel import KernelLowering

WRITES: dict[type[Operation], Callable[[Any], SSAValue]] = {}
"""The ops that write to a tensor, and which operand that is; the convert_* modules fill it."""

MAKES: set[type[Operation]] = set()
"""The ops whose result is a register tensor of its own."""


def is_registers(value: SSAValue) -> bool:
    """A value is a tensor in registers."""
    return isinstance(value.type, MemRefType) and value.type.tensor.space == "rmem"


def maker(value: SSAValue) -> SSAValue:
    """The register tensor that a value is a view of."""
    while isinstance(op := value.owner, Operation) and type(op) not in MAKES:
        value = next(operand for operand in op.operands if is_registers(operand))
    return value


def written(regions: list[Region], kernel: KernelLowering) -> list[tuple[SSAValue, RegisterChunks]]:
    """The register tensors from outside that ops in the regions write, in the order of the first
    writes."""
    written: dict[SSAValue, RegisterChunks] = {}
    for region in regions:
        for op in region.walk():
            find = WRITES.get(type(op))
            if find is None or not is_registers(target := find(op)):
                continue
            made = maker(target)
            if made in kernel.values and made not in written:
                written[made] = kernel.registers(kernel.tensor(made))
    return list(written.items())


def used_after(made: SSAValue, op: Operation) -> bool:
    """A register tensor is used behind an op, in the order of the program."""
    return any(_is_behind(use, op) for use in _uses(made))


def _uses(made: SSAValue) -> Iterator[Operation]:
    """The ops that use a register tensor, or a view of it."""
    for use in made.uses:
        yield use.operation
        if isinstance(use.operation, InferredOp) and type(use.operation) not in MAKES:
            for result in use.operation.results:
                yield from _uses(result)


def _is_behind(use: Operation, op: Operation) -> bool:
    """`use` comes after `op` and everything in it."""
    path = [use, *ancestors(use)]
    if op in path:
        return False
    for place in (op, *ancestors(op)):
        block = place.parent
        same = next((ancestor for ancestor in path if ancestor.parent is block), None)
        if same is not None and isinstance(block, Block):
            return place.is_before_in_block(same)
    return False
