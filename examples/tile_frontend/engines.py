"""How blocks reach shared memory, and what multiplies them there.

CpAsync     every thread copies its part and multiplies: cp.async, ldmatrix, mma.sync (sm_80)
Tma         one thread copies boxes, warpgroups multiply: TMA, mbarriers, wgmma (sm_90a)
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from math import prod

from tile_frontend.language import Array, Registers, Shared, alloca, block_of, part
from tile_frontend.trace import Index, Place, Trace, at, cute, hardware, index, typed
from xdsl.dialects import gpu, scf
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright import builder
from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.accumulators import as_operand_a
from tilewright.dialects.cute.tensor import element_bits
from tilewright.dialects.cute_nvgpu.ops.warp_specialization import SetmaxnregOp
from tilewright.dialects.cute_nvgpu.ops.wgmma_sync import (
    WgmmaCommitGroupOp,
    WgmmaFenceOp,
    WgmmaWaitGroupOp,
)

Extents = tuple[int, int]
Fill = Callable[["Loop", Index, Index], None]
"""The copy of a block: for a step of a loop, to a stage."""


def memory_of(element: str, extents: Extents, stages: int = 0) -> str:
    """The layout of a matrix, or stages of it, in rows of up to 128 bytes, whose runs of 16 a
    swizzle spreads over all banks."""
    (rows, columns), run = extents, 128 // element_bits(element)
    row = min(columns, 8 * run)
    shape, stride = f"{rows},({row},{columns // row})", f"{row},(1,{rows * row})"
    last = (f",{stages}", f",{rows * columns}") if stages else ("", "")
    swizzle = f"S<{(row // run).bit_length() - 1},{run.bit_length() - 1},3>"
    return f"{swizzle} o 0 o ({shape}{last[0]}):({stride}{last[1]})"


def body_of(*arguments: Attribute) -> Block:
    """The body of a loop or a branch, still empty."""
    return Block([scf.YieldOp()], arg_types=arguments)


def inside(body: Block) -> AbstractContextManager[None]:
    """Meanwhile ops go to the end of a body."""
    return Trace.current.inserting(InsertPoint.before(body.last_op))


def counted(count: Index) -> tuple[Block, Index]:
    """A loop from 0 up to a count: its body, and its variable."""
    body, bounds = body_of(i32), (bound.value for bound in (index(0), count, index(1)))
    Trace.current.emit(scf.ForOp(*bounds, [], Region(body)))
    return body, Index(body.args[0], uniform=False)


@dataclass
class Loop:
    """A loop whose body is being traced. `fills` copy what the body loads, `bytes` is how much
    that is."""

    pipeline: SSAValue
    stages: int
    step: Index
    stage: Index
    fills: list[Fill] = field(default_factory=list)
    bytes: int = 0

    def use(self, name: str, step: Index) -> Index:
        return Index(cute(f"pipeline.{name}", self.pipeline, step.value), uniform=False)

    def fill(self, step: Index) -> None:
        """A producer's work for a step."""
        self.use("producer_acquire", step)
        stage = self.use("stage", step)
        for fill in self.fills:
            fill(self, step, stage)
        self.use("producer_commit", step)


