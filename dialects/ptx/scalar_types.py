"""Scalars of upstream dialects: the registers and the memory that hold them."""

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute

from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType, element_of
from tilewright.dialects.frozen import frozen
from tilewright.dialects.once import once_each
from tilewright.dialects.ptx.types import RegType, reg


@frozen
class ScalarType:
    """A scalar of the source.

    `bits` is its width in memory and in meaning, `kind` the register kind, `access` the type
    that loads and stores it, `parameter` the type of a kernel parameter. An `i8` sits in the
    low half of a `b16` whose upper bits mean nothing; an `index` has 64 bits.
    """

    bits: int
    kind: str
    access: str
    parameter: str

    @property
    def width(self) -> int:
        """The width of the instructions that work on it: 16 for an i8."""
        return max(self.bits, 16)

    @property
    def bytes(self) -> int:
        """The bytes it takes in memory."""
        return max(self.bits, 8) // 8


_SCALARS: dict[Attribute, ScalarType] = {
    IntegerType(1): ScalarType(1, "pred", "b8", "u8"),
    IntegerType(8): ScalarType(8, "b16", "b8", "u8"),
    **dict.fromkeys(
        (IntegerType(16), Float16Type(), BFloat16Type()), ScalarType(16, "b16", "b16", "u16")
    ),
    IntegerType(32): ScalarType(32, "b32", "b32", "u32"),
    IntegerType(64): ScalarType(64, "b64", "b64", "u64"),
    IndexType(): ScalarType(64, "b64", "b64", "u64"),
    Float32Type(): ScalarType(32, "f32", "f32", "f32"),
    Float64Type(): ScalarType(64, "f64", "f64", "f64"),
}


@once_each
def scalar_type(type_: Attribute) -> ScalarType | None:
    """How a scalar type is held, or None where it is none that lowers."""
    return _SCALARS.get(type_)


@once_each
def type_name(type_: Attribute) -> str | None:
    """The instruction type that computes on a scalar type, of integers with a sign: `s32`, `bf16`,
    `pred`; None where it is none that lowers."""
    if (scalar := scalar_type(type_)) is None:
        return None
    whole = "pred" if scalar.bits == 1 else f"s{scalar.bits}"
    return whole if isinstance(type_, IntegerType | IndexType) else str(type_)


NARROW_FLOATS: dict[Attribute, str] = {Float8E4M3FNType(): "e4m3", Float8E5M2Type(): "e5m2"}
"""Floats by PTX name, held as an i8 is: memory and casts know them, arithmetic does not."""


@once_each
def stored_type(type_: Attribute) -> ScalarType | None:
    """How a scalar type is held that need not be computed on."""
    return _SCALARS[IntegerType(8)] if type_ in NARROW_FLOATS else scalar_type(type_)


def register_type(type_: Attribute) -> RegType | None:
    """The registers that hold a value of the type, or None where it does not lower."""
    if isinstance(type_, FragmentType):
        return reg(type_.element.register, type_.registers)
    scalar = stored_type(type_)
    return None if scalar is None else reg(scalar.kind)


_SIGNED_WORDS: dict[Attribute, int] = {
    IntegerType(bits, signedness): bits // 8
    for bits in (32, 64)
    for signedness in (Signedness.SIGNED, Signedness.UNSIGNED)
}
"""The bytes of words that only copies move: TMA reduces them as signed or unsigned."""


def element_bytes(type_: Attribute) -> int | None:
    """The bytes of a memref's element, by its type; None where threads cannot address one."""
    if (scalar := scalar_type(type_)) is not None:
        return scalar.bytes
    if type_ in _SIGNED_WORDS:
        return _SIGNED_WORDS[type_]
    element = element_of(type_)
    return None if element is None or element.bits < 8 else element.bits // 8
