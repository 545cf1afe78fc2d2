"""`mma.sync` and `mma.sp` before RTX Blackwell, by the targets that brought them.

`sm70.mma` is `mma.sync.m8n8k4` on f16, four MMAs on the quad pairs of a warp: the only one with all
four layouts of A and B, and the only one whose c and d may differ. From sm_80 on it is emulated.
`sm80.mma` is dense, on f16, bf16, tf32, f64, integers and single bits; `sm89.mma` on e4m3 and e5m2,
in any pair, its f16 accumulator and m16n8k16 since PTX ISA 8.7. Of `sm80.sparse_mma` and
`sm89.sparse_mma`, whose A is structured sparse, every one exists with plain and with ordered
metadata (`mma.sp::ordered_metadata`, PTX ISA 8.5).

Shapes, types, targets and versions: PTX ISA 9.7.14.1, 9.7.14.5.14 and 9.7.14.6. Where the syntax
block allows c and d of different types, ptxas takes only equal ones beyond m8n8k4.
"""

from dataclasses import replace

from tilewright.dialects.cute_nvgpu.lattice.row import ALL_MAJORS, MmaRow
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement

SM70_MMA = MmaRow.table(
    "sm70.mma", "m8n8k4 f16 f16|f16:f32|f32 sm_70 6.4 9.7.14.5.1", majors=ALL_MAJORS
)

SM80_MMA = MmaRow.table(
    "sm80.mma",
    """
    m16n8k8    f16    f16|f32  sm_75 6.5  9.7.14.5.7
    m16n8k16   f16    f16|f32  sm_80 7.0  9.7.14.5.8
    m16n8k8    bf16   f32      sm_80 7.0  9.7.14.5.7
    m16n8k16   bf16   f32      sm_80 7.0  9.7.14.5.8
    m16n8k4    tf32   f32      sm_80 7.0  9.7.14.5.6
    m16n8k8    tf32   f32      sm_80 7.0  9.7.14.5.7
    m8n8k4     f64    f64      sm_80 7.0  9.7.14.5.2
    m16n8k4    f64    f64      sm_90 7.8  9.7.14.5.6
    m16n8k8    f64    f64      sm_90 7.8  9.7.14.5.7
    m16n8k16   f64    f64      sm_90 7.8  9.7.14.5.8
    m8n8k16    s8|u8  s32      sm_75 6.5  9.7.14.5.3
    m16n8k16   s8|u8  s32      sm_80 7.0  9.7.14.5.9
    m16n8k32   s8|u8  s32      sm_80 7.0  9.7.14.5.10
    m8n8k32    s4|u4  s32      sm_75 6.5  9.7.14.5.4
    m16n8k32   s4|u4  s32      sm_80 7.0  9.7.14.5.10
    m16n8k64   s4|u4  s32      sm_80 7.0  9.7.14.5.11
    m8n8k128   b1     s32      sm_75 7.0  9.7.14.5.5   xor
    m16n8k128  b1     s32      sm_80 7.0  9.7.14.5.12  xor
    m16n8k256  b1     s32      sm_80 7.0  9.7.14.5.13  xor
    m8n8k128   b1     s32      sm_80 7.1  9.7.14.5.5   and
    m16n8k128  b1     s32      sm_80 7.1  9.7.14.5.12  and
    m16n8k256  b1     s32      sm_80 7.1  9.7.14.5.13  and
    """,
)

SM89_MMA = MmaRow.table(
    "sm89.mma",
    """
    m16n8k32  e4m3|e5m2  f32      sm_89 8.4  9.7.14.5.10
    m16n8k32  e4m3|e5m2  f16      sm_89 8.7  9.7.14.5.10
    m16n8k16  e4m3|e5m2  f32|f16  sm_89 8.7  9.7.14.5.9
    """,
)


def _sparse_rows(op: str, table: str) -> tuple[MmaRow, ...]:
    """Each row, of plain metadata, and the one with ordered metadata."""

    def ordered(row: MmaRow) -> MmaRow:
        return replace(row, sparsity="sp::ordered_metadata", needs=Requirement(row.target, (8, 5)))

    rows = MmaRow.table(op, table, sparsity="sp")
    return tuple(form for row in rows for form in (row, ordered(row)))


SM80_SPARSE_MMA = _sparse_rows(
    "sm80.sparse_mma",
    """
    m16n8k16   f16    f16|f32  sm_80 7.1  9.7.14.6.2.1
    m16n8k32   f16    f16|f32  sm_80 7.1  9.7.14.6.2.2
    m16n8k16   bf16   f32      sm_80 7.1  9.7.14.6.2.1
    m16n8k32   bf16   f32      sm_80 7.1  9.7.14.6.2.2
    m16n8k8    tf32   f32      sm_80 7.1  9.7.14.6.2.4
    m16n8k16   tf32   f32      sm_80 7.1  9.7.14.6.2.3
    m16n8k32   s8|u8  s32      sm_80 7.1  9.7.14.6.2.5
    m16n8k64   s8|u8  s32      sm_80 7.1  9.7.14.6.2.6
    m16n8k64   s4|u4  s32      sm_80 7.1  9.7.14.6.2.7
    m16n8k128  s4|u4  s32      sm_80 7.1  9.7.14.6.2.8
    """,
)

SM89_SPARSE_MMA = _sparse_rows("sm89.sparse_mma", "m16n8k64 e4m3|e5m2 f32 sm_89 8.4 9.7.14.6.2.6")