class Engine:
    """The base of engines. `warps` multiply: so many along M and along N."""

    running: Loop | None = None

    def __init__(self, warps: tuple[int, int]):
        self.warps = warps

    def mma(self, n: int, element: str, *majors: str) -> SSAValue:
        return typed("make_tiled_mma", f"!cute.tiled_mma<{self.atoms(n, element, majors)}>")

    def new_loop(self, stages: int, step: Index) -> Loop:
        pipeline = cute("pipeline.create", self.pipeline(stages, 1), uniform=True)
        return Loop(pipeline, stages, step, index(0))

    @contextmanager
    def loop(self, count: Index, stages: int) -> Iterator[Index]:
        """A loop whose loads come through a pipeline."""
        body, step = counted(count)
        run = self.running = self.new_loop(stages, step)
        with inside(body):
            run.use("consumer_wait", step)
            run.stage = run.use("stage", step)
            yield step
            run.use("consumer_release", step)
        self.running = None
        self.produce(run, count)
        Rewriter.replace_value_with_new_type(run.pipeline, self.pipeline(stages, run.bytes))

    def load(self, array: Array, extents: Extents, place: Place) -> Shared:
        """A block that the running loop's steps bring."""
        run, element = self.running, array.element
        if run is None:
            raise ValueError("expected loads within steps(...)")
        layout = memory_of(element, extents, run.stages)
        type_ = f'!cute.memref<{element}, smem, align<1024>, "{layout}">'
        memory = cute("memref.alloc", type_, uniform=True)
        open_place = tuple(None if index(mode) == run.step else mode for mode in place)
        run.fills.append(self.copy(array, extents, open_place, memory))
        run.bytes += prod(extents) * element_bits(element) // 8
        return Shared(memory, run.stage)

    def multiply(self, a: Shared | Registers, b: Shared, acc: Registers) -> None:
        mma = self.mma(acc.frame.extents[1], a.element, a.major, b.T.major)
        operands = self.matrix("A", mma, a), self.matrix("B", mma, b.T)
        for op in self.issued(builder.cute("gemm", mma, acc.view, *operands, acc.view)):
            Trace.current.emit(op)


