"""Which loads of loops come by `cp.async`, ahead of their use: those whose tiles are multiplied,
or that threads read beside a product, and that TMA does not make; and those of loops that multiply
nothing.

Every thread copies its part of a tile, up to 16 bytes at a time, to a stage in shared memory, where
MMAs read it as it lies, or, where nothing is multiplied, the thread itself does. Where a tile lies
must follow from the loop's variable and from what is known before the loop, and nothing in the loop
may have written it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, LoopOp, is_reached
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.passes.cuda_tile.analysis.computed_again import (
    Load,
    needed_ahead,
    places_of,
)
from tilewright.passes.cuda_tile.analysis.copied_loads import (
    CopiedLoad,
    CopiedLoads,
    CopiedLoop,
    keep_stages,
)
from tilewright.passes.cuda_tile.analysis.cost_model import registers_of
from tilewright.passes.cuda_tile.analysis.facts import is_zero, trips_of
from tilewright.passes.cuda_tile.analysis.find_pipelines import Pipelines, is_trailing
from tilewright.passes.cuda_tile.analysis.hints import latency
from tilewright.passes.cuda_tile.analysis.loaded_operands import is_readable, loaded_by
from tilewright.passes.cuda_tile.analysis.runs import pointer_run
from tilewright.passes.cuda_tile.analysis.stages import copy_stages
from tilewright.passes.cuda_tile.analysis.tensor_maps import (
    LOADED_PLACES,
    is_repeatable_number,
    is_weak,
    reads_only,
)
from tilewright.passes.cuda_tile.analysis.thread_read_layouts import thread_read_layout
from tilewright.passes.cuda_tile.analysis.view_access import (
    CACHE,
    contiguous,
    pads_zero,
    run_bits,
    tile_dimensions,
)
from tilewright.passes.cuda_tile.layouts.elements import element_of, scalar_type, shape_of
from tilewright.passes.cuda_tile.layouts.layouts import above, dim_bits
from tilewright.passes.cuda_tile.layouts.mma_layouts import (
    Multiplication,
    atom_of,
    multiplications,
)
from tilewright.passes.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.passes.cuda_tile.layouts.shared_order import CHUNK, SharedOrder
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import in_tensor_memory
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import multiplies_by_warpgroups

NARROWEST = min(CP_ASYNC.sizes["ca"])
"""The fewest bytes that one copy moves."""

_CROWDED = "shared memory has no room for its stages"

_BY_NUMBERS = 2
"""The iterations ahead of loads by numbers that the loop loads, which other CTAs wait for, too: an
H200's decode attention of pages moved 3.78 TB/s by 1, 3.83 by 2 and 3.63 by 3."""

_MOST_BESIDE = 128
"""The registers of a thread up to which copies beside products have theirs: with 160, those of
cuTile's block-scaled sample strip-mined, 72 bytes are spilled."""


def find_copied_loads(
    entry: EntryOp, arch: Target | None, plan: Pipelines, thread_bits: int, beside: int
) -> CopiedLoads:
    """The loads by `cp.async` of a kernel, whose stages leave so much shared memory at least."""
    copies = CopiedLoads()
    if arch is None or not arch.supports(CP_ASYNC.target):
        return copies
    tried = set[Operation]()
    for product, operand in _operands(entry):
        source = loaded_by(operand)
        if source is None or source.load in tried or plan.of(source.load) is not None:
            continue
        tried.add(source.load)
        copied = copy_of(source.load)
        if not isinstance(copied, str):
            order = copied.order
            direct = _reads_stages(product, source.load, arch, plan)
            direct = direct and is_readable(order, source, operand, product)
            copied = replace(copied, product=product if direct else None)
            layouts = thread_read_layout(source.load, order, product, thread_bits, arch)
            read = None if direct else next(layouts, None)
            copied = _add(copied, copies, plan)
            if copied is None and read is not None:
                copies.read[source.load] = read
        if copied is not None:
            copies.refused[source.load] = copied
    spare = registers_of(entry, arch) <= _MOST_BESIDE
    for load in _beside(entry) if spare else ():
        if load not in tried and plan.of(load) is None and not is_repeatable_number(load):
            copied = copy_of(load)
            if isinstance(copied, CopiedLoad):
                copied = _add(replace(copied, beside=True), copies, plan)
            if copied is not None:
                copies.refused[load] = copied
    for load in _streamed(entry):
        copied = _streamed_copy(load, thread_bits)
        why = copied if isinstance(copied, str) else _add(copied, copies, plan)
        if why is not None:
            copies.refused[load] = why
        elif isinstance(copied, CopiedLoad):
            copies.read[load] = copied.layout(thread_bits)
    _choose_stages(entry, arch, copies, plan, beside + plan.bytes)
    keep_stages(list(copies.by_loop.values()))
    for load in copies.refused:
        copies.read.pop(load, None)
    return copies


def _operands(entry: EntryOp) -> Iterator[tuple[Multiplication, SSAValue]]:
    """The operands of multiplications by MMAs."""
    for op in multiplications(entry):
        if atom_of(op) is not None:
            yield op, op.lhs
            yield op, op.rhs


def _reads_stages(product: Multiplication, load: Load, arch: Target, plan: Pipelines) -> bool:
    """True of MMAs that may read what threads copy as it lies: of those in tensor memory, of one
    CTA, threads know that they are complete by a stage of TMA that these release."""
    if not in_tensor_memory(product):
        return multiplies_by_warpgroups(product, arch)
    groups = [group for _, group in plan.groups if group.product is product and not group.paired]
    return load.parent is product.parent and any(group.released_by_mma for group in groups)


