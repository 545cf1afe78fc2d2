"""Element types of MMA operands: one row a type, under its PTX name.

The PTX name is the key everywhere in the tables; the MLIR spelling is how the same type
stands in IR, and the container is the NumPy dtype in which the interpreter keeps one element.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ElementType:
    """One element type.

    `name` is PTX's (`s8`), `mlir` MLIR's (`si8`), `bits` the width of one element in a
    register, `container` the NumPy dtype that holds the raw bits of one element (one a byte where
    it is narrower), `register` the PTX register type that the fragment is made of.
    """

    name: str
    mlir: str
    bits: int
    container: str
    register: str = "b32"

    @property
    def per_register(self) -> int:
        """How many elements one register of this fragment holds."""
        return register_bits(self.register) // self.bits


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
        ElementType("s8", "si8", 8, "uint8"),
        ElementType("u8", "ui8", 8, "uint8"),
        ElementType("s4", "si4", 4, "uint8"),
        ElementType("u4", "ui4", 4, "uint8"),
        ElementType("b1", "ui1", 1, "uint8"),
        ElementType("s32", "i32", 32, "uint32"),
    )
}
