"""How tiles reach shared memory, and what multiplies them there.

CpAsync     every thread copies its part and multiplies: cp.async, ldmatrix, mma.sync (sm_80)
Tma         one thread copies boxes, warpgroups multiply: TMA, mbarriers, wgmma (sm_90a)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tile_frontend.language import Array, Frame, Registers, Shared, alloca, tile
from tile_frontend.trace import OPS, Index, Trace, attribute, coord, cute, hardware, index
from xdsl.dialects import arith, gpu, scf
from xdsl.dialects.builtin import StringAttr, i32
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cute import Layout, composition, equivalent, left_inverse
from tilewright.dialects.cute.tensor import element_bits
from tilewright.dialects.cute_nvgpu.ops.warp_specialization import SetmaxnregOp
from tilewright.dialects.cute_nvgpu.ops.wgmma_sync import (
    WgmmaCommitGroupOp,
    WgmmaFenceOp,
    WgmmaWaitGroupOp,
)


def rows_of_shared(element: str, rows: int, columns: int) -> tuple[str, str, str]:
    """A matrix in rows of up to 128 bytes, whose runs of 16 a swizzle spreads over all banks: the
    swizzle, shape and stride."""
    run = 128 // element_bits(element)
    row = min(columns, 8 * run)
    swizzle = f"S<{(row // run).bit_length() - 1},{run.bit_length() - 1},3>"
    return swizzle, f"{rows},({row},{columns // row})", f"{row},(1,{rows * row})"


def block(*arguments: Attribute) -> Block:
    """The body of a loop or a branch, still empty."""
    return Block([scf.YieldOp()], arg_types=arguments)


def at_last(tensor: SSAValue, place: Index | int) -> SSAValue:
    """One place of a tensor's last mode."""
    modes = [None] * (tensor.type.typed.value.modes.rank() - 1)
    op = cute("slice", tensor, coord(*modes, place))
    return Trace.current.emit(op, not isinstance(place, Index) or place.uniform)


@dataclass
class Loop:
    """A loop while its body is traced. `fills` copy what the body loads: step, stage."""

    pipeline: SSAValue
    step: Index
    stages: int
    stage: Index
    fills: list[Callable[[Index, Index], None]] = field(default_factory=list)
    bytes: int = 0

    def use(self, name: str, step: Index) -> None:
        Trace.current.emit(cute(f"pipeline.{name}", self.pipeline, step.value))

    def stage_of(self, step: Index) -> Index:
        op = cute("pipeline.stage", self.pipeline, step.value)
        return Index(Trace.current.emit(op), uniform=False)

    def fill(self, step: Index) -> None:
        """What a producer does for a step."""
        self.use("producer_acquire", step)
        stage = self.stage_of(step)
        for fill in self.fills:
            fill(step, stage)
        self.use("producer_commit", step)


class Engine:
    """What engines have in common: tiled MMAs of `warps` along M and N, loops over pipelines."""

    def __init__(self, warps: tuple[int, int]):
        self.warps, self.running = warps, None

    def mma(self, m: int, n: int, element: str, majors: tuple[str, str]) -> SSAValue:
        type_ = attribute(f"!cute.tiled_mma<{self.atoms(m, n, element, majors)}>")
        return Trace.current.once(type_, lambda: OPS["make_tiled_mma"](type_))

    def frame(self, m: int, n: int) -> Frame:
        return Frame(self.mma(m, n, "bf16", ("k", "k")), (m, n), self.thread)

    def counted(self, count: Index, body: Block) -> scf.ForOp:
        """A loop from 0 to a count."""
        bounds = (index(0).value, count.value, index(1).value)
        op = scf.ForOp(*bounds, [], Region(body))
        Trace.current.emit(op)
        return op

    def shared(self, element: str, extents: tuple[int, int], stages: int) -> SSAValue:
        """Shared memory for stages of a block."""
        swizzle, shape, stride = rows_of_shared(element, *extents)
        size = extents[0] * extents[1]
        layout = f"{swizzle} o 0 o ({shape},{stages}):({stride},{size})"
        type_ = attribute(f'!cute.memref<{element}, smem, align<1024>, "{layout}">')
        return Trace.current.emit(OPS["memref.alloc"](type_), uniform=True)


def partition(name: str, *operands: SSAValue, **properties: str) -> SSAValue:
    """Who has which part, which the entry of the kernel says."""
    given = {key: StringAttr(value) for key, value in properties.items()}
    return Trace.current.emit(cute(f"tiled.{name}", *operands, **given), uniform=True)


