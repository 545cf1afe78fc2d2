"""`scf` around tiles: what its regions write of register tensors is carried as values.

scf.for ... {                     %f = scf.for ... iter_args(%a = %init) -> (fragment) {
  cute.gemm(%mma, %acc, ...)        %d = sm80.mma ..., %a
}                                   scf.yield %d
                                  }
"""

from collections.abc import Sequence
from itertools import islice
from math import gcd, prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerType, VectorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.ancestors import terminator
from tilewright.dialects.cute.types.algebra import TypedAttribute
from tilewright.dialects.vectors import shape_of
from tilewright.lowering.emit.registers import Chunk, RegisterChunks
from tilewright.lowering.tile.facts import Fact
from tilewright.lowering.tile.kernel import KernelLowering, lowers
from tilewright.lowering.tile.unrolled import indexes_registers, iterations
from tilewright.lowering.tile.vectors import VectorValue
from tilewright.lowering.tile.written_registers import used_after, written
from tilewright.source.diagnostic import OpError


class Carried:
    """The chunks of register tensors that go into a region and come out of it.

    A tensor that nothing has written is carried only where it is used behind the op; otherwise it
    belongs to the region alone.
    """

    def __init__(self, op: Operation, kernel: KernelLowering):
        self._kernel = kernel
        self._all = written(list(op.regions), kernel)
        self.places: list[tuple[RegisterChunks, int]] = []
        for made, registers in self._all:
            later = used_after(made, op)
            self.places += [
                (registers, i)
                for i, chunk in enumerate(registers.chunks)
                if later or chunk is not None
            ]
        self._before = [registers.chunks for _, registers in self._all]

    def values(self) -> list[SSAValue]:
        """The carried values, as they are now; of what is not written any value will do."""
        return [registers.carried(i, self._kernel.emitter) for registers, i in self.places]

    def enter(self, values: Sequence[SSAValue]) -> None:
        """Go on with these values; what is not carried is not written."""
        carried: dict[RegisterChunks, list[Chunk]] = {
            registers: [None] * len(registers.chunks) for _, registers in self._all
        }
        for (registers, i), value in zip(self.places, values, strict=True):
            carried[registers][i] = value
        for registers, chunks in carried.items():
            registers.chunks = tuple(chunks)

    def restore(self) -> None:
        """The state before the op, for another of its regions."""
        for (_, registers), chunks in zip(self._all, self._before, strict=True):
            registers.chunks = chunks


def _check_carried(op: Operation, values: Sequence[SSAValue]) -> None:
    for value in values:
        if isinstance(value.type, TypedAttribute):
            raise OpError(
                op,
                f"'{op.name}' expected to carry scalars and vectors of registers, got "
                f"{value.type}; nearest legal: carry its integers, and make it of them inside",
            )


def _plain(kernel: KernelLowering, values: Sequence[SSAValue]) -> list[SSAValue]:
    """The values one after the other, of a vector its elements."""
    return [
        scalar
        for value in values
        for scalar in (
            kernel.vector(value).elements if isa(value.type, VectorType) else [kernel[value]]
        )
    ]


def _plain_types(values: Sequence[SSAValue]) -> list[Attribute]:
    """Their types, of a vector those of its elements."""
    return [
        type_
        for value in values
        for type_ in (
            [value.type.element_type] * prod(shape_of(value.type))
            if isa(value.type, VectorType)
            else [value.type]
        )
    ]


def _give(kernel: KernelLowering, olds: Sequence[SSAValue], news: Sequence[SSAValue]) -> None:
    """Say what `olds` are now: the inverse of `_plain`."""
    coming = iter(news)
    for old in olds:
        if isa(old.type, VectorType):
            kernel[old] = VectorValue(tuple(islice(coming, prod(shape_of(old.type)))))
        else:
            new = next(coming)
            new.name_hint = new.name_hint or old.name_hint
            kernel[old] = new


def _body(
    kernel: KernelLowering, source: Block, types: Sequence[SSAValue], carried: Carried
) -> tuple[Block, Block]:
    """A block whose arguments are those of the source and what is carried, entered; and the block
    to come back to."""
    given = _plain_types(source.args)
    block = Block(arg_types=[*given, *(value.type for value in types)])
    _give(kernel, source.args, block.args)
    outer = kernel.emitter.enter(block)
    carried.enter(block.args[len(given) :])
    return block, outer


def _yields(source: Block) -> Sequence[SSAValue]:
    return terminator(source).operands


