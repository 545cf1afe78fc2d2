"""How blocks reach shared memory, and what multiplies them there.

CpAsync     every thread copies its part and multiplies: cp.async, ldmatrix, mma.sync (sm_80)
Tma         one thread copies boxes, warpgroups multiply: TMA, mbarriers, wgmma (sm_90a)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod

from tile_frontend.language import Array, Frame, Place, Registers, Shared, alloca, block_of
from tile_frontend.trace import OPS, Index, Trace, attribute, coord, cute, hardware, index
from xdsl.dialects import arith, gpu, scf
from xdsl.dialects.builtin import StringAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cute import Layout, composition, equivalent, left_inverse
from tilewright.dialects.cute.tensor import element_bits
from tilewright.dialects.cute_nvgpu.ops import warp_specialization, wgmma_sync


def memory_of(element: str, rows: int, columns: int) -> tuple[str, str, str]:
    """A matrix in rows of up to 128 bytes, whose runs of 16 a swizzle spreads over all banks: the
    swizzle, its shape and its stride."""
    run = 128 // element_bits(element)
    row = min(columns, 8 * run)
    swizzle = f"S<{(row // run).bit_length() - 1},{run.bit_length() - 1},3>"
    return swizzle, f"{rows},({row},{columns // row})", f"{row},(1,{rows * row})"


def at_last(tensor: SSAValue, place: Index) -> SSAValue:
    """One place of a tensor's last mode."""
    modes = [None] * (tensor.type.typed.value.modes.rank() - 1)
    return Trace.current.emit(cute("slice", tensor, coord(*modes, place)), place.uniform)


def part(name: str, *operands: SSAValue, **properties: str) -> SSAValue:
    """Who has which part, which the entry of the kernel says."""
    given = {key: StringAttr(value) for key, value in properties.items()}
    thread = Trace.current.engine.thread.value
    return Trace.current.emit(cute(f"tiled.{name}", *operands, thread, **given), uniform=True)


def body_of(*arguments: Attribute) -> Block:
    """What a loop or a branch executes, still empty."""
    return Block([scf.YieldOp()], arg_types=arguments)


def counted(count: Index, body: Block) -> Index:
    """A loop from 0 up to a count, and its variable."""
    bounds = (each.value for each in (index(0), count, index(1)))
    Trace.current.emit(scf.ForOp(*bounds, [], Region(body)))
    return Index(body.args[0], uniform=False)


@dataclass
class Loop:
    """A loop whose body is being traced. `fills` copy what the body loads, each for a step and the
    stage that it fills; `bytes` is how much that is."""

    pipeline: SSAValue
    stages: int
    step: Index
    stage: Index
    fills: list[Callable[[Index, Index], None]] = field(default_factory=list)
    bytes: int = 0

    def use(self, name: str, step: Index) -> Index:
        op = cute(f"pipeline.{name}", self.pipeline, step.value)
        return Index(Trace.current.emit(op), uniform=False)

    def fill(self, step: Index) -> None:
        """What a producer does for a step."""
        self.use("producer_acquire", step)
        stage = self.use("stage", step)
        for fill in self.fills:
            fill(step, stage)
        self.use("producer_commit", step)


class Engine:
    """What engines have in common. `warps` multiply: so many along M and along N."""

    running: Loop | None = None

    def __init__(self, warps: tuple[int, int]):
        self.warps = warps

    def frame(self, m: int, n: int) -> Frame:
        return Frame(self.mma(n, "bf16", "kk"), (m, n), self.thread)

    def mma(self, n: int, element: str, majors: Sequence[str]) -> SSAValue:
        text = f"!cute.tiled_mma<{self.atoms(n, element, *majors)}>"
        return Trace.current.typed("make_tiled_mma", text)

    def new_loop(self, stages: int, step: Index) -> Loop:
        create = OPS["pipeline.create"](self.pipeline(stages, 1))
        return Loop(Trace.current.emit(create, uniform=True), stages, step, index(0))

    @contextmanager
    def loop(self, count: Index, stages: int) -> Iterator[Index]:
        """A loop whose loads come through a pipeline."""
        body = body_of(i32)
        step = counted(count, body)
        run = self.running = self.new_loop(stages, step)
        with Trace.current.inserting(InsertPoint.before(body.last_op)):
            run.use("consumer_wait", step)
            run.stage = run.use("stage", step)
            yield step
            run.use("consumer_release", step)
        self.running = None
        self.produce(run, count)
        Rewriter.replace_value_with_new_type(run.pipeline, self.pipeline(stages, run.bytes))

    def load(self, array: Array, extents: tuple[int, int], at: Place) -> Shared:
        """A block that the running loop's steps bring."""
        run = self.running
        if run is None:
            raise ValueError("expected loads in loops, by steps(...)")
        layout = memory_of(array.element, *extents)
        stages = "{} o 0 o ({},{}):({},{})".format(*layout[:2], run.stages, layout[2], prod(extents))
        type_ = attribute(f'!cute.memref<{array.element}, smem, align<1024>, "{stages}">')
        memory = Trace.current.emit(OPS["memref.alloc"](type_), uniform=True)
        places = [None if index(each) == run.step else each for each in at]
        run.fills.append(self.copy(run, array, extents, places, memory, layout))
        run.bytes += prod(extents) * element_bits(array.element) // 8
        return Shared(memory, run.stage)

    def multiply(self, a: Shared | Registers, b: Shared, acc: Registers) -> None:
        majors = ["k" if each.rows_run else "mn" for each in (a, b.T)]
        mma = self.mma(acc.frame.extents[1], a.element, majors)
        operands = self.matrix("A", mma, a), self.matrix("B", mma, b.T)
        self.issue(OPS["gemm"](mma, acc.view, *operands, acc.view))


