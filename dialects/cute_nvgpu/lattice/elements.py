from tilewright.dialects.frozen import frozen

"""Element types of MMA operands: one row a type, under its PTX name.

The PTX name is the key everywhere in the tables; the MLIR spelling is how the same type
stands in IR, and the container is the NumPy dtype in which the interpreter keeps one element.
"""


@frozen
class ElementType:
    """One element type, as a fragment holds it.

    `name` is PTX's (`s8`), `mlir` MLIR's (`si8`), `bits` the width that one element takes in a
    register, `container` the NumPy dtype that holds those bits (one element a byte where they are
    fewer), `register` the PTX register type that the fragment is made of. Where an element is
    narrower than what it takes, its `width` bits start at bit `shift`, and the others are padding.
    """

    name: str
    mlir: str
    bits: int
    container: str
    register: str = "b32"
    width: int = 0
    shift: int = 0

    @property
    def per_register(self) -> int:
        """How many elements one register of this fragment holds."""
        return register_bits(self.register) // self.bits

    @property
    def padded(self) -> bool:
        """True where an element takes more bits than it has."""
        return 0 < self.width < self.bits


def register_bits(register: str) -> int:
    """The width of a PTX register type such as `b32` or `f64`, in bits."""
    return int(register[1:])


ELEMENT_TYPES: dict[str, ElementType] = {
    row.name: row
    for row in (
        ElementType("f16", "f16", 16, "uint16"),
        ElementType("bf16", "bf16", 16, "uint16"),
        ElementType("tf32", "tf32", 32, "uint32"),
        ElementType("f32", "f32", 32, "uint32", "f32"),
        ElementType("f64", "f64", 64, "uint64", "f64"),
        ElementType("e4m3", "f8E4M3FN", 8, "uint8"),
        ElementType("e5m2", "f8E5M2", 8, "uint8"),
        ElementType("e3m2", "f6E3M2FN", 8, "uint8", width=6),
        ElementType("e2m3", "f6E2M3FN", 8, "uint8", width=6),
        ElementType("e2m1", "f4E2M1FN", 4, "uint8"),
        ElementType("s8", "si8", 8, "uint8"),
        ElementType("u8", "ui8", 8, "uint8"),
        ElementType("s4", "si4", 4, "uint8"),
        ElementType("u4", "ui4", 4, "uint8"),
        ElementType("b1", "ui1", 1, "uint8"),
        ElementType("s32", "i32", 32, "uint32"),
    )
}
"""The types of A, B, C and D."""

UNPACKED: dict[str, ElementType] = {
    "e2m1": ElementType("e2m1", "f4E2M1FN", 8, "uint8", width=4, shift=2)
}
"""Types that some kinds of MMA take one a byte, and others densely: `kind::f8f6f4` and
`kind::mxf8f6f4` want e2m1 in the central bits of a byte. PTX ISA 9.7.14.5.14."""

SCALE_TYPES: dict[str, ElementType] = {
    row.name: row
    for row in (
        ElementType("ue8m0", "f8E8M0FNU", 8, "uint8"),
        ElementType("ue4m3", "f8E4M3FN", 8, "uint8"),
    )
}
"""The types of the scale factors of a block-scaled MMA; MLIR has no unsigned e4m3."""

METADATA = ElementType("u2", "ui2", 2, "uint8")
"""An index of a non-zero element of a structured-sparse A. PTX ISA 9.7.14.6.1."""

INTEGERS: dict[str, ElementType] = {
    row.name: row
    for row in (
        ElementType("b8", "i8", 8, "uint8"),
        ElementType("b16", "i16", 16, "uint16"),
        ElementType("b64", "i64", 64, "uint64", "b64"),
    )
}
"""Integers that threads hold to move or compute with; no MMA takes them as they are."""
