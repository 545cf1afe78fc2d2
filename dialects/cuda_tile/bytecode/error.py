"""Faults of bytecode, each at a byte of the file, and what a version cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.source.diagnostic import OpError

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tilewright.dialects.cuda_tile.versions import Version


class BytecodeError(Exception):
    """Bytes that are no Tile IR bytecode. `offset` counts from the start of the file."""

    def __init__(self, offset: int, message: str):
        super().__init__(f"{message} (at byte {offset})")
        self.offset = offset


class TooOldError(OpError, ValueError):
    """A module that a version of the bytecode cannot hold; `since` is one that may."""

    def __init__(self, op: Operation, message: str, since: Version):
        super().__init__(op, message)
        self.since = since