def _finish(kernel: KernelLowering, op: Operation, new: Operation, carried: Carried) -> None:
    """Emit the op that holds the regions, and go on behind it."""
    kernel.emitter.add(new)
    _give(kernel, op.results, new.results)
    carried.enter(new.results[len(_plain_types(op.results)) :])


@lowers
def _for(op: scf.ForOp, kernel: KernelLowering) -> None:
    _check_carried(op, op.iter_args)
    lower, upper, step = (kernel[operand] for operand in (op.lb, op.ub, op.step))
    if indexes_registers(op):
        _unroll(
            op, iterations(op, [kernel.facts.constant(x) for x in (lower, upper, step)]), kernel
        )
        return
    carried = Carried(op, kernel)
    initial = [*_plain(kernel, op.iter_args), *carried.values()]
    place = op.location
    block, outer = _body(kernel, op.body.block, carried.values(), carried)
    kernel.facts[block.args[0]] = _counted(kernel, lower, upper, step)
    kernel.lower_block(op.body.block)
    yielded = [*_plain(kernel, _yields(op.body.block)), *carried.values()]
    kernel.emitter.add(scf.YieldOp(*yielded))
    kernel.emitter.leave(outer)
    kernel.emitter.location = place
    _finish(kernel, op, scf.ForOp(lower, upper, step, initial, Region(block)), carried)


def _unroll(op: scf.ForOp, places: range, kernel: KernelLowering) -> None:
    """The body once for each iteration, its variable a constant."""
    body = op.body.block
    values = _plain(kernel, op.iter_args)
    width = type_.bitwidth if isa(type_ := op.lb.type, IntegerType) else None
    for place in places:
        kernel[body.args[0]] = kernel.emitter.constant(place, width)
        _give(kernel, body.args[1:], values)
        kernel.lower_block(body)
        values = _plain(kernel, _yields(body))
    _give(kernel, op.results, values)


def _counted(kernel: KernelLowering, lower: SSAValue, upper: SSAValue, step: SSAValue) -> Fact:
    """The facts of the variable of a loop."""
    first, end, by = (kernel.facts[bound] for bound in (lower, upper, step))
    factor = gcd(first.factor, by.factor)
    if first.bound is None or by.bound is None:
        return Fact(max(factor, 1))
    return Fact(max(factor, 1), end.bound if end.bound is not None else 1 << 31)


@lowers
def _if(op: scf.IfOp, kernel: KernelLowering) -> None:
    _check_carried(op, op.results)
    carried = Carried(op, kernel)
    condition, place = kernel[op.cond], op.location
    before = carried.values()
    regions = [_branch(kernel, region, before, carried) for region in op.regions]
    if not regions[1].blocks and before:
        regions[1] = Region(Block([scf.YieldOp(*before)]))
    carried.restore()
    kernel.emitter.location = place
    types = [*_plain_types(op.results), *(value.type for value in before)]
    _finish(kernel, op, scf.IfOp(condition, types, regions[0], regions[1]), carried)


def _branch(
    kernel: KernelLowering, region: Region, before: Sequence[SSAValue], carried: Carried
) -> Region:
    if not region.blocks:
        return Region()
    outer = kernel.emitter.enter(Block())
    carried.enter(before)
    kernel.lower_block(region.block)
    kernel.emitter.add(scf.YieldOp(*_plain(kernel, _yields(region.block)), *carried.values()))
    block = kernel.emitter.block
    kernel.emitter.leave(outer)
    return Region(block)


@lowers
def _while(op: scf.WhileOp, kernel: KernelLowering) -> None:
    _check_carried(op, [*op.arguments, *op.results])
    carried = Carried(op, kernel)
    initial = [*_plain(kernel, op.arguments), *carried.values()]
    place, first, second = op.location, op.before_region.block, op.after_region.block
    before, outer = _body(kernel, first, carried.values(), carried)
    kernel.lower_block(first)
    condition = first.last_op
    assert isinstance(condition, scf.ConditionOp)
    passed = [*_plain(kernel, condition.args), *carried.values()]
    kernel.emitter.add(scf.ConditionOp(kernel[condition.condition], *passed))
    kernel.emitter.leave(outer)
    after, outer = _body(kernel, second, carried.values(), carried)
    kernel.lower_block(second)
    kernel.emitter.add(scf.YieldOp(*_plain(kernel, _yields(second)), *carried.values()))
    kernel.emitter.leave(outer)
    kernel.emitter.location = place
    types = [value.type for value in passed]
    new = scf.WhileOp(initial, types, Region(before), Region(after))
    _finish(kernel, op, new, carried)
