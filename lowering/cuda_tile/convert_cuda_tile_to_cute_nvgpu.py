"""`cuda_tile` to kernels of threads, and the pass that lowers them."""

from __future__ import annotations

from collections.abc import Sequence

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
from xdsl.rewriter import Rewriter

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.contents import modules_of
from tilewright.dialects.cuda_tile.ops.module import EntryOp, GlobalOp
from tilewright.dialects.cuda_tile.ops.module import ModuleOp as TileModuleOp
from tilewright.dialects.cuda_tile.types import PointerType, TileType
from tilewright.dialects.cute.types.argument import FROM, SIGNATURE, ArgumentAttr
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target
from tilewright.dialects.cute_nvgpu.ops import tcgen05_sync
from tilewright.dialects.cute_nvgpu.ops.address import AddressOp
from tilewright.dialects.cute_nvgpu.ops.warp_specialization import SetmaxnregOp
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.control_flow import (
    BLOCK_CTAS,
    COMPUTES_LATE,
    MAX_REGISTERS,
    MIN_CTAS,
    TAKES_BLOCKS,
)
from tilewright.lowering.cuda_tile.budget import Budget, Retreat
from tilewright.lowering.cuda_tile.control_flow import convert_control_flow
from tilewright.lowering.cuda_tile.control_flow.late_stores import BlockStores
from tilewright.lowering.cuda_tile.convert_issuer import Issuer
from tilewright.lowering.cuda_tile.convert_producer import Producer
from tilewright.lowering.cuda_tile.kernel import grid_dependencies
from tilewright.lowering.cuda_tile.kernel.issued_products import IssueRecord
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.memory import convert_allocations, convert_globals
from tilewright.lowering.cuda_tile.memory.convert_copied_loads import CopyRings
from tilewright.lowering.cuda_tile.memory.gathering_ring import GatheringRing
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings, meet
from tilewright.lowering.cuda_tile.pipelines.ring import Ring
from tilewright.lowering.cuda_tile.plan import Plan, planned
from tilewright.lowering.tile.kernel import erase_unused
from tilewright.passes.analysis.hazards.launches import FROM_TILE_IR
from tilewright.passes.cuda_tile.analysis.cost_model import (
    GATHERING_REGISTERS,
    WARP,
    WARPGROUP,
    are_two,
    bounded_ctas,
    copier_registers,
    copying_registers,
    ctas_beside,
    is_crowded,
    registers_beside_gatherers,
    thread_count,
)
from tilewright.passes.cuda_tile.analysis.find_late_products import (
    find_late_products,
    register_operands,
)
from tilewright.passes.cuda_tile.analysis.find_late_store import find_late_store, late_registers
from tilewright.passes.cuda_tile.analysis.gathered_loads import known_by_others
from tilewright.passes.cuda_tile.analysis.pair_products import (
    are_paired,
    unpair_products,
)
from tilewright.passes.cuda_tile.analysis.place_accumulators import (
    accumulator_columns,
    accumulator_stages,
    forget_accumulators,
)
from tilewright.passes.cuda_tile.analysis.prefetched_loads import prefetched_loads
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.stages import cta_room, is_alone
from tilewright.passes.cuda_tile.analysis.thread_read_layouts import (
    fragment_layouts,
    thread_read_layouts,
)
from tilewright.passes.cuda_tile.layouts.elements import element_of, scalar_type, shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable, find_layouts
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, bits_of, log2
from tilewright.passes.cuda_tile.legalization.legalize import legalize
from tilewright.passes.cuda_tile.scheduling.broadcast_rows import reader_layouts
from tilewright.passes.cuda_tile.scheduling.late_sums import make_sums_late
from tilewright.passes.cuda_tile.steps import STEPS
from tilewright.source.diagnostic import file_location

# Importing them fills the table of rules.
for _room in ("arithmetic", "control_flow", "kernel", "memory", "products", "tiles"):
    modules_of(f"tilewright.lowering.cuda_tile.{_room}")


@frozen
class LoweredEntry:
    """The kernel of threads of an entry, and what was decided on the way: the state that has the
    place of every tile, the plan, and what the kernel does without, in order."""

    function: func.FuncOp
    kernel: EntryLowering
    plan: Plan
    retreats: Sequence[Retreat]


