"""`wmma.load`, `wmma.store` and `wmma.mma`: PTX ISA 9.7.14.4.3 to 9.7.14.4.5, fragments 9.7.14.4.1.

| family            | points | spans                                                              |
|-------------------|--------|--------------------------------------------------------------------|
| wmma.load         | 7,488  | matrix x type x shape x layout x state space                       |
| wmma.store        | 3,744  | matrix x type x shape x layout x state space                       |
| wmma.mma-f16      | 5,200  | d x c x shape x layouts x satfinite x rounding; a and b unsaid     |
| wmma.mma          | 88,088 | a x b x d and c x shape x layouts x satfinite                      |
| wmma.mma-rounding | 40,040 | a, b alike x d and c x shape x layouts x satfinite x rounding      |
| wmma.mma-bit-op   | 24,024 | a, b alike x d and c x shape x layouts x satfinite x bit operation |
"""

from itertools import product

from tilewright.tools.conformance.instruction_family import Family, Point, axes, boxes, words
from tilewright.tools.conformance.mma_families import ACCUMULATOR_PAIRS, LAYOUTS, SATFINITE
from tilewright.tools.conformance.operand_text import (
    loads,
    product_operands,
    registers,
    shape_of,
    stores,
    vector,
)

_LOAD, _STORE, _MMA = "9.7.14.4.3", "9.7.14.4.4", "9.7.14.4.5"

_BASIC = "m16n16k16|m8n32k16|m32n8k16"
_SPACES = "- .global .shared .shared::cta"
_ROUNDINGS = ".rn .rz .rm .rp"
_F16_FRAGMENT = 8  # registers of a or b, whatever the shape
_MULTIPLICANDS = "f64 f16 bf16 tf32 f32 s8 u8 s4 u4 b1 e4m3"


def _lengths(matrix: str, element: str, natural: str) -> tuple[str, ...]:
    """The fragments that a matrix may have."""
    if element == "f16" and matrix in ("a", "b"):
        return (registers("%r", _F16_FRAGMENT), natural)
    return (natural,)


def _fragments(point: Point) -> tuple[str, ...]:
    """The fragments of the matrix that is loaded or stored."""
    m, n, k = shape_of(point["shape"])
    matrix, element = point["matrix"], point["type"]
    elements = {"a": m * k, "b": k * n}.get(matrix, m * n)
    return _lengths(matrix, element, vector(element, elements))


def _product(point: Point) -> tuple[str, ...]:
    types = point["d"], point.get("a", "f16"), point.get("b", "f16"), point["c"]
    operands: list[str] = []
    for natural in product_operands(point["shape"], types):
        d, a, b, c = natural.split(", ")
        choices = product(_lengths("a", types[1], a), _lengths("b", types[2], b))
        operands += [f"{d}, {first}, {second}, {c}" for first, second in choices]
    return tuple(operands)


