"""The ops of `cuda_tile`, a room for each chapter of the Tile IR specification."""

from tilewright.dialects.cuda_tile.ops import (
    aggregate,
    control_flow,
    conversions,
    core,
    floating_point,
    integer,
    matrix_multiply,
    memory,
    miscellaneous,
    module,
    multimem,
    views,
)
from tilewright.dialects.cuda_tile.ops.operation import OPS

OP_OF_CODE = {op.opcode: op for op in OPS}
"""The op that a number stands for in bytecode."""

__all__ = [
    "OPS", "OP_OF_CODE", "aggregate", "control_flow", "conversions", "core", "floating_point",
    "integer", "matrix_multiply", "memory", "miscellaneous", "module", "multimem", "views",
]  # fmt: skip
