"""The engine of sm_100a: TMA, mbarriers, tcgen05.

Umma        one thread copies, one multiplies into tensor memory, four warps do the rest

Accumulators come to registers when a loop is over: `tcgen05.ld` of 16 lanes of 256 bits gives a
warp what wgmma's accumulators are.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tile_frontend.engines import Tma, body_of, inside
from tile_frontend.language import Registers, Shared, part
from tile_frontend.trace import Index, Trace, cute, hardware, index, typed
from xdsl.dialects import gpu, scf
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright import builder


class Umma(Tma):
    """One thread copies, one multiplies blocks of 128 rows, and four warps take what it has added
    up. Loops load and multiply alone."""

    threads = 192

    def begin(self) -> None:
        trace, self.thread = Trace.current, hardware(gpu.ThreadIdOp, "x")
        bodies = [body_of() for _ in range(3)]
        for body, first in zip(bodies, (128, 160, 0), strict=True):
            taken = (self.thread + -first) < (1 if first else 128)
            trace.emit(scf.IfOp(taken.value, [], Region(body), Region()))
        trace.move(InsertPoint.before(bodies[2].last_op))
        self.producer, self.multiplier, _ = bodies

    def atoms(self, n: int, element: str, majors: tuple[str, ...]) -> str:
        """Registers as those of wgmma, each warp's 32 rows side by side."""
        return f'{super().atoms(n, element, majors)}, permutation_MNK = "[(16,4,2):(1,32,16);_;_]"'

    def pipeline(self, stages: int, bytes_: int) -> Attribute:
        counts = f"stages = {stages}, producers = 1, bytes = {bytes_}"
        return builder.attribute(f"!cute.pipeline<tma_umma, {counts}>")

    @contextmanager
    def loop(self, count: Index, stages: int) -> Iterator[Index]:
        """The multiplication is in a loop of its own thread; the others wait for its end."""
        self.sums: list[tuple[Registers, SSAValue]] = []
        done = "!cute.pipeline<umma_async, stages = 1, consumers = 4>"
        done = cute("pipeline.create", done, uniform=True)
        with inside(self.multiplier):
            with super().loop(count, stages) as step:
                yield step
            cute("pipeline.producer_commit", done, index(0).value)
        cute("pipeline.consumer_wait", done, index(0).value)
        for acc, memory in self.sums:
            atom = f"#cute_nvgpu.copy<tmem_load, f32, 16x256b, x{acc.frame.extents[1] // 8}>"
            copy = cute(
                "make_tiled_copy_C", acc.frame.mma, uniform=True, atom=builder.attribute(atom)
            )
            block, source = Registers(acc.frame, "f32"), part("copy.partition_S", copy, memory)
            cute("copy", copy, source, cute("tiled.copy.retile", copy, block.view))
            acc[:] = acc + block

    def multiply(self, a: Shared | Registers, b: Shared, acc: Registers) -> None:
        if self.running is None or not isinstance(a, Shared):
            raise ValueError("expected two blocks in shared memory, multiplied within steps(...)")
        (m, n), element = acc.frame.extents, a.element
        atom = (
            f"!cute_nvgpu.sm100.mma<{m}x{n}x16, elem_type = ({element}, {element}, f32), "
            f"ab_major = ({a.major}, {b.T.major}), frag_kind = ss>"
        )
        mma = typed("make_tiled_mma", f"!cute.tiled_mma<{atom}>")
        memory = f'!cute.memref<f32, tmem, "({m},{n}):(65536,1)">'
        memory = cute("memref.alloc", memory, uniform=True)
        self.sums.append((acc, memory))
        mine = part("mma.partition", mma, memory, operand_id="C")
        d = cute("mma.make_fragment", mma, mine, uniform=True, operand_id="C")
        operands = self.matrix("A", mma, a), self.matrix("B", mma, b.T)
        adds = index(0) < self.running.step
        cute("gemm", mma, d, *operands, d, accumulate=adds.value)
