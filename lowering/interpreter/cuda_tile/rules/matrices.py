"""Rules of matrix multiplication: as the tensor cores of a chip do it, exactly, or by BLAS."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import Float16Type, Float32Type
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp, MmaIOp
from tilewright.dialects.cuda_tile.ops.operation import word
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.cuda_tile.blocks import (
    Compute,
    Options,
    Preparation,
    Step,
    computes,
    computing,
    runs,
)
from tilewright.lowering.interpreter.cuda_tile.elements import (
    Element,
    Tile,
    as_unsigned,
    bits_of,
    element_of,
    element_of_tile,
)
from tilewright.lowering.interpreter.cuda_tile.float_arithmetic import arithmetic, widened
from tilewright.lowering.interpreter.numerics import (
    NumericsError,
    ScaleKind,
    Unit,
    decode,
    dot_add,
    family_of,
    model_for,
)
from tilewright.lowering.interpreter.numerics.certain_sum import product_on_one_core
from tilewright.lowering.interpreter.values import spread

Product = Callable[[Tile, Tile, Tile], Tile]
FLOAT32 = element_of(Float32Type())
_BITS_OF_K = 256
"""Bits of K that one wgmma, tcgen05.mma or m16n8 instruction multiplies."""
_ADDED_DEPTH = 128
_ROWS_OF_MMA, _ROWS_OF_WGMMA = 16, 64
"""Tiles of fewer rows are multiplied otherwise (mma.sync and below: H200 records)."""


@runs
def _multiply(op: MmaFOp, preparation: Preparation) -> Step:
    a, c = element_of_tile(op.lhs.type), element_of_tile(op.acc.type)
    type_, options = op.lhs.type, preparation.options
    assert isinstance(type_, TileType)
    return computing(op, _float_product(a, c, type_.shape[-2], options, fast=bool(op.fast_acc)))


def _float_product(
    a: Element, c: Element, rows: int, options: Options, *, fast: bool = False
) -> Product:
    """The product of tiles of `rows` rows, whose sums may be as coarse as tensor cores keep them
    where it is `fast`."""
    if options.numerics == "fast":
        return partial(_blas, a=a, c=c)
    if options.numerics == "exact":
        return Instructions(a, c, "exact")
    if a.name == "f64":
        return Instructions(a, c, model_for(options.arch, "f64", "f64", "f64"))
    if a.name == "f32" or rows < _ROWS_OF_MMA:
        return partial(_fused_chain, a=a, c=c)
    if a.bits == 8 and c.name == "f16":
        # tileiras accumulates in f32 and converts (H200, 16x16x16).
        wide = _float_product(a, FLOAT32, rows, options, fast=fast)
        return lambda x, y, z: wide(x, y, z.astype(np.float32)).astype(np.float16)
    step = max(1, _BITS_OF_K // a.bits)
    for unit in _units(options.arch, rows):
        try:
            model = model_for(options.arch, _ptx(a), _ptx(a), _ptx(c), unit)
        except NumericsError:
            continue
        chain = Instructions(a, c, model, step)
        # Hopper's tensor cores keep sums of 8-bit products in 14 bits.
        return chain.added if unit == "wgmma" and a.bits == 8 and not fast else chain
    # No such instruction: tileiras computes in f16, which holds every fp8 value.
    half = element_of(Float16Type())
    narrow = _float_product(half, c, rows, options)
    return lambda x, y, z: narrow(x.astype(np.float16), y.astype(np.float16), z)


def _units(arch: str, rows: int) -> tuple[Unit, ...]:
    """The units that may multiply tiles of so many rows, the one that does first."""
    large: dict[str, Unit] = {"Hopper": "wgmma", "Blackwell": "tcgen05"}
    unit = large.get(family_of(arch))
    return (unit, "mma.sync") if unit and rows >= _ROWS_OF_WGMMA else ("mma.sync",)


def _fused_chain(x: Tile, y: Tile, z: Tile, a: Element, c: Element) -> Tile:
    """f32 multiply-adds in k order from zero, then the addend: what H200's cores do for f32 and for
    tiles too low for an MMA, but for the order, which Tile IR leaves open."""
    left, right = (_in_float32(matrix, a) for matrix in (x, y))
    fused = arithmetic("fma", FLOAT32, "nearest_even")
    total = np.zeros((1,) * z.ndim, np.float32)
    for k in range(x.shape[-1]):
        total = fused(left[..., :, k, None], right[..., None, k, :], total)
    return (total + z).astype(c.dtype)


def _in_float32(x: Tile, element: Element) -> Tile:
    if element.bits <= 8:
        assert element.format is not None
        return decode(bits_of(x), element.format).astype(np.float32)
    return widened(x)


def _ptx(element: Element) -> str:
    assert element.format is not None
    return element.format.name


def _blas(x: Tile, y: Tile, z: Tile, a: Element, c: Element) -> Tile:
    if a.name == "f64":
        return np.matmul(x, y) + z
    product = product_on_one_core(_in_float32(x, a), _in_float32(y, a))
    if c.name == "f32":
        return np.add(product, z, out=product) if len(product) >= len(z) else product + z
    return (product + z.astype(np.float32)).astype(c.dtype)


@frozen
class Instructions:
    """A chain of instructions along K, each adding to the result of the last: products of elements
    `a` into `c` by a model, `step` of K by each (None: all by one)."""

    a: Element
    c: Element
    model: Any
    step: int | None = None

    def __call__(self, x: Tile, y: Tile, z: Tile) -> Tile:
        total, step = z, self.step or x.shape[-1]
        for begin in range(0, x.shape[-1], step):
            part = slice(begin, begin + step)
            total = self.dot(x[..., part], y[..., part, :], total)
        return total

    def added(self, x: Tile, y: Tile, z: Tile) -> Tile:
        """Sums of 128 of K each, added in f32, as cuBLAS does without its fast accumulation."""
        total = z
        for begin in range(0, x.shape[-1], _ADDED_DEPTH):
            part = slice(begin, begin + _ADDED_DEPTH)
            total = total + self(x[..., part], y[..., part, :], np.zeros_like(z))
        return total

    def dot(self, x: Tile, y: Tile, z: Tile, **scales: Any) -> Tile:
        """One instruction."""
        rows, a, c = max(map(len, (x, y, z))), _ptx(self.a), _ptx(self.c)
        words = dot_add(
            *(_words(matrix, rows) for matrix in (x, y, z)),
            a_type=a, b_type=a, c_type=c, d_type=c, model=self.model, **scales,
        )  # fmt: skip
        return words.view(self.c.dtype)


def _words(tile: Tile, rows: int) -> Tile:
    """The words of a tile's elements, in each of so many blocks."""
    return bits_of(spread(tile, rows))