def convert_entry(entry: EntryOp, arch: Target | None) -> func.FuncOp:
    """The kernel of threads of an entry. Raises OpError where something does not lower."""
    lowered = lower_entry(entry, arch)
    for state in (lowered.kernel.emitter, lowered.kernel):
        # Tiles and rings know it: nothing is left to the garbage collector.
        vars(state).clear()
    return lowered.function


def lower_entry(entry: EntryOp, arch: Target | None) -> LoweredEntry:
    """Lower an entry, which is left as it was when its tiles got their places. Raises OpError where
    something does not lower."""
    for step in STEPS.values():
        step.rewrite(entry, arch)
    budget, retreats = Budget(), list[Retreat]()
    while True:
        plan = planned(entry, arch, budget)
        less = budget.relaxed(plan.lacking)
        if less is None:
            function, kernel = _emitted(plan, budget)
            less = budget.relaxed(plan.lacking_in(kernel))
            if less is None:
                _finish(plan, function, kernel)
                return LoweredEntry(function, kernel, plan, retreats)
        budget, retreat = less
        retreats.append(retreat)
        remark(entry, "retreat", retreat.text)
        if not budget.pairs:
            unpair_products(entry, retreat.reason)
        if not budget.accumulators and forget_accumulators(entry, retreat.reason):
            legalize(entry, arch, placed=True)


def _finish(plan: Plan, function: func.FuncOp, kernel: EntryLowering) -> None:
    """Say of a kernel what callers and users want to know. Raises OpError where shared memory has
    no room for its tiles, and there was nothing more to give up."""
    entry, arch = plan.entry, plan.arch
    for loads, way in ((plan.ahead.refused, "TMA"), (plan.copies.refused, "cp.async")):
        for load, why in loads.items():
            remark(load, "pipeline", f"'{load.name}' is not loaded ahead by {way}: {why}")
    kernel.check_room()
    kernel.tensor.trust()
    for name in (COMPUTES_LATE, MAX_REGISTERS, MIN_CTAS, TAKES_BLOCKS, BLOCK_CTAS):
        if name in entry.attributes:
            function.attributes[name] = entry.attributes[name]
    if arch is not None:
        taken, threads = int(plan.lacking_in(kernel).taken), thread_count(entry, arch) + WARP
        beside = ctas_beside(entry, arch, taken) if kernel.late_products.is_shared else 1
        if is_alone(arch, taken) or bounded_ctas(entry, arch, threads, beside, spare=0):
            function.attributes.setdefault(MIN_CTAS, IntegerAttr(beside, i32))
        elif are_two(entry, arch):
            function.attributes.setdefault(MIN_CTAS, IntegerAttr(2, i32))