class CpAsync(Engine):
    """Every thread copies and multiplies."""

    @property
    def threads(self) -> int:
        return 32 * self.warps[0] * self.warps[1]

    def begin(self) -> None:
        self.thread = hardware(gpu.ThreadIdOp, "x")

    def atoms(self, n: int, element: str, *majors: str) -> str:
        down, across = self.warps
        return (
            f"!cute_nvgpu.sm80.mma<16x8x16, elem_type = ({element}, {element}, f32)>, "
            f'atom_layout_MNK = "({down},{across},1):(1,{down},0)", '
            f'permutation_MNK = "[{16 * down};{16 * across};16]"'
        )

    def pipeline(self, stages: int, bytes_: int) -> Attribute:
        return attribute(f"!cute.pipeline<cp_async, stages = {max(stages, 2)}>")

    def produce(self, run: Loop, count: Index) -> None:
        """Copies run ahead of the loop: the first of them before it."""
        ahead, inserting = body_of(i32), Trace.current.inserting
        with inserting(InsertPoint.before(run.step.value.owner.parent_op())):
            first = counted(index(run.stages - 1), ahead)
        with inserting(InsertPoint.before(ahead.last_op)):
            run.fill(first)
        with inserting(InsertPoint.before(run.stage.value.owner)):
            run.fill(run.step + (run.stages - 1))

    def load(self, array: Array, extents: tuple[int, int], at: Place) -> Shared:
        """Outside of loops the block is waited for."""
        if self.running is not None:
            return super().load(array, extents, at)
        run = self.running = self.new_loop(1, index(at[1]))
        found = super().load(array, extents, at)
        run.fills[0](run.step, run.stage)
        run.use("producer_commit", run.step)
        run.use("consumer_wait", run.step)
        self.running = None
        return found

    def copy(self, run, array, extents, places, memory, layout) -> Callable[[Index, Index], None]:
        """Threads side by side along rows, 16 bytes each."""
        trace, run_, element = Trace.current, 128 // element_bits(array.element), array.element
        across = min(extents[1] // run_, 8)
        down = self.threads // across
        text = (
            f"!cute.tiled_copy<#cute_nvgpu.copy<cp_async, {element}, 128, cache = cg>, "
            f'layout_tv = "(({across},{down}),{run_}):(({down * run_},1),{down})", '
            f'tiler_mn = "[{down};{across * run_}]">'
        )
        tiled = trace.typed("make_tiled_copy", text)
        blocks = array.blocks(extents, places)
        source, coords = (part("copy.partition_S", tiled, each) for each in blocks)
        target, limits = part("copy.partition_D", tiled, memory), array.shape

        def fill(step: Index, stage: Index) -> None:
            parts = at_last(source, step), at_last(target, stage)
            trace.emit(OPS["copy"](tiled, *parts, bounds=(at_last(coords, step), limits)))

        return fill

    def issue(self, gemm: Operation) -> None:
        Trace.current.emit(gemm)

    def matrix(self, which: str, mma: SSAValue, shared: Shared | Registers) -> SSAValue:
        """An operand in registers, from shared memory by ldmatrix."""
        if isinstance(shared, Registers):
            return retiled(shared, mma)
        trace, trans = Trace.current, "" if shared.rows_run else ", trans"
        atom = attribute(f"#cute_nvgpu.copy<ldmatrix, {shared.element}, x4{trans}>")
        key = (atom, mma, which)
        copy = trace.once(key, lambda: cute(f"make_tiled_copy_{which}", mma, atom=atom))
        mine = at_last(part("mma.partition", mma, shared.tensor, operand_id=which), index(0))
        held = trace.emit(cute("mma.make_fragment", mma, mine, operand_id=StringAttr(which)))
        source = at_last(part("copy.partition_S", copy, shared.tensor), shared.stage)
        trace.emit(OPS["copy"](copy, source, trace.emit(cute("tiled.copy.retile", copy, held))))
        return held


def retiled(held: Registers, mma: SSAValue) -> SSAValue:
    """Accumulators of one MMA as A of another, where a thread has the same elements of both: which
    register is which, the layout algebra finds, and proves."""
    tiled, extents = {"C": held.frame.mma.type.tiled, "A": mma.type.tiled}, Layout(held.frame.extents)
    c, a = (each.partition(which, extents) for which, each in tiled.items())
    order = composition(left_inverse(c), a)
    threads = (each.tv_layout(which)[0] for which, each in tiled.items())
    if not (equivalent(composition(c, order), a) and equivalent(*threads)):
        raise ValueError(f"expected {held.frame.mma.type} to leave what {mma.type} reads as A")
    values = Trace.current.emit(cute("memref.load_vec", held.through(order)))
    found = alloca(held.element, Layout(a.shape))
    Trace.current.emit(cute("memref.store_vec", values, found))
    return found


class Tma(Engine):
    """A warpgroup copies, `warps` / 4 others multiply 64 rows each."""

    @property
    def threads(self) -> int:
        return 128 + 32 * self.warps[0]

    def begin(self) -> None:
        trace, thread = Trace.current, hardware(gpu.ThreadIdOp, "x")
        copies, first = (
            trace.emit(arith.CmpiOp(thread.value, index(n).value, how), uniform=True)
            for n, how in ((128, "ult"), (0, "eq"))
        )
        self.thread = thread - 128
        producer, consumer, self.producer = body_of(), body_of(), body_of()
        trace.emit(scf.IfOp(copies, [], Region(producer), Region(consumer)))
        with trace.inserting(InsertPoint.before(producer.last_op)):
            trace.emit(warp_specialization.SetmaxnregOp("dec", 40))
            trace.emit(scf.IfOp(first, [], Region(self.producer), Region()))
        trace.move(InsertPoint.before(consumer.last_op))
        trace.emit(warp_specialization.SetmaxnregOp("inc", 232))

    def atoms(self, n: int, element: str, *majors: str) -> str:
        return (
            f"!cute_nvgpu.sm90.mma<64x{n}x16, elem_type = ({element}, {element}, f32), "
            f"ab_major = ({', '.join(majors)}), frag_kind = ss>, "
            f'atom_layout_MNK = "({self.warps[0] // 4},1,1):(1,0,0)"'
        )

    def pipeline(self, stages: int, bytes_: int) -> Attribute:
        counts = f"stages = {stages}, producers = 1, consumers = {self.warps[0]}, bytes = {bytes_}"
        return attribute(f"!cute.pipeline<tma, {counts}>")

    def produce(self, run: Loop, count: Index) -> None:
        """A loop of the producer's own."""
        filled, inserting = body_of(i32), Trace.current.inserting
        with inserting(InsertPoint.before(self.producer.last_op)):
            step = counted(count, filled)
        with inserting(InsertPoint.before(filled.last_op)):
            run.fill(step)

    def copy(self, run, array, extents, places, memory, layout) -> Callable[[Index, Index], None]:
        trace, (swizzle, shape, stride) = Trace.current, layout
        box = {
            "atom": attribute("#cute_nvgpu.tma<load>"),
            "tile": StringAttr("[{};{}]".format(*extents)),
            "smem": StringAttr(f"{swizzle} o 0 o ({shape}):({stride})"),
        }
        tma = trace.emit(cute("make_tma_copy", array.tensor, **box), uniform=True)
        source = block_of(tma.owner.results[1], extents, places)

        def fill(step: Index, stage: Index) -> None:
            parts, on = (at_last(source, step), at_last(memory, stage)), (run.pipeline, step.value)
            trace.emit(OPS["copy"](tma, *parts, pipeline=on))

        return fill

    def issue(self, gemm: Operation) -> None:
        commit = wgmma_sync.WgmmaCommitGroupOp()
        for op in (wgmma_sync.WgmmaFenceOp(), gemm, commit, wgmma_sync.WgmmaWaitGroupOp(0)):
            Trace.current.emit(op)

    def matrix(self, which: str, mma: SSAValue, shared: Shared) -> SSAValue:
        """An operand that wgmma reads where it is."""
        mine = part("mma.partition", mma, shared.tensor, operand_id=which)
        made = cute("mma.make_fragment", mma, mine, operand_id=StringAttr(which))
        return at_last(Trace.current.emit(made, uniform=True), shared.stage)


ENGINES = {"cp_async": CpAsync, "tma": Tma}
