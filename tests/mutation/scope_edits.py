"""Mutants of whom an op speaks to: scopes and orders of accesses and fences, the memory of a proxy
fence, CTAs of a cluster, and which mbarrier or columns of tensor memory it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from edits import Edit, add_before, constant_of, put_changed, put_number
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseArrayBase, MemRefType, StringAttr, UnitAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cute_nvgpu.lattice.data_movement import SCOPES, WEAK
from tilewright.dialects.cute_nvgpu.lattice.sync import FENCED_SPACES
from tilewright.dialects.cute_nvgpu.ops import cluster, tcgen05_sync, tma, tmem
from tilewright.dialects.cute_nvgpu.ops.mbarrier import Waits
from tilewright.dialects.cute_nvgpu.ops.sync import FenceOp
from tilewright.dialects.ptx.synchronization import FenceOp as PtxFenceOp

FENCES = {"cute_nvgpu.fence.proxy.async": FenceOp, "ptx.fence.proxy.async": PtxFenceOp}
"""Fences between proxies, and the one between threads of their level."""


_MAKES = re.compile(r"\w+\.mbarrier\.(init|inval)")


def scope_edits(op: Operation) -> Iterator[tuple[str, Edit]]:
    """The kinds and edits of whom and what an op reaches."""
    semantics = getattr(op, "semantics", None)
    if isinstance(semantics, StringAttr) and "." in semantics.data:
        yield from _orders(op, semantics.data)
    if op.name in FENCES:
        yield from _spaces(op)
    if isinstance(op, tma.TmaLoadOp | tcgen05_sync.CommitOp) and op.mask is not None:
        place = op.operands.index(op.mask)  # type: ignore[arg-type]
        for cta in range(_ctas(op)):
            yield f"cluster: CTA {cta} of the mask", _changed(place, 1 << cta)
    if isinstance(op, Waits) and op.cluster is not None:
        yield "scope: cta", lambda op: op.properties.pop("cluster") is not None
    if isinstance(op, cluster.MbarrierArriveOp):
        yield "cluster: another rank", _changed(len(op.operands) - 1, 1)
        if op.reads is None:
            yield "scope: of reads", lambda op: _set(op, "reads", UnitAttr())
    if "mbarrier" in op.name or isinstance(op, tma.TmaLoadOp | tcgen05_sync.CommitOp):
        yield from _barriers(op)
    if isinstance(op, tmem.SliceOp):
        yield "columns: those of others", _alias
    if isinstance(op, tmem.RetrieveOp):
        yield "columns: of another allocation", lambda op: _another_element(op, 1)


def _ctas(op: Operation) -> int:
    """How many CTAs the kernel's clusters have."""
    kernel = next(each for each in ancestors(op) if isinstance(each, FuncOp))
    size = kernel.attributes["gpu.known_cluster_size"]
    assert isinstance(size, DenseArrayBase)
    return prod(size.get_values())


def _set(op: Operation, name: str, value: StringAttr | UnitAttr) -> bool:
    op.properties[name] = value
    return True


def _changed(place: int, bits: int) -> Edit:
    return lambda op: put_changed(op, place, arith.XOrIOp, bits)


def _orders(op: Operation, semantics: str) -> Iterator[tuple[str, Edit]]:
    order, _, scope = semantics.rpartition(".")
    scopes = list(SCOPES)
    others = {f"scope: {each}": f"{order}.{each}" for each in scopes[: scopes.index(scope)]}
    if not isinstance(op, FenceOp | PtxFenceOp):
        if order != "relaxed":
            others["scope: relaxed"] = f"relaxed.{scope}"
        if "atom" not in op.name:
            others["scope: weak"] = WEAK
    for kind, other in others.items():
        yield kind, lambda op, other=other: _set(op, "semantics", StringAttr(other))


def _spaces(op: Operation) -> Iterator[tuple[str, Edit]]:
    space = op.properties.get("space")
    for other in FENCED_SPACES:
        if space != StringAttr(other):
            yield (
                f"space: {other}",
                lambda op, other=other: _set(op, "space", StringAttr(other)),
            )
    if space is not None:
        yield "space: all", lambda op: op.properties.pop("space") is not None
    yield "space: of no proxy", _for_threads


def _for_threads(op: Operation) -> bool:
    """A fence between threads alone, of the widest scope."""
    add_before(op, FENCES[op.name](semantics="acq_rel.sys"))
    op.detach()
    op.erase()
    return True


def barrier_of(op: Operation) -> SSAValue | None:
    """The mbarriers that an op is about, if any."""
    if isinstance(op, tma.TmaLoadOp):
        return op.barrier
    return op.operands[0] if op.operands else None


def _barriers(op: Operation) -> Iterator[tuple[str, Edit]]:
    barrier = barrier_of(op)
    type_ = None if barrier is None else barrier.type
    if not isinstance(type_, MemRefType) or type_.element_type != i64:
        return
    yield "barrier: another", _another_barrier
    first = list(op.operands).index(barrier) + 1  # type: ignore[arg-type]
    for place, size in enumerate(type_.get_shape(), first):
        if size > 1 and constant_of(op.operands[place]) is not None:
            yield (
                f"stage: operand {place} is another",
                lambda op, place=place: _another_element(op, place),
            )
        elif size > 1 and size.bit_count() == 1 and not _MAKES.fullmatch(op.name):
            yield f"lockstep: operand {place} is the neighbour's", _changed(place, 1)


def _another_barrier(op: Operation) -> bool:
    """The mbarriers of the same type that are made next."""
    barrier = barrier_of(op)
    assert barrier is not None
    kernel = next((each for each in ancestors(op) if isinstance(each, FuncOp)), None)
    if kernel is None:
        return False
    alike = [
        each.memref
        for each in kernel.walk()
        if isinstance(each, AllocOp) and each.memref.type == barrier.type
    ]
    if barrier not in alike or len(alike) == 1:
        return False
    place = list(op.operands).index(barrier)
    op.operands[place] = alike[(alike.index(barrier) + 1) % len(alike)]
    return True


def _another_element(op: Operation, place: int) -> bool:
    """The element behind a constant one, of the memref that is the operand before its indices."""
    mode = place - 1
    while not isinstance(op.operands[mode].type, MemRefType):
        mode -= 1
    type_, element = op.operands[mode].type, constant_of(op.operands[place])
    assert isinstance(type_, MemRefType)
    size = type_.get_shape()[place - mode - 1]
    return element is not None and size > 1 and put_number(op, place, (element + 1) % size)


def _alias(op: Operation) -> bool:
    """The first columns, which others may use."""
    place = len(op.operands) - 1
    return constant_of(op.operands[place]) != 0 and put_number(op, place, 0)