def _beside(entry: EntryOp) -> Iterator[Load]:
    """The loads of loops that multiply by MMAs, of tiles."""
    for loop in {op.parent_op(): None for op, _ in _operands(entry)}:
        if isinstance(loop, ForOp):
            loads = [op for op in loop.region.block.ops if isinstance(op, Load)]
            yield from (op for op in loads if shape_of(op.results[0]))


def _streamed(entry: EntryOp) -> Iterator[Load]:
    """The loads of loops that multiply nothing and have no loops in them."""
    for loop in entry.walk():
        if isinstance(loop, ForOp) and not any(
            isinstance(op, Multiplication | ForOp | LoopOp) for op in loop.region.walk()
        ):
            loads = (op for op in loop.region.block.ops if isinstance(op, Load))
            yield from (op for op in loads if CACHE not in op.attributes)


def _streamed_copy(load: Load, thread_bits: int) -> CopiedLoad | str:
    """The copy of a load that is not multiplied, which lies as threads copy it; else why there is
    none."""
    copied = copy_of(load)
    if isinstance(copied, CopiedLoad):
        layout, run, size = copied.layout(thread_bits), copied.run, copied.order.order.size
        if size << run < CHUNK or layout.idle:
            return f"not every thread copies {CHUNK} bytes"
        bits = *layout.registers[:run], *layout.threads, *layout.registers[run:]
        order = SharedOrder({bit: i for i, bit in enumerate(bits) if bit is not None}, size)
        return replace(copied, private=True, order=replace(copied.order, order=order))
    return copied


def _add(copied: CopiedLoad, copies: CopiedLoads, plan: Pipelines) -> str | None:
    """Give a load its place; else why it has none."""
    load = copied.op
    loop = load.parent_op()
    if not isinstance(loop, ForOp):
        return "it is in no loop over a range, or in a branch within one"
    if not is_reached(load):
        return "iterations may end before it"
    needed = needed_ahead(places_of(load), loop)
    if isinstance(needed, str):
        return needed
    own = copies.by_loop.setdefault(loop, CopiedLoop(loop))
    own.loads.append(copied)
    if copied.product is not None and not in_tensor_memory(copied.product):
        own.alone = loop not in plan.by_loop and _is_alone(own, copied.product)
        own.trailing = own.alone or loop in plan.by_loop
    own.extend(needed, loop)
    return None


def _is_alone(own: CopiedLoop, product: Multiplication) -> bool:
    """True of a loop within another that adds one product, whose operands both lie in stages."""
    nested = any(enclosing(own.loop, ForOp | LoopOp))
    both = [load.product for load in own.matrices] == [product, product]
    return nested and both and is_trailing(product, own.loop)


def copy_of(op: Load) -> CopiedLoad | str:
    """The copy that a load may be; else why not."""
    if not is_weak(op):
        return "the access is not weak"
    if not (_waits_before_loop(op) or reads_only(op.token)):
        return "a write comes before it"
    if isinstance(op, LoadPtrTkoOp):
        padding = op.padding_value
        zero = op.mask is None or padding is None or is_zero(padding)
        tile, along = op.result, len(shape_of(op.result)) - 1
        run = pointer_run(op.source, op.mask, CHUNK)
    else:
        dimensions, tile = tile_dimensions(op), op.tile
        whole = all(dimension.within for dimension in dimensions)
        zero = whole or pads_zero(op)
        along, run = contiguous(dimensions), run_bits(op, dimensions, divided=True)
    if not zero:
        return "what lies outside is not zero"
    element, bits = scalar_type(op, element_of(tile)), dim_bits(shape_of(tile))
    size = bytes_of(element)
    if along is None or along < 0 or size << run < NARROWEST:
        return f"no {NARROWEST} bytes of it are known to be neighbours at a multiple of that"
    return CopiedLoad(op, MatrixOrder.of(bits[along], above(bits, along), size), run, element)


def _waits_before_loop(op: Load) -> bool:
    """True of a load in a loop that waits only for what is done before the loop begins."""
    loop, token = op.parent_op(), op.token
    if token is None or not isinstance(loop, ForOp):
        return False
    owner = token.owner.parent_op() if isinstance(token.owner, Block) else token.owner
    return owner is not None and not loop.is_ancestor(owner)


def _choose_stages(
    entry: EntryOp, arch: Target, copies: CopiedLoads, plan: Pipelines, beside: int
) -> None:
    """Give loops their stages, as many as those that TMA fills for them; those without room have
    none."""
    tall = sum(own.tall for own in copies.by_loop.values())
    for loop, own in list(copies.by_loop.items()):
        others = max(copies.within(inner) for inner in copies.by_loop if loop.is_ancestor(inner))
        in_flight = latency((load.op for load in own.loads), arch)
        if in_flight is None and loop in plan.by_loop:
            in_flight = plan.by_loop[loop].stages - 1
        if in_flight is None and any(LOADED_PLACES in op.attributes for op in own.slice):
            in_flight = _BY_NUMBERS
        for loads in (own.loads, [load for load in own.loads if not load.beside]):
            for load in own.loads:
                if load not in loads:
                    copies.refused[load.op] = _CROWDED
            own.loads, least = loads, 1 + any(load.beside for load in loads)
            if own.stage:
                own.stages = copy_stages(
                    entry, arch, own.stage, beside + others, in_flight, streams=own.private,
                    alone=own.alone, tall=tall if own.tall else 0,
                )  # fmt: skip
                own.stages = min(own.stages, own.stages - own.ahead + trips_of(loop))
            if own.stage and own.ahead >= least:
                break
        else:
            del copies.by_loop[loop]
            copies.crowded[loop] = own.stage
            copies.refused.update(dict.fromkeys((load.op for load in own.loads), _CROWDED))
