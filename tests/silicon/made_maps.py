"""Copies by tensor maps that a kernel makes by `tensormap.replace`: what a chip moves, by case."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import tilewright as tw

BYTES = {
    "u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2, "f32": 4, "f32.ftz": 4,
    "f64": 8, "bf16": 2, "tf32": 4, "tf32.ftz": 4,
}  # fmt: skip
"""The element types in the order of their numbers. PTX ISA, tensormap.replace."""
REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
TENSOR, BOX = 65536, 8192
UNTOUCHED = 0xAB
"""A byte of the box's memory before a load."""


class MadeMap(NamedTuple):
    """A copy of a box of a tensor; dimensions are innermost first, as in the text, `strides` those
    of the others in bytes (dense rows of whole 16 bytes where none are given), `first` where in its
    memory the tensor begins, `numbers` what else is replaced."""

    name: str
    type: str
    dims: tuple[int, ...]
    box: tuple[int, ...]
    at: tuple[int, ...]
    op: str = "load"
    swizzle: int = 0
    steps: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    first: int = 0
    numbers: dict[str, int] = {}  # noqa: RUF012

    @property
    def unit(self) -> int:
        """The bytes of an element, or of a slice of an interleaved tensor."""
        return 16 * self.numbers.get("interleave_layout", 0) or BYTES[self.type]

    @property
    def moved(self) -> int:
        """The bytes that a load brings."""
        steps = self.steps or (1,) * len(self.box)
        counts = [-(-n // max(step, 1)) for n, step in zip(self.box, steps, strict=True)]
        if "interleave_layout" not in self.numbers:
            counts[0] = self.box[0]
        elif len(counts) > 1:
            counts[-2] = 1
        return prod(counts) * self.unit

    def content(self, size: int, what: str) -> NDArray[Any]:
        """Words of all kinds: subnormal numbers and NaN of f32 are among them."""
        generator = np.random.default_rng(zlib.crc32(f"{self.name} {what}".encode()))
        words = generator.integers(0, 1 << 32, size // 4, np.uint32)
        kind = generator.integers(0, 8, size // 4)
        words = np.where(kind < 2, words & 0x807FFFFF, words)
        return np.where(kind == 2, words | 0x7F800000, words).view(np.uint8)

    def arguments(self) -> list[Any]:
        """Place for the map, the tensor, the box's memory."""
        boxes = self.content(BOX, "box")
        if self.op == "load":
            boxes[:] = UNTOUCHED
        return [np.zeros(128, np.uint8), self.content(TENSOR, "tensor"), boxes]

    def result(self, outputs: list[Any]) -> NDArray[Any]:
        """How the memory has changed up to its last change: that of a loaded box, or the tensor; a
        zero where it has not."""
        place = 2 if self.op == "load" else 1
        changed = outputs[place].reshape(-1).view(np.uint8) ^ self.arguments()[place]
        return changed[: int(np.flatnonzero(changed).max(initial=0)) + 1]

    @property
    def _replaced(self) -> str:
        rank, strides = len(self.dims), list(self.strides)
        if not strides:
            row = -(-self.dims[0] * self.unit // 16) * 16
            strides = [row * prod(self.dims[1:axis]) for axis in range(1, rank)]
        fields = {
            "rank": rank - 1, "elemtype": list(BYTES).index(self.type), "interleave_layout": 0,
            "swizzle_mode": self.swizzle, "fill_mode": 0,
        } | self.numbers  # fmt: skip
        rows = [("global_address", 64, "d2"), *((name, 32, n) for name, n in fields.items())]
        steps = self.steps or (1,) * rank
        for name, bits, numbers in (
            ("global_dim", 32, self.dims), ("box_dim", 32, self.box),
            ("element_stride", 32, steps), ("global_stride", 64, strides),
        ):  # fmt: skip
            rows += [(name, bits, f"{axis}, {number}") for axis, number in enumerate(numbers)]
        return "".join(
            f"tensormap.replace.tile.{name}.shared::cta.b1024.b{bits} [map], {value};\n"
            for name, bits, value in rows
        )

    @property
    def _copy(self) -> str:
        rank, at = len(self.dims), ", ".join(map(str, self.at))
        if self.op == "load":
            return f"""mbarrier.arrive.expect_tx.shared.b64 _, [r6], {self.moved};
cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
[r5], [d1, {{{at}}}], [r6];
wait: mbarrier.try_wait.parity.shared.b64 p, [r6], 0; @!p bra wait;"""
        kind = "" if self.op == "store" else f".{self.op}"
        name = "cp.async.bulk.tensor" if self.op == "store" else "cp.reduce.async.bulk.tensor"
        return f"""{name}.{rank}d.global.shared::cta{kind}.tile.bulk_group [d1, {{{at}}}], [r5];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""

    @property
    def text(self) -> str:
        """The kernel of one warp."""
        return f""".version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 made, .param .u64 tensor, .param .u64 boxes)
.reqntid 32 {{
.reg .pred p, first, more; .reg .b32 r<16>; .reg .b64 d<9>;
.shared .align 1024 .b8 box[{BOX}]; .shared .align 128 .b8 map[128];
.shared .align 8 .b8 bar[8];
ld.param.u64 d1, [made]; ld.param.u64 d2, [tensor]; ld.param.u64 d3, [boxes];
cvta.to.global.u64 d3, d3; add.u64 d2, d2, {self.first};
mov.u32 r0, %tid.x; setp.eq.u32 first, r0, 0; shl.b32 r1, r0, 2; mov.u32 r2, map;
add.u32 r3, r2, r1; mov.u32 r4, 0; st.shared.u32 [r3], r4; mov.u32 r5, box; mov.u32 r6, bar;
{_moved("put", "ld.global.b32 r7, [d5]; st.shared.b32 [r10], r7;")}
fence.proxy.async; bar.warp.sync -1;
@!first bra filled;
{self._replaced}mbarrier.init.shared.b64 [r6], 1; fence.mbarrier_init.release.cluster;
filled: bar.warp.sync -1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
[d1], [map], 128;
fence.proxy.tensormap::generic.acquire.gpu [d1], 128; bar.warp.sync -1;
@!first bra copied;
{self._copy}
copied: bar.warp.sync -1;
{_moved("take", "ld.shared.b32 r7, [r10]; st.global.b32 [d5], r7;")}
ret; }}
"""


def launched(case: MadeMap) -> NDArray[Any]:
    """The result of a launch, in a process of its own, as a trap ends its context; no bytes, where
    it traps."""
    kernel = tw.compile(case.text, "sm_90a")
    try:
        return case.result(kernel.launch(*case.arguments(), grid=(1,), block=(32,)))
    except tw.LaunchError:
        return np.zeros(0, np.uint8)


def _moved(label: str, move: str) -> str:
    """Words of the box, one a thread after the other."""
    return f"""mov.u32 r9, r1;
{label}: cvt.u64.u32 d4, r9; add.u64 d5, d3, d4; add.u32 r10, r5, r9; {move}
add.u32 r9, r9, 128; setp.lt.u32 more, r9, {BOX}; @more bra {label};"""


def _of_types() -> Iterator[MadeMap]:
    """Loads that begin in front of the tensor and end behind it, and what may be stored so."""
    for type_, size in BYTES.items():
        n = 64 // size
        dims, box, at = (3 * n - n // 4, 5), (n, 8), (2 * n, 1)
        yield MadeMap(f"{type_} load", type_, dims, box, (2 * n, -1), swizzle=2)
        yield MadeMap(f"{type_} before", type_, dims, box, (-max(n // 2, 16 // size), 2))
        yield MadeMap(f"{type_} NaN", type_, dims, box, (2 * n, -1), numbers={"fill_mode": 1})
        yield MadeMap(f"{type_} store", type_, dims, box, at, "store", 2)
        for op in REDUCTIONS:
            yield MadeMap(f"{type_} {op}", type_, dims, box, at, op)


def _of_rows() -> Iterator[MadeMap]:
    """Rows of every swizzle, and narrower ones; some elements of each dimension."""
    for mode, size in enumerate((256, 32, 64, 128)):
        for type_ in ("u8", "f64"):
            n = size // BYTES[type_]
            yield MadeMap(f"{type_} swizzle {mode}", type_, (2 * n, 40), (n, 16), (0, 3), "load",
                          mode)  # fmt: skip
    for mode, size in ((1, 16), (2, 48), (3, 16), (3, 64), (3, 112), (2, 128)):
        for op in ("load", "store"):
            yield MadeMap(f"{op} {size} of swizzle {mode}", "u16", (100, 20), (size // 2, 16),
                          (8, 2), op, mode)  # fmt: skip
    for op in ("load", "store"):
        for steps, y in (((1, 2), 3), ((1, 3), 20), ((1, 8), 3), ((2, 1), 3), ((0, 1), 3)):
            yield MadeMap(f"{op} each {steps}", "u16", (64, 30), (32, 8), (16, y), op, steps=steps)
    yield MadeMap("each (1, 2) before", "u16", (64, 30), (32, 8), (16, -3), steps=(1, 2))
    yield MadeMap("each (1, 2, 4)", "u32", (24, 9, 10), (16, 4, 6), (8, 2, 3), "load", 2, (1, 2, 4))
    yield MadeMap("each of narrow rows", "u32", (64, 20, 9), (8, 7, 4), (4, 2, 1), "load", 3,
                  (1, 3, 2))  # fmt: skip


def _of_tensors() -> Iterator[MadeMap]:
    yield MadeMap("1d", "u16", (1000,), (256,), (896,))
    yield MadeMap("3d", "u16", (40, 5, 6), (16, 3, 4), (16, 3, 4))
    yield MadeMap("4d", "u16", (40, 5, 6, 3), (16, 3, 2, 2), (32, -1, 3, 2), "load", 1)
    yield MadeMap("5d", "u8", (48, 4, 3, 3, 4), (32, 2, 2, 2, 2), (16, 3, -1, 2, 3), "load", 1)
    for strides in ((0, 64), (640, 64)):
        yield MadeMap(f"strides {strides}", "u16", (32, 5, 6), (32, 3, 4), (0, 1, 2),
                      strides=strides)  # fmt: skip
    for first in (16, 8):
        yield MadeMap(f"byte {first}", "u16", (32, 5), (32, 3), (0, 1), first=first)
    for at in ((0, -1), (-32, 0), (0, 5), (64, 3)):
        for op in ("store", "add"):
            yield MadeMap(f"{op} at {at}", "u32", (80, 5), (32, 4), at, op)


def _of_slices() -> Iterator[MadeMap]:
    """Interleaved tensors, of slices of 16 and 32 bytes."""
    for layout in (1, 2):

        def made(
            name: str, type_: str = "u16", dims: tuple[int, ...] = (20, 6, 5),
            box: tuple[int, ...] = (16, 3, 2), at: tuple[int, ...] = (7, 2, 1), *rest: Any,
            layout: int = layout, more: dict[str, int] | None = None, **fields: Any,
        ) -> MadeMap:  # fmt: skip
            numbers = {"interleave_layout": layout, **(more or {})}
            return MadeMap(f"slices {16 * layout} {name}", type_, dims, box, at, *rest,
                           numbers=numbers, **fields)  # fmt: skip

        for type_ in BYTES:
            yield made(f"{type_} load", type_, swizzle=1)
        for type_ in ("u8", "f16", "f64", "tf32"):
            yield made(f"{type_} store", type_, op="store")
            yield made(f"{type_} NaN", type_, at=(-3, -1, 4), more={"fill_mode": 1})
        for type_, op in (*(("u32", op) for op in REDUCTIONS), ("bf16", "add"), ("f64", "add")):
            yield made(f"{type_} {op}", type_, op=op)
        for swizzle in range(4):
            for op in ("load", "store"):
                yield made(f"{op} swizzle {swizzle}", "u32", op=op, swizzle=swizzle)
        dims, box, at = (12, 5, 4, 3, 2), (8, 2, 2, 2, 1), (3, -1, 3, 0, 1)
        for rank in (4, 5):
            yield made(f"{rank}d", "u16", dims[:rank], box[:rank], at[:rank])
        for steps in ((2, 1, 1), (1, 3, 2), (3, 2, 1), (8, 8, 8)):
            yield made(f"each {steps}", steps=steps)
            if steps[0] < 8:
                yield made(f"store each {steps}", steps=steps, op="store")
        for type_, n in (("u8", 1), ("u8", 3), ("u8", 12), ("u8", 30), ("u64", 1), ("u64", 5)):
            yield made(f"{type_} box {n}", type_, dims=(40, 6, 5), box=(n, 3, 2))
        yield made("store box 5", "u8", box=(5, 3, 2), op="store")
        for strides in ((0, 640), (32, 448), (16, 224), (48, 480)):
            yield made(f"strides {strides}", strides=strides)
        for first in (16, 8):
            yield made(f"byte {first}", first=first)
        for at in ((-1, 0, 0), (0, 0, -1), (19, 5, 4), (20, 0, 0)):
            for op in ("load", "store", "add"):
                yield made(f"{op} at {at}", "u32", at=at, op=op)


def _of_wrong() -> Iterator[MadeMap]:
    for type_, x in (("u8", 8), ("u16", 4), ("u16", -4)):
        yield MadeMap(f"{type_} at {x}", type_, (64, 5), (32, 4), (x, 0))
    for box in ((6, 3), (12, 3), (32, 0)):
        yield MadeMap(f"box {box}", "u16", (64, 9), box, (0, 1))
    for rank in (0, 2, 5):
        yield MadeMap(f"rank {rank}", "u16", (64, 30), (32, 8), (16, 3), numbers={"rank": rank})
    for n in (0, (1 << 32) - 1, (1 << 32) - (1 << 16), (1 << 31) - 1):
        yield MadeMap(f"rows {n}", "u16", (64, n), (32, 8), (0, 0), strides=(128,))


MADE_MAPS = (*_of_types(), *_of_rows(), *_of_tensors(), *_of_slices(), *_of_wrong())
