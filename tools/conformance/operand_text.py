"""The operands of warp-level matrix instructions, as text: vectors as long as the fragments are.

A fragment holds elements / 32 of a matrix. An f32 or f64 takes a register of its type, anything
else is packed into 32-bit registers. e2m1 is packed by eight for kind::mxf4 and kind::mxf4nvf4,
and stands in a byte of its own elsewhere (PTX ISA 9.7.14.5.14).

    m16n8k8, f32 f16 f16 f32  ->  {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r0}, {%f0,%f1,%f2,%f3}
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

WARP = 32

# What every candidate may use.
REGISTERS = (
    ".reg .pred %p<2>;", ".reg .b8 %q<4>;", ".reg .b16 %h<8>;", ".reg .b32 %r<144>;",
    ".reg .b64 %rd<4>;", ".reg .f32 %f<144>;", ".reg .f64 %fd<64>;",
    ".reg .b128 %x<4>;",
)  # fmt: skip

_BITS = {
    "b1": 1,
    "s4": 4,
    "u4": 4,
    "s8": 8,
    "u8": 8,
    "e4m3": 8,
    "e5m2": 8,
    "e3m2": 8,
    "e2m3": 8,
    "e2m1": 8,
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "s32": 32,
    "f32": 32,
    "f64": 64,
}
_PREFIX = {"f32": "%f", "f64": "%fd"}


@cache
def shape_of(text: str) -> tuple[int, int, int]:
    """(16, 8, 32) of m16n8k32; (8, 8, 1) of m8n8."""
    match = re.fullmatch(r"m(\d+)n(\d+)(?:k(\d+))?", text)
    assert match is not None, text
    return int(match[1]), int(match[2]), int(match[3] or 1)


def element_bits(element: str) -> int:
    """The width of an element type, alone in a byte where it is narrower and not packed."""
    return _BITS[element]


@cache
def vector(element: str, elements: int, packed: bool = False) -> str:
    """The register vector of a warp's `elements` elements; `packed`: e2m1 takes four bits."""
    bits = 4 if packed and element == "e2m1" else _BITS[element]
    share = elements * bits // WARP
    return registers(_PREFIX.get(element, "%r"), max(share // max(bits, 32), 1))


@cache
def registers(prefix: str, number: int) -> str:
    return "{" + ",".join(f"{prefix}{i}" for i in range(number)) + "}"


@cache
def product_operands(
    shape: str, types: tuple[str, str, str, str], sparse: bool = False, packed: bool = False
) -> tuple[str, ...]:
    """`d, a, b, c` of D = A * B + C, for types in the order d, a, b, c. At m8n8k4 a warp computes
    one product or four, one to eight threads."""
    (m, n, k), (d, a, b, c) = shape_of(shape), types
    stored = k // 2 if sparse else k
    texts: list[str] = []
    for products in (4, 1) if shape == "m8n8k4" else (1,):
        fragments = (
            vector(d, m * n * products),
            vector(a, m * stored * products, packed),
            vector(b, k * n * products, packed),
            vector(c, m * n * products),
        )
        texts.append(", ".join(fragments))
    return tuple(texts)


def loads(fragments: Callable[[Any], tuple[str, ...]]) -> Callable[[Any], tuple[str, ...]]:
    """The operands of a load of any of a point's fragments."""
    return lambda point: tuple(f"{fragment}, [%rd0]" for fragment in fragments(point))


def stores(fragments: Callable[[Any], tuple[str, ...]]) -> Callable[[Any], tuple[str, ...]]:
    """The operands of a store of any of a point's fragments."""
    return lambda point: tuple(f"[%rd0], {fragment}" for fragment in fragments(point))
