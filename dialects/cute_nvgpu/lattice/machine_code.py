"""The machine code of an MMA: one machine instruction, several, or a program around them.

PTX promises that a later chip runs the MMAs of an earlier one, not that it has an instruction for
them. A row here is an exception to "one machine instruction"; it was read from the machine code
that ptxas 13.5 makes of one MMA on inputs that differ from thread to thread (nvdisasm 13.5; for
sm_70 and sm_72 12.4). tests/dialects/ptx/test_machine_code.py asks ptxas again.
"""

from functools import cache
from typing import Literal

from tilewright.dialects.cute_nvgpu.lattice.row import ElementTypes, MmaRow, Shape, Sparsity
from tilewright.dialects.frozen import frozen

How = Literal["native", "split", "padded", "emulated"]
"""native: the tensor core has it; split: several smaller MMAs and nothing else; padded: a larger
MMA, part of it idle; emulated: conversions, a subroutine, or no tensor core at all."""


@frozen
class MachineCode:
    """The machine code of one MMA: how, in words, in how many machine MMAs where it is nothing
    else, and how many times its own M*N*K the tensor core computes."""

    how: How
    words: str
    parts: int = 1
    work: int = 1

    @property
    def native(self) -> bool:
        """True where the tensor core does all of it, in one machine instruction or more."""
        return self.how != "emulated"


@frozen
class MachineRow:
    """The machine code of some MMAs on the chips numbered from `first` to `last`.

    `elements` are the element types of A; `shapes` and `results` (element types of D) empty mean
    all of them, `sparsity` lists the forms of metadata (None: dense), `bit_op` None means either.
    """

    elements: tuple[str, ...]
    first: int
    last: int
    code: MachineCode
    shapes: tuple[Shape, ...] = ()
    sparsity: tuple[Sparsity | None, ...] = (None,)
    bit_op: str | None = None
    results: tuple[str, ...] = ()

    def covers(self, row: MmaRow, types: ElementTypes, chip: int) -> bool:
        """True where the chip of that number makes this of these MMAs of a row."""
        return (
            self.first <= chip <= self.last
            and row.kind is None
            and types[0] in self.elements
            and (not self.results or types[3] in self.results)
            and (not self.shapes or row.shape in self.shapes)
            and row.sparsity in self.sparsity
            and self.bit_op in (None, row.bit_op)
        )


NATIVE = MachineCode("native", "one machine instruction")

_F16, _F64, _B1 = ("f16",), ("f64",), ("b1",)
_BYTES, _NIBBLES = ("s8", "u8"), ("s4", "u4")
_FP8 = ("e4m3", "e5m2")

NEWEST = 121
"""The chip of the highest number that ptxas 13.5 knows."""

_PLAIN: tuple[Sparsity | None, ...] = ("sp",)
_SPARSE: tuple[Sparsity | None, ...] = ("sp", "sp::ordered_metadata")

_TWO_STEPS = MachineCode("native", "two steps of HMMA.884", parts=2)
_FOUR_STEPS = MachineCode("native", "four steps of HMMA.884", parts=4)
_SCALAR = MachineCode("emulated", "a subroutine of shuffles and scalar f32 arithmetic")
_AS_M16 = MachineCode("padded", "one m16n8k16, half of it idle", work=2)
_UNPACKED = MachineCode("emulated", "a subroutine that unpacks to two MMAs on s8")
_UNPACKED_M8 = MachineCode("emulated", "a subroutine that unpacks to two MMAs on s8", work=2)
_TWO_ANDS = MachineCode("emulated", "a subroutine of two .and MMAs")
_BITS = MachineCode("emulated", "a subroutine that unpacks bits to MMAs on u8")
_BITS_M8 = MachineCode("emulated", "a subroutine that unpacks bits to MMAs on u8", work=2)
_AS_F16 = MachineCode("emulated", "two MMAs on f16 after conversion, and an addition of c")
_AS_SPARSE_F16 = MachineCode(
    "emulated", "two sparse MMAs on f16 after conversion, the metadata taken apart"
)
_REORDERED = MachineCode("emulated", "a subroutine that orders the metadata, then one instruction")
_IDLE = MachineCode("native", "one machine instruction, and dozens that wait for it")


def _split(number: str, parts: int) -> MachineCode:
    return MachineCode("split", f"{number} m8n8k4", parts)


MACHINE_ROWS: tuple[MachineRow, ...] = (
    MachineRow(_F16, 70, 75, _TWO_STEPS, shapes=((8, 8, 4),), results=("f16",)),
    MachineRow(_F16, 70, 75, _FOUR_STEPS, shapes=((8, 8, 4),), results=("f32",)),
    MachineRow(_F16, 80, NEWEST, _SCALAR, shapes=((8, 8, 4),)),
    MachineRow(_F16, 100, NEWEST, _REORDERED, sparsity=_PLAIN),
    MachineRow(_F64, 100, NEWEST, _split("two", 2), shapes=((16, 8, 4),)),
    MachineRow(_F64, 100, NEWEST, _split("four", 4), shapes=((16, 8, 8),)),
    MachineRow(_F64, 100, NEWEST, _split("eight", 8), shapes=((16, 8, 16),)),
    MachineRow(_F64, 103, NEWEST, _IDLE, shapes=((8, 8, 4),)),
    MachineRow(_BYTES, 100, NEWEST, _AS_M16, shapes=((8, 8, 16),)),
    MachineRow(_BYTES, 100, NEWEST, _REORDERED, sparsity=_PLAIN),
    MachineRow(_NIBBLES, 100, NEWEST, _UNPACKED_M8, shapes=((8, 8, 32),)),
    MachineRow(_NIBBLES, 90, NEWEST, _UNPACKED),
    MachineRow(_NIBBLES, 90, NEWEST, _UNPACKED, sparsity=_SPARSE),
    MachineRow(_B1, 90, 99, _TWO_ANDS, bit_op="xor"),
    MachineRow(_B1, 100, NEWEST, _BITS_M8, shapes=((8, 8, 128),)),
    MachineRow(_B1, 100, NEWEST, _BITS),
    MachineRow(_FP8, 90, 119, _AS_F16),
    MachineRow(_FP8, 90, 119, _AS_SPARSE_F16, sparsity=_SPARSE),
)
"""The exceptions; where several fit, the first."""


@cache
def machine_code(row: MmaRow, types: ElementTypes, chip: int) -> MachineCode:
    """The machine code of an MMA of these element types on a chip by its number (90 of sm_90a)."""
    for exception in MACHINE_ROWS:
        if exception.covers(row, types, chip):
            return exception.code
    return NATIVE
