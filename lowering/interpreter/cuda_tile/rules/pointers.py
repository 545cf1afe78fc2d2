"""Rules of loads and stores through tiles of pointers, of tokens, globals and `alloca`."""

from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.memory import (
    AllocaOp,
    GdcLaunchDependentsTkoOp,
    GdcWaitTkoOp,
    JoinTokensOp,
    LoadPtrTkoOp,
    MakeTokenOp,
    MemoryFenceAliasTkoOp,
    StorePtrTkoOp,
)
from tilewright.dialects.cuda_tile.ops.module import GetGlobalOp
from tilewright.lowering.interpreter.cuda_tile.accesses import Kind
from tilewright.lowering.interpreter.cuda_tile.blocks import (
    Compute,
    Preparation,
    Step,
    acting,
    acts,
    computes,
    computing,
    runs,
    taking_poison,
)
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, pointee_of
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.lost_values import check_all_kept
from tilewright.lowering.interpreter.cuda_tile.memory_access import (
    Ordering,
    load,
    pointed,
    store,
    unwritten,
)
from tilewright.lowering.interpreter.cuda_tile.poison import (
    MASKED,
    UNINITIALIZED,
    AnyTile,
    Marks,
    Poisoned,
    determined,
    marked,
    marks_of,
    of_rows,
    thin,
    tile_of,
    united,
    with_marks,
)


@runs
def _load(op: LoadPtrTkoOp, preparation: Preparation) -> Step:
    ordering, element = Ordering(op, Kind.READ), pointee_of(op.source.type)
    source, optional = op.source, (op.mask, op.padding_value, op.token)
    left_out = preparation.left_open(op, MASKED) if op.padding_value is None else None
    uninitialized = preparation.left_open(op, UNINITIALIZED)

    def run(frame: Frame, *_: Any) -> tuple[AnyTile, int]:
        given, padding, token = map(frame.optional, optional)
        mask = given
        if isinstance(given, Poisoned):
            # Whether there is an access is open, as is then what it gives.
            mask = given.tile & (marks_of(given) == 0)
        addresses = determined(frame[source], "addresses", of_rows(mask))
        blank = np.zeros(1, element.dtype) if padding is None else tile_of(padding)
        marks = _marks(mask, given, padding, left_out)
        own = before = token or 0
        result: Tile = np.broadcast_to(blank, (len(blank), *addresses.shape[1:]))
        for i, (footprint, part) in enumerate(pointed(frame, addresses, element, mask)):
            own |= ordering.note(frame, footprint, before)
            tile = load(footprint, element, blank)
            result = np.where(part, tile, result) if i and part is not None else tile
            if uninitialized is not None and (empty := unwritten(footprint)) is not None:
                marks.append(marked(empty, uninitialized))
        return with_marks(result, united(marks) if marks else None), own

    return taking_poison(acting(op, run))


def _marks(
    mask: Tile | None,
    given: AnyTile | None,
    padding: AnyTile | None,
    left_out: int | None,
) -> list[Marks]:
    """The marks of a load that its mask, as it is given too, leaves to its padding."""
    marks: list[Marks] = []
    if isinstance(given, Poisoned):
        marks.append(marks_of(given))
    if mask is not None and isinstance(padding, Poisoned):
        marks.append(np.where(mask, 0, marks_of(padding)))
    if mask is not None and left_out is not None:
        marks.append(marked(~thin(mask), left_out))
    return marks


@runs
def _store(op: StorePtrTkoOp, _: Preparation) -> Step:
    ordering, element = Ordering(op, Kind.WRITE), pointee_of(op.destination.type)
    destination, value, optional = op.destination, op.value, (op.mask, op.token)

    def run(frame: Frame, *_: Any) -> int:
        mask, token = map(frame.optional, optional)
        mask = determined(mask, "a mask")
        addresses = determined(frame[destination], "addresses", of_rows(mask))
        tile = determined(frame[value], "values to store", of_rows(mask))
        own = before = token or 0
        for footprint, _part in pointed(frame, addresses, element, mask):
            own |= ordering.note(frame, footprint, before)
            stored = tile[-1:] if len(footprint.low) == 1 else tile
            store(footprint, element, stored)
            check_all_kept(frame, op, footprint, stored)
        return own

    return taking_poison(acting(op, run))


runs(MakeTokenOp)(lambda op, _: computing(op, lambda: 0))


@computes(JoinTokensOp)
def _join(op: Operation) -> Compute:
    def run(*tokens: int) -> int:
        joined = 0
        for token in tokens:
            joined |= token
        return joined

    return run


# One kernel runs alone: what depends on others, or on other names of memory, is there.
@computes(GdcWaitTkoOp, GdcLaunchDependentsTkoOp, MemoryFenceAliasTkoOp)
def _same_token(op: Operation) -> Compute:
    def run(token: int = 0) -> int:
        return token

    return run


@acts
def _global_address(op: GetGlobalOp) -> Compute:
    name = op.name_.string_value()

    def run(frame: Frame) -> Tile:
        return np.full(1, frame.gang.machine.globals[name].base, np.int64)

    return run


@acts
def _alloca(op: AllocaOp) -> Compute:
    """Memory of each block's own; `global` memory too is another for every block."""
    count: Any = op.num_elem
    size = int(count.value.data) * pointee_of(op.result.type).bytes

    def run(frame: Frame) -> Tile:
        memory = frame.gang.machine.memory
        addresses: list[int] = []
        for block in frame.blocks:
            name = f"alloca of block {frame.gang.machine.coordinates(int(block))}"
            allocation = memory.add(name, np.zeros(size, np.uint8))
            allocation.written = True
            if frame.gang.machine.launch.pads_with_poison:
                allocation.filled = np.zeros(size, bool)
            addresses.append(allocation.base)
        return np.asarray(addresses)

    return run
