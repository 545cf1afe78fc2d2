"""The `ptx` dialect: one op per PTX instruction, registers as SSA values."""

from xdsl.ir import Dialect

from tilewright.dialects.contents import ops_of
from tilewright.dialects.ptx import (
    approximate,
    arithmetic,
    atomics,
    bulk_copy,
    calls,
    cluster,
    control_flow,
    convert,
    data_movement,
    logic,
    matrix,
    matrix_copy,
    mbarrier,
    module_variables,
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
    ops_of(
        registers,
        module_variables,
        data_movement,
        atomics,
        arithmetic,
        approximate,
        logic,
        convert,
        control_flow,
        calls,
        synchronization,
        shuffle,
        matrix,
        matrix_copy,
        wmma,
        wgmma,
        tcgen05_mma,
        mbarrier,
        bulk_copy,
        warp_specialization,
        cluster,
        tcgen05_memory,
        tcgen05_access,
        tcgen05_sync,
    ),
    [RegType],
)