@computes(MmaIOp)
def _multiply_integers(op: Operation) -> Compute:
    signs = [word(op, name) == "signed" for name in ("signedness_lhs", "signedness_rhs")]

    def run(x: Tile, y: Tile, z: Tile) -> Tile:
        # Products of 16 bits: float64 holds every sum of fewer than 2^37 of them.
        left, right = (
            (matrix if signed else as_unsigned(matrix)).astype(np.float64)
            for matrix, signed in zip((x, y), signs, strict=True)
        )
        sums = np.matmul(left, right).astype(np.int64) + z
        return sums.astype(np.int32)

    return run


@runs
def _multiply_scaled(op: MmaFScaledOp, preparation: Preparation) -> Step:
    a, scale = element_of_tile(op.lhs.type), element_of_tile(op.lhs_scale.type)
    assert a.format is not None and scale.format is not None
    formats = a.format, scale.format
    options = preparation.options
    model = None if options.numerics == "fast" else _scaled_model(a, scale, options)

    def run(x: Tile, y: Tile, z: Tile, x_scale: Tile, y_scale: Tile) -> Tile:
        if model is not None:
            return _scaled_steps(x, y, z, x_scale, y_scale, a, scale, model)
        left, right = (decode(bits_of(matrix), formats[0]) for matrix in (x, y))
        left_scale, right_scale = (
            decode(bits_of(matrix), formats[1]) for matrix in (x_scale, y_scale)
        )
        left = left * np.repeat(left_scale, left.shape[-1] // left_scale.shape[-1], axis=-1)
        right = right * np.repeat(right_scale, right.shape[-2] // right_scale.shape[-2], axis=-2)
        return (np.matmul(left, right) + z).astype(np.float32)

    return computing(op, run)


_SCALES = {"f8E8M0FNU": "ue8m0", "f8E4M3FN": "ue4m3"}


def _scaled_model(a: Element, scale: Element, options: Options) -> Any:
    """The arithmetic of a scaled MMA; None where no chip's is known: mathematics then, rounded."""
    if scale.name not in _SCALES:
        return None
    if options.numerics == "exact":
        return "exact"
    kind: ScaleKind = "mxf8f6f4"
    if a.name == "f4E2M1FN":
        kind = "mxf4nvf4" if scale.name == "f8E4M3FN" else "mxf4"
    try:
        unit = _units(options.arch, 128)[0]
        return model_for(options.arch, _ptx(a), _ptx(a), "f32", unit, kind)
    except NumericsError:
        return None


def _scaled_steps(
    x: Tile, y: Tile, z: Tile, x_scale: Tile, y_scale: Tile, a: Element, scale: Element, model: Any
) -> Tile:
    step = _BITS_OF_K // a.bits if model != "exact" else x.shape[-1]
    vector = x.shape[-1] // x_scale.shape[-1]
    step = max(step, vector)
    rows = max(len(tile) for tile in (x, y, z, x_scale, y_scale))
    left, right = (_words(scales, rows) for scales in (x_scale, y_scale))
    total, instruction = z, Instructions(a, FLOAT32, model)
    for begin in range(0, x.shape[-1], step):
        part = slice(begin, begin + step)
        of_scale = slice(begin // vector, -(-(begin + step) // vector))
        total = instruction.dot(
            spread(x, rows)[..., part],
            y[..., part, :],
            total,
            scale_a=left[..., of_scale],
            scale_b=right[..., of_scale, :],
            scale_type=_SCALES[scale.name],
        )
    return total
