"""`cute-nvgpu-synthesize-layouts`: the canonical layout of every fragment, filled in and checked.

What an MMA reads and writes has the atom's layouts, and so has what `wmma.load` and `wmma.store`
move; what `tmem.load` and `tmem.store` move has their shape's. They spread from there, both ways,
along everything that keeps registers in place: fragment ops, copies, and the carried values of
loops and branches. A fragment that two MMAs want in different layouts is an error that names both,
but in a kernel that was lowered from the tile level, where it is cast; one that no MMA ever sees
stays as it is.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects import arith, cf, func, gpu, scf
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tilewright.dialects.cute import Layout, equivalent
from tilewright.dialects.cute.types.argument import SIGNATURE
from tilewright.dialects.cute_nvgpu.ops import fragment
from tilewright.dialects.cute_nvgpu.ops.register_mma import RegisterMmaOp
from tilewright.dialects.cute_nvgpu.ops.sm90 import SparseMmaOp, WarpgroupMmaOp
from tilewright.dialects.cute_nvgpu.ops.tmem_access import TmemAccessOp
from tilewright.dialects.cute_nvgpu.ops.wmma import WmmaAccessOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.frozen import frozen
from tilewright.dialects.gpu import FunctionOp
from tilewright.dialects.insertion import insert_before
from tilewright.source.diagnostic import OpError


@frozen
class _Source:
    """Why a value has its layout: the op that has it, and as which of its operands."""

    op: Operation
    layout: Layout
    operand: int | None = None


class LayoutConflict(OpError):
    """A fragment that has one layout by an op, and another one by the next."""

    def __init__(self, source: _Source, before: _Source):
        super().__init__(
            source.op,
            f"'{source.op.name}' expected a fragment with layout {source.layout}, got "
            f"{before.layout}, which '{before.op.name}' gives it; a fragment has one layout "
            "(nearest legal: cute_nvgpu.fragment.cast between them)",
        )
        self.sources = (source, before)


@frozen
class SynthesizeLayoutsPass(ModulePass):
    """Fill canonical fragment layouts where they are left out; check them where they are given."""

    name = "cute-nvgpu-synthesize-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ops = list(_with_layouts(op))
        made = dict[tuple[int, int], FragmentType]()
        try:
            sources = _sources(ops)
        except LayoutConflict as conflict:
            _cast(conflict)
            return self.apply(ctx, op)
        for value, source in sources.items():
            _set_layout(value, source.layout, made)
        _set_signatures(ops)


def _cast(conflict: LayoutConflict) -> None:
    """Cast the operand that is wanted in another layout: registers at the tile level may be those
    of several MMAs. Raises LayoutConflict where it is no operand, or none from the tile level."""
    for source in conflict.sources:
        op = holder = source.op
        while holder is not None and SIGNATURE not in holder.attributes:
            holder = holder.parent_op()
        if source.operand is not None and holder is not None:
            value = op.operands[source.operand]
            cast = fragment.CastOp(value, value.type)
            insert_before(cast, op)
            op.operands[source.operand] = cast.result
            return
    raise conflict


def _sources(ops: Sequence[Operation]) -> dict[SSAValue, _Source]:
    """Why each fragment has its layout. Raises LayoutConflict."""
    links = _links(ops)
    known: dict[SSAValue, _Source] = {}
    work: deque[SSAValue] = deque()
    for value, source in _seeds(ops):
        _learn(value, source, known, work)
    while work:
        value = work.popleft()
        for neighbour in links.get(value, ()):
            _learn(neighbour, known[value], known, work)
    return known


def _learn(
    value: SSAValue, source: _Source, known: dict[SSAValue, _Source], work: deque[SSAValue]
) -> None:
    """Record the layout of a value. Raises LayoutConflict where it has another already."""
    before = known.get(value)
    if before is None:
        known[value] = source
        work.append(value)
    elif before.layout != source.layout and not equivalent(before.layout, source.layout):
        raise LayoutConflict(source, before)


def _seeds(ops: Sequence[Operation]) -> Iterator[tuple[SSAValue, _Source]]:
    """The layouts that are declared, then those that the atoms want."""
    for op in ops:
        for value in op.results:
            if value.type.__class__ is FragmentType:
                yield from _declared(op, value)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    yield from _declared(op, argument)
    for op in ops:
        if not _is_asked(type(op)):
            continue
        if isinstance(op, RegisterMmaOp):
            atom = op.mma_atom
            for i, (operand, value) in enumerate(zip(atom.inputs, op.inputs, strict=True)):
                yield value, _Source(op, atom.tv_layout(operand), i)
            yield op.d, _Source(op, atom.tv_layout("D"))
        elif isinstance(op, WarpgroupMmaOp):
            for operand, value in _fragments(op):
                uses = [i for i, used in enumerate(op.operands) if used is value]
                place = uses[-1 if operand == "C" else 0] if uses else None
                yield value, _Source(op, op.mma_atom.tv_layout(operand), place)
        elif isinstance(op, WmmaAccessOp):
            yield op.fragment, _Source(op, op.access.tv_layout)
        elif isinstance(op, TmemAccessOp):
            yield op.fragment, _Source(op, op.tv_layout)


def _with_layouts(root: Operation) -> Iterator[Operation]:
    """The ops that make a fragment, keep one where it is, or want it in a layout; and those with
    regions."""
    for op in root.walk():
        if op.regions or _is_concerned(type(op)):
            yield op
            continue
        for value in op.results:
            if value.type.__class__ is FragmentType:
                yield op
                break


@cache
def _is_concerned(op: type[Operation]) -> bool:
    """An op that keeps fragments where they are, or wants them in a layout."""
    return op in _KEEPING or _is_asked(op)


@cache
def _is_asked(op: type[Operation]) -> bool:
    """An op that wants fragments of a layout."""
    return issubclass(op, RegisterMmaOp | WarpgroupMmaOp | WmmaAccessOp | TmemAccessOp)


def _fragments(op: WarpgroupMmaOp) -> Iterator[tuple[str, SSAValue]]:
    """The values that a wgmma has in registers, by operand."""
    a, _, c = op.multiplicands_and_c
    if op.mma_atom.frag_kind == "rs":
        yield "A", a
    yield "C", c
    yield "D", op.d
    if isinstance(op, SparseMmaOp):
        yield "E", op.e


def _declared(op: Operation, value: SSAValue) -> Iterator[tuple[SSAValue, _Source]]:
    if isinstance(value.type, FragmentType) and (layout := value.type.tv_layout) is not None:
        yield value, _Source(op, layout)


def _links(ops: Sequence[Operation]) -> dict[SSAValue, list[SSAValue]]:
    """Values that hold one fragment: whatever gives one a layout gives it to the other."""
    links: dict[SSAValue, list[SSAValue]] = {}
    for op in ops:
        for group in _same(op) if type(op) in _KEEPING else ():
            fragments = [value for value in group if isinstance(value.type, FragmentType)]
            for a, b in pairwise(fragments):
                links.setdefault(a, []).append(b)
                links.setdefault(b, []).append(a)
    return links


_KEEPING: frozenset[type[Operation]] = frozenset(
    (fragment.InsertOp, arith.SelectOp, scf.ForOp, scf.IfOp, scf.WhileOp, cf.BranchOp,
     cf.ConditionalBranchOp)
)  # fmt: skip
"""The ops that keep values in the same registers."""


def _same(op: Operation) -> Iterable[tuple[SSAValue, ...]]:
    """Groups of values that the op keeps in the same registers."""
    match op:
        case fragment.InsertOp():
            return [(op.fragment, op.result)]
        case arith.SelectOp():
            return [(op.lhs, op.rhs, op.result)]
        case scf.ForOp():
            yielded = _yielded(op.body.block.last_op)
            arguments = op.body.block.args[1:]
            return zip(op.iter_args, arguments, yielded, op.results, strict=True)
        case scf.IfOp():
            branches = [region.block.last_op for region in (op.true_region, op.false_region)
                        if region.blocks]  # fmt: skip
            return zip(op.results, *map(_yielded, branches), strict=True) if op.results else []
        case scf.WhileOp():
            before, after = op.before_region.block, op.after_region.block
            condition = before.last_op
            passed = condition.args if isinstance(condition, scf.ConditionOp) else ()
            return [
                *zip(op.arguments, before.args, _yielded(after.last_op), strict=True),
                *zip(passed, after.args, op.results, strict=True),
            ]
        case cf.BranchOp():
            return zip(op.arguments, op.successor.args, strict=True)
        case cf.ConditionalBranchOp():
            return [
                *zip(op.then_arguments, op.then_block.args, strict=True),
                *zip(op.else_arguments, op.else_block.args, strict=True),
            ]
        case _:
            return []


def _yielded(terminator: Operation | None) -> tuple[SSAValue, ...]:
    return tuple(terminator.operands) if isinstance(terminator, scf.YieldOp) else ()


def _set_layout(value: SSAValue, layout: Layout, made: dict[tuple[int, int], FragmentType]) -> None:
    type_ = value.type
    assert isinstance(type_, FragmentType)
    if type_.tv_layout is None:
        key = id(type_), id(layout)  # quicker than their hashes
        if key not in made:
            made[key] = type_.with_layout(layout)
        value._type = made[key]  # pyright: ignore[reportPrivateUsage]


def _set_signatures(ops: Sequence[Operation]) -> None:
    """Functions of fragments: their types follow those of their arguments and returned values."""
    for op in ops:
        if op.regions and isinstance(op, FunctionOp) and op.body.blocks:
            results = next(
                (tuple(last.operand_types) for block in op.body.blocks
                 if isinstance(last := block.last_op, func.ReturnOp | gpu.ReturnOp)),
                op.function_type.outputs.data,
            )  # fmt: skip
            op.function_type = FunctionType.from_lists(op.body.blocks[0].arg_types, results)
