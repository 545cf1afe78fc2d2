"""`cute-nvgpu-check-tmem`: tensor memory is allocated, used and given back in order."""

from functools import cache
from math import prod

from xdsl.context import Context
from xdsl.dialects import gpu, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cute_nvgpu.lattice.tmem import COLUMNS
from tilewright.dialects.cute_nvgpu.ops.cta_group import CtaGroupOp
from tilewright.dialects.cute_nvgpu.ops.tmem import AllocOp, DeallocOp, RetrieveOp
from tilewright.dialects.cute_nvgpu.ops.umma import UmmaOp
from tilewright.dialects.gpu import FunctionOp, known_extents
from tilewright.passes.analysis.functions import functions
from tilewright.passes.analysis.tensor_columns import columns
from tilewright.passes.analysis.thread_dependence import depends_on_thread
from tilewright.passes.analysis.tmem_lifetime import Rule, TmemLifetime, World, columns_of
from tilewright.source.diagnostic import OpError, messages, named

WARP = 32
"""The threads of a warp."""


class CheckTmemPass(ModulePass):
    """Reject the first op that uses tensor memory against its rules, on any path through loops and
    branches:

    - an allocation that is not given back before the function ends, or before a loop makes it anew;
    - a use of what has been given back, or giving it back again, or a part of it;
    - more than 512 columns at once, or more than the allocation before had;
    - an allocation after `relinquish_alloc_permit`;
    - a tensor of more columns than have been allocated, or a D that overlaps another operand;
    - an allocation, or giving one back, by all warps of a kernel that is known to have several;
    - cta_group 2 in a kernel whose clusters are not of pairs.

    A function is followed as its CTA executes it. Where an `scf.if` asks which thread it is, the
    CTA does what both branches do, in the order of the text; any other condition is the same in all
    threads, and what has turned out true stays so. A tensor is of the allocation whose address the
    same word of shared memory has been given; one of unknown origin is not checked, and giving it
    back counts for an allocation of as many columns. PTX ISA, tcgen05.alloc.
    """

    name = "cute-nvgpu-check-tmem"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions(op):
            if isinstance(function, FunctionOp):
                _check(function)


def _check(function: FunctionOp) -> None:
    first: CtaGroupOp | None = None
    allocates = False
    for op in function.walk():
        if not _is_asked(type(op)):
            continue
        if isinstance(op, CtaGroupOp):
            first = first or op
        if isinstance(op, UmmaOp):
            _check_operands(op)
        if isinstance(op, AllocOp | DeallocOp):
            allocates |= isinstance(op, AllocOp)
            _check_warps(function, op)
    if first is not None and first.group == 2:
        _check_cluster(function, first)
    if allocates:
        TmemLifetime(function, _reject).follow(function.body, frozenset({World()}))


@cache
def _is_asked(op: type[Operation]) -> bool:
    """An op of tensor memory, or of pairs of CTAs."""
    return issubclass(op, CtaGroupOp | UmmaOp | AllocOp | DeallocOp)


def _check_operands(op: UmmaOp) -> None:
    """Raise OpError where D has columns of another operand."""
    sources = {name: op.sources[name] for name in op.sources if name in op.mma_atom.tmem_operands}
    d = columns(sources.pop("D"))
    for name, value in sources.items():
        other = columns(value)
        if d.overlap(other) == "same":
            raise OpError(
                op,
                f"'{op.name}' expected a D apart from operand {name}, got columns {d.first} to "
                f"{d.end - 1} and {other.first} to {other.end - 1} of "
                "the same allocation; nearest legal: "
                f"{name} from column {d.end} on",
            )


def _check_warps(function: FunctionOp, op: AllocOp | DeallocOp) -> None:
    """Raise OpError for what one warp does, where nothing asks which warp it is."""
    threads = prod(known_extents(function, "gpu.known_block_size") or (WARP,))
    if threads <= WARP or len(function.body.blocks) > 1 or _asks_for_threads(op):
        return
    warps = -(-threads // WARP)
    raise OpError(
        op,
        f"'{op.name}' expected one warp, got all {warps} of {named(function)}; nearest legal: it "
        "in an scf.if that asks which warp it is (PTX ISA, tcgen05.alloc)",
    )


def _asks_for_threads(op: Operation) -> bool:
    """A condition, or the bounds of a loop, around an op depend on the thread."""
    return any(
        any(map(depends_on_thread, parent.operands)) or isinstance(parent, scf.WhileOp)
        for parent in ancestors(op)
    )


def _check_cluster(function: FunctionOp, op: CtaGroupOp) -> None:
    """Raise OpError for a kernel with pairs that does not run in clusters of them."""
    if "gpu.kernel" not in function.attributes and not isinstance(function, gpu.FuncOp):
        return
    extents = known_extents(function, "gpu.known_cluster_size") or ()
    if not extents or prod(extents) % 2:
        got = " x ".join(map(str, extents)) or "none"
        raise OpError(
            op,
            f"'{op.name}' expected clusters of pairs of CTAs with cta_group 2, got {got} as the "
            f"gpu.known_cluster_size of {named(function)}; nearest legal: "
            "gpu.known_cluster_size = array<i32: 2, 1, 1>",
        )


def _reject(rule: Rule, op: Operation, other: Operation) -> None:
    text = _MESSAGES[rule].format(
        other=named(other), most=_columns(other), columns=_columns(op), all=COLUMNS,
        nearest="no second" if isinstance(op, DeallocOp) else "it before the",
    )  # fmt: skip
    raise OpError(op, f"'{op.name}' {text}")


_MESSAGES = messages("""
freed: expected tensor memory that is allocated, got what {other} has given back; nearest legal:
    {nearest} cute_nvgpu.tmem.dealloc
left: expected all tensor memory to be given back, got {most} columns of {other} that are not on
    every path; nearest legal: cute_nvgpu.tmem.dealloc before it (PTX ISA, tcgen05.alloc)
again: expected the allocation of the round before to be given back, got {most} columns of {other}
    that are not on every path; nearest legal: cute_nvgpu.tmem.dealloc in the loop
full: expected at most {all} columns at once, got {columns} more while {other} has its {most};
    nearest legal: cute_nvgpu.tmem.dealloc before it (PTX ISA, tcgen05.alloc)
grows: expected at most the {most} columns of {other} before it, got {columns} (PTX ISA,
    tcgen05.alloc); nearest legal: {most}
permit: expected the right to allocate tensor memory, got none after {other}; nearest legal: it
    before that (PTX ISA, tcgen05.relinquish_alloc_permit)
wider: expected at most the {most} columns of {other}, got {columns}; nearest legal: {most}
part: expected the {most} columns of {other}, got {columns} (an allocation is given back as a
    whole); nearest legal: {most}
""")


def _columns(op: Operation) -> int | None:
    """The columns that an op allocates, retrieves or gives back."""
    match op:
        case AllocOp():
            return columns_of(op)
        case RetrieveOp():
            return op.result.type.get_shape()[1]
        case DeallocOp():
            return op.columns
        case _:
            return None
