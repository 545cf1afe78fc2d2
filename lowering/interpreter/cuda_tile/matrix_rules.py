"""Rules of matrix multiplication: as the tensor cores of a chip do it, exactly, or by BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.floating_point import MmaFOp, MmaFScaledOp
from tilewright.lowering.interpreter.cuda_tile.blocks import (
    Options,
    Preparation,
    Rule,
    Step,
    computing,
)
from tilewright.lowering.interpreter.cuda_tile.elements import (
    Element,
    Tile,
    as_unsigned,
    bits_of,
    element_of_tile,
)
from tilewright.lowering.interpreter.cuda_tile.float_arithmetic import BFLOAT16, widened
from tilewright.lowering.interpreter.cuda_tile.pointwise_rules import word
from tilewright.lowering.interpreter.numerics import (
    NumericsError,
    decode,
    dot_add,
    family_of,
    model_for,
)

_K_OF_INSTRUCTION = 256
"""Bits of K that one wgmma, tcgen05.mma or m16n8 instruction multiplies."""


def _multiply(op: Operation, preparation: Preparation) -> Step:
    assert isinstance(op, MmaFOp)
    a, c = element_of_tile(op.lhs.type), element_of_tile(op.acc.type)
    return computing(op, _float_product(a, c, preparation.options))


def _float_product(a: Element, c: Element, options: Options) -> Any:
    if options.numerics == "fast" or a.name in ("f32", "f64"):
        return lambda x, y, z: _blas(x, y, z, a, c)
    types = (_ptx(a), _ptx(a), _ptx(c), _ptx(c))
    if options.numerics == "exact":
        return lambda x, y, z: _dot(x, y, z, c, types, "exact")
    try:
        model = model_for(options.arch, types[0], types[1], types[3], _unit(options.arch))
    except NumericsError:
        # The chip has no such instruction; tileiras computes in f16, which holds every value.
        model = model_for(options.arch, "f16", "f16", types[3], _unit(options.arch))
        return lambda x, y, z: _in_steps(
            x.astype(np.float16), y.astype(np.float16), z, c, ("f16", "f16", *types[2:]), model, 16
        )
    step = max(1, _K_OF_INSTRUCTION // a.bits)
    return lambda x, y, z: _in_steps(x, y, z, c, types, model, step)


def _unit(arch: str) -> Any:
    return {"Hopper": "wgmma", "Blackwell": "tcgen05"}.get(family_of(arch), "mma.sync")


def _ptx(element: Element) -> str:
    assert element.format is not None
    return element.format.name


def _blas(x: Tile, y: Tile, z: Tile, a: Element, c: Element) -> Tile:
    wide = np.float64 if a.name == "f64" else np.float32
    if a.dtype == BFLOAT16:
        left, right = widened(x), widened(y)
    elif a.bits <= 8 and a.format is not None:
        left, right = (decode(bits_of(each), a.format).astype(wide) for each in (x, y))
    else:
        left, right = x.astype(wide, copy=False), y.astype(wide, copy=False)
    product = np.matmul(left, right)
    if product.dtype == z.dtype:
        return np.add(product, z, out=product) if len(product) >= len(z) else product + z
    return (product + z.astype(wide)).astype(c.dtype)


def _in_steps(
    x: Tile, y: Tile, z: Tile, c: Element, types: tuple[str, ...], model: Any, step: int
) -> Tile:
    """A chain of instructions along K, each adding to the result of the last."""
    total = z
    for begin in range(0, x.shape[-1], step):
        part = slice(begin, begin + step)
        total = _dot(x[..., part], y[..., part, :], total, c, types, model)
    return total


def _dot(
    x: Tile, y: Tile, z: Tile, c: Element, types: tuple[str, ...], model: Any, **scales: Any
) -> Tile:
    rows = max(len(x), len(y), len(z))
    a, b, acc = (
        bits_of(np.broadcast_to(each, (rows, *each.shape[1:]))) for each in (x, y, z)
    )
    a_type, b_type, c_type, d_type = types
    words = dot_add(
        a, b, acc, a_type=a_type, b_type=b_type, c_type=c_type, d_type=d_type, model=model, **scales
    )
    return words.view(c.dtype)


def _multiply_integers(op: Operation, _: Preparation) -> Step:
    signs = [word(op, name) == "signed" for name in ("signedness_lhs", "signedness_rhs")]

    def run(x: Tile, y: Tile, z: Tile) -> Tile:
        # Products of 16 bits: float64 holds every sum of fewer than 2^37 of them.
        left, right = (
            (each if signed else as_unsigned(each)).astype(np.float64)
            for each, signed in zip((x, y), signs, strict=True)
        )
        sums = np.matmul(left, right).astype(np.int64) + z
        return sums.astype(np.int32)

    return computing(op, run)


def _multiply_scaled(op: Operation, preparation: Preparation) -> Step:
    assert isinstance(op, MmaFScaledOp)
    a, scale = element_of_tile(op.lhs.type), element_of_tile(op.lhs_scale.type)
    assert a.format is not None and scale.format is not None
    formats = a.format, scale.format
    options = preparation.options
    model = None if options.numerics == "fast" else _scaled_model(a, scale, options)

    def run(x: Tile, y: Tile, z: Tile, x_scale: Tile, y_scale: Tile) -> Tile:
        if model is not None:
            return _scaled_steps(x, y, z, x_scale, y_scale, a, scale, model)
        left, right = (decode(bits_of(each), formats[0]) for each in (x, y))
        left_scale, right_scale = (decode(bits_of(each), formats[1]) for each in (x_scale, y_scale))
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
    if a.name != "f4E2M1FN":
        kind = "mxf8f6f4"
    else:
        kind = "mxf4nvf4" if scale.name == "f8E4M3FN" else "mxf4"
    try:
        return model_for(options.arch, _ptx(a), _ptx(a), "f32", _unit(options.arch), kind)  # type: ignore[arg-type]
    except NumericsError:
        return None


def _scaled_steps(
    x: Tile, y: Tile, z: Tile, x_scale: Tile, y_scale: Tile, a: Element, scale: Element, model: Any
) -> Tile:
    step = _K_OF_INSTRUCTION // a.bits if model != "exact" else x.shape[-1]
    vector = x.shape[-1] // x_scale.shape[-1]
    step = max(step, vector)
    c = Element("f32", "float", 32, np.dtype(np.float32))
    types = (_ptx(a), _ptx(a), "f32", "f32")
    rows = max(len(tile) for tile in (x, y, z, x_scale, y_scale))
    words = [bits_of(np.broadcast_to(each, (rows, *each.shape[1:]))) for each in (x_scale, y_scale)]
    total = z
    for begin in range(0, x.shape[-1], step):
        part = slice(begin, begin + step)
        of_scale = slice(begin // vector, -(-(begin + step) // vector))
        total = _dot(
            np.broadcast_to(x, (rows, *x.shape[1:]))[..., part],
            y[..., part, :],
            total,
            c,
            types,
            model,
            scale_a=words[0][..., of_scale],
            scale_b=words[1][..., of_scale, :],
            scale_type=_SCALES[scale.name],
        )
    return total


RULES: dict[str, Rule] = {
    "mmaf": _multiply,
    "mmai": _multiply_integers,
    "mmaf_scaled": _multiply_scaled,
}
