"""Copies of pixels by `im2col`, there and back: what the chip reads and writes, by case."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import tilewright as tw

SHARED = 65536
_DTYPES = {"ui8": np.uint8, "i32": np.uint32, "f32": np.uint32}


class ImageCopy(NamedTuple):
    """A copy of pixels and channels of a tensor of images, NHWC, whose rows of channels lie on 16
    bytes, or of N, C/8, H, W and slices; coordinates are outermost first, offsets innermost first,
    as in the text."""

    name: str
    op: str
    shape: tuple[int, ...]
    box: tuple[int, int]
    coordinates: tuple[int, ...]
    offsets: tuple[int, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    steps: tuple[int, ...] = ()
    element: str = "i16"
    swizzle: int = 0
    nan: bool = False
    interleaved: bool = False

    @property
    def dtype(self) -> Any:
        """Words of an element."""
        return _DTYPES.get(self.element, np.uint16)

    @property
    def strides(self) -> tuple[int, ...]:
        """Those of the tensor, in elements."""
        chunk = 16 // np.dtype(self.dtype).itemsize
        row = -(-self.shape[-1] // chunk) * chunk
        return *(row * prod(self.shape[at + 1 : -1]) for at in range(len(self.shape) - 1)), 1

    def arguments(self) -> list[Any]:
        """The tensor map, what is stored or place for what is loaded, coordinates and offsets, and
        the size of a box in bytes."""
        count = prod(self.box)
        tensor = np.arange(1, self.shape[0] * self.strides[0] + 1).astype(self.dtype)
        boxes = np.arange(20000, 20000 + count).astype(self.dtype)
        numbers = np.zeros(16, np.int32)
        numbers[: len(self.coordinates)] = self.coordinates[::-1]
        numbers[8 : 8 + len(self.offsets)] = self.offsets
        map_ = tw.TensorMap(
            tensor, box=self.box, swizzle=self.swizzle, shape=self.shape, strides=self.strides,
            element=self.element, nan=self.nan,
            im2col=tw.Im2col(self.lower, self.upper, self.steps), interleaved=self.interleaved,
        )  # fmt: skip
        return [map_, boxes, numbers, boxes.nbytes]

    def result(self, outputs: list[Any]) -> NDArray[Any]:
        """The box that was loaded, or the tensor afterwards."""
        return np.asarray(outputs[self.op == "load"]).reshape(-1).view(self.dtype)

    @property
    def text(self) -> str:
        """The kernel of one warp."""
        rank = len(self.coordinates)
        at = ", ".join(f"r{10 + axis}" for axis in range(rank))
        offsets = ", ".join(f"h{axis}" for axis in range(rank - 2))
        if self.op == "load":
            copy = f"""@!first bra begun; mbarrier.init.shared.b64 [r2], 1;
fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [r2], r3;
cp.async.bulk.tensor.{rank}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
[r1], [d2, {{{at}}}], [r2], {{{offsets}}};
begun: bar.sync 0; wait: mbarrier.try_wait.parity.shared.b64 p, [r2], 0; @!p bra wait;
{_moved("ld.shared.b32 r6, [r5]; st.global.b32 [d4], r6;")}"""
        else:
            name = "cp.async.bulk.tensor" if self.op == "store" else "cp.reduce.async.bulk.tensor"
            kind = "" if self.op == "store" else f".{self.op}"
            copy = f"""{_moved("ld.global.b32 r6, [d4]; st.shared.b32 [r5], r6;")}
fence.proxy.async; bar.sync 0; @!first bra done;
{name}.{rank}d.global.shared::cta{kind}.im2col_no_offs.bulk_group [d2, {{{at}}}], [r1];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:"""
        numbers = "".join(
            f"ld.global.b32 r{10 + axis}, [d1+{4 * axis}]; " for axis in range(rank)
        ) + "".join(f"ld.global.b16 h{axis}, [d1+{32 + 4 * axis}]; " for axis in range(rank - 2))
        return f""".version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 boxes, .param .u64 at, .param .u32 n)