class CpAsync(Engine):
    """Every thread of `warps` copies and multiplies."""

    @property
    def threads(self) -> int:
        return 32 * self.warps[0] * self.warps[1]

    def begin(self) -> None:
        self.thread = hardware(gpu.ThreadIdOp, "x")

    def atoms(self, m: int, n: int, element: str, majors: tuple[str, str]) -> str:
        down, across = self.warps
        return (
            f"!cute_nvgpu.sm80.mma<16x8x16, elem_type = ({element}, {element}, f32)>, "
            f'atom_layout_MNK = "({down},{across},1):(1,{down},0)", '
            f'permutation_MNK = "[{16 * down};{16 * across};16]"'
        )

    @contextmanager
    def loop(self, count: Index, stages: int) -> Iterator[Index]:
        trace, body, ahead = Trace.current, block(i32), block(i32)
        step = Index(body.args[0], uniform=False)
        running = self.running = self.pipelined(step, stages)
        self.counted(index(stages - 1), ahead)
        self.counted(count, body)
        with trace.inserting(InsertPoint.before(body.last_op)):
            running.use("consumer_wait", step)
            running.stage = running.stage_of(step)
            yield step
            running.use("consumer_release", step)
        self.running = None
        with trace.inserting(InsertPoint.before(ahead.last_op)):
            running.fill(Index(ahead.args[0], uniform=False))
        with trace.inserting(InsertPoint.before(running.stage.value.owner)):
            running.fill(step + (stages - 1))

    def pipelined(self, step: Index, stages: int) -> Loop:
        type_ = attribute(f"!cute.pipeline<cp_async, stages = {stages}>")
        pipeline = Trace.current.emit(OPS["pipeline.create"](type_), uniform=True)
        return Loop(pipeline, step, stages, index(0))

    def load(self, array: Array, extents: tuple[int, int], at: tuple[Index, Index]) -> Shared:
        """A block that the running loop's steps bring; without one, it is waited for."""
        running = self.running or self.pipelined(index(at[1]), 2)
        element = array.tensor.type.tensor.element
        tensor = self.shared(element, extents, running.stages)
        open_at = [None if index(each) == running.step else each for each in at]
        copy = self.copy(element, extents[1])
        source, places = (partition("copy.partition_S", copy, each, self.thread.value)
                          for each in array.tiles(extents, open_at))  # fmt: skip
        target = partition("copy.partition_D", copy, tensor, self.thread.value)

        def fill(step: Index, stage: Index) -> None:
            bounds = at_last(places, step), array.shape
            Trace.current.emit(
                OPS["copy"](copy, at_last(source, step), at_last(target, stage), bounds=bounds)
            )

        running.fills.append(fill)
        if not self.running:
            fill(running.step, running.stage)
            running.use("producer_commit", running.stage)
            running.use("consumer_wait", running.stage)
        return Shared(tensor, running.stage)

    def copy(self, element: str, columns: int) -> SSAValue:
        """Threads side by side along rows, 16 bytes each."""
        run = 128 // element_bits(element)
        across = min(columns // run, 8)
        down = self.threads // across
        type_ = attribute(
            f"!cute.tiled_copy<#cute_nvgpu.copy<cp_async, {element}, 128, cache = cg>, "
            f'layout_tv = "(({across},{down}),{run}):(({down * run},1),{down})", '
            f'tiler_mn = "[{down};{across * run}]">'
        )
        return Trace.current.once(type_, lambda: OPS["make_tiled_copy"](type_))

    def multiply(self, acc: Registers, a: Shared | Registers, b: Shared) -> None:
        element = (a if isinstance(a, Registers) else a.tensor.type.tensor).element
        mma = self.mma(*acc.frame.extents, element, ("k", "k"))
        given = retiled(a, mma) if isinstance(a, Registers) else self.matrix("A", mma, a)
        operands = acc.view(), given, self.matrix("B", mma, b.T)
        Trace.current.emit(OPS["gemm"](mma, *operands, operands[0]))

    def matrix(self, which: str, mma: SSAValue, shared: Shared) -> SSAValue:
        """An operand from shared memory in registers, by ldmatrix."""
        trace, thread = Trace.current, self.thread.value
        tensor = shared.tensor.type.tensor
        trans = "" if shared.rows_run else ", trans"
        atom = attribute(f"#cute_nvgpu.copy<ldmatrix, {tensor.element}, x4{trans}>")
        copy = trace.once((atom, mma, which), lambda: cute(f"make_tiled_copy_{which}", mma, atom=atom))
        part = partition("mma.partition", mma, shared.tensor, thread, operand_id=which)
        made = cute("mma.make_fragment", mma, at_last(part, 0), operand_id=StringAttr(which))
        fragment = trace.emit(made)
        source = at_last(partition("copy.partition_S", copy, shared.tensor, thread), shared.stage)
        trace.emit(OPS["copy"](copy, source, trace.emit(cute("tiled.copy.retile", copy, fragment))))
        return fragment


def retiled(held: Registers, mma: SSAValue) -> SSAValue:
    """Accumulators of one MMA as A of another, where a thread has the same elements of both: which
    of its registers is which, the layout algebra finds, and proves."""
    tiled_c, tiled_a = held.frame.mma.type.tiled, mma.type.tiled
    extents = Layout(held.frame.extents)
    c, a = tiled_c.partition("C", extents), tiled_a.partition("A", extents)
    order = composition(left_inverse(c), a)
    threads = (tiled.tv_layout(which)[0] for tiled, which in ((tiled_c, "C"), (tiled_a, "A")))
    if not (equivalent(composition(c, order), a) and equivalent(*threads)):
        raise ValueError(f"expected {held.frame.mma.type} to leave what {mma.type} reads as A")
    values = Trace.current.emit(cute("memref.load_vec", held.view(order)))
    fragment = alloca(held.element, a.size())
    Trace.current.emit(cute("memref.store_vec", values, fragment))
    static = Trace.current.static("layout", Layout(a.shape))
    return Trace.current.emit(cute("make_view", fragment, static))


class Tma(Engine):
    """A warpgroup copies, `warps` / 4 others multiply 64 rows each."""

    @property
    def threads(self) -> int:
        return 128 + 32 * self.warps[0]

    def begin(self) -> None:
        trace, thread = Trace.current, hardware(gpu.ThreadIdOp, "x")
        self.thread = thread - 128
        copies, first = (trace.emit(arith.CmpiOp(thread.value, index(n).value, how), uniform=True)
                         for n, how in ((128, "ult"), (0, "eq")))  # fmt: skip
        producer, consumer, self.producer = block(), block(), block()
        trace.emit(scf.IfOp(copies, [], Region(producer), Region(consumer)))
        with trace.inserting(InsertPoint.before(producer.last_op)):
            trace.emit(SetmaxnregOp("dec", 40))
            trace.emit(scf.IfOp(first, [], Region(self.producer), Region()))
        trace.move(InsertPoint.before(consumer.last_op))
        trace.emit(SetmaxnregOp("inc", 232))

    def atoms(self, m: int, n: int, element: str, majors: tuple[str, str]) -> str:
        groups = self.warps[0] // 4
        return (
            f"!cute_nvgpu.sm90.mma<64x{n}x16, elem_type = ({element}, {element}, f32), "
            f"ab_major = ({', '.join(majors)}), frag_kind = ss>, "
            f'atom_layout_MNK = "({groups},1,1):(1,0,0)"'
        )

    @contextmanager
    def loop(self, count: Index, stages: int) -> Iterator[Index]:
        trace, filled, body = Trace.current, block(i32), block(i32)
        step, ahead = (Index(each.args[0], uniform=False) for each in (body, filled))
        pipeline = trace.emit(OPS["pipeline.create"](self.pipeline(stages, 1)), uniform=True)
        running = self.running = Loop(pipeline, step, stages, index(0))
        self.counted(count, body)
        with trace.inserting(InsertPoint.before(body.last_op)):
            running.use("consumer_wait", step)
            running.stage = running.stage_of(step)
            yield step
            running.use("consumer_release", step)
        self.running = None
        with trace.inserting(InsertPoint.before(self.producer.last_op)):
            self.counted(count, filled)
        with trace.inserting(InsertPoint.before(filled.last_op)):
            running.fill(ahead)
        Rewriter.replace_value_with_new_type(pipeline, self.pipeline(stages, running.bytes))

    def pipeline(self, stages: int, bytes_: int) -> Attribute:
        counts = f"stages = {stages}, producers = 1, consumers = {self.warps[0]}, bytes = {bytes_}"
        return attribute(f"!cute.pipeline<tma, {counts}>")

    def load(self, array: Array, extents: tuple[int, int], at: tuple[Index, Index]) -> Shared:
        """A block that the running loop's steps bring."""
        trace, running, element = Trace.current, self.running, array.tensor.type.tensor.element
        swizzle, shape, stride = rows_of_shared(element, *extents)
        box = {
            "atom": attribute("#cute_nvgpu.tma<load>"),
            "tile": StringAttr(f"[{extents[0]};{extents[1]}]"),
            "smem": StringAttr(f"{swizzle} o 0 o ({shape}):({stride})"),
        }
        copy = trace.emit(cute("make_tma_copy", array.tensor, **box), uniform=True)
        source = tile(copy.owner.results[1], extents, [None if each == running.step else each for each in at])
        target = self.shared(element, extents, running.stages)
        running.bytes += extents[0] * extents[1] * element_bits(element) // 8

        def fill(step: Index, stage: Index) -> None:
            on = running.pipeline, step.value
            op = OPS["copy"](copy, at_last(source, step), at_last(target, stage), pipeline=on)
            trace.emit(op)

        running.fills.append(fill)
        return Shared(target, running.stage)

    def multiply(self, acc: Registers, a: Shared, b: Shared) -> None:
        trace, d = Trace.current, acc.view()
        majors = tuple("k" if each.rows_run else "mn" for each in (a, b.T))
        mma = self.mma(*acc.frame.extents, a.tensor.type.tensor.element, majors)
        operands = (self.matrix("A", mma, a), self.matrix("B", mma, b.T))
        issue = OPS["gemm"](mma, d, *operands, d)
        for op in (WgmmaFenceOp(), issue, WgmmaCommitGroupOp(), WgmmaWaitGroupOp(0)):
            trace.emit(op)

    def matrix(self, which: str, mma: SSAValue, shared: Shared) -> SSAValue:
        """An operand that wgmma reads where it is."""
        part = partition("mma.partition", mma, shared.tensor, self.thread.value, operand_id=which)
        made = cute("mma.make_fragment", mma, part, operand_id=StringAttr(which))
        return at_last(Trace.current.emit(made, uniform=True), shared.stage)


ENGINES = {"cp_async": CpAsync, "tma": Tma}
