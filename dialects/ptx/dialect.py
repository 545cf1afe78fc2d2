"""The `ptx` dialect: one op per PTX instruction, registers as SSA values."""

from xdsl.ir import Dialect

from tilewright.dialects.ptx import (
    approximate,
    arithmetic,
    atomics,
    bulk_copy,
    cluster,
    control_flow,
    convert,
    data_movement,
    logic,
    matrix,
    matrix_copy,
    mbarrier,
    registers,
    shuffle,
    synchronization,
    tcgen05_access,
    tcgen05_memory,
    tcgen05_mma,
    tcgen05_sync,
    warp_specialization,
    wgmma,
    wmma,
)
from tilewright.dialects.ptx.types import RegType

PTX = Dialect(
    "ptx",
    [
        *registers.OPS,
        *data_movement.OPS,
        *atomics.OPS,
        *arithmetic.OPS,
        *approximate.OPS,
        *logic.OPS,
        *convert.OPS,
        *control_flow.OPS,
        *synchronization.OPS,
        *shuffle.OPS,
        *matrix.OPS,
        *matrix_copy.OPS,
        *wmma.OPS,
        *wgmma.OPS,
        *tcgen05_mma.OPS,
        *mbarrier.OPS,
        *bulk_copy.OPS,
        *warp_specialization.OPS,
        *cluster.OPS,
        *tcgen05_memory.OPS,
        *tcgen05_access.OPS,
        *tcgen05_sync.OPS,
    ],
    [RegType],
)