.reqntid 32 {{
.reg .pred p, first; .reg .b16 h<3>; .reg .b32 r<16>; .reg .b64 d<5>;
.shared .align 1024 .b8 box[{SHARED}]; .shared .align 8 .b8 bar[8];
ld.param.u64 d0, [boxes]; ld.param.u64 d1, [at]; ld.param.u32 r3, [n]; mov.b64 d2, map;
cvta.param.u64 d2, d2; cvta.to.global.u64 d0, d0; cvta.to.global.u64 d1, d1; mov.u32 r0, %tid.x;
setp.eq.u32 first, r0, 0; mov.u32 r1, box; mov.u32 r2, bar; {numbers}
{copy}
ret; }}
"""


def _moved(move: str) -> str:
    """Words of the box, one a thread after the other."""
    return f"""shl.b32 r4, r0, 2;
next: setp.ge.u32 p, r4, r3; @p bra over; add.u32 r5, r1, r4; cvt.u64.u32 d3, r4;
add.u64 d4, d0, d3; {move} add.u32 r4, r4, 128; bra next; over:"""


_HW = (3, 7, 9)
_SLICED = (2, 3, 7, 9, 8)
IMAGE_COPIES = (
    ImageCopy("plain", "load", (*_HW, 16), (64, 8), (0, 4, 7, 8), (0, 0), (-1, -1), (-1, -1)),
    ImageCopy("offsets", "load", (*_HW, 16), (64, 8), (0, 4, 6, 8), (2, 2), (0, 0), (-2, -2)),
    ImageCopy("strides", "load", (*_HW, 16), (64, 16), (0, -1, -1, 0), (0, 2), (-1, -1), (1, 1),
              (2, 3)),
    ImageCopy("images beyond", "load", (*_HW, 16), (128, 8), (2, 3, 5, 0), (0, 0), (0, 0), (0, 0)),
    ImageCopy("images before", "load", (*_HW, 16), (128, 8), (-1, 0, 0, 0), (0, 0), (0, 0), (0, 0)),
    ImageCopy("channels beyond", "load", (*_HW, 12), (32, 16), (0, 0, 0, 8), (0, 0), (0, 0),
              (0, 0)),
    ImageCopy("NaN of f16", "load", (*_HW, 16), (64, 8), (1, 4, 7, 8), (0, 0), (-1, -1), (0, 0),
              element="f16", nan=True),
    ImageCopy("NaN of bf16", "load", (*_HW, 16), (64, 8), (1, 4, 7, 8), (0, 0), (-1, -1), (0, 0),
              element="bf16", nan=True),
    ImageCopy("NaN of f32", "load", (*_HW, 16), (64, 8), (1, 4, 7, 8), (0, 0), (-1, -1), (0, 0),
              element="f32", nan=True),
    ImageCopy("swizzle", "load", (*_HW, 64), (64, 64), (0, 2, 3, 0), (1, 1), (-1, -1), (-1, -1),
              swizzle=128),
    ImageCopy("words", "load", (*_HW, 64), (48, 16), (0, 2, 3, 16), (1, 1), (-1, -1), (-1, -1),
              element="i32", swizzle=64),
    ImageCopy("bytes", "load", (*_HW, 32), (48, 16), (0, 2, 3, 16), (1, 1), (-1, -1), (-1, -1),
              element="ui8"),
    ImageCopy("lines", "load", (5, 9, 16), (40, 8), (1, 2, 0), (2,), (-2,), (1,), (2,)),
    ImageCopy("volumes", "load", (2, 7, 6, 5, 8), (100, 8), (0, -1, -1, -1, 0), (1, 0, 2),
              (-1, -1, -1), (-1, -1, 0), (3, 2, 2)),
    ImageCopy("one pixel", "load", (*_HW, 16), (1, 16), (1, 2, 3, 0), (0, 0), (0, 0), (0, 0)),
    ImageCopy("all pixels", "load", (1, 32, 32, 8), (1024, 8), (0, 0, 0, 0), (1, 1), (-1, -1),
              (-1, -1)),
    ImageCopy("store", "store", (*_HW, 16), (40, 8), (0, 4, 7, 0), (), (0, 0), (0, 0)),
    ImageCopy("sums", "add", (*_HW, 16), (40, 8), (0, 4, 7, 0), (), (0, 0), (0, 0), element="i32"),
    ImageCopy("store images beyond", "store", (*_HW, 16), (40, 8), (2, 4, 7, 0), (), (0, 0),
              (0, 0)),
    ImageCopy("store channels", "store", (*_HW, 12), (20, 16), (1, 0, 0, 8), (), (0, 0), (0, 0)),
    ImageCopy("store volumes", "store", (2, 3, 4, 5, 8), (70, 8), (0, 1, 1, 2, 0), (), (0, 0, 0),
              (0, 0, 0)),
    *(
        ImageCopy(f"slices: {name}", op, shape, box, at, offsets, lower, upper, steps, element,
                  swizzle, nan, interleaved=True)
        for name, op, shape, box, at, offsets, lower, upper, steps, element, swizzle, nan in (
            ("plain", "load", _SLICED, (64, 8), (0, 1, 2, 3), (0, 0), (0, 0), (0, 0), (), "i16", 0,
             False),
            ("offsets", "load", _SLICED, (90, 8), (0, 2, 4, 6), (1, 2), (-1, -1), (-1, -2), (),
             "i16", 0, False),
            ("strides", "load", _SLICED, (40, 8), (0, 0, -1, -1), (0, 1), (-1, -1), (1, 0), (2, 3),
             "i16", 128, False),
            ("images beyond", "load", _SLICED, (128, 8), (1, 2, 3, 5), (0, 0), (0, 0), (0, 0), (),
             "i16", 64, False),
            ("slice beyond", "load", _SLICED, (20, 8), (0, 3, 3, 5), (0, 0), (0, 0), (0, 0), (),
             "i16", 0, False),
            ("32", "load", (2, 3, 7, 9, 16), (70, 16), (0, 1, 3, 5), (1, 0), (-1, -1), (0, 0), (),
             "i16", 32, False),
            ("bytes", "load", (2, 3, 7, 9, 32), (70, 32), (0, 1, 3, 5), (1, 0), (-1, -1), (0, 0),
             (), "ui8", 0, False),
            ("words", "load", (2, 3, 7, 9, 4), (70, 4), (0, 1, 3, 5), (1, 0), (-1, -1), (0, 0), (),
             "i32", 32, False),
            ("NaN", "load", (2, 3, 7, 9, 4), (70, 4), (0, 1, -1, 5), (1, 2), (-1, -1), (0, 0), (),
             "f32", 0, True),
            ("lines", "load", (5, 2, 9, 8), (40, 8), (1, 1, -2), (2,), (-2,), (1,), (2,), "i16", 0,
             False),
            ("volumes", "load", (2, 2, 7, 6, 5, 8), (100, 8), (0, 1, -1, -1, 0), (1, 0, 2),
             (-1, -1, -1), (-1, -1, 0), (3, 2, 2), "i16", 0, False),
            ("store", "store", _SLICED, (40, 8), (0, 1, 4, 7), (), (0, 0), (0, 0), (), "i16", 0,
             False),
            ("sums", "add", (2, 3, 7, 9, 8), (40, 8), (0, 2, 4, 7), (), (0, 0), (0, 0), (), "i32",
             32, False),
            ("store images beyond", "store", _SLICED, (64, 8), (1, 1, 4, 7), (), (0, 0), (0, 0), (),
             "i16", 128, False),
        )
    ),
    ImageCopy("store by strides", "store", (*_HW, 16), (20, 16), (1, 0, 0, 0), (), (0, 0), (0, 0),
              (2, 2)),
)  # fmt: skip
