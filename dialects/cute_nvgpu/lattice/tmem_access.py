"""Loads of a warp from tensor memory, stores to it, and copies there from shared
memory: the shapes of `tcgen05.ld`, `st` and `cp`, one row each. PTX ISA, tcgen05.

A place is counted in lanes and columns from the address.
"""

from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import SOURCE_FORMATS
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address, Descriptor
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.targets import NeedingRow, Requirement, needs
from tilewright.dialects.cute_nvgpu.lattice.tmem import TENSOR_MEMORY
from tilewright.dialects.frozen import frozen

Modes = tuple[tuple[int, int, int], ...]
"""(extent, lanes, columns) from one to the next."""


def _powers(last: int) -> tuple[int, ...]:
    return tuple(1 << power for power in range(last.bit_length()))


@frozen
class TmemShape:
    """`.shape` of `tcgen05.ld` and `st`: which cell each register of each thread is.

    `threads` are the modes of the thread in the warp, `registers` those of its registers; they
    repeat `.num` times, `step` columns apart, for every `.num` of `numbers`. `halves` says that
    threads from 16 on start `immHalfSplitoff` columns further right. `reduces` says whether
    `tcgen05.ld.red` has the shape.
    """

    name: str
    lanes: int
    threads: Modes
    registers: Modes
    step: int
    numbers: tuple[int, ...]
    halves: bool = False
    reduces: bool = False

    @property
    def per_number(self) -> int:
        """How many registers a thread has for each `.num`."""
        count = 1
        for extent, _, _ in self.registers:
            count *= extent
        return count


TMEM_SHAPES: dict[str, TmemShape] = {
    row.name: row
    for row in (
        TmemShape("32x32b", 32, ((32, 1, 0),), (), 1, _powers(128), reduces=True),
        TmemShape("16x64b", 16, ((2, 8, 0), (2, 0, 1), (8, 1, 0)), (), 2, _powers(128)),
        TmemShape("16x128b", 16, ((4, 0, 1), (8, 1, 0)), ((2, 8, 0),), 4, _powers(64)),
        TmemShape("16x256b", 16, ((4, 0, 2), (8, 1, 0)), ((2, 0, 1), (2, 8, 0)), 8, _powers(32)),
        TmemShape("16x32bx2", 16, ((16, 1, 0),), (), 1, _powers(128), halves=True, reduces=True),
    )
}


@frozen
class TmemAccessRow(NeedingRow):
    """`tcgen05.ld` or `tcgen05.st`: the qualifier that moves 16-bit halves of cells."""

    op: str
    stem: str
    half_cells: str
    section: str
    needs: Requirement = TENSOR_MEMORY

    def mnemonic(self, shape: TmemShape, number: int, *, packed: bool = False) -> str:
        """`tcgen05.ld.sync.aligned.16x256b.x4.pack::16b.b32`."""
        words = [self.stem, "sync", "aligned", shape.name, f"x{number}"]
        return ".".join([*words, *((self.half_cells,) if packed else ()), "b32"])


TMEM_LOAD = TmemAccessRow("tmem.load", "tcgen05.ld", "pack::16b", "tcgen05.ld")
TMEM_STORE = TmemAccessRow("tmem.store", "tcgen05.st", "unpack::16b", "tcgen05.st")

REDUCTIONS = ("min", "max")
REDUCED_TYPES = ("f32", "u32", "s32")


@frozen
class TmemReduceRow(NeedingRow):
    """`tcgen05.ld.red`: a load that also gives each thread the least or the greatest of what it
    loads, of two registers or more. `abs` and `nan` are for f32."""

    op: str
    section: str
    needs: Requirement

    def mnemonic(
        self, shape: TmemShape, number: int, reduction: str, type_: str, modifiers: str = ""
    ) -> str:
        """`tcgen05.ld.red.sync.aligned.32x32b.x8.min.abs.NaN.f32`; `modifiers` is `.abs.NaN`."""
        stem = f"tcgen05.ld.red.sync.aligned.{shape.name}.x{number}"
        return f"{stem}.{reduction}{modifiers}.{type_}"


REDUCE_MODIFIERS = ("", ".abs", ".NaN", ".abs.NaN")
TMEM_LOAD_REDUCE = TmemReduceRow("tmem.load_reduce", "tcgen05.ld", needs("sm_103f|sm_110f 8.8"))


@frozen
class TmemCopyShape:
    """`.shape{.multicast}` of `tcgen05.cp`: `rows` of `bits` from shared memory.

    `lanes` are the modes of the row, (extent, lanes), `copies` those of the lanes that each row is
    written to.
    """

    name: str
    multicast: str
    rows: int
    bits: int
    lanes: tuple[tuple[int, int], ...]
    copies: tuple[tuple[int, int], ...] = ()

    @property
    def spelled(self) -> str:
        """`64x128b.warpx2::02_13`."""
        return self.name + (f".{self.multicast}" if self.multicast else "")

    @property
    def columns(self) -> int:
        """How many columns it writes."""
        return self.bits // 32


TMEM_COPY_SHAPES: dict[str, TmemCopyShape] = {
    row.spelled: row
    for row in (
        TmemCopyShape("128x256b", "", 128, 256, ((128, 1),)),
        TmemCopyShape("128x128b", "", 128, 128, ((128, 1),)),
        TmemCopyShape("4x256b", "", 4, 256, ((4, 32),)),
        TmemCopyShape("64x128b", "warpx2::02_13", 64, 128, ((64, 1),), ((2, 64),)),
        TmemCopyShape("64x128b", "warpx2::01_23", 64, 128, ((32, 1), (2, 64)), ((2, 32),)),
        TmemCopyShape("32x128b", "warpx4", 32, 128, ((32, 1),), ((4, 32),)),
    )
}


@frozen
class TmemCopyRow(NeedingRow):
    """`tcgen05.cp`, and the packed source formats that it takes apart: 16 elements and padding
    become 16 bytes."""

    op: str
    formats: tuple[str, ...]
    section: str
    needs: Requirement = TENSOR_MEMORY

    @property
    def operands(self) -> tuple[OperandForm, ...]:
        """Those of every copy, in PTX's order."""
        return Address("taddr"), Descriptor("s-desc")

    def mnemonic(self, shape: TmemCopyShape, group: int, source: str | None = None) -> str:
        """`tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32`."""
        unpacked = f".b8x16.{source}" if source is not None else ""
        return f"tcgen05.cp.cta_group::{group}.{shape.spelled}{unpacked}"


TMEM_COPY = TmemCopyRow("tmem.copy", tuple(SOURCE_FORMATS), "tcgen05.cp")