def _emitted(plan: Plan, budget: Budget) -> tuple[func.FuncOp, EntryLowering]:
    """The kernel of threads of a plan, and what there is to know of it."""
    entry, arch = plan.entry, plan.arch
    source, block = entry.body.block, Block()
    threads = thread_count(entry, arch)
    staged = {load.op for _, group in plan.ahead.groups for load in group.all} | plan.copies.loads
    wanted = {
        **thread_read_layouts(plan.ahead, log2(threads), arch), **plan.copies.read,
        **fragment_layouts(entry, staged, log2(threads), arch),
    }  # fmt: skip
    table = find_layouts(source, log2(threads), arch, wanted)
    if read := reader_layouts(entry, table, {*staged, *wanted}):
        table = find_layouts(source, log2(threads), arch, read | wanted)
    if plan.ahead.gathers:
        # Where rows lie is nothing to those who multiply.
        table.layouts.update(dict.fromkeys(known_by_others(plan.copied or set(), plan.ahead)))
    kernel = EntryLowering(block, table, arch)
    kernel.at(entry)
    kernel.hoists = budget.hoisted
    kernel.scratch.conversion_bytes = min(budget.conversion_bytes, kernel.scratch.limit)
    kernel.scratch.store_room = plan.store_room(budget.beside)
    if arch is not None:
        kernel.scratch.spare = cta_room(arch, plan.ahead.ctas) - plan.staged
    if arch is not None and ctas_beside(entry, arch, plan.staged) > 1:
        kernel.scratch.shared = cta_room(arch, 2) - plan.staged
    kernel.groups.one_by_one = arch is not None and is_crowded(
        entry, arch, register_operands(entry, arch, kernel.table)
    )
    for i, argument in enumerate(source.args):
        kernel.place(argument, kernel.table.scalar, [_argument(entry, argument, i, kernel)])
    own, issued = plan.copied, plan.issued
    if issued is not None:
        kernel.tensor.record = IssueRecord()
    if arch is not None and (columns := accumulator_columns(entry)) > 0:
        buffered = budget.double_buffered and issued is not None
        stages = accumulator_stages(entry, arch, plan.ahead) if buffered else 1
        kernel.tensor.allocate(columns, threads // WARP, stages, 1 + are_paired(entry))
    made = GatheringRing if plan.ahead.gathers else Ring
    kernel.stored, kernel.ahead = plan.stored, Rings(plan.ahead, kernel, made)
    kernel.prefetched = prefetched_loads(entry)
    kernel.copied = CopyRings(plan.copies, kernel)
    if grid_dependencies.waits_first(entry):
        grid_dependencies.wait_for_grids(kernel)
    heap = convert_allocations.take_heap(entry, kernel)
    late, registers = kernel.late_products, 0
    if own is None or arch is None:
        _lower_body(source, kernel)
    else:
        if not kernel.tensor.is_used:
            late = find_late_products(entry, arch, plan.ahead, kernel.table)
        kernel.late_products = late
        for product in late.on_time:
            make_sums_late(product)
        waits = grid_dependencies.waits_later(entry)
        registers = late.registers
        if plan.ahead.gathers:
            others = WARPGROUP * (1 + (issued is not None))
            registers = registers_beside_gatherers(threads, others, plan.ahead.ctas)
        elif kernel.tensor.is_used:
            registers = copier_registers(entry, arch, plan.ahead.ctas) or 0
        store = None if kernel.tensor.is_used else find_late_store(entry, table)
        # A tile that TMA stores in one round has no halves.
        room, stored = kernel.scratch.store_room, plan.stored.items()
        whole = [op for op, boxed in stored if boxed.order.bytes <= room]
        if store is not None and store.op not in whole and not plan.copies.by_loop:
            raised = late_registers(entry, arch, plan.ahead, store, registers)
            if raised is not None:
                registers, kernel.late_store = raised, BlockStores(store, kernel)
        _specialise(source, own, issued, threads, kernel, waits=waits, registers=registers)
    kernel.at(entry)
    if heap is not None:
        convert_allocations.give_back(heap, kernel)
    kernel.scratch.finish()
    drained = own is not None and all(ring.is_drained for ring in kernel.ahead.all)
    if plan.ahead.cluster > 1 and (kernel.tensor.ctas > 1 or not drained):
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
    if plan.ahead.gathers:
        threads += WARPGROUP + (issued is not None) * (WARPGROUP if registers else WARP)
    else:
        lone = (own is not None) + (issued is not None)
        threads += WARPGROUP if registers else lone * WARP
    lowered.attributes["gpu.known_block_size"] = DenseArrayBase.from_list(i32, [threads, 1, 1])
    if plan.ahead.cluster > 1:
        size = DenseArrayBase.from_list(i32, [plan.ahead.cluster, 1, 1])
        lowered.attributes["gpu.known_cluster_size"] = size
    ctas = plan.ahead.ctas
    raised = registers > 0 and kernel.tensor.is_used
    if arch is not None and (
        bounded_ctas(entry, arch, threads, ctas)
        or ((raised or late.by_loop or late.on_time) and ctas > 1)
    ):
        lowered.attributes[MIN_CTAS] = IntegerAttr(ctas, i32)
    lowered.location = file_location(entry.location) or lowered.location
    return lowered, kernel


def _argument(entry: EntryOp, argument: SSAValue, place: int, kernel: EntryLowering) -> SSAValue:
    """A parameter; where it is a pointer, the address of the memory that it stands for."""
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


def _lower_body(source: Block, kernel: EntryLowering) -> None:
    convert_control_flow.lower_body(source, kernel)
    kernel.groups.wait()
    kernel.tensor.end()
    kernel.scratch.end()


def _specialise(
    source: Block, needed: set[Operation], issued: set[Operation] | None, threads: int,
    kernel: EntryLowering, *, waits: bool, registers: int,
) -> None:  # fmt: skip
    """A warp whose first thread copies, one whose first thread issues MMAs in tensor memory, if
    there are any, and the threads in front of them that compute. Where a kernel waits for the grids
    before it, the one that copies does so first. Where those that compute need more `registers`, a
    warpgroup gives up its own."""
    emitter, given = kernel.emitter, dict(kernel.values)
    number, plan = kernel.threads.number, Rings.in_kernel(kernel).plan
    gathers = plan.gathers
    copying = WARPGROUP if gathers else WARP
    first = emitter.compare("eq", number, threads)

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

    def gather() -> None:
        """Of a warpgroup all threads do it, which have tiles where they need them."""
        table, kernel.threads.among = kernel.table, WARPGROUP
        kernel.table = LayoutTable(log2(WARPGROUP), table.arch)
        values = [*source.args, *(value for op in needed for value in op.results)]
        tiles = [value for value in values if isinstance(value.type, TileType)]
        numbers = [value for value in tiles if bits_of(shape_of(value)) == 0]
        kernel.table.layouts.update(dict.fromkeys(numbers, kernel.table.scalar))
        for argument in source.args:
            kernel.place(argument, kernel.table.scalar, given[argument].elements)
        produce()
        kernel.table, kernel.threads.among = table, None

    def copy() -> None:
        if registers:
            entry, few = source.parent_op(), GATHERING_REGISTERS
            if isinstance(entry, EntryOp) and not gathers:
                few = copying_registers(entry, kernel.arch, plan.ctas)
            emitter.add(SetmaxnregOp("dec", few))
        if gathers and issued is not None:
            emitter.when(emitter.compare("lt", number, threads + WARPGROUP), gather)
        elif gathers:
            gather()
        else:
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
        warp = emitter.binary("shr", number, WARP_BITS)
        issues = emitter.compare("eq", warp, threads + copying >> WARP_BITS)
        if kernel.tensor.ctas > 1:
            issues = emitter.binary("and", kernel.leads, issues)
        emitter.when(issues, lambda: Issuer(kernel, issued).walk(source, record.events))
        emitter.leave(outer)
        kernel.values = places
    produced.add_op(scf.YieldOp())
    if kernel.tensor.record is None:
        computes = emitter.compare("lt", number, threads)
        emitter.add(scf.IfOp(computes, [], Region(computed), Region(produced)))
        return
    # Tensor memory is given back by those who compute: the others come first in the text.
    others = emitter.compare("lt", emitter.constant(threads - 1, 32), number)
    emitter.add(scf.IfOp(others, [], Region(produced), Region(computed)))


def _say_parts(entry: EntryOp, lowered: func.FuncOp, kernel: EntryLowering) -> None:
    """Say which part of which parameter of the entry each parameter of the kernel is, also each
    tensor map: an array stands for a pointer, however it lies."""
    given = [element_of(argument) for argument in entry.body.block.args]
    sources = [
        ArgumentAttr.get(i, "pointer" if isinstance(type_, PointerType) else "value")
        for i, type_ in enumerate(given)
    ]
    lowered.arg_attrs = ArrayAttr(
        DictionaryAttr({FROM: source}) for source in (*sources, *kernel.maps)
    )
    lowered.attributes[SIGNATURE] = ArrayAttr(given)


@frozen
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
            for entry in descendants(holder, EntryOp):
                block.insert_op_before(convert_entry(entry, chip), holder)
            for variable in descendants(holder, GlobalOp):
                block.insert_op_before(convert_globals.module_variable(variable), holder)
            Rewriter.erase_op(holder, safe_erase=False)


class ConvertCudaTileToCutePass(ConvertCudaTileToCuteNvgpuPass):
    """The same, by the name that it had before 0.1."""

    name = "convert-cuda-tile-to-cute"