_LOADS = f"""
    targets  matrix  type     shape             layout
    70+      a|b     f16      {_BASIC}          row|col
    70+      c       f16|f32  {_BASIC}          row|col
    72+      a|b     s8|u8    {_BASIC}          row|col
    72+      c       s32      {_BASIC}          row|col
    80+      a|b     bf16     {_BASIC}          row|col
    80+      a|b     tf32     m16n16k8          row|col
    80+      c       f32      m16n16k8          row|col
    80+      a|b|c   f64      m8n8k4            row|col
    75+      a       s4|u4    m8n8k32           row
    75+      b       s4|u4    m8n8k32           col
    75+      a       b1       m8n8k128          row
    75+      b       b1       m8n8k128          col
    75+      c       s32      m8n8k32|m8n8k128  row|col
"""
_STORES = f"""
    targets  type     shape
    70+      f16|f32  {_BASIC}
    72+      s32      {_BASIC}
    75+      s32      m8n8k32|m8n8k128
    80+      f32      m16n16k8
    80+      f64      m8n8k4
"""
_F16_PRODUCTS = f"""
    targets  d        c        shape
    70+      f16|f32  f16|f32  {_BASIC}
"""
_PRODUCTS = f"""
    targets  a,b   d,c  shape     satfinite     alayout  blayout
    72+      s8    s32  {_BASIC}  -|.satfinite  row|col  row|col
    72+      u8    s32  {_BASIC}  -|.satfinite  row|col  row|col
    75+      s4    s32  m8n8k32   -|.satfinite  row      col
    75+      u4    s32  m8n8k32   -|.satfinite  row      col
    80+      bf16  f32  {_BASIC}  -             row|col  row|col
    80+      tf32  f32  m16n16k8  -             row|col  row|col
    80+      f64   f64  m8n8k4    -             row|col  row|col
"""
_ROUNDED = """
    targets  a,b   d,c  shape     alayout  blayout
    80+      f64   f64  m8n8k4    row|col  row|col
"""
_SINGLE_BITS = """
    targets  a,b  d,c  shape     alayout  blayout  bit_op
    75+      b1   s32  m8n8k128  row      col      .xor.popc
    80+      b1   s32  m8n8k128  row      col      .and.popc
"""

_SHAPES = axes(
    shape="m16n16k16 m8n32k16 m32n8k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128 m16n8k16 m16n8k8 m16n16k4 "
    "m32n8k8 m8n32k8 m16n16k32"
)
_COPY_AXES = {
    **axes(matrix="a b c d", type=_MULTIPLICANDS + " s32"),
    **_SHAPES,
    "layout": LAYOUTS,
    **axes(space=_SPACES + " .shared::cluster .local"),
}
_LAYOUT_AXES = {**_SHAPES, "alayout": LAYOUTS, "blayout": LAYOUTS, "satfinite": SATFINITE}
_EQUAL = {"a b": tuple((kind, kind) for kind in words(_MULTIPLICANDS)), **ACCUMULATOR_PAIRS}
_SUMS = "f16 bf16 f32 f64 s32"
_COPY = ".{matrix}.sync.aligned.{layout}.{shape}{space}.{type}"
_BASE = ".sync.aligned.{alayout}.{blayout}.{shape}"
_TYPED = ".{d}.{a}.{b}.{c}{satfinite}"

WMMA_FAMILIES = (
    Family("wmma.load", _COPY_AXES, "wmma.load" + _COPY, loads(_fragments),
           boxes(_LOAD, _LOADS, space=_SPACES)),
    Family("wmma.store", _COPY_AXES | axes(matrix="d c"), "wmma.store" + _COPY, stores(_fragments),
           boxes(_STORE, _STORES, matrix="d", layout=LAYOUTS, space=_SPACES)),
    Family("wmma.mma-f16", axes(d=_SUMS, c=_SUMS, rounding="- .rn") | _LAYOUT_AXES,
           "wmma.mma" + _BASE + "{rounding}.{d}.{c}{satfinite}", _product,
           boxes(_MMA, _F16_PRODUCTS, alayout=LAYOUTS, blayout=LAYOUTS)),
    Family("wmma.mma",
           axes(a=_MULTIPLICANDS, b=_MULTIPLICANDS) | ACCUMULATOR_PAIRS | _LAYOUT_AXES,
           "wmma.mma" + _BASE + _TYPED, _product, boxes(_MMA, _PRODUCTS)),
    Family("wmma.mma-rounding", _EQUAL | axes(rounding=_ROUNDINGS + " .rna") | _LAYOUT_AXES,
           "wmma.mma" + _BASE + "{rounding}" + _TYPED, _product,
           boxes(_MMA, _ROUNDED, rounding=_ROUNDINGS)),
    Family("wmma.mma-bit-op", _EQUAL | axes(bit_op=".xor.popc .and.popc .xor") | _LAYOUT_AXES,
           "wmma.mma{bit_op}" + _BASE + _TYPED, _product, boxes(_MMA, _SINGLE_BITS)),
)  # fmt: skip
