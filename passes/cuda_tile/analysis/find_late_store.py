"""The store of a kernel whose CTAs take block after block that is made under the MMAs of the next
block: its product has the tensor cores alone else, while threads change layouts and store.

    for %block { %c = for %k { mma }; store %c }

    for %block iter(%last) {
      %c = for %k { mma; in the first iterations: store a share of %last }
      store the other shares of %c, or all of it where no block follows
    }

What threads write where pointers say, all of it, in four iterations at least: a multiprocessor
stores 32 bytes a cycle. Those of MoE's 128x256 tiles, of 1024 cycles of MMAs, take 1400 on an H200
with a quarter each. Of what TMA stores the second half, as an H200 gains less by all of it (grouped
GEMM 654, 675 and 669 TFLOP/s, a dense one 709, 731 and 725).
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, MemoryOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, StoreViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.dialects.frozen import entity
from tilewright.dialects.ptx.control_flow import TAKES_BLOCKS
from tilewright.passes.cuda_tile.analysis.cost_model import (
    SPARE,
    raised_registers,
    registers_of,
)
from tilewright.passes.cuda_tile.analysis.find_pipelines import Pipelines
from tilewright.passes.cuda_tile.analysis.tensor_maps import accesses_behind, is_repeatable, is_weak
from tilewright.passes.cuda_tile.layouts.elements import element_of, scalar_type
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import WarpgroupLayouts, is_added

_WORD = 4
_SHARES, _MOST = 4, 16
"""The shares in which threads store a tile late at least, and the most elements of a thread in one
of more of them."""


@entity
class LateStore:
    """A store of a tile in the registers of accumulators, fewer of them; the loop over blocks and
    that of the product; what computes where the tile lies, and the numbers of a block and what it
    loads by which that is known: to compute them anew takes as long as MMAs do."""

    op: StorePtrTkoOp | StoreViewTkoOp
    tile: SSAValue
    blocks: ForOp
    loop: ForOp
    places: list[Operation]
    known: list[SSAValue]
    words: int
    """The registers of a thread for half of the tile."""


def shares_of(layout: TileLayout) -> int:
    """The shares in which threads store a tile in a layout late."""
    return max(_SHARES, layout.count // _MOST)


def writes_of(entry: EntryOp) -> list[MemoryOp]:
    """The accesses to memory but for loads."""
    loads = LoadPtrTkoOp, LoadViewTkoOp
    return [op for op in descendants(entry, MemoryOp) if not isinstance(op, loads)]


def find_late_store(entry: EntryOp, table: LayoutTable) -> LateStore | None:
    """That of a kernel, if there is one: the only write, of narrower elements than sums, and blocks
    of as many iterations as each other."""
    if TAKES_BLOCKS not in entry.attributes:
        return None
    writes = writes_of(entry)
    store = writes[0] if len(writes) == 1 else None
    if not isinstance(store, StorePtrTkoOp | StoreViewTkoOp) or store.result_token.first_use:
        return None
    blocks, tile = store.parent_op(), store.operands[isinstance(store, StorePtrTkoOp)]
    loops = [] if store.parent is None else [op for op in store.parent.ops if op.regions]
    if (
        not isinstance(blocks, ForOp)
        or blocks.parent_op() is not entry
        or len(loops) != 1
        or not is_weak(store)
    ):
        return None
    loop, layout = loops[0], table.layouts.get(tile)
    products = descendants(loop, Multiplication)
    own = table.products.get(products[0].result) if len(products) == 1 else None
    size = bytes_of(scalar_type(store, element_of(tile)))
    if (
        not isinstance(loop, ForOp)
        or not isinstance(own, WarpgroupLayouts)
        or products[0].parent_op() is not loop
        or is_added(products[0])
        or own.layout("C") != layout
        or size >= _WORD
        or any(map(blocks.is_ancestor, map(_owner, loop.operands[:3])))
    ):
        return None
    places, known = list[Operation](), list[SSAValue]()
    todo = [x for x in store.operands if x not in (tile, store.token)]
    while todo:
        value = todo.pop()
        op = value.owner
        if not isinstance(op, Operation) or op.parent is not blocks.region.block:
            continue
        is_loaded = isinstance(op, MemoryOp) and table.layouts.get(value) is not None
        if is_loaded or _is_number(value):
            known += [value] if value not in known else []
        elif op.regions or (isinstance(op, MemoryOp) and not _is_same_later(op, store)):
            return None
        elif op not in places:
            places.append(op)
            todo += op.operands
    if sum(table.of(value).count for value in known) > SPARE:
        return None
    places.sort(key=blocks.region.block.get_operation_index)
    count = own.layout("C").count
    return LateStore(store, tile, blocks, loop, places, known, count * size // (2 * _WORD))


def late_registers(
    entry: EntryOp, arch: Target, ahead: Pipelines, store: LateStore, registers: int
) -> int | None:
    """The registers that threads which compute are raised to, at least so many, where they hold
    what is stored late; None where they are too few."""
    if ahead.gathers:
        needed = registers_of(entry, arch) + store.words + SPARE
        return registers if needed <= registers else None
    raised = raised_registers(entry, arch, ahead.ctas, store.words)
    return None if raised is None else max(raised, registers)


def _is_number(value: SSAValue) -> bool:
    type_ = value.type
    return (
        isinstance(type_, TileType)
        and not type_.shape
        and isinstance(type_.element_type, IntegerType)
    )


def _is_same_later(op: MemoryOp, store: MemoryOp) -> bool:
    """True of a load that is made where it is needed, and not of what is stored."""
    return (
        isinstance(op, LoadPtrTkoOp | LoadViewTkoOp)
        and is_repeatable(op)
        and store not in accesses_behind(op.result_token)
    )


def _owner(value: SSAValue) -> Operation:
    owner = value.owner
    parent = owner.parent_op() if isinstance(owner, Block) else owner
    assert parent is not None
    return parent
