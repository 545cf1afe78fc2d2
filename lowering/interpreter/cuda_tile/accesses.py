"""One memory operation of a gang of blocks, as the memory model sees it."""

from enum import Enum
from typing import Any

from xdsl.ir import Operation

from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_types import Int64Array
from tilewright.lowering.interpreter.cuda_tile.footprints import Footprint
from tilewright.source.diagnostic import at, spelled

BlockIds = Int64Array


class Kind(Enum):
    """The effect of an operation on memory. Relaxed, acquiring and releasing ones are atomic: they
    conflict with plain accesses only."""

    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic access"


CONFLICTS = {
    Kind.READ: (Kind.WRITE, Kind.ATOMIC),
    Kind.WRITE: (Kind.READ, Kind.WRITE, Kind.ATOMIC),
    Kind.ATOMIC: (Kind.READ, Kind.WRITE),
}
"""The kinds of accesses that each kind conflicts with."""


def place_of_op(op: Operation) -> str:
    """An op and its place in the source."""
    diagnostic = at(op.location, "")
    if diagnostic.line is None:
        return spelled(op)
    return f"{spelled(op)} at {diagnostic.file}:{diagnostic.line}:{diagnostic.column}"


@frozen
class Access:
    """An operation, who did it, and where. `footprint` has a row for each of `blocks`, or one."""

    op: Operation
    kind: Kind
    blocks: BlockIds
    footprint: Footprint

    def place(self) -> str:
        """The op and its place in the source."""
        return place_of_op(self.op)


@frozen
class Conflict:
    """Two accesses that nothing orders, at one byte of an allocation."""

    earlier: Access
    later: Access
    earlier_block: int
    later_block: int
    byte: int

    def message(self, coordinates: Any) -> str:
        """The diagnostic at the later access; `coordinates` names a block."""
        element = self.byte // self.later.footprint.itemsize
        name = f"{self.later.footprint.allocation.name}[{element}]"
        other = f"the {self.earlier.kind.value} of {self.earlier.place()}"
        if self.earlier_block == self.later_block:
            return (
                f"expected a token from every access that conflicts with its "
                f"{self.later.kind.value} of {name}, got none from {other} "
                f"(block {coordinates(self.later_block)}; Tile IR orders memory operations by "
                f"tokens only)"
            )
        return (
            f"expected no other block to access {name} but atomically, got "
            f"{other} of block {coordinates(self.earlier_block)} "
            f"(block {coordinates(self.later_block)} has a {self.later.kind.value}; "
            f"nothing orders them)"
        )
