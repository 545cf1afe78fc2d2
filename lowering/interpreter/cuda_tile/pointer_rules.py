"""Rules of loads and stores through tiles of pointers, of tokens, globals and `alloca`."""

from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.memory import AllocaOp, LoadPtrTkoOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import GetGlobalOp
from tilewright.lowering.interpreter.cuda_tile.accesses import Kind
from tilewright.lowering.interpreter.cuda_tile.blocks import (
    Preparation,
    Rule,
    Step,
    acting,
    computing,
)
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, pointee_of
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.memory_access import Ordering, load, pointed, store


def _load(op: Operation, _: Preparation) -> Step:
    assert isinstance(op, LoadPtrTkoOp)
    ordering, element = Ordering(op, Kind.READ), pointee_of(op.source.type)
    source, optional = op.source, (op.mask, op.padding_value, op.token)

    def run(frame: Frame, *_: Any) -> tuple[Tile, int]:
        addresses: Any = frame[source]
        mask, padding, token = (_of(frame, value) for value in optional)
        padding = np.zeros(1, element.dtype) if padding is None else padding
        own = before = token or 0
        result: Tile = np.broadcast_to(padding, (len(padding), *addresses.shape[1:]))
        for i, (footprint, part) in enumerate(pointed(frame, addresses, element, mask)):
            own |= ordering.note(frame, footprint, before)
            tile = load(footprint, element, padding)
            result = np.where(part, tile, result) if i and part is not None else tile
        return result, own

    return acting(op, run)


def _store(op: Operation, _: Preparation) -> Step:
    assert isinstance(op, StorePtrTkoOp)
    ordering, element = Ordering(op, Kind.WRITE), pointee_of(op.destination.type)
    destination, value, optional = op.destination, op.value, (op.mask, op.token)

    def run(frame: Frame, *_: Any) -> int:
        addresses: Any = frame[destination]
        tile: Any = frame[value]
        mask, token = (_of(frame, value) for value in optional)
        own = before = token or 0
        for footprint, _part in pointed(frame, addresses, element, mask):
            own |= ordering.note(frame, footprint, before)
            store(footprint, element, tile[-1:] if len(footprint.low) == 1 else tile)
        return own

    return acting(op, run)


def _of(frame: Frame, value: Any) -> Any:
    return None if value is None else frame[value]


def _join(op: Operation, _: Preparation) -> Step:
    def run(*tokens: int) -> int:
        joined = 0
        for token in tokens:
            joined |= token
        return joined

    return computing(op, run)


def _same_token(op: Operation, _: Preparation) -> Step:
    def run(token: int = 0) -> int:
        return token

    return computing(op, run)


def _global_address(op: Operation, _: Preparation) -> Step:
    assert isinstance(op, GetGlobalOp)
    name = op.name_.string_value()

    def run(frame: Frame) -> Tile:
        return np.full(1, frame.gang.machine.globals[name].base, np.int64)

    return acting(op, run)


def _alloca(op: Operation, _: Preparation) -> Step:
    """Memory of each block's own; `global` memory too is another for every block."""
    assert isinstance(op, AllocaOp)
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


RULES: dict[str, Rule] = {
    "load_ptr_tko": _load,
    "store_ptr_tko": _store,
    "make_token": lambda op, _: computing(op, lambda: 0),
    "join_tokens": _join,
    # One kernel runs alone: what depends on others, or on other names of memory, is there.
    "gdc_wait_tko": _same_token,
    "gdc_launch_dependents_tko": _same_token,
    "memory_fence_alias_tko": _same_token,
    "get_global": _global_address,
    "alloca": _alloca,
}