class CpAsync(Engine):
    """Every thread copies and multiplies."""

    threads = property(lambda self: 32 * prod(self.warps))

    def begin(self) -> None:
        self.thread = hardware(gpu.ThreadIdOp, "x")

    def atoms(self, n: int, element: str, majors: tuple[str, ...]) -> str:
        down, across = self.warps
        return (
            f"!cute_nvgpu.sm80.mma<16x8x16, elem_type = ({element}, {element}, f32)>, "
            f'atom_layout_MNK = "({down},{across},1):(1,{down},0)", '
            f'permutation_MNK = "[{16 * down};{16 * across};16]"'
        )

    def pipeline(self, stages: int, bytes_: int) -> Attribute:
        return builder.attribute(f"!cute.pipeline<cp_async, stages = {max(stages, 2)}>")

    def produce(self, run: Loop, count: Index) -> None:
        """Copies run ahead: the first of them before the loop, in it beside the first MMAs."""
        body, inserting = run.step.value.owner, Trace.current.inserting
        gemm = next((op for op in body.ops if op.name == "cute.gemm"), body.last_op)
        with inserting(InsertPoint.before(body.parent_op())):
            ahead, first = counted(index(run.stages - 1))
        with inside(ahead):
            run.fill(first)
        with inserting(InsertPoint.before(gemm)):
            run.fill(run.step + (run.stages - 1))

    def load(self, array: Array, extents: Extents, place: Place) -> Shared:
        """Outside of loops the block is waited for."""
        if self.running is not None:
            return super().load(array, extents, place)
        run = self.running = self.new_loop(1, index(place[1]))
        block = super().load(array, extents, place)
        run.fills[0](run, run.step, run.stage)
        run.use("producer_commit", run.step)
        run.use("consumer_wait", run.step)
        self.running = None
        return block

    def copy(self, array: Array, extents: Extents, place: Place, memory: SSAValue) -> Fill:
        """Threads side by side along rows, 16 bytes each."""
        element, run_length = array.element, 128 // element_bits(array.element)
        across = min(extents[1] // run_length, 8)
        down = self.threads // across
        text = (
            f"!cute.tiled_copy<#cute_nvgpu.copy<cp_async, {element}, 128, cache = cg>, layout_tv = "
            f'"(({across},{down}),{run_length}):(({down * run_length},1),{down})", '
            f'tiler_mn = "[{down};{across * run_length}]">'
        )
        tiled, blocks = typed("make_tiled_copy", text), array.blocks(extents, place)
        source, coords = (part("copy.partition_S", tiled, block) for block in blocks)
        target, limits = part("copy.partition_D", tiled, memory), array.shape

        def fill(run: Loop, step: Index, stage: Index) -> None:
            bounds = at(coords, -1, step), limits
            cute("copy", tiled, at(source, -1, step), at(target, -1, stage), bounds=bounds)

        return fill

    def issued(self, gemm: Operation) -> list[Operation]:
        return [gemm]

    def matrix(self, which: str, mma: SSAValue, given: Shared | Registers) -> SSAValue:
        """An operand in registers: from shared memory by ldmatrix, or from accumulators."""
        if isinstance(given, Registers):
            return chained(given, mma)
        trans = "" if given.major == "k" else ", trans"
        atom = builder.attribute(f"#cute_nvgpu.copy<ldmatrix, {given.element}, x4{trans}>")
        copy = cute(f"make_tiled_copy_{which}", mma, uniform=True, atom=atom)
        mine = at(part("mma.partition", mma, given.tensor, operand_id=which), -1, index(0))
        operand = cute("mma.make_fragment", mma, mine, operand_id=which)
        source = at(part("copy.partition_S", copy, given.tensor), -1, given.stage)
        cute("copy", copy, source, cute("tiled.copy.retile", copy, operand))
        return operand


def chained(accumulators: Registers, mma: SSAValue) -> SSAValue:
    """Accumulators of one MMA as A of another, which the layout algebra proves them to be."""
    order = as_operand_a(
        accumulators.frame.mma.type.tiled, mma.type.tiled, accumulators.frame.extents
    )
    operand = alloca(accumulators.element, Layout(order.shape))
    cute("memref.store_vec", cute("memref.load_vec", accumulators.through(order)), operand)
    return operand


class Tma(Engine):
    """A warpgroup copies, `warps` / 4 others multiply 64 rows each."""

    threads = property(lambda self: 128 + 32 * self.warps[0])

    def begin(self) -> None:
        trace, thread = Trace.current, hardware(gpu.ThreadIdOp, "x")
        self.thread = thread + -128
        producer, consumer, self.producer = body_of(), body_of(), body_of()
        trace.emit(scf.IfOp((thread < 128).value, [], Region(producer), Region(consumer)))
        with inside(producer):
            trace.emit(SetmaxnregOp("dec", 40))
            trace.emit(scf.IfOp((thread < 1).value, [], Region(self.producer), Region()))
        trace.move(InsertPoint.before(consumer.last_op))
        trace.emit(SetmaxnregOp("inc", 232))

    def atoms(self, n: int, element: str, majors: tuple[str, ...]) -> str:
        return (
            f"!cute_nvgpu.sm90.mma<64x{n}x16, elem_type = ({element}, {element}, f32), "
            f"ab_major = ({', '.join(majors)}), frag_kind = ss>, "
            f'atom_layout_MNK = "({self.warps[0] // 4},1,1):(1,0,0)"'
        )

    def pipeline(self, stages: int, bytes_: int) -> Attribute:
        counts = f"stages = {stages}, producers = 1, consumers = {self.warps[0]}, bytes = {bytes_}"
        return builder.attribute(f"!cute.pipeline<tma, {counts}>")

    def produce(self, run: Loop, count: Index) -> None:
        """A loop of the producer's own."""
        with inside(self.producer):
            filled, step = counted(count)
        with inside(filled):
            run.fill(step)

    def copy(self, array: Array, extents: Extents, place: Place, memory: SSAValue) -> Fill:
        atom = builder.attribute("#cute_nvgpu.tma<load>")
        box = {"tile": "[{};{}]".format(*extents), "smem": memory_of(array.element, extents)}
        tma = cute("make_tma_copy", array.tensor, uniform=True, atom=atom, **box)
        source = block_of(tma.owner.results[1], extents, place)

        def fill(run: Loop, step: Index, stage: Index) -> None:
            on = run.pipeline, step.value
            cute("copy", tma, at(source, -1, step), at(memory, -1, stage), pipeline=on)

        return fill

    def issued(self, gemm: Operation) -> list[Operation]:
        return [WgmmaFenceOp(), gemm, WgmmaCommitGroupOp(), WgmmaWaitGroupOp(0)]

    def matrix(self, which: str, mma: SSAValue, given: Shared) -> SSAValue:
        """An operand that wgmma reads where it is."""
        mine = part("mma.partition", mma, given.tensor, operand_id=which)
        made = cute("mma.make_fragment", mma, mine, uniform=True, operand_id=which)
        return at(made, -1, given.stage)
