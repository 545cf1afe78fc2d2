"""`cuda_tile` to kernels of threads, and the pass that lowers them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tilewright.dialects.contents import modules_of
from tilewright.dialects.cuda_tile.ops.module import EntryOp, GlobalOp
from tilewright.dialects.cuda_tile.ops.module import ModuleOp as TileModuleOp
from tilewright.dialects.cuda_tile.types import PointerType
from tilewright.dialects.cute.types.argument import FROM, SIGNATURE, ArgumentAttr
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target
from tilewright.dialects.cute_nvgpu.ops import tcgen05_sync
from tilewright.dialects.cute_nvgpu.ops.address import AddressOp
from tilewright.dialects.cute_nvgpu.ops.warp_specialization import SetmaxnregOp
from tilewright.dialects.ptx.control_flow import BLOCK_CTAS, MIN_CTAS, TAKES_BLOCKS
from tilewright.lowering.cuda_tile.control_flow import convert_control_flow
from tilewright.lowering.cuda_tile.convert_issuer import Issuer, needed_for_issues
from tilewright.lowering.cuda_tile.convert_producer import Producer
from tilewright.lowering.cuda_tile.kernel import grid_dependencies
from tilewright.lowering.cuda_tile.kernel.issued_products import IssueRecord
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel
from tilewright.lowering.cuda_tile.memory import convert_allocations, convert_globals
from tilewright.lowering.cuda_tile.memory.convert_copied_loads import CopyRings
from tilewright.lowering.cuda_tile.pipelines.convert_boxed_stores import stored_boxes
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings, meet
from tilewright.lowering.tile.kernel import erase_unused
from tilewright.passes.analysis.hazards.launches import FROM_TILE_IR
from tilewright.passes.cuda_tile.analysis.cost_model import (
    COPYING_REGISTERS,
    WARP,
    WARPGROUP,
    bounded_ctas,
    cta_room,
    is_alone,
    is_crowded,
    producer_pays,
    products_of,
    thread_count,
)
from tilewright.passes.cuda_tile.analysis.find_copied_loads import (
    CopiedLoads,
    find_copied_loads,
)
from tilewright.passes.cuda_tile.analysis.find_late_products import (
    LateProducts,
    find_late_products,
    register_operands,
)
from tilewright.passes.cuda_tile.analysis.find_pipelines import Pipelines, Stores, find_pipelines
from tilewright.passes.cuda_tile.analysis.lone_warps import needed_for_copies
from tilewright.passes.cuda_tile.analysis.pair_products import (
    are_paired,
    pair_products,
    unpair_products,
)
from tilewright.passes.cuda_tile.analysis.place_accumulators import (
    accumulator_columns,
    accumulator_stages,
    are_multiplied_alone,
    forget_accumulators,
    place_accumulators,
)
from tilewright.passes.cuda_tile.analysis.prefetched_loads import prefetched_loads
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.thread_read_layouts import (
    fragment_layouts,
    thread_read_layouts,
)
from tilewright.passes.cuda_tile.layouts.elements import element_of, scalar_type
from tilewright.passes.cuda_tile.layouts.find_layouts import find_layouts
from tilewright.passes.cuda_tile.layouts.layouts import log2
from tilewright.passes.cuda_tile.legalization.legalize import legalize
from tilewright.passes.cuda_tile.scheduling.collapsed_loops import collapse_loops
from tilewright.passes.cuda_tile.scheduling.kernel_turns import turn_kernel
from tilewright.passes.cuda_tile.scheduling.late_loads import make_loads_late
from tilewright.passes.cuda_tile.scheduling.order_blocks import order_blocks
from tilewright.passes.cuda_tile.scheduling.single_trips import split_single_trips
from tilewright.passes.cuda_tile.scheduling.slice_products import slice_products
from tilewright.passes.cuda_tile.scheduling.split_blocks import split_blocks
from tilewright.passes.cuda_tile.scheduling.split_turns import split_turns
from tilewright.source.diagnostic import file_location

# Importing them fills the table of rules.
for _room in ("arithmetic", "control_flow", "kernel", "memory", "products", "tiles"):
    modules_of(f"tilewright.lowering.cuda_tile.{_room}")


@dataclass(frozen=True)
class LoweredEntry:
    """The kernel of threads of an entry, and what was decided on the way: the state that has the
    place of every tile, and the loads that come ahead."""

    function: func.FuncOp
    kernel: Kernel
    plan: Pipelines
    copies: CopiedLoads


def convert_entry(entry: EntryOp, arch: Target | None = None) -> func.FuncOp:
    """The kernel of threads of an entry. Raises OpError where something does not lower."""
    lowered = lower_entry(entry, arch)
    for state in (lowered.kernel.emitter, lowered.kernel):
        # Tiles and rings know it: nothing is left to the garbage collector.
        vars(state).clear()
    return lowered.function


def lower_entry(entry: EntryOp, arch: Target | None = None) -> LoweredEntry:
    """Lower an entry, which is left as it was when its tiles got their places. Raises OpError where
    something does not lower."""
    legalize(entry, arch)
    collapse_loops(entry)
    split_single_trips(entry)
    make_loads_late(entry)
    order_blocks(entry)
    blocks = split_blocks(entry, arch)
    turn_kernel(entry, arch)
    split_turns(entry, arch)
    slice_products(entry, arch)
    place_accumulators(entry, arch)
    pair_products(entry, arch, blocks)
    legalize(entry, arch, placed=True)
    stored, beside = stored_boxes(entry, arch), 0
    by_warps, turns, keeps, conversion_bytes = True, True, True, math.inf
    while True:
        plan = find_pipelines(entry, arch, stored, beside, blocks)
        if beside and by_warps and not plan.by_loop and not products_of(entry, arch):
            # Stages by cp.async are in the memory that those by TMA have no room beside.
            by_warps, beside = False, 0
        if not by_warps:
            plan = Pipelines(refused=plan.refused)
        threads = log2(thread_count(entry, arch))
        copies = find_copied_loads(entry, arch, plan, threads, beside)
        if copied := copies.stage_beside(plan):
            plan = find_pipelines(entry, arch, stored, beside, blocks, copied)
            copies = find_copied_loads(entry, arch, plan, threads, beside)
        roles = _Roles.of(entry, arch, plan)
        if are_paired(entry) and (roles.issued is None or not are_multiplied_alone(entry, plan)):
            unpair_products(entry, "threads read or issue")
            continue
        lowered, kernel = _converted(
            entry, arch, stored, plan, copies, roles, conversion_bytes, turns=turns, keeps=keeps
        )
        if not kernel.tensor.takes_turns:
            if kernel.tensor.stages == 1:
                unpair_products(entry, "threads and MMAs do not take turns")
            turns = False
            continue
        room = math.inf if arch is None else cta_room(arch, 1)
        shared = room if arch is None else cta_room(arch, plan.ctas)
        scratch = kernel.scratch.bytes + copies.beside
        others = scratch - copies.bytes
        if others <= beside or plan.bytes + scratch <= shared:
            for load, why in plan.refused.items():
                remark(load, "pipeline", f"'{load.name}' is not loaded ahead by TMA: {why}")
            if plan.bytes + scratch > room and forget_accumulators(
                entry, "shared memory has no room"
            ):
                legalize(entry, arch, placed=True)
                stored, beside = stored_boxes(entry, arch), 0
                continue
            if kernel.crowded is not None and keeps:
                keeps = False
                continue
            if kernel.crowded is not None and 0 < kernel.scratch.left < conversion_bytes:
                conversion_bytes = kernel.scratch.left
                continue
            kernel.check_room()
            kernel.tensor.trust()
            for load, why in copies.refused.items():
                remark(load, "pipeline", f"'{load.name}' is not loaded ahead by cp.async: {why}")
            if TAKES_BLOCKS in entry.attributes:
                lowered.attributes[TAKES_BLOCKS] = entry.attributes[TAKES_BLOCKS]
            if blocks.ctas > 1:
                lowered.attributes[BLOCK_CTAS] = IntegerAttr(blocks.ctas, i32)
            if arch is not None and is_alone(arch, plan.bytes + scratch):
                lowered.attributes.setdefault(MIN_CTAS, IntegerAttr(1, i32))
            return LoweredEntry(lowered, kernel, plan, copies)
        # Stages have taken what is needed to change layouts.
        beside = others


@dataclass(frozen=True, slots=True)
class _Roles:
    """The ops that a warp of its own has to know that copies, and one that issues MMAs; None where
    there is none."""

    copied: set[Operation] | None = None
    issued: set[Operation] | None = None

    @classmethod
    def of(cls, entry: EntryOp, arch: Target | None, plan: Pipelines) -> _Roles:
        """Those of a kernel."""
        if arch is None or convert_allocations.allocas_of(entry):
            return cls()
        if not producer_pays(entry, arch, plan.ctas):
            return cls()
        if (copied := needed_for_copies(entry, [load.op for load in plan.loads()])) is None:
            return cls()
        return cls(copied, needed_for_issues(entry, plan))


def _converted(
    entry: EntryOp, arch: Target | None, stored: Stores, plan: Pipelines, copies: CopiedLoads,
    roles: _Roles, conversion_bytes: float, *, turns: bool, keeps: bool,
) -> tuple[func.FuncOp, Kernel]:  # fmt: skip
    """The kernel of threads, whose tiles take so many bytes at most to change layout, may take
    turns in tensor memory, and whose loops may keep operands in shared memory; and what there is
    to know of it."""
    source, block = entry.body.block, Block()
    threads = thread_count(entry, arch)
    staged = {load.op for load in plan.loads()} | copies.loads
    wanted = {
        **thread_read_layouts(plan, log2(threads), arch), **copies.read,
        **fragment_layouts(entry, staged, log2(threads), arch),
    }  # fmt: skip
    kernel = Kernel(block, find_layouts(source, log2(threads), arch, wanted), arch)
    kernel.at(entry)
    kernel.keeps = keeps
    kernel.scratch.conversion_bytes = min(conversion_bytes, kernel.scratch.limit)
    kernel.groups.one_by_one = arch is not None and is_crowded(
        entry, arch, register_operands(entry, arch, kernel.table)
    )
    for i, argument in enumerate(source.args):
        kernel.place(argument, kernel.table.scalar, [_argument(entry, argument, i, kernel)])
    own, issued = roles.copied, roles.issued
    if issued is not None:
        kernel.tensor.record = IssueRecord()
    if arch is not None and (columns := accumulator_columns(entry)) > 0:
        turns = turns and kernel.tensor.record is not None
        stages = accumulator_stages(entry, arch, plan) if turns else 1
        kernel.tensor.allocate(columns, threads // WARP, stages, 1 + are_paired(entry))
    kernel.stored, kernel.ahead = stored, Rings(plan, kernel)
    kernel.prefetched = prefetched_loads(entry)
    kernel.copied = CopyRings(copies, kernel)
    if grid_dependencies.waits_first(entry):
        grid_dependencies.wait_for_grids(kernel)
    heap = convert_allocations.take_heap(entry, kernel)
    late = LateProducts({})
    if own is None or arch is None:
        _lower_body(source, kernel)
    else:
        if not kernel.tensor.is_used:
            late = find_late_products(entry, arch, plan, kernel.table)
        kernel.late_products = late.by_loop
        waits = grid_dependencies.waits_later(entry)
        registers = late.registers
        _specialise(source, own, issued, threads, kernel, waits=waits, registers=registers)
    kernel.at(entry)
    if heap is not None:
        convert_allocations.give_back(heap, kernel)
    kernel.scratch.finish()
    drained = own is not None and all(ring.is_drained for ring in kernel.ahead.all)
    if plan.cluster > 1 and (kernel.tensor.ctas > 1 or not drained):
        meet(kernel)
    if kernel.tensor.ctas > 1:
        kernel.emitter.add(tcgen05_sync.FenceAfterThreadSyncOp())
        kernel.tensor.give_back()
    kernel.emitter.add(func.ReturnOp())
    erase_unused(block)
    types = [argument.type for argument in block.args]
    lowered = func.FuncOp(entry.sym_name.data, (types, []), Region(block))
    _say_parts(entry, lowered, kernel)
    lowered.attributes["gpu.kernel"] = StringAttr("")
    lowered.attributes[FROM_TILE_IR] = UnitAttr()
    lone = (own is not None) + (kernel.tensor.record is not None)
    threads += WARPGROUP if late.registers else lone * WARP
    lowered.attributes["gpu.known_block_size"] = DenseArrayBase.from_list(i32, [threads, 1, 1])
    if plan.cluster > 1:
        size = DenseArrayBase.from_list(i32, [plan.cluster, 1, 1])
        lowered.attributes["gpu.known_cluster_size"] = size
    if arch is not None and (
        bounded_ctas(entry, arch, threads, plan.ctas) or (late.by_loop and plan.ctas > 1)
    ):
        lowered.attributes[MIN_CTAS] = IntegerAttr(plan.ctas, i32)
    lowered.location = file_location(entry.location) or lowered.location
    return lowered, kernel


def _argument(entry: EntryOp, argument: SSAValue, place: int, kernel: Kernel) -> SSAValue:
    """A parameter: of a pointer the address of the memory that it stands for."""
    element = element_of(argument)
    type_: Attribute = scalar_type(entry, element)
    if isinstance(element, PointerType):
        pointee = scalar_type(entry, element.pointee_type)
        type_ = MemRefType(pointee, [DYNAMIC_INDEX])
    given = kernel.entry.insert_arg(type_, place)
    given.name_hint = argument.name_hint or f"arg{place}"
    if not isinstance(element, PointerType):
        return given
    return kernel.emitter.once(("address", given), lambda: AddressOp(given))


def _lower_body(source: Block, kernel: Kernel) -> None:
    convert_control_flow.lower_body(source, kernel)
    kernel.groups.wait()
    kernel.tensor.end()
    kernel.scratch.end()


def _specialise(
    source: Block, needed: set[Operation], issued: set[Operation] | None, threads: int,
    kernel: Kernel, *, waits: bool, registers: int,
) -> None:  # fmt: skip
    """A warp of which one thread copies, one of which one issues MMAs in tensor memory, if any, and
    the threads in front of them; where a kernel waits for the grids before it, the one that copies
    does so first. Where those that compute need more `registers`, a warpgroup gives up its own."""
    emitter, given = kernel.emitter, dict(kernel.values)
    number = kernel.threads.number
    first, second = (
        emitter.compare("eq", number, emitter.constant(threads + i * WARP, 32)) for i in range(2)
    )

    def compute() -> None:
        if registers:
            emitter.add(SetmaxnregOp("inc", registers))
        kernel.scratch.sharers = threads
        _lower_body(source, kernel)

    def produce() -> None:
        if waits:
            grid_dependencies.wait_for_grids(kernel)
        Producer(kernel, needed).walk(source)
        for ring in Rings.in_kernel(kernel).all:
            ring.drain()

    def copy() -> None:
        if registers:
            emitter.add(SetmaxnregOp("dec", COPYING_REGISTERS))
        emitter.when(first, produce)
        kernel.values = dict(given)
        Rings.in_kernel(kernel).restart()

    produced = Block()
    outer = emitter.enter(produced)
    copy()
    emitter.leave(outer)
    outer = emitter.enter(computed := Block())
    emitter.straight = computed
    compute()
    places = kernel.values
    emitter.add(scf.YieldOp())
    emitter.leave(outer)
    if (record := kernel.tensor.record) is not None and issued is not None:
        kernel.values = dict(given)
        Rings.in_kernel(kernel).restart()
        outer = emitter.enter(produced)
        issuer = Issuer(kernel, issued)
        issues = second
        if kernel.tensor.ctas > 1:
            issues = emitter.binary("and", second, kernel.leads)
        emitter.when(issues, lambda: issuer.walk(source, record.events))
        emitter.leave(outer)
        kernel.values = places
    produced.add_op(scf.YieldOp())
    if kernel.tensor.record is None:
        computes = emitter.compare("lt", number, emitter.constant(threads, 32))
        emitter.add(scf.IfOp(computes, [], Region(computed), Region(produced)))
        return
    # Tensor memory is given back by those who compute: the others come first in the text.
    others = emitter.compare("lt", emitter.constant(threads - 1, 32), number)
    emitter.add(scf.IfOp(others, [], Region(produced), Region(computed)))


def _say_parts(entry: EntryOp, lowered: func.FuncOp, kernel: Kernel) -> None:
    """Say which part of which of the entry's parameters each of a kernel is, tensor maps among
    them: an array stands for a pointer, however it lies."""
    given = [element_of(argument) for argument in entry.body.block.args]
    sources = [
        ArgumentAttr.get(i, "pointer" if isinstance(type_, PointerType) else "value")
        for i, type_ in enumerate(given)
    ]
    lowered.arg_attrs = ArrayAttr(
        DictionaryAttr({FROM: source}) for source in (*sources, *kernel.maps)
    )
    lowered.attributes[SIGNATURE] = ArrayAttr(given)


@dataclass(frozen=True)
class ConvertCudaTileToCuteNvgpuPass(ModulePass):
    """Lower the entries of CUDA Tile IR to kernels of threads.

    Every tile gets a thread-value layout, `find_layouts` says which; what changes layout goes
    through shared memory. `arch` is the target that the kernels are for.
    """

    name = "convert-cuda-tile-to-cute-nvgpu"

    arch: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = None if self.arch is None else target(self.arch)
        block = op.body.block
        for holder in [inner for inner in block.ops if isinstance(inner, TileModuleOp | EntryOp)]:
            for entry in [inner for inner in holder.walk() if isinstance(inner, EntryOp)]:
                block.insert_op_before(convert_entry(entry, chip), holder)
            for variable in holder.walk():
                if isinstance(variable, GlobalOp):
                    block.insert_op_before(convert_globals.module_variable(variable), holder)
            holder.detach()
            holder.erase(safe_erase=False)
