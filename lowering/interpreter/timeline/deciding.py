"""The part of a program that decides where its threads go: a run for times alone does no more."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, TypeGuard

import numpy as np
from xdsl.ir import Operation
from xdsl.traits import Pure

from tilewright.dialects.ptx.atomics import RedOp
from tilewright.dialects.ptx.bulk_copy import TILE, TensorFromSharedOp, TensorLoadOp
from tilewright.dialects.ptx.data_movement import CpAsyncOp, LdOp, StOp
from tilewright.dialects.ptx.matrix import WarpMmaOp
from tilewright.dialects.ptx.matrix_copy import MatrixCopyOp
from tilewright.dialects.ptx.shuffle import ShflSyncOp
from tilewright.dialects.ptx.wgmma import WgmmaOp
from tilewright.dialects.ptx.wmma import WmmaAccessOp
from tilewright.lowering.interpreter.builder import nothing
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.program import Fork, Program, Step, Suspend
from tilewright.lowering.interpreter.register_builder import Moving, Overwriting
from tilewright.lowering.interpreter.timeline.turns import Slots
from tilewright.lowering.interpreter.values import CONTAINERS, spread

_PRODUCTS = (WarpMmaOp, WgmmaOp)
LOADS = (LdOp, MatrixCopyOp, WmmaAccessOp)
_DATA = (*_PRODUCTS, *LOADS, StOp, CpAsyncOp, ShflSyncOp, RedOp, TensorFromSharedOp)
"""The ops that have no effect but on data."""


def drop_data(program: Program, slots: Slots) -> set[int]:
    """Let a program do what its branches and waits depend on, and the addresses of its accesses,
    and no more, unless that is in memory that it writes: loads of global memory read arrays as they
    were given. Products are zeros, and boxes land as numbers of bytes. Returns the registers that
    branches and waits depend on."""
    steps = [(op, step) for block in program.blocks for op, step, _ in block.steps]
    made = defaultdict[int, set[int]](set)
    for op, step in steps:
        for sources, dest in _flows(op, step, slots):
            made[dest].update(sources)
    deciding = _closure(_roots(program, slots), made)
    accesses = (op for op, _ in steps if isinstance(op, LdOp | StOp | MatrixCopyOp))
    needed = _closure({*deciding, *slots([op.operands[0] for op in accesses])}, made)

    def kept(op: Operation, step: Step) -> Step:
        if isinstance(op, _PRODUCTS):
            return _zeros(op, slots)
        if _is_box(op):
            return _landing(op, slots)
        decides = _acts(op, step) or _moves(step) or not needed.isdisjoint(slots(op.results))
        return step if decides else nothing

    loads = [op for op, step in steps if isinstance(op, LOADS) and kept(op, step) is step]
    if all(isinstance(op, LdOp) and op.space.data == "global" for op in loads):
        for block in program.blocks:
            block.steps[:] = [(op, kept(op, step), writes) for op, step, writes in block.steps]
    return deciding


def _flows(op: Operation, step: Step, slots: Slots) -> Iterator[tuple[tuple[int, ...], int]]:
    """The registers that a step writes, and those that it makes each of."""
    if (moves := _moves(step)) is not None:
        yield from (
            ((source,), dest) for source, dest in zip(moves.sources, moves.dests, strict=True)
        )
    elif not isinstance(op, _PRODUCTS):
        yield from ((slots(op.operands), dest) for dest in slots(op.results))


def _moves(step: Step) -> Moving | None:
    """The moves on the way of a branch."""
    inner = step.step if isinstance(step, Overwriting) else step
    return inner if isinstance(inner, Moving) else None


def _acts(op: Operation, step: Step) -> bool:
    """It does more than to give something, and has to do with no data."""
    return not (isinstance(op, _DATA) or op.has_trait(Pure) or _moves(step))


def _is_box(op: Operation) -> TypeGuard[TensorLoadOp]:
    """It loads a box whose size its tensor map says, for mbarriers of its own CTA or of a mask."""
    return isinstance(op, TensorLoadOp) and op.mode == TILE and op.pair is None


def _roots(program: Program, slots: Slots) -> set[int]:
    """The registers that branches, waits, and what else acts, look at."""
    roots = set[int]()
    for block in program.blocks:
        if isinstance(block.ending, Fork):
            roots.add(block.ending.condition)
        elif isinstance(block.ending, Suspend) and block.ending_op is not None:
            roots.update(slots(block.ending_op.operands))
        for op, step, _ in block.steps:
            if _is_box(op):
                roots.update(slots([op.map, op.barrier, *([] if op.mask is None else [op.mask])]))
            elif _acts(op, step):
                roots.update(slots(op.operands))
    return roots


def _closure(roots: set[int], made: Mapping[int, set[int]]) -> set[int]:
    """Registers, and all that they are made of."""
    closed, left = set[int](), list(roots)
    while left:
        if (slot := left.pop()) not in closed:
            closed.add(slot)
            left += made.get(slot, ())
    return closed


def _zeros(op: Operation, slots: Slots) -> Step:
    """The step of a product of which nobody knows anything."""
    types: list[Any] = [result.type for result in op.results]
    values = [np.zeros((1, type_.count.data), CONTAINERS[type_.kind.data]) for type_ in types]

    def run(_: Machine, gang: Gang) -> None:
        for slot, value in zip(slots(op.results), values, strict=True):
            gang.regs[slot] = value

    return run


def _landing(op: TensorLoadOp, slots: Slots) -> Step:
    """The step of a copy whose bytes nobody looks at."""
    map_, barrier = slots([op.map, op.barrier])
    mask = None if op.mask is None else slots([op.mask])[0]

    def run(machine: Machine, gang: Gang) -> None:
        def of(slot: int) -> list[int]:
            return spread(gang.regs[slot], gang.count).tolist()

        masks = [None] * gang.count if mask is None else of(mask)
        for lane, *own, to in zip(gang.lanes.tolist(), of(map_), of(barrier), masks, strict=True):
            box = machine.memory.tensor_map(own[0]).box
            for place in machine.mbarriers.places(lane, own[1], to, pair=False):
                machine.mbarriers.complete(lane, place, prod(box.shape) * box.element.bytes)

    return run
