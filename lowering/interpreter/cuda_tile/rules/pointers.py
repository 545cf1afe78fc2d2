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
    Preparation,
    Step,
    acting,
    computing,
    runs,
)
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, pointee_of
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.lost_values import check_all_kept
from tilewright.lowering.interpreter.cuda_tile.memory_access import Ordering, load, pointed, store


@runs(LoadPtrTkoOp)
def _load(op: LoadPtrTkoOp, _: Preparation) -> Step:
    ordering, element = Ordering(op, Kind.READ), pointee_of(op.source.type)
    source, optional = op.source, (op.mask, op.padding_value, op.token)

    def run(frame: Frame, *_: Any) -> tuple[Tile, int]:
        addresses: Any = frame[source]
        mask, padding, token = map(frame.optional, optional)
        padding = np.zeros(1, element.dtype) if padding is None else padding
        own = before = token or 0
        result: Tile = np.broadcast_to(padding, (len(padding), *addresses.shape[1:]))
        for i, (footprint, part) in enumerate(pointed(frame, addresses, element, mask)):
            own |= ordering.note(frame, footprint, before)
            tile = load(footprint, element, padding)
            result = np.where(part, tile, result) if i and part is not None else tile
        return result, own

    return acting(op, run)


@runs(StorePtrTkoOp)
def _store(op: StorePtrTkoOp, _: Preparation) -> Step:
    ordering, element = Ordering(op, Kind.WRITE), pointee_of(op.destination.type)
    destination, value, optional = op.destination, op.value, (op.mask, op.token)

    def run(frame: Frame, *_: Any) -> int:
        addresses: Any = frame[destination]
        tile: Any = frame[value]
        mask, token = map(frame.optional, optional)
        own = before = token or 0
        for footprint, _part in pointed(frame, addresses, element, mask):
            own |= ordering.note(frame, footprint, before)
            stored = tile[-1:] if len(footprint.low) == 1 else tile
            store(footprint, element, stored)
            check_all_kept(frame, op, footprint, stored)
        return own

    return acting(op, run)


runs(MakeTokenOp)(lambda op, _: computing(op, lambda: 0))


@runs(JoinTokensOp)
def _join(op: Operation, _: Preparation) -> Step:
    def run(*tokens: int) -> int:
        joined = 0
        for token in tokens:
            joined |= token
        return joined

    return computing(op, run)


# One kernel runs alone: what depends on others, or on other names of memory, is there.
@runs(GdcWaitTkoOp, GdcLaunchDependentsTkoOp, MemoryFenceAliasTkoOp)
def _same_token(op: Operation, _: Preparation) -> Step:
    def run(token: int = 0) -> int:
        return token

    return computing(op, run)


@runs(GetGlobalOp)
def _global_address(op: GetGlobalOp, _: Preparation) -> Step:
    name = op.name_.string_value()

    def run(frame: Frame) -> Tile:
        return np.full(1, frame.gang.machine.globals[name].base, np.int64)

    return acting(op, run)


@runs(AllocaOp)
def _alloca(op: AllocaOp, _: Preparation) -> Step:
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
            addresses.append(allocation.base)
        return np.asarray(addresses)

    return acting(op, run)
