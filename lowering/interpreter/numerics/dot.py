"""D = A B + C on matrices of raw element bits, for every MMA element type."""

from typing import Any

import numpy as np

from tilewright.lowering.interpreter.numerics.converted_sum import converted_dot_add
from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.exact_sum import exact_dot_add
from tilewright.lowering.interpreter.numerics.float32_sum import float32_dot_add
from tilewright.lowering.interpreter.numerics.fma import fma64
from tilewright.lowering.interpreter.numerics.formats import Bits, decode, format_named
from tilewright.lowering.interpreter.numerics.fused_sum import fused_dot_add, scaled_dot_add
from tilewright.lowering.interpreter.numerics.integer_dot import (
    INTEGER_FORMATS,
    BitOperation,
    integer_dot_add,
)
from tilewright.lowering.interpreter.numerics.lanes import check_shapes
from tilewright.lowering.interpreter.numerics.models import (
    AnyModel,
    ConvertedDotAdd,
    ExactInteger,
    Float32DotAdd,
    FmaChain,
    FusedDotAdd,
    ScaledBlockDotAdd,
    ScaledDotAdd,
)
from tilewright.lowering.interpreter.numerics.rounding import Rounding, check_rounding
from tilewright.lowering.interpreter.numerics.scales import Scales, scales_for


def dot_add(
    a: Bits,
    b: Bits,
    c: Bits,
    *,
    a_type: str,
    b_type: str,
    c_type: str,
    d_type: str,
    model: AnyModel,
    satfinite: bool = False,
    rounding: Rounding = "rn",
    bit_operation: BitOperation = "and",
    scale_a: Bits | None = None,
    scale_b: Bits | None = None,
    scale_type: str | None = None,
) -> Bits:
    """D = A B + C.

    a [..., M, K], b [..., K, N], c [..., M, N], with equal leading batch axes: one element per
    unsigned integer of its container (uint8: 8-bit and narrower types; uint16: f16, bf16; uint32:
    tf32, f32, s32; uint64: f64). The types are PTX names. model: a row from `model_for`, or
    "exact" for the mathematical result rounded once. Returns D's words [..., M, N].

    satfinite: clamp integers to s32's range. rounding: f64 only. bit_operation: b1 only.
    scale_a [..., M, S], scale_b [..., S, N]: uint8 words of scale_type (ue8m0 or ue4m3), each for
    K / S consecutive k; block-scaled MMAs only.
    Raises NumericsError for types, shapes, containers and options that no MMA has.
    """
    check_rounding(rounding)
    types = (a_type, b_type, c_type, d_type)
    scales = scales_for(a, b, scale_a, scale_b, scale_type)
    if a_type in INTEGER_FORMATS or b_type in INTEGER_FORMATS:
        if scales is not None:
            raise NumericsError(f"scales are for floats of 4 to 8 bits, not {a_type} x {b_type}")
        return _integer(a, b, c, types, model, satfinite, bit_operation)
    if satfinite:
        raise NumericsError(f"satfinite is for integers, not {a_type} x {b_type}")
    if rounding != "rn" and a_type != "f64":
        raise NumericsError(f"a rounding mode is for f64, not {a_type} x {b_type}")
    return _floating(a, b, c, types, model, rounding, scales)


def fma_chain(a: Bits, b: Bits, c: Bits, rounding: Rounding) -> Bits:
    """f64 D = A B + C: fused multiply-adds in k order, starting from C.

    a [..., M, K], b [..., K, N], c [..., M, N]: uint64 words. Returns uint64 words [..., M, N].
    """
    check_shapes(a, b, c)
    f64 = format_named("f64")
    x, y, total = decode(a, f64), decode(b, f64), decode(c, f64)
    for k in range(a.shape[-1]):
        total = fma64(x[..., :, k, None], y[..., None, k, :], total, rounding)
    return np.ascontiguousarray(total).view(np.uint64)


def _floating(
    a: Bits,
    b: Bits,
    c: Bits,
    types: tuple[str, str, str, str],
    model: AnyModel,
    rounding: Rounding,
    scales: Scales | None,
) -> Bits:
    fa, fb, fc, fd = map(format_named, types)
    _check_containers((a, b, c), types, (fa.container, fb.container, fc.container))
    if scales is not None and max(fa.bits, fb.bits) > 8:
        raise NumericsError(f"scales are for floats of 4 to 8 bits, not {fa.name} x {fb.name}")
    if model == "exact":
        return exact_dot_add(a, b, c, (fa, fb, fc, fd), rounding, scales)
    if isinstance(model, ScaledDotAdd | ScaledBlockDotAdd):
        if scales is None:
            raise NumericsError(f"{model} expected scale_a, scale_b and scale_type")
        return scaled_dot_add(a, b, c, scales, (fa, fb, fc, fd), model)
    if scales is not None:
        raise NumericsError(f"{model} does not scale")
    if isinstance(model, FmaChain) and set(types) == {"f64"}:
        return fma_chain(a, b, c, rounding)
    if isinstance(model, FusedDotAdd) and "f64" not in types:
        return fused_dot_add(a, b, c, (fa, fb, fc, fd), model)
    if isinstance(model, ConvertedDotAdd):
        return converted_dot_add(a, b, c, (fa, fb, fc, fd), model)
    if isinstance(model, Float32DotAdd):
        return float32_dot_add(a, b, c, (fa, fb, fc, fd))
    raise NumericsError(f"{model} does not compute {types[0]} x {types[1]} into {types[3]}")


def _integer(
    a: Bits,
    b: Bits,
    c: Bits,
    types: tuple[str, str, str, str],
    model: AnyModel,
    satfinite: bool,
    bit_operation: BitOperation,
) -> Bits:
    a_type, b_type, c_type, d_type = types
    if a_type not in INTEGER_FORMATS or b_type not in INTEGER_FORMATS:
        raise NumericsError(f"expected two integer types, got {a_type} x {b_type}")
    if (c_type, d_type) != ("s32", "s32"):
        raise NumericsError(f"integer MMAs accumulate in s32, got {c_type} and {d_type}")
    if not (model == "exact" or isinstance(model, ExactInteger)):
        raise NumericsError(f"{model} does not compute {a_type} x {b_type}")
    containers = np.dtype(np.uint8), np.dtype(np.uint8), np.dtype(np.uint32)
    _check_containers((a, b, c), types, containers)
    formats = INTEGER_FORMATS[a_type], INTEGER_FORMATS[b_type]
    return integer_dot_add(a, b, c, formats, satfinite=satfinite, bit_operation=bit_operation)


def _check_containers(
    operands: tuple[Bits, Bits, Bits],
    types: tuple[str, str, str, str],
    containers: tuple[np.dtype[Any], ...],
) -> None:
    for name, bits, of_type, container in zip("abc", operands, types, containers, strict=False):
        if bits.dtype != container:
            raise NumericsError(f"{name}: expected {of_type} in {container}, got {bits.dtype}")
