"""Loops that say by their variable which registers they mean: registers have no addresses, so these
loops are unrolled.

scf.for %i = %c0 to %c4 step %c1 {        %x0 = ...
  %at = cute.make_coord(%i)               %x1 = ...
  %x = cute.memref.load(%held, %at)       %x2 = ...
}                                         %x3 = ...
"""

from collections.abc import Iterable, Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cute.ops.elements import LoadOp, StoreOp
from tilewright.dialects.cute.ops.memory import AllocOp
from tilewright.dialects.cute.ops.operation import InferredOp
from tilewright.dialects.cute.ops.pipeline import PipelineCreateOp
from tilewright.lowering.tile.written_registers import is_registers
from tilewright.source.diagnostic import OpError

MOST = 1024
"""Iterations of a loop that is unrolled, at most."""


def indexes_registers(loop: scf.ForOp) -> bool:
    """The loop's index, or what it carries, says which registers an op in it reads, writes or
    slices."""
    body = loop.body.block
    known = set[SSAValue](body.args)
    for op in body.walk():
        if any(operand in known for operand in op.operands):
            if not known.isdisjoint(_places(op)):
                return True
            known.update(op.results)
            known.update(argument for region in op.regions for argument in _arguments(region))
    return False


def _arguments(region: object) -> Iterable[SSAValue]:
    return [argument for block in getattr(region, "blocks", ()) for argument in block.args]


def _places(op: Operation) -> Sequence[SSAValue]:
    """The operands that say which registers an op means."""
    match op:
        case LoadOp(source=tensor) | StoreOp(destination=tensor) if is_registers(tensor):
            return [op.coord]
        case InferredOp() if any(map(is_registers, op.operands)) and any(
            map(is_registers, op.results)
        ):
            return [operand for operand in op.operands if not is_registers(operand)]
        case _:
            return []


def iterations(loop: scf.ForOp, bounds: Sequence[int | None]) -> range:
    """The values of the variable. Raises OpError where they are not known, or too many."""
    numbers = [bound for bound in bounds if bound is not None]
    why = "registers have no addresses: the loop is unrolled"
    if len(numbers) != len(bounds):
        raise OpError(
            loop,
            f"'{loop.name}' whose variable indexes registers expected constant bounds and step, "
            f"got others ({why}); nearest legal: bounds of arith.constant",
        )
    for op in descendants(loop.body.block, AllocOp | PipelineCreateOp):
        raise OpError(
            op,
            f"'{op.name}' expected no loop around it whose variable indexes registers ({why}); "
            "nearest legal: the same before the loop",
        )
    lower, upper, step = numbers
    steps = range(lower, upper, step) if step > 0 else range(0)
    if len(steps) > MOST:
        raise OpError(
            loop,
            f"'{loop.name}' whose variable indexes registers expected at most {MOST} iterations, "
            f"got {len(steps)} ({why})",
        )
    return steps
